/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/comch_fast.h - consumers and producers, for the tests of Comch's fast path.
 *
 * Each side has an arena: memory in a map that the other side may write to. Tasks and
 * buffers are numbered by the test; callbacks write lines into the side's trace:
 *
 *	consumer: starting -> running
 *	got 3: "hello"                  (receive number 3; what its buffer holds)
 *	got 4: "hello" + "imm"          (and immediate data)
 *	got 5: + "imm"
 *	recv 6 failed: DOCA_ERROR_IO_FAILED
 *	put 7                           (send number 7)
 *	put 8 failed: DOCA_ERROR_IO_FAILED
 *
 * By default they free the task and return its buffer.
 */
#ifndef TESTS_API_COMCH_FAST_H
#define TESTS_API_COMCH_FAST_H

#include "comch_util.h"

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_mmap.h>

#define ARENA_BYTES (1u << 20)
#define FAST_TASKS  8

struct arena {
	uint8_t *bytes;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_dev *dev;
	size_t gone, gone_bytes; /* unmapped; another part of the process may have mapped memory there since */
};

/* An arena of a side's device. */
struct arena *arena_open(struct doca_dev *dev);
void arena_close(struct arena *arena);

/* Unmap @len bytes, once. */
void arena_unmap(struct arena *arena, size_t offset, size_t len);

/* A map of @len bytes of the arena. */
struct doca_mmap *arena_map(struct arena *arena, size_t offset, size_t len, uint32_t access);

/* @len bytes at @offset, without data; or with this text as data. */
struct doca_buf *arena_empty(struct arena *arena, size_t offset, size_t len);
struct doca_buf *arena_text(struct arena *arena, size_t offset, const char *text);

/* Idle. */
struct comch_actor *fast_consumer(struct side *side, struct doca_comch_connection *connection, struct arena *arena,
				  struct doca_comch_consumer **ret_consumer);
struct comch_actor *fast_producer(struct side *side, struct doca_comch_connection *connection,
				  struct doca_comch_producer **ret_producer);

/* Started; its states are not in the trace. */
void fast_start(struct comch_actor *actor);

/* Stop and destroy. */
void fast_end_consumer(struct comch_actor *actor, struct doca_comch_consumer *consumer);
void fast_end_producer(struct comch_actor *actor, struct doca_comch_producer *producer);

/* A task, and one that is submitted. */
struct doca_comch_consumer_task_post_recv *fast_recv(struct doca_comch_consumer *consumer, uint64_t number,
						     struct doca_buf *buf);
void fast_post(struct doca_comch_consumer *consumer, uint64_t number, struct doca_buf *buf);
struct doca_comch_producer_task_send *fast_send(struct doca_comch_producer *producer, uint64_t number,
						const struct doca_buf *buf, const char *imm, uint32_t to);
doca_error_t fast_try(struct doca_comch_producer *producer, uint64_t number, const struct doca_buf *buf,
		      const char *imm, uint32_t to);
void fast_put(struct doca_comch_producer *producer, uint64_t number, const struct doca_buf *buf, const char *imm,
	      uint32_t to);

/* What most tests have: the DPU's server consumes, the host's client produces. */
struct fast {
	struct comch_actor *endpoint, *actor;
	struct arena *arena;
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;
	uint32_t peer; /* of a producer: the consumer's id */
};

void fast_open_dpu(struct fast *fast, struct side *side);
void fast_open_host(struct fast *fast, struct side *side);
void fast_close(struct fast *fast);

#endif

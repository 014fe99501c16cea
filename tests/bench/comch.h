/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/bench/comch.h - the measured side of a comparison: Comch between a host and a DPU process, through the
 * public API.
 *
 *   first   on the host, a client    pings        has the producer, sends
 *   second  on the DPU, a server     answers      has the consumer, receives
 *
 * Written for speed: one task per buffer, allocated once; the fast path has a
 * progress engine of its own.
 */
#ifndef TESTS_BENCH_COMCH_H
#define TESTS_BENCH_COMCH_H

#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include <stdbool.h>

#include "card.h"
#include "pair.h"

#define BENCH_COMCH_MAX_MSG 4080 /* bytes; every device here takes them */

struct bench_comch_cfg {
	const struct bench_card *card;
	const char *name; /* of the server */
	bool blocks;      /* sleep on the notification handle rather than poll */
	bool echoes;      /* a server: answer each message at once with one of its size */
};

/* One end of the control path. */
struct bench_comch {
	const struct bench_comch_cfg *cfg;
	struct doca_dev *dev;
	struct doca_dev_rep *rep; /* the server's */
	struct doca_pe *pe;
	struct doca_ctx *ctx;
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	struct doca_comch_connection *connection; /* the first one */
	struct doca_comch_task_send *ping;        /* NULL = not allocated; sends the bytes at @message */
	int epoll_fd;
	doca_notification_handle_t handle; /* in it, with -1 for its data */
	uint32_t connections, consumer;    /* how many; the id of the other end's */
	uint64_t sent, received, failed;   /* counted by callbacks */
	uint64_t last;                     /* the number in the last message */
	uint8_t *message;                  /* BENCH_COMCH_MAX_MSG bytes, all ends' of this process */
};

/* Enter the card, open the device and a progress engine. @arg of callbacks is the end. 0 or -1. */
int bench_comch_open(const struct bench_comch_cfg *cfg, bool is_server, struct bench_comch *ret_end);

/* Make a server or a client and start it. Clients on copies of one end share its device and progress engine. 0 or -1. */
int bench_comch_start(struct bench_comch *end);

/* Progress until @counter is @value or more; by polling, or by sleeping between events. */
void bench_comch_wait(struct bench_comch *end, const uint64_t *counter, uint64_t value);

/* Progress until the other end is there. 0 or -1. */
int bench_comch_wait_connected(struct bench_comch *end);

/* Sleep until the progress engine has something, or @fd (-1 = none) does. Whether it is @fd. */
bool bench_comch_rest(struct bench_comch *end, int fd);

/* Stop the server or client and destroy it; it may be NULL. 0 or -1. */
int bench_comch_stop(struct bench_comch *end);

/* Stop and close everything; half-built is fine. 0 or -1. */
int bench_comch_close(struct bench_comch *end);

/* Ping-pongs of pair.bytes. @cfg outlives the pair. 0 or -1. */
int bench_comch_ping_pong(const struct bench_comch_cfg *cfg, struct bench_pair *ret_pair);

/* Messages of the fast path: block i of the producer's memory to block i of the
 * consumer's, round and round; @depth receives posted, and sends under way. */
struct bench_fast_cfg {
	struct bench_comch_cfg comch;
	uint32_t block_bytes, num_blocks, depth;
	struct bench_fast_source *source; /* bench_comch_fast() makes it */
};

/* Start such a pair; @cfg outlives the pair. */
int bench_comch_fast(struct bench_fast_cfg *cfg, struct bench_pair *ret_pair);

/* A way to measure: copies of the same blocks, between the same memories, by process_vm_readv. (The placement of
 * pages affects a copy more than bfsim does.) @pair is that pair. */
int bench_comch_fast_readv(void *pair, uint32_t count, uint64_t *ret_ns);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The fixture of tests of libdoca_rdma: ends of connections in one process, each with a context, a queue and memory. */
#ifndef TEST_WORKQ_RDMA_RIG_H
#define TEST_WORKQ_RDMA_RIG_H

#include <doca_rdma.h>

#include "rig.h"

#define END_BYTES  65536
#define END_DEPTH  8
#define ALL_ACCESS (DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_WRITE | DOCA_ACCESS_RDMA_ATOMIC)

struct end {
	struct doca_dev *dev;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_workq *workq;
	struct doca_buf_inventory *inventory;
	struct doca_mmap *map, *peer_map; /* of its memory, and of the peer's; NULL = not imported yet */
	uint8_t *memory;                  /* END_BYTES, zeros */
};

/* An event that was retrieved. */
struct end_event {
	doca_error_t retrieved;
	struct doca_event event;
	struct doca_rdma_result result;
};

/* A context that is not started, on the first device, with memory that gives @access to peers, and a queue. */
struct end *end_new(uint32_t access);

/* Start the context, and add it to the queue. */
void end_start(struct end *end);

/* Connect @end to @peer; and import its memory. */
void end_connect(struct end *end, const struct end *peer);

/* Two ends that are started and connected to each other. */
void ends_open(struct end **ret_a, struct end **ret_b, uint32_t access);

/* Remove the queue, stop and destroy all. */
void end_close(struct end *end);

/* A buffer of the end's memory, and of its peer's, with @data_len bytes of data. */
struct doca_buf *end_buf(struct end *end, size_t offset, size_t len, size_t data_len);
struct doca_buf *end_peer_buf(struct end *end, size_t offset, size_t len, size_t data_len);

/* Submit a job; the test says what is wanted. @src and @dst are borrowed; NULL is fine. */
doca_error_t end_receive(struct end *end, uint64_t id, struct doca_buf *dst);
doca_error_t end_send(struct end *end, uint64_t id, struct doca_buf *src);
doca_error_t end_send_imm(struct end *end, uint64_t id, struct doca_buf *src, uint32_t immediate);
doca_error_t end_read(struct end *end, uint64_t id, struct doca_buf *dst, struct doca_buf *src);
doca_error_t end_write(struct end *end, uint64_t id, struct doca_buf *dst, struct doca_buf *src);
doca_error_t end_write_imm(struct end *end, uint64_t id, struct doca_buf *dst, struct doca_buf *src,
			   uint32_t immediate);
doca_error_t end_add(struct end *end, uint64_t id, struct doca_buf *dst, struct doca_buf *result, uint64_t addend);
doca_error_t end_swap(struct end *end, uint64_t id, struct doca_buf *dst, struct doca_buf *result, uint64_t compare,
		      uint64_t swap);

/* Retrieve the next event, polling this end alone; and expect that it is of that job, and went well. */
struct end_event end_retrieve(struct end *end);
struct end_event end_expect(struct end *end, int type, uint64_t id);

enum doca_rdma_state end_state(const struct end *end);

#endif

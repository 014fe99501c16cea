/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/dpa_ends.h - two RDMA contexts on the DPA, of one process, connected to each other; kernels (dpa/rdma_kernels.c) use them. */
#ifndef TESTS_DPA_ENDS_H
#define TESTS_DPA_ENDS_H

#include <doca_dpa.h>
#include <doca_mmap.h>
#include <doca_rdma.h>

#include "dpa/rdma_kernels.h"

/* Of the device API. */
enum { SENT = 0, WRITTEN_IMM = 1, RECEIVED = 2, RECEIVED_IMM = 3, SEND_FAILED = 13, RECEIVE_FAILED = 14 };
enum { FLUSH = 1, NO_REPORT = 2 };

enum { ENDS_HEAP_BYTES = 4096, ENDS_COMPLETIONS = 16 };

/* One end: a context, and memory of the heap that its peer may access. */
struct end {
	struct doca_dpa_completion *completion;
	doca_dpa_dev_completion_t completion_handle;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	doca_dpa_dev_rdma_t handle;
	struct doca_rdma_connection *connection;
	doca_dpa_dev_uintptr_t memory;
	struct doca_mmap *map, *other; /* of @memory, and the peer's, imported */
	doca_dpa_dev_mmap_t map_handle, other_handle;
};

extern struct doca_dev *ends_dev; /* the test opens it */
extern struct doca_dpa *ends_dpa;
extern struct end end_a, end_b;
extern bool ends_are_patient; /* set before ends_setup(): they repeat messages for ever */

/* Setup and teardown of a test: connected ends. */
int ends_setup(void **state);
int ends_teardown(void **state);

/* The same in parts: a DPA, with ends that are not connected. The peer, end_b, permits @access by its context and @map_access by its memory. */
void ends_open(uint32_t access, uint32_t map_access);
void ends_connect(void);

/* A map of a range of the heap, and its handle. */
struct doca_mmap *ends_map_heap(doca_dpa_dev_uintptr_t addr, size_t len, uint32_t access, doca_dpa_dev_mmap_t *ret);

/* The host's access to the heap. */
void ends_put(doca_dpa_dev_uintptr_t addr, const char *text);
void ends_assert_text(doca_dpa_dev_uintptr_t addr, const char *text);
uint64_t ends_read_word(doca_dpa_dev_uintptr_t addr);

/* A request of the end, flushed: its own memory, and the peer's. */
struct request request_from(const struct end *end, enum request_op op, uint64_t len);
struct request request_with_connection(struct request request, const struct doca_rdma_connection *connection);

/* Have a kernel post it; or a receive, 256 bytes behind the begin of the end's memory. */
void ends_post(struct request request);
void ends_receive(const struct end *end, uint64_t len);

/* Have a kernel wait for completions, which it acknowledges. */
void ends_wait(const struct end *end, uint64_t num, struct completed *ret);
struct completed ends_wait_one(const struct end *end);

/* Whether a completion is there, which is taken then. */
bool ends_has_completion(const struct end *end);

#endif

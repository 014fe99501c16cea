/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/dpa_end.h - a process's end of RDMA between kernels: a DPA, an RDMA context on it, and memory of the heap that the peer may
 * access. Kernels are those of tests/api/dpa/rdma_kernels.c. A failure ends the process. */
#ifndef TESTS_MULTI_DPA_END_H
#define TESTS_MULTI_DPA_END_H

#include <doca_dpa.h>
#include <doca_mmap.h>
#include <doca_rdma.h>

#include "tests/api/dpa/rdma_kernels.h"

/* Of the device API. */
enum { DPA_SENT = 0, DPA_RECEIVED = 2, DPA_SEND_FAILED = 13 };

/* What a process tells its peer. */
struct dpa_offer {
	uint64_t addr;
	size_t details_len, map_len;
	uint8_t details[512], map[512];
};

struct dpa_end {
	struct doca_dev *dev;
	struct doca_dpa *dpa;
	struct doca_dpa_completion *completion;
	doca_dpa_dev_completion_t completion_handle;
	struct doca_rdma *rdma;
	doca_dpa_dev_rdma_t handle;
	struct doca_rdma_connection *connection;
	doca_dpa_dev_uintptr_t memory, results;
	struct doca_mmap *map, *other;
	doca_dpa_dev_mmap_t map_handle, other_handle;
	uint64_t other_addr;
};

/* Of the first device. */
void dpa_end_open(struct dpa_end *end, struct dpa_offer *ret_offer);

/* Connect, and post a receive. */
void dpa_end_connect(struct dpa_end *end, const struct dpa_offer *peer);
void dpa_end_close(struct dpa_end *end);

/* Kernels write @text, add many times, and send @text, while those of the peer do the same; wait for all completions. */
void dpa_end_exchange(const struct dpa_end *end, const char *text);

/* Whether what the peer's kernels wrote, added and sent is there. */
void dpa_end_check_memory(const struct dpa_end *end, const char *text);

void dpa_end_post_send(const struct dpa_end *end);
struct completed dpa_end_wait_one(const struct dpa_end *end);

#endif

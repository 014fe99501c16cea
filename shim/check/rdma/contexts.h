/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/rdma/contexts.h - the RDMA contexts of this process that are not idle. */
#ifndef SHIM_CHECK_RDMA_CONTEXTS_H
#define SHIM_CHECK_RDMA_CONTEXTS_H

#include <sys/types.h>

#include "shim/rdma/rdma_inspect.h"

/* A context, and what the rules about receives know of it. */
struct check_rdma_context {
	const struct doca_rdma *rdma;
	pid_t tid;                /* of the thread that started it, which uses it */
	uint64_t awaits_since_ns; /* a message waits for a receive; 0 = none does */
	bool is_wait_reported, is_lack_reported;
	struct check_rdma_context *next;
};

/* Call @see for each, with a lock, until it returns false. */
void check_rdma_contexts_each(bool (*see)(struct check_rdma_context *context, void *arg), void *arg);

/* Whether there is one: for frequent calls. */
bool check_rdma_has_contexts(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/rdma/cm_priv.h - the connection manager (cm.c), as the context sees it. */
#ifndef SHIM_RDMA_CM_PRIV_H
#define SHIM_RDMA_CM_PRIV_H

#include "rdma_priv.h"

struct rdma_listener {
	uint16_t port;
	struct sim_listener *listener; /* NULL = a fault holds it back until @due_ns, session time */
	uint64_t due_ns;
	SLIST_ENTRY(rdma_listener) link;
};

/* Take a step: a request, an answer, an end. Returns whether the program's callback was called. */
bool rdma_cm_progress(struct doca_rdma *rdma);

/* Whether such a step is there. */
bool rdma_cm_has_work(struct doca_rdma *rdma);

/* Whether a request waits for its answer, which comes from outside of virtual time. */
bool rdma_cm_holds_time(const struct doca_rdma *rdma);

void rdma_cm_end_listeners(struct doca_rdma *rdma);

/* ---- cm_fault.c ---- */

/* Ask the fault plan about a call of the context. Returns SUCCESS, or the status that the call fails with. */
doca_error_t rdma_cm_plan(const struct doca_rdma *rdma, enum sim_op op, struct rdma_cm_plan *ret_plan);

#endif

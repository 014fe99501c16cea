/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/rdma/cm_priv.h - the connection manager (cm.c), as the context sees it. */
#ifndef SHIM_RDMA_CM_PRIV_H
#define SHIM_RDMA_CM_PRIV_H

#include "rdma_priv.h"

struct rdma_listener {
	uint16_t port;
	struct sim_listener *listener;
	SLIST_ENTRY(rdma_listener) link;
};

/* Take a step: a request, an answer, an end. Returns whether the program's callback was called. */
bool rdma_cm_progress(struct doca_rdma *rdma);

/* Whether such a step is there. */
bool rdma_cm_has_work(struct doca_rdma *rdma);

void rdma_cm_end_listeners(struct doca_rdma *rdma);

#endif

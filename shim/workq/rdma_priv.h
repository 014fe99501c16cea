/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/rdma_priv.h - an RDMA context: its properties, and while it is started, a context of the core (rdma_core.h).
 *
 * rdma.c has the context, its connection and its jobs, rdma_conf.c properties and capabilities.
 */
#ifndef SHIM_WORKQ_RDMA_PRIV_H
#define SHIM_WORKQ_RDMA_PRIV_H

#include <doca_rdma.h>

#include "ctx_priv.h"
#include "rdma_core.h"

struct doca_rdma {
	struct workq_ctx ctx; /* first */
	struct workq_rdma_cfg cfg;
	struct workq_rdma_core *core; /* NULL = not started */
};

/* rdma_conf.c: the default properties; and whether the context's device permits those that were set before it was added. */
void workq_rdma_set_defaults(struct workq_rdma_cfg *cfg);
doca_error_t workq_rdma_check_sizes(const struct doca_rdma *rdma);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/toy/toy_priv.h - the context that adds numbers, and its task. */
#ifndef SHIM_TOY_PRIV_H
#define SHIM_TOY_PRIV_H

#include <doca_toy.h>

#include "shim/common/pe/ctx_priv.h"
#include "shim/common/pe/task_priv.h"

struct doca_toy {
	struct doca_ctx ctx; /* first: a doca_toy is a doca_ctx */
	struct shim_task_conf sums;
};

struct doca_toy_task_sum {
	struct doca_task task; /* first: a sum task is a doca_task */
	uint32_t terms[2], result;
};

extern const struct shim_task_type toy_sum_type;

#endif

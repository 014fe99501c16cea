/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/ctx_history.h - how contexts came to their states. */
#ifndef SHIM_CHECK_CTX_HISTORY_H
#define SHIM_CHECK_CTX_HISTORY_H

#include <stdbool.h>
#include <sys/types.h>

#include "check.h"
#include "stack.h"

struct check_ctx_history {
	const struct doca_ctx *ctx;
	enum doca_ctx_states from, to; /* the last change */
	uint64_t changed_ns;           /* by CLOCK_MONOTONIC */
	pid_t tid;
	uint32_t function; /* enum shim_function that the change happened in; SHIM_NUM_FUNCTIONS = in none */
	struct check_stack stack;
	doca_error_t failed_status; /* of the first task that failed since the last start; DOCA_SUCCESS = none */
};

/* Returns false if the context never changed its state. */
bool check_ctx_history_find(const struct doca_ctx *ctx, struct check_ctx_history *ret_history);

/* "idle", "starting", ... */
const char *check_ctx_state_name(enum doca_ctx_states state);

#endif

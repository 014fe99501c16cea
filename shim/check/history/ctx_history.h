/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/history/ctx_history.h - how contexts came to their states. */
#ifndef SHIM_CHECK_CTX_HISTORY_H
#define SHIM_CHECK_CTX_HISTORY_H

#include <stdbool.h>
#include <sys/types.h>

#include "shim/check/base/check.h"
#include "shim/check/report/stack.h"

struct check_ctx_history {
	const struct doca_ctx *ctx;
	enum doca_ctx_states from, to; /* the last change */
	uint64_t changed_ns;           /* by CLOCK_MONOTONIC */
	pid_t tid;
	uint32_t function; /* enum shim_function that the change happened in; SHIM_NUM_FUNCTIONS = in none */
	struct check_stack stack;
	/* The task whose failure stopped the context, or else the first that failed since the last start. Tasks that a stop
	 * completes don't count. */
	doca_error_t failed_status; /* DOCA_SUCCESS = none */
	const struct doca_task *failed_task;
	const char *failed_kind;
	uint64_t failed_ns;
	struct check_stack failed_stack; /* of the call that reported it */
	bool was_failure_stop;           /* that task stopped the context */
};

/* Returns false if the context never changed its state. */
bool check_ctx_history_find(const struct doca_ctx *ctx, struct check_ctx_history *ret_history);

/* Returns whether the task that ends with an error does so because its context stops. */
bool check_task_was_flushed(const struct doca_task *task);

/* "idle", "starting", ... */
const char *check_ctx_state_name(enum doca_ctx_states state);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about the submission of tasks. */
#include <doca_error.h>
#include <inttypes.h>

#include "check.h"
#include "ctx_history.h"
#include "hit.h"
#include "shim/common/pe/task_priv.h"
#include "sim/base/monotonic.h"

static void add_last_change(struct check_hit *hit, const struct doca_ctx *ctx, uint64_t now_ns)
{
	struct check_ctx_history history;
	uint64_t us;

	if (!hit || !check_ctx_history_find(ctx, &history))
		return;
	us = (now_ns - history.changed_ns) / 1000;
	check_hit_add_party(hit, history.tid, &history.stack,
			    "%" PRIu64 " us before, the context went from %s to %s%s%s%s%s", us,
			    check_ctx_state_name(history.from), check_ctx_state_name(history.to),
			    history.function < SHIM_NUM_FUNCTIONS ? " in " : "",
			    history.function < SHIM_NUM_FUNCTIONS ? shim_function_names[history.function].name : "",
			    history.failed_status != DOCA_SUCCESS ? ", because a task had failed with " : "",
			    history.failed_status != DOCA_SUCCESS ? doca_error_get_name(history.failed_status) : "");
}

static void leave_submit(struct shim_call *call)
{
	const struct doca_task *task = check_arg(call, 0);
	uint64_t now_ns = sim_monotonic_ns();
	const struct doca_ctx *ctx;
	struct check_hit *hit;

	if (doca_likely(check_result(call) == DOCA_SUCCESS) || !shim_object_is(task, SHIM_TASK))
		return;
	ctx = task->ctx;
	if (ctx->state == DOCA_CTX_STATE_RUNNING || task->in_flight)
		return;
	hit = check_hit_begin(BFC_SUBMIT_NOT_RUNNING, call, "%s: the %s context is %s",
			      shim_function_names[call->function].name, ctx->ops->name,
			      check_ctx_state_name(ctx->state));
	add_last_change(hit, ctx, now_ns);
	check_hit_add_object(hit, "context", ctx, ctx->ops->name);
	check_hit_end(hit);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_task_submit, NULL, leave_submit },
	{ SHIM_FN_doca_task_submit_ex, NULL, leave_submit },
	{ SHIM_FN_doca_task_try_submit, NULL, leave_submit },
};

const struct check_part check_submit = {
	.watches = watches,
	.num_watches = sizeof(watches) / sizeof(watches[0]),
	.mode = SIM_CHECK_API,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about the submission of tasks. */
#include <doca_error.h>
#include <inttypes.h>

#include "shim/check/base/check.h"
#include "shim/check/history/ctx_history.h"
#include "shim/check/report/hit.h"
#include "shim/common/pe/task_priv.h"
#include "sim/base/monotonic.h"

static void add_last_change(struct check_hit *hit, const struct check_ctx_history *history)
{
	check_hit_add_party(hit, history->tid, &history->stack,
			    "%" PRIu64 " us before, the context went from %s to %s%s%s",
			    (sim_monotonic_ns() - history->changed_ns) / 1000, check_ctx_state_name(history->from),
			    check_ctx_state_name(history->to), history->function < SHIM_NUM_FUNCTIONS ? " in " : "",
			    history->function < SHIM_NUM_FUNCTIONS ? shim_function_names[history->function].name : "");
}

static void add_failure(struct check_hit *hit, const struct check_ctx_history *history)
{
	check_hit_add_party(
		hit, history->tid, &history->failed_stack,
		"%" PRIu64
		" us before, %s task %p failed with %s, which stopped the context; the failure was reported here",
		(sim_monotonic_ns() - history->failed_ns) / 1000, history->failed_kind,
		(const void *)history->failed_task, doca_error_get_name(history->failed_status));
}

static bool was_stopped_by_failure(const struct check_ctx_history *history)
{
	return history->was_failure_stop && history->failed_status != DOCA_SUCCESS;
}

static const char *why_not_running(const struct doca_ctx *ctx, bool has_failed)
{
	if (has_failed)
		return ", because a task failed";
	return shim_ctx_is_stale(ctx) ? ", because its function was reset, failed or was removed" : "";
}

static void report_not_running(const struct shim_call *call, const struct doca_ctx *ctx)
{
	struct check_ctx_history history = { 0 };
	bool has_history = check_ctx_history_find(ctx, &history), has_failed = was_stopped_by_failure(&history);
	struct check_hit *hit = check_hit_begin(has_failed ? BFC_SUBMIT_AFTER_FAILURE : BFC_SUBMIT_NOT_RUNNING, call,
						"%s: the %s context is %s%s", check_call_name(call), ctx->ops->name,
						check_ctx_state_name(ctx->state), why_not_running(ctx, has_failed));

	if (has_failed)
		add_failure(hit, &history);
	else if (has_history)
		add_last_change(hit, &history);
	check_hit_add_ctx(hit, ctx);
	check_hit_end(hit);
}

static void report_in_flight(const struct shim_call *call, const struct doca_task *task)
{
	struct check_hit *hit = check_hit_begin(BFC_SUBMIT_IN_FLIGHT, call, "%s: %s task %p is still in flight",
						check_call_name(call), task->pool->type->name, (const void *)task);

	check_hit_add_ctx(hit, task->ctx);
	check_hit_end(hit);
}

static void leave_submit(struct shim_call *call)
{
	const struct doca_task *task = check_arg(call, 0);

	if (doca_likely(check_result(call) != DOCA_ERROR_BAD_STATE) || !shim_object_is(task, SHIM_TASK))
		return;
	if (task->in_flight)
		report_in_flight(call, task);
	else if (task->ctx->state != DOCA_CTX_STATE_RUNNING)
		report_not_running(call, task->ctx);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_task_submit, NULL, leave_submit },
	{ SHIM_FN_doca_task_submit_ex, NULL, leave_submit },
	{ SHIM_FN_doca_task_try_submit, NULL, leave_submit },
};

const struct check_part check_submit = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
};

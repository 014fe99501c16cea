/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about Comch's control path: connect first, do not sleep for it, and do not stop it in an error callback. */
#include <string.h>

#include <doca_comch.h>

#include "shim/check/base/check.h"
#include "shim/check/base/thread.h"
#include "shim/check/history/ctx_history.h"
#include "shim/check/report/hit.h"
#include "shim/comch/comch_inspect.h"
#include "shim/common/pe/pe_priv.h"

static bool is_comch(const struct doca_ctx *ctx)
{
	return strncmp(ctx->ops->name, "comch", 5) == 0;
}

/* ---- sent before the connection ---- */

static void report_not_connected(const struct shim_call *call, const struct comch_endpoint_view *endpoint)
{
	struct check_ctx_history history;
	struct check_hit *hit;

	hit = check_hit_begin(BFC_COMCH_NOT_CONNECTED, call, "%s: the %s \"%s\" is %s", check_call_name(call),
			      endpoint->role, endpoint->name, check_ctx_state_name(endpoint->ctx->state));
	if (hit && check_ctx_history_find(endpoint->ctx, &history))
		check_hit_add_party(hit, history.tid, &history.stack, "it went from %s to %s",
				    check_ctx_state_name(history.from), check_ctx_state_name(history.to));
	check_hit_add_ctx(hit, endpoint->ctx);
	check_hit_end(hit);
}

static void leave_alloc_send(struct shim_call *call)
{
	struct comch_endpoint_view endpoint;

	if (check_result(call) == DOCA_SUCCESS || !comch_inspect_endpoint(check_arg(call, 0), &endpoint) ||
	    (endpoint.ctx->state != DOCA_CTX_STATE_IDLE && endpoint.ctx->state != DOCA_CTX_STATE_STARTING))
		return;
	report_not_connected(call, &endpoint);
}

/* A consumer or producer of a connection that is being made. */
static void leave_create_data_path(struct shim_call *call)
{
	struct comch_endpoint_view endpoint;

	if (check_result(call) == DOCA_ERROR_BAD_STATE && comch_inspect_opening(check_arg(call, 0), &endpoint))
		report_not_connected(call, &endpoint);
}

/* ---- sleeping ---- */

/* The first Comch context that is not idle and that wakes the engine's handle, unless there are others. */
static const struct doca_ctx *only_comch(const struct doca_pe *pe)
{
	const struct doca_ctx *found = NULL;

	for (const struct doca_ctx *ctx = pe->ctxs; ctx; ctx = ctx->next_in_pe) {
		if (ctx->is_internal || ctx->state == DOCA_CTX_STATE_IDLE)
			continue;
		if (!is_comch(ctx))
			return NULL;
		if (!found && !ctx->is_silent)
			found = ctx;
	}
	return found;
}

static void leave_request_notification(struct shim_call *call)
{
	const struct doca_pe *pe = check_arg(call, 0);
	const struct doca_ctx *ctx = check_result(call) == DOCA_SUCCESS ? only_comch(pe) : NULL;
	struct check_hit *hit;

	if (doca_likely(!ctx))
		return;
	hit = check_hit_begin(
		BFC_COMCH_SLEEP, call,
		"doca_pe_request_notification: the progress engine has Comch contexts only, which bfsim wakes "
		"and a card may not");
	check_hit_add_object(hit, "progress engine", pe, NULL);
	check_hit_add_ctx(hit, ctx);
	check_hit_end(hit);
}

/* ---- stopped too early ---- */

static void task_failed(struct doca_task *task, doca_error_t status)
{
	(void)status;
	check_thread_self()->failed_ctx = task->ctx;
}

static void task_ended(struct doca_task *task, doca_error_t status)
{
	if (status == DOCA_SUCCESS && check_thread_self()->failed_ctx == task->ctx)
		check_this_thread->failed_ctx = NULL;
}

static void enter_ctx_stop(struct shim_call *call)
{
	const struct check_thread *self = check_this_thread;
	struct comch_endpoint_view endpoint;
	struct check_stack progress;
	struct check_hit *hit;

	if (!self || !self->failed_ctx || self->failed_ctx != check_arg(call, 0) ||
	    !comch_inspect_endpoint(check_arg(call, 0), &endpoint) || !comch_has_lost_peer(&endpoint) ||
	    !check_stack_find_outer_call(call->caller, &progress))
		return;
	hit = check_hit_begin(
		BFC_STOP_IN_ERROR_CALLBACK, call,
		"doca_ctx_stop: called in the error callback of a task of the %s \"%s\", which has lost its peer",
		endpoint.role, endpoint.name);
	check_hit_add_party(hit, self->tid, &progress, "the engine was progressed, and called the program back, here");
	check_hit_add_ctx(hit, endpoint.ctx);
	check_hit_end(hit);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_ctx_stop, enter_ctx_stop, NULL },
	{ SHIM_FN_doca_comch_client_task_send_alloc_init, NULL, leave_alloc_send },
	{ SHIM_FN_doca_comch_server_task_send_alloc_init, NULL, leave_alloc_send },
	{ SHIM_FN_doca_comch_consumer_create, NULL, leave_create_data_path },
	{ SHIM_FN_doca_comch_producer_create, NULL, leave_create_data_path },
	{ SHIM_FN_doca_pe_request_notification, NULL, leave_request_notification },
};

const struct check_part check_comch = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
	.task_failed = task_failed,
	.task_ended = task_ended,
};

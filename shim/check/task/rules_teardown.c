/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about the order in which objects are destroyed. */
#include <inttypes.h>
#include <string.h>

#include "shim/check/base/check.h"
#include "shim/check/history/ctx_history.h"
#include "shim/check/report/hit.h"
#include "shim/common/pe/pe_priv.h"
#include "sim/base/monotonic.h"

static void report_stopping(const struct shim_call *call, const struct doca_ctx *ctx)
{
	size_t num_in_flight = shim_ctx_num_in_flight(ctx);
	struct check_ctx_history history;
	struct check_hit *hit = check_hit_begin(
		BFC_DESTROY_WHILE_STOPPING, call,
		"%s: the %s context is still stopping: %zu tasks in flight, %zu not freed", check_call_name(call),
		ctx->ops->name, num_in_flight, ctx->num_allocated - num_in_flight);

	if (check_ctx_history_find(ctx, &history))
		check_hit_add_party(hit, history.tid, &history.stack, "%" PRIu64 " us before, its stop began",
				    (sim_monotonic_ns() - history.changed_ns) / 1000);
	check_hit_add_ctx(hit, ctx);
	check_hit_end(hit);
}

static void report_running(const struct shim_call *call, const struct doca_ctx *ctx)
{
	struct check_hit *hit = check_hit_begin(
		BFC_DESTROY_RUNNING, call, "%s: the %s context is %s; %u tasks are not freed", check_call_name(call),
		ctx->ops->name, check_ctx_state_name(ctx->state), ctx->num_allocated);

	check_hit_add_ctx(hit, ctx);
	check_hit_end(hit);
}

static void report_engine(const struct shim_call *call, const struct doca_pe *pe)
{
	uint32_t count = 0;
	struct check_hit *hit;

	for (const struct doca_ctx *ctx = pe->ctxs; ctx; ctx = ctx->next_in_pe)
		count++;
	hit = check_hit_begin(BFC_DESTROY_ENGINE_IN_USE, call, "doca_pe_destroy: contexts are still connected: %u",
			      count);
	check_hit_add_object(hit, "engine", pe, NULL);
	for (const struct doca_ctx *ctx = pe->ctxs; ctx; ctx = ctx->next_in_pe)
		check_hit_add_ctx(hit, ctx);
	check_hit_end(hit);
}

static void call_failed(const struct shim_call *call)
{
	const struct doca_ctx *ctx;

	if (check_result(call) != DOCA_ERROR_IN_USE && check_result(call) != DOCA_ERROR_BAD_STATE)
		return;
	if (!strstr(check_call_name(call), "_destroy"))
		return;
	ctx = check_arg_ctx(call, 0);
	if (ctx && ctx->state == DOCA_CTX_STATE_STOPPING)
		report_stopping(call, ctx);
	else if (ctx && ctx->state != DOCA_CTX_STATE_IDLE)
		report_running(call, ctx);
	else if (call->function == SHIM_FN_doca_pe_destroy && shim_handle_is(check_arg(call, 0), SHIM_PE))
		report_engine(call, check_arg(call, 0));
}

const struct check_part check_teardown = {
	.mode = SIM_CHECK_API,
	.call_failed = call_failed,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that a program ends its activity before it ends itself: contexts that run, and maps that are exported. */
#include "shim/check/history/ctx_history.h"
#include "shim/check/history/pe_records.h"
#include "shim/check/history/mmap_history.h"
#include "shim/check/report/hit.h"
#include "shim/check/report/object_sites.h"
#include "shim/common/process/runtime.h"

static void add_submission(struct check_hit *hit, const struct doca_ctx *ctx)
{
	const struct check_pe *engine = check_pe_get(ctx->pe);
	struct check_stack stack = check_stack_of(engine ? engine->submitted_at : NULL);

	if (engine && engine->submitted_at)
		check_hit_add_party(hit, 0, &stack, "the last task of its engine was submitted here");
}

static void report_ctx(const struct doca_ctx *ctx, const struct check_object_sites *sites)
{
	size_t num_in_flight = shim_ctx_num_in_flight(ctx);
	struct check_ctx_history history;
	bool is_known = check_ctx_history_find(ctx, &history) && history.stack.num_frames > 0;
	struct check_hit *hit =
		check_hit_begin_at(BFC_LEFT_AT_EXIT, is_known ? &history.stack : &sites->created.stack,
				   "the program ends while the %s is %s%s; tasks in flight: %zu", sites->kind,
				   check_ctx_state_name(ctx->state), is_known ? " since here" : "", num_in_flight);

	if (num_in_flight > 0)
		add_submission(hit, ctx);
	check_hit_add_ctx(hit, ctx);
	check_hit_end(hit);
}

/* A context that stops is another rule's matter (rules_stop.c); one whose engine a thread still uses may be about to. */
static bool is_left(const struct doca_ctx *ctx)
{
	const struct check_pe *engine = ctx->pe ? check_pe_get(ctx->pe) : NULL;

	return engine && !engine->user && !ctx->is_internal &&
	       (ctx->state == DOCA_CTX_STATE_RUNNING || ctx->state == DOCA_CTX_STATE_STARTING);
}

static void report_mmap(const struct doca_mmap *mmap, const struct check_object_sites *sites)
{
	struct check_mmap_call start;
	bool is_known = check_mmap_call_find(mmap, CHECK_MMAP_START, &start);
	struct check_hit *hit =
		check_hit_begin_at(BFC_LEFT_AT_EXIT, is_known ? &start.stack : &sites->created.stack,
				   "the program ends while the memory map that was started here is exported");

	check_mmap_add_object(hit, mmap);
	check_hit_end(hit);
}

static void see(const struct check_object_sites *sites, void *unused)
{
	const void *handle = sites->handle;

	(void)unused;
	if (sites->fork_generation != shim_fork_generation)
		return;
	if (shim_ctx_is(handle) && is_left(handle))
		report_ctx(handle, sites);
	else if (shim_handle_is(handle, SHIM_MMAP) && shim_mmap_state(handle) == SHIM_MMAP_EXPORTED)
		report_mmap(handle, sites);
}

static void at_exit(void)
{
	check_objects_each(see, NULL);
}

const struct check_part check_exit = {
	.mode = SIM_CHECK_API,
	.exit = at_exit,
};

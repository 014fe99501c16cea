/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that the tasks of a stopping context are freed. */
#include <inttypes.h>

#include "shim/check/history/ctx_history.h"
#include "pe_rules.h"
#include "shim/check/report/hit.h"
#include "shim/common/pe/task_priv.h"
#include "sim/base/monotonic.h"
#include "shim/check/history/task_sites.h"

#define MAX_SITES 8 /* in a report */

/* Tasks that were allocated at one site. */
struct group {
	const void *site;
	const char *kind;
	uint32_t count;
};

struct groups {
	uint32_t num;
	struct group groups[MAX_SITES];
};

static void add_task(struct groups *groups, const struct doca_task *task)
{
	const void *site = check_task_site(task);
	uint32_t i = 0;

	while (i < groups->num && (groups->groups[i].site != site || groups->groups[i].kind != task->pool->type->name))
		i++;
	if (i == MAX_SITES)
		return;
	if (i == groups->num)
		groups->groups[groups->num++] = (struct group){ .site = site, .kind = task->pool->type->name };
	groups->groups[i].count++;
}

static void group_tasks(const struct doca_ctx *ctx, struct groups *ret_groups)
{
	ret_groups->num = 0;
	for (const struct shim_task_pool *pool = ctx->pools; pool; pool = pool->next)
		for (uint32_t i = pool->num_never_used; i < pool->count; i++) {
			const struct doca_task *task = (const struct doca_task *)(pool->tasks + i * pool->type->size);

			if (shim_object_is(task, SHIM_TASK))
				add_task(ret_groups, task);
		}
}

/* By the thread that uses the context. */
static void add_details(struct check_hit *hit, const struct doca_ctx *ctx)
{
	struct check_ctx_history history;
	struct groups groups;

	if (!hit)
		return;
	group_tasks(ctx, &groups);
	for (uint32_t i = 0; i < groups.num; i++) {
		struct check_stack stack = check_stack_of(groups.groups[i].site);

		stack.num_frames = groups.groups[i].site != NULL;
		check_hit_add_party(hit, 0, &stack, "%u %s tasks that are not freed were allocated here",
				    groups.groups[i].count, groups.groups[i].kind);
	}
	if (check_ctx_history_find(ctx, &history))
		check_hit_add_party(hit, history.tid, &history.stack,
				    "%" PRIu64 " ms before, the stop of the context began",
				    (uint64_t)((sim_monotonic_ns() - history.changed_ns) / SIM_NS_PER_MS));
	check_hit_add_ctx(hit, ctx);
}

static bool waits_for_free(const struct doca_ctx *ctx)
{
	return ctx && ctx->state == DOCA_CTX_STATE_STOPPING && ctx->num_allocated > 0;
}

/* The thread that progresses the engine inspects the context: at half the stall timeout, and again at the whole. */
void check_stop_inspect(struct check_pe *engine, uint64_t ns)
{
	struct check_pe_watch *watch = &engine->watch;
	bool is_stopping = engine->transitional && engine->transitional_state == DOCA_CTX_STATE_STOPPING &&
			   check_pe_in_flight(engine) == 0;

	watch->stopping_ns = is_stopping ? watch->stopping_ns + ns : 0;
	if (watch->stopping_ns >= check_stall_timeout_ns() / 2) {
		watch->stopping_ns = 0;
		engine->pending_check = engine->transitional;
	}
}

void check_stop_pending(const struct shim_call *call, struct check_pe *engine)
{
	const struct doca_ctx *ctx = engine->pending_check;
	uint32_t num_kept, before = engine->num_kept;
	struct check_hit *hit;

	engine->pending_check = NULL;
	num_kept = shim_ctx_is(ctx) && waits_for_free(ctx) && shim_ctx_num_in_flight(ctx) < ctx->num_allocated ?
			   ctx->num_allocated :
			   0;
	engine->num_kept = num_kept == before ? 0 : num_kept;
	if (num_kept == 0 || num_kept != before) /* tasks are being freed, or this is the first inspection */
		return;
	hit = check_hit_begin(BFC_TASKS_NOT_FREED, call, "the %s context can't become idle: %u tasks are not freed",
			      ctx->ops->name, ctx->num_allocated);
	add_details(hit, ctx);
	check_hit_end(hit);
}

/* An engine that another thread is using is left out, and a context that a failure stopped: the program gave up. */
static void inspect_at_exit(struct check_pe *engine, void *unused)
{
	const struct doca_ctx *ctx = engine->transitional;
	struct check_ctx_history history;
	struct check_hit *hit;

	(void)unused;
	if (engine->user || !shim_ctx_is(ctx) || !waits_for_free(ctx) || !check_ctx_history_find(ctx, &history) ||
	    history.function != SHIM_FN_doca_ctx_stop)
		return;
	hit = check_hit_begin_at(BFC_TASKS_NOT_FREED, &history.stack,
				 "the program ends while the %s context is stopping: %u tasks are not freed",
				 ctx->ops->name, ctx->num_allocated);
	add_details(hit, ctx);
	check_hit_end(hit);
}

static void at_exit(void)
{
	check_pes_each(inspect_at_exit, NULL);
}

const struct check_part check_stop = {
	.mode = SIM_CHECK_API,
	.exit = at_exit,
};

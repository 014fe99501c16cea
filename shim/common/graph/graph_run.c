/* SPDX-License-Identifier: BSD-3-Clause */
/* Running instances of graphs.
 *
 * All that follows from one event (a submit, the end of a task, room in a context)
 * is worked off in a list, so that neither long chains of user nodes nor graphs in
 * graphs make the stack grow. The user's callback comes last: after it nothing of
 * the instance is touched, as it may be gone. */
#include "graph_priv.h"

#include "shim/common/base/check.h"

/* What one event leads to. */
struct work {
	struct shim_runs ready;
	struct doca_graph_instance *over; /* the user's instance that came to its end, if any */
};

static void append(struct shim_runs *runs, struct shim_run *run)
{
	run->next = NULL;
	*runs->end = run;
	runs->end = &run->next;
}

/* Take out the run that @link points to. */
static struct shim_run *take(struct shim_runs *runs, struct shim_run **link)
{
	struct shim_run *run = *link;

	*link = run->next;
	if (!*link)
		runs->end = link;
	return run;
}

static void make_ready(struct work *work, struct shim_run *run)
{
	run->instance->num_active++;
	append(&work->ready, run);
}

/* ---- the end of a run ---- */

static void release_followers(struct work *work, const struct shim_run *run)
{
	for (uint32_t i = 0; i < run->node->num_followers; i++) {
		struct shim_run *follower = &run->instance->runs[run->node->followers[i]->index];

		if (--follower->unmet == 0)
			make_ready(work, follower);
	}
}

static void note_failure(const struct shim_run *run, doca_error_t error)
{
	if (run->instance->error != DOCA_SUCCESS)
		return;
	run->instance->error = error;
	sim_warn("a graph's node (number %u, in order of creation) failed with %s: its instance fails as soon as what is under way has ended",
		 run->node->index, doca_error_get_name(error));
}

/* A run ends; that may end its instance, which is the end of the run above it, and so on. */
static void finish(struct work *work, struct shim_run *run, doca_error_t result)
{
	while (run) {
		struct doca_graph_instance *instance = run->instance;

		instance->num_active--;
		if (result != DOCA_SUCCESS)
			note_failure(run, result);
		else if (instance->error == DOCA_SUCCESS)
			release_followers(work, run);
		if (instance->num_active > 0)
			return;
		instance->submitted = false;
		result = instance->error;
		run = instance->parent;
		if (!run)
			work->over = instance;
	}
}

/* ---- the begin of a run ---- */

/* With what the instance, or one that it is a part of, has failed; or DOCA_SUCCESS. */
static doca_error_t doom_of(const struct doca_graph_instance *instance)
{
	while (instance->error == DOCA_SUCCESS && instance->parent)
		instance = instance->parent->instance;
	return instance->error;
}

static void begin_instance(struct work *work, struct doca_graph_instance *instance, struct shim_run *parent)
{
	instance->submitted = true;
	instance->error = DOCA_SUCCESS;
	instance->num_active = 0;
	instance->parent = parent;
	for (uint32_t i = 0; i < instance->graph->num_nodes; i++)
		instance->runs[i].unmet = instance->runs[i].node->num_deps;
	for (uint32_t i = 0; i < instance->graph->num_nodes; i++)
		if (instance->runs[i].node->num_deps == 0)
			make_ready(work, &instance->runs[i]);
}

/* A run's begin: it is under way, must wait, or is over, with a result. */
enum outcome { UNDER_WAY, MUST_WAIT, OVER };

static enum outcome begin_task(struct shim_run *run, doca_error_t *result)
{
	struct doca_task *task = run->task;

	*result = DOCA_ERROR_INVALID_VALUE;
	if (!shim_is(task, SHIM_TASK) || task->ctx != run->node->ctx) {
		sim_err("a graph's node (number %u): its task was freed; tasks must outlive the instance",
			run->node->index);
		return OVER;
	}
	if (task->in_flight)
		return MUST_WAIT;
	task->taker = &run->taker;
	*result = doca_task_submit(task);
	if (*result == DOCA_SUCCESS)
		return UNDER_WAY;
	task->taker = NULL;
	return *result == DOCA_ERROR_AGAIN ? MUST_WAIT : OVER;
}

static enum outcome begin_sub(struct work *work, struct shim_run *run, doca_error_t *result)
{
	if (run->sub->submitted)
		return MUST_WAIT;
	*result = DOCA_ERROR_INVALID_VALUE;
	if (!shim_instance_is_complete(run->sub))
		return OVER;
	begin_instance(work, run->sub, run);
	return UNDER_WAY;
}

static enum outcome begin(struct work *work, struct shim_run *run, doca_error_t *result)
{
	if (run->node->kind == SHIM_NODE_CTX)
		return begin_task(run, result);
	if (run->node->kind == SHIM_NODE_GRAPH)
		return begin_sub(work, run, result);
	*result = run->node->cb(run->cookie);
	return OVER;
}

/* Begin one that is ready or waits. A doomed one goes, and nothing of it is done. */
static enum outcome try(struct work *work, struct shim_run *run, doca_error_t *result)
{
	*result = doom_of(run->instance);
	if (*result == DOCA_SUCCESS)
		return begin(work, run, result);
	run->instance->error = *result;
	return OVER;
}

static void wait_for_turn(struct shim_run *run)
{
	struct doca_graph *graph = run->instance->graph;

	append(&graph->waiting, run);
	graph->ctx.num_posted++;
}

/* Do all that is ready, and all that follows from it. */
static void work_off(struct work *work)
{
	while (work->ready.first) {
		struct shim_run *run = take(&work->ready, &work->ready.first);
		doca_error_t result;
		enum outcome outcome = try(work, run, &result);

		if (outcome == MUST_WAIT)
			wait_for_turn(run);
		else if (outcome == OVER)
			finish(work, run, result);
	}
}

static void work_init(struct work *work)
{
	shim_runs_init(&work->ready);
	work->over = NULL;
}

/* Tell the user of the instance that came to its end, if one did. */
static void tell(const struct work *work)
{
	struct doca_graph_instance *instance = work->over;
	const struct doca_graph *graph;

	if (!instance)
		return;
	graph = instance->graph;
	(instance->error == DOCA_SUCCESS ? graph->done : graph->failed)(instance, instance->user_data,
									  graph->user_data);
}

/* ---- what happens outside ---- */

void shim_run_take(struct shim_task_taker *taker, struct doca_task *task)
{
	struct work work;

	work_init(&work);
	finish(&work, (struct shim_run *)taker, task->status);
	work_off(&work);
	tell(&work);
}

doca_error_t doca_graph_instance_submit(struct doca_graph_instance *graph_instance)
{
	struct work work;

	SHIM_NEED(graph_instance, SHIM_GRAPH_INSTANCE);
	if (!shim_ctx_is_ours(&graph_instance->graph->ctx))
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the graph is of the process before fork(); make one in the child");
	if (shim_instance_is_submitted(graph_instance))
		return SHIM_REFUSE(DOCA_ERROR_IN_USE, "the instance is submitted already: wait for its callback");
	if (!shim_instance_is_complete(graph_instance))
		return DOCA_ERROR_INVALID_VALUE;
	work_init(&work);
	begin_instance(&work, graph_instance, NULL);
	work_off(&work);
	if (work.over && work.over->error != DOCA_SUCCESS)
		return work.over->error;
	tell(&work); /* so soon only if a user node called doca_pe_progress(), which it must not */
	return DOCA_SUCCESS;
}

/* ---- runs that wait, as the progress engine sees them ---- */

static struct doca_graph *graph_of(const struct doca_ctx *ctx)
{
	return (struct doca_graph *)((uintptr_t)ctx - offsetof(struct doca_graph, ctx));
}

/* The first that needs to wait no longer begins. */
static bool graph_progress(struct doca_ctx *ctx)
{
	struct doca_graph *graph = graph_of(ctx);
	struct work work;

	work_init(&work);
	for (struct shim_run **link = &graph->waiting.first; *link; link = &(*link)->next) {
		struct shim_run *run = *link;
		doca_error_t result;
		enum outcome outcome = try(&work, run, &result);

		if (outcome == MUST_WAIT)
			continue;
		take(&graph->waiting, link);
		ctx->num_posted--;
		if (outcome == OVER)
			finish(&work, run, result);
		work_off(&work);
		tell(&work);
		return true; /* the graph may be gone */
	}
	return false;
}

/* Whether the run has lost the reason to wait that shows: what it needs is not busy. Of
 * room in a context nothing shows but a try, which may call the user: so, perhaps. */
static bool may_begin(const struct shim_run *run)
{
	if (doom_of(run->instance) != DOCA_SUCCESS)
		return true;
	if (run->node->kind == SHIM_NODE_GRAPH)
		return !run->sub->submitted;
	return !shim_is(run->task, SHIM_TASK) || !run->task->in_flight;
}

static bool graph_arm(struct doca_ctx *ctx)
{
	for (const struct shim_run *run = graph_of(ctx)->waiting.first; run; run = run->next)
		if (may_begin(run))
			return true;
	return false;
}

/* It runs for life: only the progress engine knows of it, and that starts nothing. */
static doca_error_t graph_start_never(struct doca_ctx *ctx)
{
	(void)ctx;
	return DOCA_ERROR_BAD_STATE;
}

const struct shim_ctx_ops shim_graph_ops = {
	.name = "graph",
	.start = graph_start_never,
	.may_stop = shim_ctx_may_stop_always,
	.end = shim_ctx_end_nothing,
	.progress = graph_progress,
	.arm = graph_arm,
	.at_rest = shim_ctx_at_rest_always,
	.stopped = shim_ctx_end_nothing,
};

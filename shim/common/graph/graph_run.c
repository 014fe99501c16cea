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
struct worklist {
	struct shim_node_run_queue ready;
	struct doca_graph_instance *finished; /* the user's instance that came to its end, if any */
};

static void append(struct shim_node_run_queue *runs, struct shim_node_run *run)
{
	run->next = NULL;
	*runs->end = run;
	runs->end = &run->next;
}

/* Take out the run that @link points to. */
static struct shim_node_run *unlink_run(struct shim_node_run_queue *runs, struct shim_node_run **link)
{
	struct shim_node_run *run = *link;

	*link = run->next;
	if (!*link)
		runs->end = link;
	return run;
}

static void make_ready(struct worklist *work, struct shim_node_run *run)
{
	run->instance->num_active++;
	append(&work->ready, run);
}

/* ---- the end of a run ---- */

static void release_successors(struct worklist *work, const struct shim_node_run *run)
{
	for (uint32_t i = 0; i < run->node->num_successors; i++) {
		struct shim_node_run *successor = &run->instance->runs[run->node->successors[i]->index];

		if (--successor->num_unmet_deps == 0)
			make_ready(work, successor);
	}
}

static void record_error(const struct shim_node_run *run, doca_error_t error)
{
	if (run->instance->error != DOCA_SUCCESS)
		return;
	run->instance->error = error;
	sim_warn(
		"a graph's node (number %u, in order of creation) failed with %s: its instance fails as soon as what is under way has ended",
		run->node->index, doca_error_get_name(error));
}

/* A run ends; that may end its instance, which is the end of the run above it, and so on. */
static void finish_run(struct worklist *work, struct shim_node_run *run, doca_error_t result)
{
	while (run) {
		struct doca_graph_instance *instance = run->instance;

		instance->num_active--;
		if (result != DOCA_SUCCESS)
			record_error(run, result);
		else if (instance->error == DOCA_SUCCESS)
			release_successors(work, run);
		if (instance->num_active > 0)
			return;
		instance->submitted = false;
		result = instance->error;
		run = instance->parent;
		if (!run)
			work->finished = instance;
	}
}

/* ---- the begin of a run ---- */

/* With what the instance, or one that it is a part of, has failed; or DOCA_SUCCESS. */
static doca_error_t inherited_error(const struct doca_graph_instance *instance)
{
	while (instance->error == DOCA_SUCCESS && instance->parent)
		instance = instance->parent->instance;
	return instance->error;
}

static void start_instance(struct worklist *work, struct doca_graph_instance *instance, struct shim_node_run *parent)
{
	instance->submitted = true;
	instance->error = DOCA_SUCCESS;
	instance->num_active = 0;
	instance->parent = parent;
	for (uint32_t i = 0; i < instance->graph->num_nodes; i++)
		instance->runs[i].num_unmet_deps = instance->runs[i].node->num_deps;
	for (uint32_t i = 0; i < instance->graph->num_nodes; i++)
		if (instance->runs[i].node->num_deps == 0)
			make_ready(work, &instance->runs[i]);
}

/* A run's begin: it is under way, must wait, or is over, with a result. */
enum run_outcome { RUN_STARTED, RUN_BLOCKED, RUN_FINISHED };

static enum run_outcome start_task(struct shim_node_run *run, doca_error_t *result)
{
	struct doca_task *task = run->task;

	*result = DOCA_ERROR_INVALID_VALUE;
	if (!shim_object_is(task, SHIM_TASK) || task->ctx != run->node->ctx) {
		sim_err("a graph's node (number %u): its task was freed; tasks must outlive the instance",
			run->node->index);
		return RUN_FINISHED;
	}
	if (task->in_flight)
		return RUN_BLOCKED;
	task->hook = &run->hook;
	*result = doca_task_submit(task);
	if (*result == DOCA_SUCCESS)
		return RUN_STARTED;
	task->hook = NULL;
	return *result == DOCA_ERROR_AGAIN ? RUN_BLOCKED : RUN_FINISHED;
}

static enum run_outcome start_subgraph(struct worklist *work, struct shim_node_run *run, doca_error_t *result)
{
	if (run->sub->submitted)
		return RUN_BLOCKED;
	*result = DOCA_ERROR_INVALID_VALUE;
	if (!shim_instance_is_complete(run->sub))
		return RUN_FINISHED;
	start_instance(work, run->sub, run);
	return RUN_STARTED;
}

static enum run_outcome start_run(struct worklist *work, struct shim_node_run *run, doca_error_t *result)
{
	if (run->node->kind == SHIM_NODE_CTX)
		return start_task(run, result);
	if (run->node->kind == SHIM_NODE_GRAPH)
		return start_subgraph(work, run, result);
	*result = run->node->cb(run->cookie);
	return RUN_FINISHED;
}

/* Begin one that is ready or waits. A doomed one goes, and nothing of it is done. */
static enum run_outcome try_start_run(struct worklist *work, struct shim_node_run *run, doca_error_t *result)
{
	*result = inherited_error(run->instance);
	if (*result == DOCA_SUCCESS)
		return start_run(work, run, result);
	run->instance->error = *result;
	return RUN_FINISHED;
}

static void enqueue_waiting(struct shim_node_run *run)
{
	struct doca_graph *graph = run->instance->graph;

	append(&graph->waiting, run);
	graph->ctx.num_posted++;
}

/* Do all that is ready, and all that follows from it. */
static void process_worklist(struct worklist *work)
{
	while (work->ready.first) {
		struct shim_node_run *run = unlink_run(&work->ready, &work->ready.first);
		doca_error_t result;
		enum run_outcome outcome = try_start_run(work, run, &result);

		if (outcome == RUN_BLOCKED)
			enqueue_waiting(run);
		else if (outcome == RUN_FINISHED)
			finish_run(work, run, result);
	}
}

static void worklist_init(struct worklist *work)
{
	shim_node_run_queue_init(&work->ready);
	work->finished = NULL;
}

/* Tell the user of the instance that came to its end, if one did. */
static void call_user_callback(const struct worklist *work)
{
	struct doca_graph_instance *instance = work->finished;
	const struct doca_graph *graph;

	if (!instance)
		return;
	graph = instance->graph;
	(instance->error == DOCA_SUCCESS ? graph->done : graph->failed)(instance, instance->user_data,
									graph->user_data);
}

/* ---- what happens outside ---- */

void shim_node_run_on_complete(struct shim_completion_hook *hook, struct doca_task *task)
{
	struct worklist work;

	worklist_init(&work);
	finish_run(&work, (struct shim_node_run *)hook, task->status);
	process_worklist(&work);
	call_user_callback(&work);
}

doca_error_t doca_graph_instance_submit(struct doca_graph_instance *graph_instance)
{
	struct worklist work;

	SHIM_NEED(graph_instance, SHIM_GRAPH_INSTANCE);
	if (!shim_ctx_is_same_process(&graph_instance->graph->ctx))
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,
				   "the graph is of the process before fork(); make one in the child");
	if (shim_instance_is_submitted(graph_instance))
		return SHIM_REFUSE(DOCA_ERROR_IN_USE, "the instance is submitted already: wait for its callback");
	if (!shim_instance_is_complete(graph_instance))
		return DOCA_ERROR_INVALID_VALUE;
	worklist_init(&work);
	start_instance(&work, graph_instance, NULL);
	process_worklist(&work);
	if (work.finished && work.finished->error != DOCA_SUCCESS)
		return work.finished->error;
	call_user_callback(&work); /* so soon only if a user node called doca_pe_progress(), which it must not */
	return DOCA_SUCCESS;
}

/* ---- runs that wait, as the progress engine sees them ---- */

static struct doca_graph *to_graph(const struct doca_ctx *ctx)
{
	return (struct doca_graph *)((uintptr_t)ctx - offsetof(struct doca_graph, ctx));
}

/* The first that needs to wait no longer begins. */
static bool graph_progress(struct doca_ctx *ctx)
{
	struct doca_graph *graph = to_graph(ctx);
	struct worklist work;

	worklist_init(&work);
	for (struct shim_node_run **link = &graph->waiting.first; *link; link = &(*link)->next) {
		struct shim_node_run *run = *link;
		doca_error_t result;
		enum run_outcome outcome = try_start_run(&work, run, &result);

		if (outcome == RUN_BLOCKED)
			continue;
		unlink_run(&graph->waiting, link);
		ctx->num_posted--;
		if (outcome == RUN_FINISHED)
			finish_run(&work, run, result);
		process_worklist(&work);
		call_user_callback(&work);
		return true; /* the graph may be gone */
	}
	return false;
}

/* Whether the run has lost the reason to wait that shows: what it needs is not busy. Of
 * room in a context nothing shows but a try, which may call the user: so, perhaps. */
static bool may_start(const struct shim_node_run *run)
{
	if (inherited_error(run->instance) != DOCA_SUCCESS)
		return true;
	if (run->node->kind == SHIM_NODE_GRAPH)
		return !run->sub->submitted;
	return !shim_object_is(run->task, SHIM_TASK) || !run->task->in_flight;
}

static bool graph_arm(struct doca_ctx *ctx)
{
	for (const struct shim_node_run *run = to_graph(ctx)->waiting.first; run; run = run->next)
		if (may_start(run))
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
	.begin_stop = shim_ctx_nop,
	.progress = graph_progress,
	.arm = graph_arm,
	.is_drained = shim_ctx_is_drained_always,
	.stopped = shim_ctx_nop,
};

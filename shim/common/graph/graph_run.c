/* SPDX-License-Identifier: BSD-3-Clause */
/* Instances of graphs that run.
 *
 * A worklist holds the follow-up work of one event, so neither long chains of user nodes nor nested
 * graphs make the stack grow. The user's callback comes last: the callback may free the instance. */
#include "graph_priv.h"

#include "shim/common/base/check.h"

static void on_task_complete(struct shim_completion_hook *hook, struct doca_task *task);

static void worklist_init(struct shim_graph_worklist *work)
{
	TAILQ_INIT(&work->ready);
	work->finished = NULL;
}

/* ---- the end of a run ---- */

static void release_successors(struct shim_graph_worklist *work, const struct shim_node_run *run)
{
	for (uint32_t i = 0; i < run->node->num_successors; i++) {
		struct shim_node_run *successor = &run->instance->runs[run->node->successors[i]->index];

		if (--successor->num_unmet_deps == 0)
			shim_node_run_set_state(work, successor, SHIM_NODE_RUN_READY);
	}
}

static void record_error(const struct shim_node_run *run, doca_error_t error)
{
	if (run->instance->error != DOCA_SUCCESS)
		return;
	run->instance->error = error;
	sim_warn(
		"node %u of a graph (in order of creation) failed with %s: its instance fails when its running nodes have ended",
		run->node->index, doca_error_get_name(error));
}

/* End a run. The last active run ends its instance, and with it the parent run, and so on. */
static void finish_run(struct shim_graph_worklist *work, struct shim_node_run *run, doca_error_t result)
{
	while (run) {
		struct doca_graph_instance *instance = run->instance;

		shim_node_run_set_state(work, run, SHIM_NODE_RUN_DONE);
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

/* ---- the start of a run ---- */

/* Return the error of the instance or of an instance around it, or DOCA_SUCCESS. */
static doca_error_t inherited_error(const struct doca_graph_instance *instance)
{
	while (instance->error == DOCA_SUCCESS && instance->parent)
		instance = instance->parent->instance;
	return instance->error;
}

static void start_instance(struct shim_graph_worklist *work, struct doca_graph_instance *instance,
			   struct shim_node_run *parent)
{
	instance->submitted = true;
	instance->error = DOCA_SUCCESS;
	instance->parent = parent;
	for (uint32_t i = 0; i < instance->graph->num_nodes; i++) {
		struct shim_node_run *run = &instance->runs[i];

		if (run->state == SHIM_NODE_RUN_DONE) /* of the submission before */
			shim_node_run_set_state(work, run, SHIM_NODE_RUN_IDLE);
		run->num_unmet_deps = run->node->num_deps;
		if (run->num_unmet_deps == 0)
			shim_node_run_set_state(work, run, SHIM_NODE_RUN_READY);
	}
}

enum run_outcome { RUN_STARTED, RUN_BLOCKED, RUN_FINISHED };

static enum run_outcome start_task(struct shim_node_run *run, doca_error_t *result)
{
	struct doca_task *task = run->task;

	*result = DOCA_ERROR_INVALID_VALUE;
	if (!shim_object_is(task, SHIM_TASK) || task->ctx != run->node->ctx) {
		sim_err("the task of a graph's node %u (in order of creation) was freed; tasks must outlive the instance",
			run->node->index);
		return RUN_FINISHED;
	}
	if (task->in_flight)
		return RUN_BLOCKED;
	run->hook.on_complete = on_task_complete;
	task->hook = &run->hook;
	*result = doca_task_submit(task);
	if (*result == DOCA_SUCCESS)
		return RUN_STARTED;
	task->hook = NULL;
	return *result == DOCA_ERROR_AGAIN ? RUN_BLOCKED : RUN_FINISHED;
}

static enum run_outcome start_subgraph(struct shim_graph_worklist *work, struct shim_node_run *run,
				       doca_error_t *result)
{
	if (run->sub->submitted)
		return RUN_BLOCKED;
	*result = DOCA_ERROR_INVALID_VALUE;
	if (!shim_instance_is_complete(run->sub))
		return RUN_FINISHED;
	start_instance(work, run->sub, run);
	return RUN_STARTED;
}

static enum run_outcome start_node(struct shim_graph_worklist *work, struct shim_node_run *run, doca_error_t *result)
{
	*result = inherited_error(run->instance);
	if (*result != DOCA_SUCCESS) { /* a failed instance starts no further node */
		run->instance->error = *result;
		return RUN_FINISHED;
	}
	if (run->node->kind == SHIM_NODE_CTX)
		return start_task(run, result);
	if (run->node->kind == SHIM_NODE_GRAPH)
		return start_subgraph(work, run, result);
	*result = run->node->cb(run->cookie);
	return RUN_FINISHED;
}

/* Start a run that is ready or waiting. Return whether its state has changed. */
static bool try_start_run(struct shim_graph_worklist *work, struct shim_node_run *run)
{
	doca_error_t result;
	enum run_outcome outcome = start_node(work, run, &result);

	if (outcome == RUN_FINISHED)
		finish_run(work, run, result);
	else if (outcome == RUN_STARTED)
		shim_node_run_set_state(work, run, SHIM_NODE_RUN_RUNNING);
	else if (run->state == SHIM_NODE_RUN_READY)
		shim_node_run_set_state(work, run, SHIM_NODE_RUN_WAITING);
	else
		return false;
	return true;
}

static void process_worklist(struct shim_graph_worklist *work)
{
	while (!TAILQ_EMPTY(&work->ready))
		try_start_run(work, TAILQ_FIRST(&work->ready));
}

static void call_user_callback(const struct shim_graph_worklist *work)
{
	struct doca_graph_instance *instance = work->finished;
	const struct doca_graph *graph;

	if (!instance)
		return;
	graph = instance->graph;
	(instance->error == DOCA_SUCCESS ? graph->done : graph->failed)(instance, instance->user_data,
									graph->user_data);
}

static void on_task_complete(struct shim_completion_hook *hook, struct doca_task *task)
{
	struct shim_graph_worklist work;

	shim_task_apply(task);
	worklist_init(&work);
	finish_run(&work, (struct shim_node_run *)hook, task->status);
	process_worklist(&work);
	call_user_callback(&work);
}

/* ---- submit ---- */

doca_error_t doca_graph_instance_submit(struct doca_graph_instance *graph_instance)
{
	struct shim_graph_worklist work;

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
	call_user_callback(&work); /* only if a user node called doca_pe_progress(), against the reference */
	return DOCA_SUCCESS;
}

/* ---- operations of a graph's context: waiting runs ---- */

static struct doca_graph *to_graph(const struct doca_ctx *ctx)
{
	return (struct doca_graph *)((uintptr_t)ctx - offsetof(struct doca_graph, ctx));
}

/* Start the oldest waiting run that has room now. */
static bool graph_progress(struct doca_ctx *ctx)
{
	struct shim_graph_worklist work;
	struct shim_node_run *run;

	worklist_init(&work);
	TAILQ_FOREACH(run, &to_graph(ctx)->waiting, link) {
		if (!try_start_run(&work, run))
			continue;
		process_worklist(&work);
		call_user_callback(&work);
		return true; /* the callback may have destroyed the graph */
	}
	return false;
}

/* Return whether a waiting run may have room now. Only a submit shows whether a context has room, and
 * a submit may call the user, so the answer for a context node with a free task is yes. */
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
	const struct shim_node_run *run;

	TAILQ_FOREACH(run, &to_graph(ctx)->waiting, link) {
		if (may_start(run))
			return true;
	}
	return false;
}

/* The context runs from doca_graph_create() on, and the user has no handle to start it. */
static doca_error_t graph_start_never(struct doca_ctx *ctx)
{
	(void)ctx;
	return DOCA_ERROR_BAD_STATE;
}

const struct shim_ctx_ops shim_graph_ops = {
	.name = "graph",
	.hears_sync = true,
	.start = graph_start_never,
	.may_stop = shim_ctx_may_stop_always,
	.begin_stop = shim_ctx_nop,
	.progress = graph_progress,
	.arm = graph_arm,
	.is_drained = shim_ctx_is_drained_always,
	.stopped = shim_ctx_nop,
};

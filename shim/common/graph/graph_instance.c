/* SPDX-License-Identifier: BSD-3-Clause */
/* Instances of graphs: life, and the data of the nodes. */
#include "graph_priv.h"

#include <stdlib.h>

#include "shim/common/base/alloc.h"
#include "shim/common/base/check.h"

#define NEED_INSTANCE(instance) SHIM_NEED(instance, SHIM_GRAPH_INSTANCE)

/* ---- life ---- */

static void init_runs(struct doca_graph_instance *instance)
{
	const struct doca_graph_node *node;

	STAILQ_FOREACH(node, &instance->graph->nodes, link) {
		instance->runs[node->index].instance = instance;
		instance->runs[node->index].node = node;
	}
}

doca_error_t doca_graph_instance_create(const struct doca_graph *graph, struct doca_graph_instance **graph_instance)
{
	struct doca_graph *owner = (struct doca_graph *)(uintptr_t)graph; /* counts its instances */
	struct doca_graph_instance *created;

	SHIM_NEED(graph, SHIM_GRAPH);
	SHIM_NEED_OUT(graph_instance);
	if (!graph->started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the graph is not started; start it first");
	if (graph->num_instances == graph->max_instances)
		return SHIM_REFUSE(DOCA_ERROR_NO_MEMORY, "all %u instances exist that doca_graph_set_conf() asked for",
				   graph->max_instances);
	created = shim_object_new(SHIM_GRAPH_INSTANCE, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->runs = shim_calloc(graph->num_nodes, sizeof(*created->runs));
	if (!created->runs) {
		shim_object_free(created, SHIM_GRAPH_INSTANCE);
		return DOCA_ERROR_NO_MEMORY;
	}
	created->graph = owner;
	init_runs(created);
	owner->num_instances++;
	*graph_instance = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_instance_destroy(struct doca_graph_instance *graph_instance)
{
	NEED_INSTANCE(graph_instance);
	if (shim_instance_is_submitted(graph_instance))
		return SHIM_REFUSE(DOCA_ERROR_IN_USE, "the instance is submitted: wait for its callback");
	if (graph_instance->num_uses > 0)
		return SHIM_REFUSE(DOCA_ERROR_IN_USE,
				   "the instance is the data of a sub graph node; destroy the node's instance before");
	for (uint32_t i = 0; i < graph_instance->graph->num_nodes; i++)
		if (graph_instance->runs[i].sub)
			graph_instance->runs[i].sub->num_uses--;
	graph_instance->graph->num_instances--;
	free(graph_instance->runs);
	shim_object_free(graph_instance, SHIM_GRAPH_INSTANCE);
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_instance_set_user_data(struct doca_graph_instance *graph_instance, union doca_data user_data)
{
	NEED_INSTANCE(graph_instance);
	if (shim_instance_is_submitted(graph_instance))
		return SHIM_REFUSE(DOCA_ERROR_IN_USE, "the instance is submitted: wait for its callback");
	graph_instance->user_data = user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_instance_get_user_data(const struct doca_graph_instance *graph_instance,
					       union doca_data *user_data)
{
	NEED_INSTANCE(graph_instance);
	SHIM_NEED_OUT(user_data);
	*user_data = graph_instance->user_data;
	return DOCA_SUCCESS;
}

/* ---- data ---- */

static bool run_has_data(const struct shim_node_run *run)
{
	return run->node->kind == SHIM_NODE_USER || run->task || run->sub;
}

bool shim_instance_is_complete(const struct doca_graph_instance *instance)
{
	for (uint32_t i = 0; i < instance->graph->num_nodes; i++) {
		if (run_has_data(&instance->runs[i]))
			continue;
		sim_err("a graph's instance can't run: its node %u has no data (doca_graph_instance_set_..._node_data)",
			i);
		return false;
	}
	return true;
}

/* Checks that the data of all kinds of nodes share. */
static doca_error_t check_set_node_data(const char *func, const struct doca_graph_instance *instance,
					const struct doca_graph_node *node, enum shim_node_kind kind)
{
	static const char *const kinds[] = { "context", "user", "sub graph" };

	if (shim_instance_is_submitted(instance)) {
		sim_err("%s: the instance is submitted: wait for its callback", func);
		return DOCA_ERROR_BAD_STATE;
	}
	if (node->graph != instance->graph) {
		sim_err("%s: the node is of another graph than the instance", func);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (node->kind != kind) {
		sim_err("%s: node %u is a %s node", func, node->index, kinds[node->kind]);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_instance_set_ctx_node_data(struct doca_graph_instance *graph_instance,
						   struct doca_graph_node *node, struct doca_task *task)
{
	doca_error_t result;

	NEED_INSTANCE(graph_instance);
	SHIM_NEED(node, SHIM_GRAPH_NODE);
	SHIM_NEED(task, SHIM_TASK);
	result = check_set_node_data(__func__, graph_instance, node, SHIM_NODE_CTX);
	if (result != DOCA_SUCCESS)
		return result;
	if (task->ctx != node->ctx)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the task is of another context than node %u",
				   node->index);
	graph_instance->runs[node->index].task = task;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_instance_set_user_node_data(struct doca_graph_instance *graph_instance,
						    struct doca_graph_node *node, void *cookie)
{
	doca_error_t result;

	NEED_INSTANCE(graph_instance);
	SHIM_NEED(node, SHIM_GRAPH_NODE);
	result = check_set_node_data(__func__, graph_instance, node, SHIM_NODE_USER);
	if (result == DOCA_SUCCESS)
		graph_instance->runs[node->index].cookie = cookie;
	return result;
}

doca_error_t doca_graph_instance_set_sub_graph_node_data(struct doca_graph_instance *graph_instance,
							 struct doca_graph_node *node,
							 struct doca_graph_instance *sub_graph_instance)
{
	struct shim_node_run *run;
	doca_error_t result;

	NEED_INSTANCE(graph_instance);
	SHIM_NEED(node, SHIM_GRAPH_NODE);
	NEED_INSTANCE(sub_graph_instance);
	result = check_set_node_data(__func__, graph_instance, node, SHIM_NODE_GRAPH);
	if (result != DOCA_SUCCESS)
		return result;
	if (sub_graph_instance->graph != node->sub || node->sub->serial != node->sub_serial)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the instance is of another graph than node %u runs",
				   node->index);
	if (shim_instance_is_submitted(sub_graph_instance))
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED,
				   "the sub graph's instance is submitted: wait for its callback");
	run = &graph_instance->runs[node->index];
	if (run->sub)
		run->sub->num_uses--;
	run->sub = sub_graph_instance;
	sub_graph_instance->num_uses++;
	return DOCA_SUCCESS;
}

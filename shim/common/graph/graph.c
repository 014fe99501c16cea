/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs: life, nodes, dependencies between nodes. */
#include "graph_priv.h"

#include <stdlib.h>

#include "shim/common/base/alloc.h"
#include "shim/common/base/check.h"
#include "sim/trace/trace.h"

/* Return a number that no graph has as its serial and no search as its mark. */
static uint64_t next_unique_id(void)
{
	static atomic_uint_fast64_t last;

	return atomic_fetch_add(&last, 1) + 1;
}

#define NEED_STOPPED(graph)                                                                              \
	do {                                                                                             \
		if ((graph)->started)                                                                    \
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the graph is started; stop it first"); \
	} while (0)

/* ---- life ---- */

doca_error_t doca_graph_create(struct doca_pe *pe, struct doca_graph **graph)
{
	struct doca_graph *created;

	SHIM_NEED(pe, SHIM_PE);
	SHIM_NEED_OUT(graph);
	created = shim_object_new(SHIM_GRAPH, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->serial = next_unique_id();
	STAILQ_INIT(&created->nodes);
	TAILQ_INIT(&created->waiting);
	shim_ctx_init_running(&created->ctx, &shim_graph_ops);
	shim_pe_connect(pe, &created->ctx);
	*graph = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_destroy(struct doca_graph *graph)
{
	SHIM_NEED(graph, SHIM_GRAPH);
	NEED_STOPPED(graph);
	while (!STAILQ_EMPTY(&graph->nodes)) {
		struct doca_graph_node *node = STAILQ_FIRST(&graph->nodes);

		STAILQ_REMOVE_HEAD(&graph->nodes, link);
		free(node->successors);
		shim_object_free(node, SHIM_GRAPH_NODE);
	}
	shim_pe_disconnect(&graph->ctx);
	sim_trace_object_end(graph->ctx.trace_id);
	shim_object_free(graph, SHIM_GRAPH);
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_set_conf(struct doca_graph *graph, doca_graph_completion_cb_t graph_completion_cb,
				 doca_graph_completion_cb_t graph_error_cb, uint32_t num_instances)
{
	SHIM_NEED(graph, SHIM_GRAPH);
	SHIM_NEED_OUT(graph_completion_cb);
	SHIM_NEED_OUT(graph_error_cb);
	NEED_STOPPED(graph);
	if (num_instances == 0)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "num_instances is 0");
	graph->done = graph_completion_cb;
	graph->failed = graph_error_cb;
	graph->max_instances = num_instances;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_set_user_data(struct doca_graph *graph, union doca_data user_data)
{
	SHIM_NEED(graph, SHIM_GRAPH);
	NEED_STOPPED(graph);
	graph->user_data = user_data;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_graph_get_user_data, const struct doca_graph, graph, SHIM_GRAPH, union doca_data, user_data,
		   graph->user_data)

/* ---- start and stop ---- */

static bool has_live_subgraph(const struct doca_graph_node *node)
{
	return shim_object_is(node->sub, SHIM_GRAPH) && node->sub->serial == node->sub_serial;
}

static doca_error_t check_node(const struct doca_graph_node *node)
{
	const struct doca_ctx *ctx = node->ctx;

	if (node->kind == SHIM_NODE_GRAPH && !(has_live_subgraph(node) && node->sub->started)) {
		sim_err("doca_graph_start: the sub graph of node %u is not started", node->index);
		return DOCA_ERROR_BAD_STATE;
	}
	if (node->kind != SHIM_NODE_CTX)
		return DOCA_SUCCESS;
	if (!shim_ctx_is(ctx) || ctx->state != DOCA_CTX_STATE_RUNNING) {
		sim_err("doca_graph_start: the context of node %u is not running; start contexts before", node->index);
		return DOCA_ERROR_BAD_STATE;
	}
	if (ctx->pe != node->graph->ctx.pe) {
		sim_err("doca_graph_start: the context of node %u is of another progress engine than the graph",
			node->index);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_start(struct doca_graph *graph)
{
	const struct doca_graph_node *node;

	SHIM_NEED(graph, SHIM_GRAPH);
	if (graph->started)
		return DOCA_SUCCESS;
	if (graph->max_instances == 0)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,
				   "the graph is not configured; call doca_graph_set_conf() first");
	if (graph->num_ctx_nodes == 0)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the graph has no context node; it must have one");
	STAILQ_FOREACH(node, &graph->nodes, link) {
		doca_error_t result = check_node(node);

		if (result != DOCA_SUCCESS)
			return result;
	}
	graph->started = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_stop(struct doca_graph *graph)
{
	SHIM_NEED(graph, SHIM_GRAPH);
	if (graph->num_instances > 0)
		return SHIM_REFUSE(DOCA_ERROR_IN_USE, "the graph has %u instances; destroy them first",
				   graph->num_instances);
	graph->started = false;
	return DOCA_SUCCESS;
}

/* ---- nodes ---- */

static struct doca_graph_node *add_node(struct doca_graph *graph, enum shim_node_kind kind)
{
	struct doca_graph_node *node = shim_object_new(SHIM_GRAPH_NODE, sizeof(*node));

	if (!node)
		return NULL;
	node->kind = kind;
	node->graph = graph;
	node->index = graph->num_nodes++;
	STAILQ_INSERT_TAIL(&graph->nodes, node, link);
	return node;
}

doca_error_t doca_graph_node_create_from_ctx(struct doca_graph *graph, const struct doca_ctx *ctx,
					     struct doca_graph_node **node)
{
	struct doca_graph_node *created;

	SHIM_NEED(graph, SHIM_GRAPH);
	SHIM_NEED_OUT(node);
	if (!shim_ctx_is(ctx))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "ctx is %s", ctx ? "no live context" : "NULL");
	NEED_STOPPED(graph);
	created = add_node(graph, SHIM_NODE_CTX);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->ctx = ctx;
	graph->num_ctx_nodes++;
	*node = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_node_create_from_user(struct doca_graph *graph, doca_graph_user_node_cb_t cb,
					      struct doca_graph_node **node)
{
	struct doca_graph_node *created;

	SHIM_NEED(graph, SHIM_GRAPH);
	SHIM_NEED_OUT(cb);
	SHIM_NEED_OUT(node);
	NEED_STOPPED(graph);
	created = add_node(graph, SHIM_NODE_USER);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->cb = cb;
	*node = created;
	return DOCA_SUCCESS;
}

/* Append @graph to the graphs that a search has found, unless it is one of them. */
static void visit_graph(struct shim_graph_list *found, struct doca_graph *graph, uint64_t visit_mark)
{
	if (graph->visit_mark == visit_mark)
		return;
	graph->visit_mark = visit_mark;
	STAILQ_INSERT_TAIL(found, graph, visited_link);
}

/* Return whether @wanted is @graph, or a part of @graph at any depth. */
static bool graph_contains(struct doca_graph *graph, const struct doca_graph *wanted)
{
	struct shim_graph_list found = STAILQ_HEAD_INITIALIZER(found);
	uint64_t visit_mark = next_unique_id();
	const struct doca_graph_node *node;
	const struct doca_graph *visited;

	visit_graph(&found, graph, visit_mark);
	STAILQ_FOREACH(visited, &found, visited_link) {
		if (visited == wanted)
			return true;
		STAILQ_FOREACH(node, &visited->nodes, link) {
			if (has_live_subgraph(node))
				visit_graph(&found, node->sub, visit_mark);
		}
	}
	return false;
}

doca_error_t doca_graph_node_create_from_graph(struct doca_graph *graph, struct doca_graph *sub_graph,
					       struct doca_graph_node **node)
{
	struct doca_graph_node *created;

	SHIM_NEED(graph, SHIM_GRAPH);
	SHIM_NEED(sub_graph, SHIM_GRAPH);
	SHIM_NEED_OUT(node);
	NEED_STOPPED(graph);
	if (graph_contains(sub_graph, graph))
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the graph would be part of itself");
	if (!sub_graph->started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the sub graph is not started; start it first");
	if (sub_graph->ctx.pe != graph->ctx.pe)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the sub graph is of another progress engine");
	created = add_node(graph, SHIM_NODE_GRAPH);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->sub = sub_graph;
	created->sub_serial = sub_graph->serial;
	*node = created;
	return DOCA_SUCCESS;
}

/* ---- dependencies ---- */

static void visit_node(struct shim_graph_node_list *found, struct doca_graph_node *node, uint64_t visit_mark)
{
	if (node->visit_mark == visit_mark)
		return;
	node->visit_mark = visit_mark;
	STAILQ_INSERT_TAIL(found, node, visited_link);
}

/* Return whether @wanted is @node, or depends on @node, directly or not. */
static bool node_reaches(struct doca_graph_node *node, const struct doca_graph_node *wanted)
{
	struct shim_graph_node_list found = STAILQ_HEAD_INITIALIZER(found);
	uint64_t visit_mark = next_unique_id();
	const struct doca_graph_node *visited;

	visit_node(&found, node, visit_mark);
	STAILQ_FOREACH(visited, &found, visited_link) {
		if (visited == wanted)
			return true;
		for (uint32_t i = 0; i < visited->num_successors; i++)
			visit_node(&found, visited->successors[i], visit_mark);
	}
	return false;
}

/* Append to the array, whose room is a power of two. */
static bool add_successor(struct doca_graph_node *node, struct doca_graph_node *successor)
{
	uint32_t count = node->num_successors;

	if ((count & (count - 1)) == 0) {
		size_t room = count ? 2 * (size_t)count : 1;
		struct doca_graph_node **larger =
			shim_realloc(node->successors, room * sizeof(struct doca_graph_node *));

		if (!larger)
			return false;
		node->successors = larger;
	}
	node->successors[node->num_successors++] = successor;
	return true;
}

doca_error_t doca_graph_add_dependency(struct doca_graph *graph, struct doca_graph_node *from,
				       struct doca_graph_node *to)
{
	SHIM_NEED(graph, SHIM_GRAPH);
	SHIM_NEED(from, SHIM_GRAPH_NODE);
	SHIM_NEED(to, SHIM_GRAPH_NODE);
	NEED_STOPPED(graph);
	if (from->graph != graph || to->graph != graph)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "a node is of another graph");
	if (node_reaches(to, from))
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "nodes %u and %u would wait for each other", from->index,
				   to->index);
	if (!add_successor(from, to))
		return DOCA_ERROR_NO_MEMORY;
	to->num_deps++;
	return DOCA_SUCCESS;
}

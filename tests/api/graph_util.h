/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/graph_util.h - what the tests of graphs share, on top of the rig (dma_util.h).
 *
 * Everything that a graph does to the user writes a line into the rig's trace:
 *
 *	node check       a user node's function was called; its cookie is a struct step
 *	instance 7 done  the completion callback; the number is the instance's user data
 *	instance 7 failed
 *
 * The rig's own lines ("task 3 done") would be those of a task's own callback.
 */
#ifndef TESTS_GRAPH_UTIL_H
#define TESTS_GRAPH_UTIL_H

#include "api_util.h"
#include "dma_util.h"

#include <doca_graph.h>

/* A user node's cookie. */
struct step {
	struct rig *rig;
	const char *name;
	doca_error_t result;
};

static inline doca_error_t take_step(void *cookie)
{
	struct step *step = cookie;

	rig_note(step->rig, "node %s\n", step->name);
	return step->result;
}

static inline void instance_done(struct doca_graph_instance *instance, union doca_data data, union doca_data rig)
{
	rig_note(rig.ptr, "instance %" PRIu64 " done\n", data.u64);
}

static inline void instance_failed(struct doca_graph_instance *instance, union doca_data data, union doca_data rig)
{
	rig_note(rig.ptr, "instance %" PRIu64 " failed\n", data.u64);
}

/* A graph without nodes, not started. */
static inline struct doca_graph *graph_new(struct rig *rig, uint32_t num_instances)
{
	struct doca_graph *graph;

	MUST(doca_graph_create(rig->pe, &graph));
	MUST(doca_graph_set_conf(graph, instance_done, instance_failed, num_instances));
	MUST(doca_graph_set_user_data(graph, (union doca_data){ .ptr = rig }));
	return graph;
}

static inline void graph_end(struct doca_graph *graph)
{
	MUST(doca_graph_stop(graph));
	MUST(doca_graph_destroy(graph));
}

static inline struct doca_graph_node *ctx_node(struct doca_graph *graph, struct doca_ctx *ctx)
{
	struct doca_graph_node *node;

	MUST(doca_graph_node_create_from_ctx(graph, ctx, &node));
	return node;
}

static inline struct doca_graph_node *user_node(struct doca_graph *graph)
{
	struct doca_graph_node *node;

	MUST(doca_graph_node_create_from_user(graph, take_step, &node));
	return node;
}

static inline struct doca_graph_node *sub_node(struct doca_graph *graph, struct doca_graph *sub)
{
	struct doca_graph_node *node;

	MUST(doca_graph_node_create_from_graph(graph, sub, &node));
	return node;
}

/* @to waits for @from. */
static inline void follows(struct doca_graph *graph, struct doca_graph_node *from, struct doca_graph_node *to)
{
	MUST(doca_graph_add_dependency(graph, from, to));
}

static inline struct doca_graph_instance *instance_new(struct doca_graph *graph, uint64_t number)
{
	struct doca_graph_instance *instance;

	MUST(doca_graph_instance_create(graph, &instance));
	MUST(doca_graph_instance_set_user_data(instance, (union doca_data){ .u64 = number }));
	return instance;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/graph/graph_priv.h - graphs, their nodes, and instances that run.
 *
 * Of each node an instance has a run. Runs begin when all that they depend on are done:
 *
 *   [resting] --> [ready] --> [under way] --> [done]
 *                    |  ^
 *                    v  |
 *                 [waiting]  its context has no room, or its task or sub instance is busy elsewhere
 *
 * An instance is over when none of its runs is ready, waiting or under way: either
 * all are done, or one failed, after which no other begins. The end of a sub
 * graph's instance is the end of the run that began it.
 *
 * To its progress engine a graph is one more context, without tasks of its own:
 * one that can be progressed while runs wait. They count as tasks in flight.
 */
#ifndef SHIM_GRAPH_PRIV_H
#define SHIM_GRAPH_PRIV_H

#include <doca_graph.h>

#include "shim/common/pe/ctx_priv.h"
#include "shim/common/pe/task_priv.h"

enum shim_node_kind { SHIM_NODE_CTX, SHIM_NODE_USER, SHIM_NODE_GRAPH };

struct doca_graph_node {
	struct shim_object object;
	enum shim_node_kind kind;
	uint32_t index; /* among the nodes of its graph */
	struct doca_graph *graph;
	const struct doca_ctx *ctx;
	doca_graph_user_node_cb_t cb;
	struct doca_graph *sub; /* may be destroyed before this node: compare ... */
	uint64_t sub_serial;
	struct doca_graph_node **successors; /* that depend on this one; an array that doubles */
	uint32_t num_successors;
	uint32_t num_deps; /* nodes that this one depends on */
	struct doca_graph_node *next;
	uint64_t visit_mark; /* of the last search that came by */
	struct doca_graph_node *next_visited;
};

struct shim_node_run {
	struct shim_completion_hook hook; /* first: gets the end of a context node's task */
	struct doca_graph_instance *instance;
	const struct doca_graph_node *node;
	struct doca_task *task; /* the node's data: one of these, by its kind */
	void *cookie;
	struct doca_graph_instance *sub;
	uint32_t num_unmet_deps;    /* dependencies that are not done yet */
	struct shim_node_run *next; /* while ready or waiting */
};

/* Runs in the order of their coming. */
struct shim_node_run_queue {
	struct shim_node_run *first, **end;
};

struct doca_graph_instance {
	struct shim_object object;
	struct doca_graph *graph;
	struct shim_node_run *runs; /* one for each node */
	uint32_t num_uses;          /* as data of other instances' nodes */
	union doca_data user_data;
	bool submitted;
	doca_error_t error;           /* of the first node that failed, while submitted */
	uint32_t num_active;          /* runs that are ready, waiting or under way */
	struct shim_node_run *parent; /* whose sub instance this one runs as; NULL = the user submitted it */
};

struct doca_graph {
	struct shim_object object;
	bool started;
	uint64_t serial;     /* no other graph of the process has or had it; 0 never */
	struct doca_ctx ctx; /* how the progress engine knows it; no handle of the user's */
	doca_graph_completion_cb_t done, failed;
	union doca_data user_data;
	uint32_t max_instances; /* 0 = not configured */
	uint32_t num_instances;
	struct doca_graph_node *nodes, **nodes_tail;
	uint32_t num_nodes, num_ctx_nodes;
	struct shim_node_run_queue waiting;
	uint64_t visit_mark; /* as of nodes */
	struct doca_graph *next_visited;
};

/* graph_run.c: the end of a context node's task. */
void shim_node_run_on_complete(struct shim_completion_hook *hook, struct doca_task *task);

/* graph_run.c: what the progress engine may call of a graph. */
extern const struct shim_ctx_ops shim_graph_ops;

/* Whether the instance runs; one that a forked child has from its parent does not. */
static inline bool shim_instance_is_submitted(const struct doca_graph_instance *instance)
{
	return instance->submitted && shim_ctx_is_same_process(&instance->graph->ctx);
}

/* graph_instance.c: whether each node that needs data has it; else it says which has none. */
bool shim_instance_is_complete(const struct doca_graph_instance *instance);

/* No runs. */
static inline void shim_node_run_queue_init(struct shim_node_run_queue *runs)
{
	runs->first = NULL;
	runs->end = &runs->first;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* States of a node's run, and the lists and counts that follow from them. */
#include "graph_priv.h"

#include <assert.h>

static const bool edges[SHIM_NODE_RUN_NUM_STATES][SHIM_NODE_RUN_NUM_STATES] = {
	/* [from][to] */
	[SHIM_NODE_RUN_IDLE] = { [SHIM_NODE_RUN_READY] = true },
	[SHIM_NODE_RUN_READY] = { [SHIM_NODE_RUN_WAITING] = true,
				  [SHIM_NODE_RUN_RUNNING] = true,
				  [SHIM_NODE_RUN_DONE] = true },
	[SHIM_NODE_RUN_WAITING] = { [SHIM_NODE_RUN_RUNNING] = true, [SHIM_NODE_RUN_DONE] = true },
	[SHIM_NODE_RUN_RUNNING] = { [SHIM_NODE_RUN_DONE] = true },
	[SHIM_NODE_RUN_DONE] = { [SHIM_NODE_RUN_IDLE] = true },
};

bool shim_node_run_has_edge(enum shim_node_run_state from, enum shim_node_run_state to)
{
	return edges[from][to];
}

void shim_node_run_set_state(struct shim_graph_worklist *work, struct shim_node_run *run, enum shim_node_run_state to)
{
	struct doca_graph *graph = run->instance->graph;
	enum shim_node_run_state from = run->state;

	assert(edges[from][to]);
	if (from == SHIM_NODE_RUN_READY) {
		TAILQ_REMOVE(&work->ready, run, link);
	} else if (from == SHIM_NODE_RUN_WAITING) {
		TAILQ_REMOVE(&graph->waiting, run, link);
		graph->ctx.num_posted--;
	}
	run->state = to;
	if (to == SHIM_NODE_RUN_READY) {
		TAILQ_INSERT_TAIL(&work->ready, run, link);
		run->instance->num_active++;
	} else if (to == SHIM_NODE_RUN_WAITING) {
		TAILQ_INSERT_TAIL(&graph->waiting, run, link);
		graph->ctx.num_posted++;
	} else if (to == SHIM_NODE_RUN_DONE) {
		run->instance->num_active--;
	}
}

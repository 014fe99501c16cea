/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/graph/graph_priv.h - graphs, their nodes, and instances that run.
 *
 * A graph holds nodes and dependencies between them. An instance holds one run for each node:
 *
 *   [idle] --dependencies done--> [ready] --starts--> [running] --ends--> [done] --next submit--> [idle]
 *                                    |  \                ^                  ^
 *                                    |   \--ends at once-|------------------|
 *                                    |                   |                  |
 *                                    '--no room--> [waiting] --ends at once-'
 *
 * A run waits while its context has no room, or while its task or sub instance is in use elsewhere.
 * A run ends at once when it is a user node's, or when it fails before it starts.
 *
 * A graph is stopped or started; an instance is created while its graph is started, and keeps it so:
 *
 *   graph:     [stopped] <--start, stop--> [started]
 *   instance:  [idle] --submit--> [submitted] --last active run ends--> [idle]
 *
 * An active run is ready, waiting or running. When none is left, either all runs are done, or one
 * failed, and no run started after that failure. The end of a sub graph's instance ends the run that
 * started the instance.
 *
 * To the progress engine a graph is a context without tasks of its own. Waiting runs count as its
 * tasks in flight, and progress starts them when they have room.
 */
#ifndef SHIM_GRAPH_PRIV_H
#define SHIM_GRAPH_PRIV_H

#include <doca_graph.h>
#include <sys/queue.h>

#include "shim/common/pe/ctx_life.h"
#include "shim/common/pe/pe_priv.h"
#include "shim/common/pe/task_priv.h"
#include "shim/common/pe/task_submit.h"

enum shim_node_kind { SHIM_NODE_CTX, SHIM_NODE_USER, SHIM_NODE_GRAPH };

STAILQ_HEAD(shim_graph_list, doca_graph);
STAILQ_HEAD(shim_graph_node_list, doca_graph_node);

struct doca_graph_node {
	struct shim_object object;
	enum shim_node_kind kind;
	uint32_t index; /* in order of creation */
	struct doca_graph *graph;
	const struct doca_ctx *ctx;
	doca_graph_user_node_cb_t cb;
	struct doca_graph *sub; /* may be destroyed before this node: compare ... */
	uint64_t sub_serial;
	struct doca_graph_node **successors; /* nodes that depend on this one; the array's room doubles */
	uint32_t num_successors;
	uint32_t num_deps; /* nodes that this one depends on */
	STAILQ_ENTRY(doca_graph_node) link;
	uint64_t visit_mark; /* of the last search that visited the node */
	STAILQ_ENTRY(doca_graph_node) visited_link;
};

enum shim_node_run_state {
	SHIM_NODE_RUN_IDLE,
	SHIM_NODE_RUN_READY,
	SHIM_NODE_RUN_WAITING,
	SHIM_NODE_RUN_RUNNING,
	SHIM_NODE_RUN_DONE,
	SHIM_NODE_RUN_NUM_STATES,
};

struct shim_node_run {
	struct shim_completion_hook hook; /* first: called at the end of a context node's task */
	enum shim_node_run_state state;   /* written by shim_node_run_set_state() alone */
	struct doca_graph_instance *instance;
	const struct doca_graph_node *node;
	struct doca_task *task; /* the node's data: one of these three, by the node's kind */
	void *cookie;
	struct doca_graph_instance *sub;
	uint32_t num_unmet_deps;         /* dependencies that are not done yet */
	TAILQ_ENTRY(shim_node_run) link; /* while ready or waiting */
};

TAILQ_HEAD(shim_node_run_queue, shim_node_run); /* oldest first */

struct doca_graph_instance {
	struct shim_object object;
	struct doca_graph *graph;
	struct shim_node_run *runs; /* one for each node */
	uint32_t num_uses;          /* as data of other instances' nodes */
	union doca_data user_data;
	bool submitted;
	doca_error_t error;           /* of the first node that failed, while submitted */
	uint32_t num_active;          /* runs that are ready, waiting or running */
	struct shim_node_run *parent; /* the run that started this instance; NULL = the user submitted it */
};

struct doca_graph {
	struct shim_object object;
	bool started;
	uint64_t serial;     /* unique in the process, never 0 */
	struct doca_ctx ctx; /* for the progress engine; not a handle of the user's */
	doca_graph_completion_cb_t done, failed;
	union doca_data user_data;
	uint32_t max_instances; /* 0 = not configured */
	uint32_t num_instances;
	struct shim_graph_node_list nodes; /* in order of creation */
	uint32_t num_nodes, num_ctx_nodes;
	struct shim_node_run_queue waiting;
	uint64_t visit_mark; /* as a node's */
	STAILQ_ENTRY(doca_graph) visited_link;
};

/* Follow-up work of one event (a submit, the end of a task, room in a context). */
struct shim_graph_worklist {
	struct shim_node_run_queue ready;
	struct doca_graph_instance *finished; /* instance that the user submitted and that ended; NULL = none */
};

/* graph_run.c: operations of a graph's context. */
extern const struct shim_ctx_ops shim_graph_ops;

/* graph_run_state.c: return whether a run may go from @from to @to. */
bool shim_node_run_has_edge(enum shim_node_run_state from, enum shim_node_run_state to);

/* graph_run_state.c: the one function that writes a run's state. Moves the run between @work's ready
 * runs and its graph's waiting runs, and keeps the counts of active runs and of tasks in flight. */
void shim_node_run_set_state(struct shim_graph_worklist *work, struct shim_node_run *run, enum shim_node_run_state to);

/* Return whether the instance runs. A forked child's copy of its parent's instance does not. */
static inline bool shim_instance_is_submitted(const struct doca_graph_instance *instance)
{
	return instance->submitted && shim_ctx_is_same_process(&instance->graph->ctx);
}

/* graph_instance.c: return whether each node that needs data has data; if not, log the node. */
bool shim_instance_is_complete(const struct doca_graph_instance *instance);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_graph.h - jobs and callbacks that run in an order without calls of the program in between.
 *
 * A graph is a plan. Its nodes are
 *   - of a context: a job of that context is submitted;
 *   - of the user: a function of the program is called;
 *   - of another graph: an instance of that graph is run.
 * A dependency (from --> to) makes "to" wait for "from". Nodes without
 * dependencies are the roots. An instance is the plan with data: a job, a cookie or
 * an instance for each node.
 *
 *   doca_graph_create --> nodes, dependencies --> doca_graph_start --> doca_graph_workq_add
 *     --> instance_create, set_..._node_data --> doca_workq_graph_submit --> event --> ...
 *     --> instance_destroy --> doca_graph_workq_rm --> doca_graph_stop --> doca_graph_destroy
 *
 * A submitted instance ends with one event of type DOCA_GRAPH_JOB on the work
 * queue. When a node fails, no further node starts; get_failed_nodes() lists the
 * failed nodes.
 *
 * bfsim does not simulate the graphs of this generation: every function returns
 * DOCA_ERROR_NOT_SUPPORTED. The thread rule is the work queue's (doca_ctx.h).
 */
#ifndef DOCA_GRAPH_H_
#define DOCA_GRAPH_H_

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_ctx.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_graph;
struct doca_graph_instance;
struct doca_graph_node;

enum doca_graph_job_types {
	DOCA_GRAPH_JOB = DOCA_ACTION_GRAPH_FIRST + 1,
};

/* The state of a node of an instance. */
enum doca_graph_instance_node_state {
	DOCA_GRAPH_INSTANCE_NODE_STATE_NOT_STARTED = 0,
	DOCA_GRAPH_INSTANCE_NODE_STATE_STARTED = 1,
	DOCA_GRAPH_INSTANCE_NODE_STATE_COMPLETED = 2,
	DOCA_GRAPH_INSTANCE_NODE_STATE_ERROR = 3,
};

/* --- Life of a graph --- */

__DOCA_EXPERIMENTAL
doca_error_t doca_graph_create(struct doca_graph **graph);

__DOCA_EXPERIMENTAL
doca_error_t doca_graph_destroy(struct doca_graph *graph);

/* Freeze the plan; allow changes again. */
__DOCA_EXPERIMENTAL
doca_error_t doca_graph_start(struct doca_graph *graph);

__DOCA_EXPERIMENTAL
doca_error_t doca_graph_stop(struct doca_graph *graph);

/* Add a started graph to a work queue, as a context; remove it again. */
__DOCA_EXPERIMENTAL
doca_error_t doca_graph_workq_add(struct doca_graph *graph, struct doca_workq *workq);

__DOCA_EXPERIMENTAL
doca_error_t doca_graph_workq_rm(struct doca_graph *graph, struct doca_workq *workq);

/* --- The plan: before start; nodes live as long as their graph --- */

/* A node that submits jobs of @job_type to @ctx. */
__DOCA_EXPERIMENTAL
doca_error_t doca_graph_ctx_node_create(struct doca_graph *graph, int job_type, const struct doca_ctx *ctx,
					struct doca_graph_node **node);

/* The function of a user node, which fills in the event. Any result but
 * DOCA_SUCCESS is the node's failure. */
typedef doca_error_t (*doca_graph_user_node_cb_t)(void *cookie, struct doca_event *ev);

__DOCA_EXPERIMENTAL
doca_error_t doca_graph_user_node_create(struct doca_graph *graph, doca_graph_user_node_cb_t cb,
					 struct doca_graph_node **node);

__DOCA_EXPERIMENTAL
doca_error_t doca_graph_sub_graph_node_create(struct doca_graph *graph, struct doca_graph *sub_graph,
					      struct doca_graph_node **node);

/* Let @to wait for @from. */
__DOCA_EXPERIMENTAL
doca_error_t doca_graph_add_dependency(struct doca_graph *graph, struct doca_graph_node *from,
				       struct doca_graph_node *to);

/* --- Instances --- */

__DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_create(const struct doca_graph *graph, struct doca_graph_instance **graph_instance);

__DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_destroy(struct doca_graph_instance *graph_instance);

/* The data of a node in this instance; its event is written to *@ev. Job and
 * event live as long as the instance. */
__DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_ctx_node_data(struct doca_graph_instance *graph_instance,
						   struct doca_graph_node *node, struct doca_job *job,
						   struct doca_event *ev);

__DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_sub_graph_node_data(struct doca_graph_instance *graph_instance,
							 struct doca_graph_node *node,
							 struct doca_graph_instance *sub_graph_instance,
							 struct doca_event *ev);

__DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_user_node_data(struct doca_graph_instance *graph_instance,
						    struct doca_graph_node *node, void *cookie, struct doca_event *ev);

/* Run the instance. The event has @user_data. */
__DOCA_EXPERIMENTAL
doca_error_t doca_workq_graph_submit(struct doca_workq *workq, struct doca_graph_instance *graph_instance,
				     union doca_data user_data);

/* --- Results of an instance --- */

__DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_node_get_state(const struct doca_graph_instance *graph_instance,
						const struct doca_graph_node *node,
						enum doca_graph_instance_node_state *state);

__DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_node_get_result(const struct doca_graph_instance *graph_instance,
						 const struct doca_graph_node *node, union doca_data *result);

/* The number of failed nodes, and the nodes. @failed_nodes has room for
 * *@num_failed_nodes of them, which becomes their number. */
__DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_get_num_failed_nodes(const struct doca_graph_instance *graph_instance,
						      uint32_t *num_failed_nodes);

__DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_get_failed_nodes(const struct doca_graph_instance *graph_instance,
						  const struct doca_graph_node **failed_nodes,
						  uint32_t *num_failed_nodes);

#ifdef __cplusplus
}
#endif

#endif

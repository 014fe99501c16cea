/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_graph.h - graphs: tasks and callbacks that start each other without calls of the program in between.
 *
 * A graph consists of nodes and dependencies. A node is one of:
 *   - a context node, which submits a task of that context;
 *   - a user node, which calls a function of the program;
 *   - a sub graph node, which runs an instance of another graph.
 * With a dependency (from --> to), node "to" starts after node "from" has ended. Nodes without dependencies
 * are the roots. An instance adds data to the graph: a task, a cookie or an instance for each node. Several
 * instances of one graph can run at once.
 *
 *   doca_graph_create --> set_conf, nodes, dependencies --> doca_graph_start
 *     --> instance_create, set_..._node_data --> instance_submit --> callback --> ...
 *     --> instance_destroy --> doca_graph_stop --> doca_graph_destroy
 *
 *   struct doca_graph_node *copy, *check;
 *
 *   doca_graph_create(pe, &graph);
 *   doca_graph_set_conf(graph, done, failed, 16);
 *   doca_graph_node_create_from_ctx(graph, doca_dma_as_ctx(dma), &copy);
 *   doca_graph_node_create_from_user(graph, check_copy, &check);
 *   doca_graph_add_dependency(graph, copy, check);
 *   doca_graph_start(graph);
 *   doca_graph_instance_create(graph, &instance);
 *   doca_graph_instance_set_ctx_node_data(instance, copy, doca_dma_task_memcpy_as_task(task));
 *   doca_graph_instance_set_user_node_data(instance, check, cookie);
 *   doca_graph_instance_submit(instance);
 *   while (!is_done)
 *           doca_pe_progress(pe);
 *
 * A submitted instance ends with one callback, from inside doca_pe_progress(), which may submit it again. The
 * first node that fails makes the instance fail: no further node starts, not even in sub graphs, and the error
 * callback is called when the running nodes have ended. A node waits, and does not fail, while its context has
 * no room for a task, or while its task or sub graph's instance is in use elsewhere.
 *
 * The callbacks of a node's task and of a sub graph are not called: their end is the end of the node. The
 * functions of user nodes are called from inside doca_pe_progress(), and those of roots from inside
 * doca_graph_instance_submit().
 *
 * A graph belongs to a progress engine and its thread; all its contexts and sub graphs belong to the same
 * engine. Destroy the graph before the engine.
 * Functions that return doca_error_t return DOCA_ERROR_INVALID_VALUE for a NULL
 * argument.
 */
#ifndef DOCA_GRAPH_H_
#define DOCA_GRAPH_H_

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_error.h>
#include <doca_pe.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_graph;
struct doca_graph_instance;
struct doca_graph_node;
struct doca_pe;
struct doca_task;

/* --- Life of a graph --- */

/* Create an empty graph of @pe, which the caller destroys. DOCA_ERROR_NO_MEMORY. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_create(struct doca_pe *pe, struct doca_graph **graph);

/* Free the graph and its nodes. DOCA_ERROR_BAD_STATE while started. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_destroy(struct doca_graph *graph);

/* Called when an instance has ended. The callback may submit or destroy the instance. */
typedef void (*doca_graph_completion_cb_t)(struct doca_graph_instance *instance, union doca_data instance_user_data,
					   union doca_data graph_user_data);

/* Set the callbacks for instances that succeed and for instances that fail, and the
 * maximum number of instances at once. DOCA_ERROR_BAD_STATE while started. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_set_conf(struct doca_graph *graph, doca_graph_completion_cb_t graph_completion_cb,
				 doca_graph_completion_cb_t graph_error_cb, uint32_t num_instances);

/* The callbacks' graph_user_data. set: DOCA_ERROR_BAD_STATE while started. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_set_user_data(struct doca_graph *graph, union doca_data user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_graph_get_user_data(const struct doca_graph *graph, union doca_data *user_data);

/* Fix nodes and dependencies. Starting a started graph succeeds. DOCA_ERROR_BAD_STATE: the
 * graph has no context node or no configuration, a context is not running, or a sub
 * graph is not started. DOCA_ERROR_INVALID_VALUE: a context is of another engine. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_start(struct doca_graph *graph);

/* Allow changes again. DOCA_ERROR_IN_USE while the graph has instances. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_stop(struct doca_graph *graph);

/* --- Nodes and dependencies: before start --- */

/* Nodes are destroyed with their graph. All: DOCA_ERROR_BAD_STATE while started,
 * DOCA_ERROR_NO_MEMORY. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_node_create_from_ctx(struct doca_graph *graph, const struct doca_ctx *ctx,
					     struct doca_graph_node **node);

/* The function of a user node. The node fails with any result but DOCA_SUCCESS. */
typedef doca_error_t (*doca_graph_user_node_cb_t)(void *cookie);

DOCA_EXPERIMENTAL
doca_error_t doca_graph_node_create_from_user(struct doca_graph *graph, doca_graph_user_node_cb_t cb,
					      struct doca_graph_node **node);

/* @sub_graph is borrowed and has to be started (else DOCA_ERROR_BAD_STATE).
 * DOCA_ERROR_NOT_PERMITTED: @graph would be part of itself. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_node_create_from_graph(struct doca_graph *graph, struct doca_graph *sub_graph,
					       struct doca_graph_node **node);

/* Have @to start after @from. DOCA_ERROR_BAD_STATE while started, DOCA_ERROR_NO_MEMORY,
 * DOCA_ERROR_NOT_PERMITTED (they would wait for each other). */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_add_dependency(struct doca_graph *graph, struct doca_graph_node *from,
				       struct doca_graph_node *to);

/* --- Instances --- */

/* Create an instance of a started graph, which the caller destroys. DOCA_ERROR_BAD_STATE (not
 * started), DOCA_ERROR_NO_MEMORY (also when all configured instances exist). */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_create(const struct doca_graph *graph, struct doca_graph_instance **graph_instance);

/* Free the instance; its tasks stay the caller's. DOCA_ERROR_IN_USE while it is submitted, or
 * is the data of another instance's node. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_destroy(struct doca_graph_instance *graph_instance);

/* The callbacks' instance_user_data. set: DOCA_ERROR_IN_USE while submitted. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_user_data(struct doca_graph_instance *graph_instance, union doca_data user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_get_user_data(const struct doca_graph_instance *graph_instance,
					       union doca_data *user_data);

/* Set the data of a node in this instance. All: DOCA_ERROR_BAD_STATE while submitted,
 * DOCA_ERROR_NOT_PERMITTED (a node of another graph or of another kind). */

/* @task has to exist as long as the instance. DOCA_ERROR_NOT_PERMITTED also if it is of another context. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_ctx_node_data(struct doca_graph_instance *graph_instance,
						   struct doca_graph_node *node, struct doca_task *task);

/* @cookie may be NULL, and is NULL until it is set. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_user_node_data(struct doca_graph_instance *graph_instance,
						    struct doca_graph_node *node, void *cookie);

/* DOCA_ERROR_NOT_PERMITTED also if @sub_graph_instance is of another graph than the node's, or is submitted. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_sub_graph_node_data(struct doca_graph_instance *graph_instance,
							 struct doca_graph_node *node,
							 struct doca_graph_instance *sub_graph_instance);

/* Start the instance's roots. DOCA_ERROR_IN_USE: the instance is submitted already.
 * DOCA_ERROR_INVALID_VALUE: a node has no data. If a root fails while no node runs, its
 * error is the result, and no callback is called. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_submit(struct doca_graph_instance *graph_instance);

#ifdef __cplusplus
}
#endif

#endif

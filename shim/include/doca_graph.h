/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_graph.h - tasks and callbacks that follow each other without the program in between.
 *
 * A graph is a plan. Its nodes are
 *   - of a context: a task of that context is submitted;
 *   - of the user: a function of the program is called;
 *   - of another graph: an instance of that graph is run.
 * A dependency (from --> to) says that "to" waits for "from". Nodes that wait
 * for none are the roots. An instance is the plan with data: a task, a cookie or
 * an instance for each node. Many instances of one graph can run at once.
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
 * A submitted instance ends with one callback, from inside doca_pe_progress(), and
 * can be submitted again from there on. The first node that fails makes the
 * instance fail: no further node begins, of its sub graphs' instances neither, and
 * the error callback comes when those under way have ended. A context without room
 * for a task is no failure, nor is a task or a sub graph's instance that is still
 * busy elsewhere: such a node waits for its turn.
 *
 * The tasks' own callbacks are not called, nor are those of a sub graph: its end is
 * the end of the node. Functions of user nodes are called from inside
 * doca_pe_progress(), those of roots from inside doca_graph_instance_submit().
 *
 * A graph belongs to a progress engine, and so to its thread; all its contexts
 * and sub graphs belong to the same engine. Destroy the graph before the engine.
 * Functions that return doca_error_t return DOCA_ERROR_INVALID_VALUE for a NULL
 * argument.
 */
#ifndef DOCA_GRAPH_H_
#define DOCA_GRAPH_H_

#include <stdint.h>
#include <stddef.h>
#include <doca_compat.h>
#include <doca_error.h>
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

/* An empty graph of @pe, the caller's to destroy. DOCA_ERROR_NO_MEMORY. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_create(struct doca_pe *pe, struct doca_graph **graph);

/* Free it and its nodes. DOCA_ERROR_BAD_STATE while started. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_destroy(struct doca_graph *graph);

/* Called when an instance has ended. It may be submitted again, or destroyed, right here. */
typedef void (*doca_graph_completion_cb_t)(struct doca_graph_instance *instance, union doca_data instance_user_data,
					   union doca_data graph_user_data);

/* What to call for instances that went well and for those that failed, and how
 * many instances can exist at once. DOCA_ERROR_BAD_STATE while started. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_set_conf(struct doca_graph *graph, doca_graph_completion_cb_t graph_completion_cb,
				 doca_graph_completion_cb_t graph_error_cb, uint32_t num_instances);

/* What the callbacks get. set: DOCA_ERROR_BAD_STATE while started. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_set_user_data(struct doca_graph *graph, union doca_data user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_graph_get_user_data(const struct doca_graph *graph, union doca_data *user_data);

/* Freeze the plan; a started graph stays as it is. DOCA_ERROR_BAD_STATE: it has no
 * context node or no configuration, a context is not running, or a sub graph not
 * started. DOCA_ERROR_INVALID_VALUE: a context is of another engine. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_start(struct doca_graph *graph);

/* Let it be changed again. DOCA_ERROR_IN_USE while it has instances. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_stop(struct doca_graph *graph);

/* --- The plan: before start --- */

/* Nodes live as long as their graph. All: DOCA_ERROR_BAD_STATE while started,
 * DOCA_ERROR_NO_MEMORY. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_node_create_from_ctx(struct doca_graph *graph, const struct doca_ctx *ctx,
					     struct doca_graph_node **node);

/* The function of a user node; whatever it returns but DOCA_SUCCESS is the node's failure. */
typedef doca_error_t (*doca_graph_user_node_cb_t)(void *cookie);

DOCA_EXPERIMENTAL
doca_error_t doca_graph_node_create_from_user(struct doca_graph *graph, doca_graph_user_node_cb_t cb,
					      struct doca_graph_node **node);

/* @sub_graph is borrowed, and started (else DOCA_ERROR_BAD_STATE, too).
 * DOCA_ERROR_NOT_PERMITTED: @graph would be part of itself. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_node_create_from_graph(struct doca_graph *graph, struct doca_graph *sub_graph,
					       struct doca_graph_node **node);

/* Let @to wait for @from. DOCA_ERROR_BAD_STATE while started, DOCA_ERROR_NO_MEMORY,
 * DOCA_ERROR_NOT_PERMITTED (they would wait for each other). */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_add_dependency(struct doca_graph *graph, struct doca_graph_node *from,
				       struct doca_graph_node *to);

/* --- Instances --- */

/* An instance of a started graph, the caller's to destroy. DOCA_ERROR_BAD_STATE (not
 * started), DOCA_ERROR_NO_MEMORY (also when all that were configured exist). */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_create(const struct doca_graph *graph, struct doca_graph_instance **graph_instance);

/* Free it; its tasks stay the caller's. DOCA_ERROR_IN_USE while it is submitted, or
 * is another instance's node data. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_destroy(struct doca_graph_instance *graph_instance);

/* What the callbacks get. set: DOCA_ERROR_IN_USE while submitted. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_user_data(struct doca_graph_instance *graph_instance, union doca_data user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_get_user_data(const struct doca_graph_instance *graph_instance,
					       union doca_data *user_data);

/* What a node works on in this instance. All: DOCA_ERROR_BAD_STATE while submitted,
 * DOCA_ERROR_NOT_PERMITTED (a node of another graph or of another kind). */

/* @task must live as long as the instance. DOCA_ERROR_NOT_PERMITTED: of another context, too. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_ctx_node_data(struct doca_graph_instance *graph_instance,
						   struct doca_graph_node *node, struct doca_task *task);

/* @cookie may be NULL, which it is until it is set. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_user_node_data(struct doca_graph_instance *graph_instance,
						    struct doca_graph_node *node, void *cookie);

/* DOCA_ERROR_NOT_PERMITTED: of another graph than the node's, or submitted, too. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_sub_graph_node_data(struct doca_graph_instance *graph_instance,
							 struct doca_graph_node *node,
							 struct doca_graph_instance *sub_graph_instance);

/* Run it: begins the roots. DOCA_ERROR_IN_USE: it is submitted already.
 * DOCA_ERROR_INVALID_VALUE: a node has no data. When a root fails while nothing is
 * under way, its error is the result, and no callback comes. */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_submit(struct doca_graph_instance *graph_instance);

#ifdef __cplusplus
}
#endif

#endif

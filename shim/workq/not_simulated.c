/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of libdoca_common that this generation declares and bfsim does not simulate: they log that once,
 * and return NOT_SUPPORTED. */
#include <doca_buf_array.h>
#include <doca_ctx.h>
#include <doca_graph.h>

#include "shim/common/base/check.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define NOT_SIMULATED(what, name, ...)           \
	doca_error_t name(__VA_ARGS__)           \
	{                                        \
		return SHIM_NOT_SIMULATED(what); \
	}

#define BUF_ARRAY(name, ...) NOT_SIMULATED("GPUs, nor their buffer arrays", name, __VA_ARGS__)
#define GRAPH(name, ...)     NOT_SIMULATED("graphs of the work-queue generation", name, __VA_ARGS__)

BUF_ARRAY(doca_buf_arr_create, struct doca_mmap *mmap, struct doca_buf_arr **buf_arr)
BUF_ARRAY(doca_buf_arr_destroy, struct doca_buf_arr *buf_arr)
BUF_ARRAY(doca_buf_arr_get_gpu_handle, const struct doca_buf_arr *buf_arr, struct doca_gpu_buf_arr **gpu_buf_arr)
BUF_ARRAY(doca_buf_arr_set_params, struct doca_buf_arr *buf_arr, size_t size, uint32_t num_elem, uint32_t start_offset)
BUF_ARRAY(doca_buf_arr_set_target_gpu, struct doca_buf_arr *buf_arr, struct doca_gpu *gpu_handler)
BUF_ARRAY(doca_buf_arr_start, struct doca_buf_arr *buf_arr)
BUF_ARRAY(doca_buf_arr_stop, struct doca_buf_arr *buf_arr)

GRAPH(doca_graph_add_dependency, struct doca_graph *graph, struct doca_graph_node *from, struct doca_graph_node *to)
GRAPH(doca_graph_create, struct doca_graph **graph)
GRAPH(doca_graph_ctx_node_create, struct doca_graph *graph, int job_type, const struct doca_ctx *ctx,
      struct doca_graph_node **node)
GRAPH(doca_graph_destroy, struct doca_graph *graph)
GRAPH(doca_graph_instance_create, const struct doca_graph *graph, struct doca_graph_instance **graph_instance)
GRAPH(doca_graph_instance_destroy, struct doca_graph_instance *graph_instance)
GRAPH(doca_graph_instance_get_failed_nodes, const struct doca_graph_instance *graph_instance,
      const struct doca_graph_node **failed_nodes, uint32_t *num_failed_nodes)
GRAPH(doca_graph_instance_get_num_failed_nodes, const struct doca_graph_instance *graph_instance,
      uint32_t *num_failed_nodes)
GRAPH(doca_graph_instance_node_get_result, const struct doca_graph_instance *graph_instance,
      const struct doca_graph_node *node, union doca_data *result)
GRAPH(doca_graph_instance_node_get_state, const struct doca_graph_instance *graph_instance,
      const struct doca_graph_node *node, enum doca_graph_instance_node_state *state)
GRAPH(doca_graph_instance_set_ctx_node_data, struct doca_graph_instance *graph_instance, struct doca_graph_node *node,
      struct doca_job *job, struct doca_event *ev)
GRAPH(doca_graph_instance_set_sub_graph_node_data, struct doca_graph_instance *graph_instance,
      struct doca_graph_node *node, struct doca_graph_instance *sub_graph_instance, struct doca_event *ev)
GRAPH(doca_graph_instance_set_user_node_data, struct doca_graph_instance *graph_instance, struct doca_graph_node *node,
      void *cookie, struct doca_event *ev)
GRAPH(doca_graph_start, struct doca_graph *graph)
GRAPH(doca_graph_stop, struct doca_graph *graph)
GRAPH(doca_graph_sub_graph_node_create, struct doca_graph *graph, struct doca_graph *sub_graph,
      struct doca_graph_node **node)
GRAPH(doca_graph_user_node_create, struct doca_graph *graph, doca_graph_user_node_cb_t cb,
      struct doca_graph_node **node)
GRAPH(doca_graph_workq_add, struct doca_graph *graph, struct doca_workq *workq)
GRAPH(doca_graph_workq_rm, struct doca_graph *graph, struct doca_workq *workq)
GRAPH(doca_workq_graph_submit, struct doca_workq *workq, struct doca_graph_instance *graph_instance,
      union doca_data user_data)

/* SPDX-License-Identifier: BSD-3-Clause */
/* What libdoca_common of the work-queue generation declares and does not have yet: it
 * links, and says so. A function leaves this file when it gets one of its own.
 */
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

/* ---- doca_buf_array.h ---- */
NOT_SIMULATED("GPUs, nor their buffer arrays", doca_buf_arr_create, struct doca_mmap *mmap,
	      struct doca_buf_arr **buf_arr)
NOT_SIMULATED("GPUs, nor their buffer arrays", doca_buf_arr_destroy, struct doca_buf_arr *buf_arr)
NOT_SIMULATED("GPUs, nor their buffer arrays", doca_buf_arr_get_gpu_handle, const struct doca_buf_arr *buf_arr,
	      struct doca_gpu_buf_arr **gpu_buf_arr)
NOT_SIMULATED("GPUs, nor their buffer arrays", doca_buf_arr_set_params, struct doca_buf_arr *buf_arr, size_t size,
	      uint32_t num_elem, uint32_t start_offset)
NOT_SIMULATED("GPUs, nor their buffer arrays", doca_buf_arr_set_target_gpu, struct doca_buf_arr *buf_arr,
	      struct doca_gpu *gpu_handler)
NOT_SIMULATED("GPUs, nor their buffer arrays", doca_buf_arr_start, struct doca_buf_arr *buf_arr)
NOT_SIMULATED("GPUs, nor their buffer arrays", doca_buf_arr_stop, struct doca_buf_arr *buf_arr)

/* ---- doca_graph.h ---- */
NOT_SIMULATED("graphs of the work-queue generation", doca_graph_add_dependency, struct doca_graph *graph,
	      struct doca_graph_node *from, struct doca_graph_node *to)
NOT_SIMULATED("graphs of the work-queue generation", doca_graph_create, struct doca_graph **graph)
NOT_SIMULATED("graphs of the work-queue generation", doca_graph_ctx_node_create, struct doca_graph *graph, int job_type,
	      const struct doca_ctx *ctx, struct doca_graph_node **node)
NOT_SIMULATED("graphs of the work-queue generation", doca_graph_destroy, struct doca_graph *graph)
NOT_SIMULATED("graphs of the work-queue generation", doca_graph_instance_create, const struct doca_graph *graph,
	      struct doca_graph_instance **graph_instance)
NOT_SIMULATED("graphs of the work-queue generation", doca_graph_instance_destroy,
	      struct doca_graph_instance *graph_instance)
NOT_SIMULATED("graphs of the work-queue generation", doca_graph_instance_get_failed_nodes,
	      const struct doca_graph_instance *graph_instance, const struct doca_graph_node **failed_nodes,
	      uint32_t *num_failed_nodes)
NOT_SIMULATED("graphs of the work-queue generation", doca_graph_instance_get_num_failed_nodes,
	      const struct doca_graph_instance *graph_instance, uint32_t *num_failed_nodes)
NOT_SIMULATED("graphs of the work-queue generation", doca_graph_instance_node_get_result,
	      const struct doca_graph_instance *graph_instance, const struct doca_graph_node *node,
	      union doca_data *result)
NOT_SIMULATED("graphs of the work-queue generation", doca_graph_instance_node_get_state,
	      const struct doca_graph_instance *graph_instance, const struct doca_graph_node *node,
	      enum doca_graph_instance_node_state *state)
NOT_SIMULATED("graphs of the work-queue generation", doca_graph_instance_set_ctx_node_data,
	      struct doca_graph_instance *graph_instance, struct doca_graph_node *node, struct doca_job *job,
	      struct doca_event *ev)
NOT_SIMULATED("graphs of the work-queue generation", doca_graph_instance_set_sub_graph_node_data,
	      struct doca_graph_instance *graph_instance, struct doca_graph_node *node,
	      struct doca_graph_instance *sub_graph_instance, struct doca_event *ev)
NOT_SIMULATED("graphs of the work-queue generation", doca_graph_instance_set_user_node_data,
	      struct doca_graph_instance *graph_instance, struct doca_graph_node *node, void *cookie,
	      struct doca_event *ev)
NOT_SIMULATED("graphs of the work-queue generation", doca_graph_start, struct doca_graph *graph)
NOT_SIMULATED("graphs of the work-queue generation", doca_graph_stop, struct doca_graph *graph)
NOT_SIMULATED("graphs of the work-queue generation", doca_graph_sub_graph_node_create, struct doca_graph *graph,
	      struct doca_graph *sub_graph, struct doca_graph_node **node)
NOT_SIMULATED("graphs of the work-queue generation", doca_graph_user_node_create, struct doca_graph *graph,
	      doca_graph_user_node_cb_t cb, struct doca_graph_node **node)
NOT_SIMULATED("graphs of the work-queue generation", doca_graph_workq_add, struct doca_graph *graph,
	      struct doca_workq *workq)
NOT_SIMULATED("graphs of the work-queue generation", doca_graph_workq_rm, struct doca_graph *graph,
	      struct doca_workq *workq)
NOT_SIMULATED("graphs of the work-queue generation", doca_workq_graph_submit, struct doca_workq *workq,
	      struct doca_graph_instance *graph_instance, union doca_data user_data)

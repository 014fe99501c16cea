/* SPDX-License-Identifier: BSD-3-Clause */
/* What libdoca_common of the work-queue generation declares and does not have yet: it
 * links, and says so. A function leaves this file when it gets one of its own.
 */
#include <doca_buf_array.h>
#include <doca_ctx.h>
#include <doca_graph.h>
#include <doca_sync_event.h>

#include "shim/common/check.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define NOT_YET(what, name, ...)                 \
	doca_error_t name(__VA_ARGS__)           \
	{                                        \
		return SHIM_NOT_SIMULATED(what); \
	}
#define NULL_YET(type, name, ...) \
	type name(__VA_ARGS__)    \
	{                         \
		return (type){0}; \
	}

/* ---- doca_buf_array.h ---- */
NOT_YET("GPUs, nor their buffer arrays", doca_buf_arr_create, struct doca_mmap *mmap,
	struct doca_buf_arr **buf_arr)
NOT_YET("GPUs, nor their buffer arrays", doca_buf_arr_destroy, struct doca_buf_arr *buf_arr)
NOT_YET("GPUs, nor their buffer arrays", doca_buf_arr_get_gpu_handle,
	const struct doca_buf_arr *buf_arr, struct doca_gpu_buf_arr **gpu_buf_arr)
NOT_YET("GPUs, nor their buffer arrays", doca_buf_arr_set_params, struct doca_buf_arr *buf_arr,
	size_t size, uint32_t num_elem, uint32_t start_offset)
NOT_YET("GPUs, nor their buffer arrays", doca_buf_arr_set_target_gpu, struct doca_buf_arr *buf_arr,
	struct doca_gpu *gpu_handler)
NOT_YET("GPUs, nor their buffer arrays", doca_buf_arr_start, struct doca_buf_arr *buf_arr)
NOT_YET("GPUs, nor their buffer arrays", doca_buf_arr_stop, struct doca_buf_arr *buf_arr)

/* ---- doca_graph.h ---- */
NOT_YET("graphs of the work-queue generation", doca_graph_add_dependency, struct doca_graph *graph,
	struct doca_graph_node *from, struct doca_graph_node *to)
NOT_YET("graphs of the work-queue generation", doca_graph_create, struct doca_graph **graph)
NOT_YET("graphs of the work-queue generation", doca_graph_ctx_node_create, struct doca_graph *graph,
	int job_type, const struct doca_ctx *ctx, struct doca_graph_node **node)
NOT_YET("graphs of the work-queue generation", doca_graph_destroy, struct doca_graph *graph)
NOT_YET("graphs of the work-queue generation", doca_graph_instance_create,
	const struct doca_graph *graph, struct doca_graph_instance **graph_instance)
NOT_YET("graphs of the work-queue generation", doca_graph_instance_destroy,
	struct doca_graph_instance *graph_instance)
NOT_YET("graphs of the work-queue generation", doca_graph_instance_get_failed_nodes,
	const struct doca_graph_instance *graph_instance, const struct doca_graph_node **failed_nodes,
	uint32_t *num_failed_nodes)
NOT_YET("graphs of the work-queue generation", doca_graph_instance_get_num_failed_nodes,
	const struct doca_graph_instance *graph_instance, uint32_t *num_failed_nodes)
NOT_YET("graphs of the work-queue generation", doca_graph_instance_node_get_result,
	const struct doca_graph_instance *graph_instance, const struct doca_graph_node *node,
	union doca_data *result)
NOT_YET("graphs of the work-queue generation", doca_graph_instance_node_get_state,
	const struct doca_graph_instance *graph_instance, const struct doca_graph_node *node,
	enum doca_graph_instance_node_state *state)
NOT_YET("graphs of the work-queue generation", doca_graph_instance_set_ctx_node_data,
	struct doca_graph_instance *graph_instance, struct doca_graph_node *node, struct doca_job *job,
	struct doca_event *ev)
NOT_YET("graphs of the work-queue generation", doca_graph_instance_set_sub_graph_node_data,
	struct doca_graph_instance *graph_instance, struct doca_graph_node *node,
	struct doca_graph_instance *sub_graph_instance, struct doca_event *ev)
NOT_YET("graphs of the work-queue generation", doca_graph_instance_set_user_node_data,
	struct doca_graph_instance *graph_instance, struct doca_graph_node *node, void *cookie,
	struct doca_event *ev)
NOT_YET("graphs of the work-queue generation", doca_graph_start, struct doca_graph *graph)
NOT_YET("graphs of the work-queue generation", doca_graph_stop, struct doca_graph *graph)
NOT_YET("graphs of the work-queue generation", doca_graph_sub_graph_node_create,
	struct doca_graph *graph, struct doca_graph *sub_graph, struct doca_graph_node **node)
NOT_YET("graphs of the work-queue generation", doca_graph_user_node_create, struct doca_graph *graph,
	doca_graph_user_node_cb_t cb, struct doca_graph_node **node)
NOT_YET("graphs of the work-queue generation", doca_graph_workq_add, struct doca_graph *graph,
	struct doca_workq *workq)
NOT_YET("graphs of the work-queue generation", doca_graph_workq_rm, struct doca_graph *graph,
	struct doca_workq *workq)
NOT_YET("graphs of the work-queue generation", doca_workq_graph_submit, struct doca_workq *workq,
	struct doca_graph_instance *graph_instance, union doca_data user_data)

/* ---- doca_sync_event.h ---- */
NULL_YET(struct doca_ctx *, doca_sync_event_as_ctx, struct doca_sync_event *event)
NOT_YET("sync events of the work-queue generation", doca_sync_event_create,
	struct doca_sync_event **event)
NOT_YET("sync events of the work-queue generation", doca_sync_event_create_from_export,
	struct doca_dev *dev, const uint8_t *data, size_t sz, struct doca_sync_event **event)
NOT_YET("sync events of the work-queue generation", doca_sync_event_destroy,
	struct doca_sync_event *event)
NOT_YET("sync events of the work-queue generation", doca_sync_event_export_remote,
	struct doca_sync_event *event, doca_sync_event_remote_t *handle)
NOT_YET("sync events of the work-queue generation", doca_sync_event_export_to_dpa,
	struct doca_sync_event *event, struct doca_dpa *dpa, doca_dpa_dev_sync_event_t *dpa_dev_se_handle)
NOT_YET("sync events of the work-queue generation", doca_sync_event_export_to_dpu,
	struct doca_sync_event *event, struct doca_dev *dev, const uint8_t **data, size_t *sz)
NOT_YET("sync events of the work-queue generation", doca_sync_event_export_to_gpu,
	struct doca_sync_event *event, struct doca_gpu *gpu, doca_gpu_dev_sync_event_t **gpu_dev_se)
NOT_YET("sync events of the work-queue generation", doca_sync_event_get, struct doca_sync_event *event,
	uint64_t *value)
NOT_YET("sync events of the work-queue generation", doca_sync_event_get_create_from_export_supported,
	const struct doca_devinfo *devinfo)
NOT_YET("sync events of the work-queue generation", doca_sync_event_get_export_to_dpa_supported,
	const struct doca_devinfo *devinfo)
NOT_YET("sync events of the work-queue generation", doca_sync_event_get_export_to_dpu_supported,
	const struct doca_devinfo *devinfo)
NOT_YET("sync events of the work-queue generation", doca_sync_event_get_export_to_gpu_supported,
	const struct doca_devinfo *devinfo)
NOT_YET("sync events of the work-queue generation", doca_sync_event_job_get_supported,
	struct doca_devinfo *devinfo, enum doca_sync_event_job_types type)
NOT_YET("sync events of the work-queue generation", doca_sync_event_publisher_add_location_cpu,
	struct doca_sync_event *event, struct doca_dev *dev)
NOT_YET("sync events of the work-queue generation", doca_sync_event_publisher_add_location_dpa,
	struct doca_sync_event *event, struct doca_dpa *dpa)
NOT_YET("sync events of the work-queue generation", doca_sync_event_publisher_add_location_dpu,
	struct doca_sync_event *event)
NOT_YET("sync events of the work-queue generation", doca_sync_event_publisher_add_location_gpu,
	struct doca_sync_event *event, struct doca_gpu *gpu)
NOT_YET("sync events of the work-queue generation", doca_sync_event_set_addr,
	struct doca_sync_event *event, uint64_t *addr)
NOT_YET("sync events of the work-queue generation", doca_sync_event_start,
	struct doca_sync_event *event)
NOT_YET("sync events of the work-queue generation", doca_sync_event_stop, struct doca_sync_event *event)
NOT_YET("sync events of the work-queue generation", doca_sync_event_subscriber_add_location_cpu,
	struct doca_sync_event *event, struct doca_dev *dev)
NOT_YET("sync events of the work-queue generation", doca_sync_event_subscriber_add_location_dpa,
	struct doca_sync_event *event, struct doca_dpa *dpa)
NOT_YET("sync events of the work-queue generation", doca_sync_event_subscriber_add_location_dpu,
	struct doca_sync_event *event)
NOT_YET("sync events of the work-queue generation", doca_sync_event_subscriber_add_location_gpu,
	struct doca_sync_event *event, struct doca_gpu *gpu)
NOT_YET("sync events of the work-queue generation", doca_sync_event_update_add,
	struct doca_sync_event *event, uint64_t value, uint64_t *fetched)
NOT_YET("sync events of the work-queue generation", doca_sync_event_update_set,
	struct doca_sync_event *event, uint64_t value)
NOT_YET("sync events of the work-queue generation", doca_sync_event_wait_gt,
	struct doca_sync_event *event, uint64_t value, uint64_t mask)
NOT_YET("sync events of the work-queue generation", doca_sync_event_wait_gt_yield,
	struct doca_sync_event *event, uint64_t value, uint64_t mask)

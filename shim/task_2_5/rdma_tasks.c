/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocation of tasks, as releases 2.5 and 2.6 have it: for the context's connection. */
#include <doca_rdma.h>

#include "rdma_core.h"
#include "task_2_5_current.h"

doca_error_t doca_rdma_task_atomic_cmp_swp_allocate_init(struct doca_rdma *rdma, struct doca_buf *dst_buf,
							 struct doca_buf *result_buf, uint64_t cmp_data,
							 uint64_t swap_data, union doca_data user_data,
							 struct doca_rdma_task_atomic_cmp_swp **task)
{
	return current_rdma_task_atomic_cmp_swp_allocate_init(rdma, older_rdma_connection(rdma), dst_buf, result_buf,
							      cmp_data, swap_data, user_data, task);
}

doca_error_t doca_rdma_task_atomic_fetch_add_allocate_init(struct doca_rdma *rdma, struct doca_buf *dst_buf,
							   struct doca_buf *result_buf, uint64_t add_data,
							   union doca_data user_data,
							   struct doca_rdma_task_atomic_fetch_add **task)
{
	return current_rdma_task_atomic_fetch_add_allocate_init(rdma, older_rdma_connection(rdma), dst_buf, result_buf,
								add_data, user_data, task);
}

doca_error_t doca_rdma_task_read_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf,
					       struct doca_buf *dst_buf, union doca_data user_data,
					       struct doca_rdma_task_read **task)
{
	return current_rdma_task_read_allocate_init(rdma, older_rdma_connection(rdma), src_buf, dst_buf, user_data,
						    task);
}

doca_error_t doca_rdma_task_remote_net_sync_event_get_allocate_init(
	struct doca_rdma *rdma, const struct doca_sync_event_remote_net *event, struct doca_buf *dst_buf,
	union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_get **task)
{
	return current_rdma_task_remote_net_sync_event_get_allocate_init(rdma, older_rdma_connection(rdma), event,
									 dst_buf, user_data, task);
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
	struct doca_rdma *rdma, struct doca_sync_event_remote_net *event, struct doca_buf *result_buf,
	uint64_t add_data, union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_notify_add **task)
{
	return current_rdma_task_remote_net_sync_event_notify_add_allocate_init(
		rdma, older_rdma_connection(rdma), event, result_buf, add_data, user_data, task);
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
	struct doca_rdma *rdma, struct doca_sync_event_remote_net *event, const struct doca_buf *src_buf,
	union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_notify_set **task)
{
	return current_rdma_task_remote_net_sync_event_notify_set_allocate_init(rdma, older_rdma_connection(rdma),
										event, src_buf, user_data, task);
}

doca_error_t doca_rdma_task_send_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf,
					       union doca_data user_data, struct doca_rdma_task_send **task)
{
	return current_rdma_task_send_allocate_init(rdma, older_rdma_connection(rdma), src_buf, user_data, task);
}

doca_error_t doca_rdma_task_send_imm_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf,
						   doca_be32_t immediate_data, union doca_data user_data,
						   struct doca_rdma_task_send_imm **task)
{
	return current_rdma_task_send_imm_allocate_init(rdma, older_rdma_connection(rdma), src_buf, immediate_data,
							user_data, task);
}

doca_error_t doca_rdma_task_write_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf,
						struct doca_buf *dst_buf, union doca_data user_data,
						struct doca_rdma_task_write **task)
{
	return current_rdma_task_write_allocate_init(rdma, older_rdma_connection(rdma), src_buf, dst_buf, user_data,
						     task);
}

doca_error_t doca_rdma_task_write_imm_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf,
						    struct doca_buf *dst_buf, doca_be32_t immediate_data,
						    union doca_data user_data, struct doca_rdma_task_write_imm **task)
{
	return current_rdma_task_write_imm_allocate_init(rdma, older_rdma_connection(rdma), src_buf, dst_buf,
							 immediate_data, user_data, task);
}

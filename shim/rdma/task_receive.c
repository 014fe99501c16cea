/* SPDX-License-Identifier: BSD-3-Clause */
/* The task that receives a message. */
#include "task_members.h"
#include "shim/common/base/check.h"

/* ---- receive ---- */

static struct rdma_task *receive_of(const struct doca_rdma_task_receive *task)
{
	return (struct rdma_task *)(uintptr_t)task;
}

RDMA_DEFINE_COMPLETE(complete_receive, RDMA_RECEIVE, doca_rdma_task_receive_completion_cb_t, doca_rdma_task_receive)

static const struct doca_buf *get_local_of_receive(const struct rdma_task *task)
{
	return task->dst;
}

const struct rdma_task_type rdma_receive_type = {
	.task = RDMA_TASK_TYPE(RDMA_RECEIVE, complete_receive),
	.index = RDMA_RECEIVE,
	.get_local = get_local_of_receive,
	.writes_local = true,
};

doca_error_t doca_rdma_task_receive_set_conf(struct doca_rdma *rdma,
					     doca_rdma_task_receive_completion_cb_t successful_task_completion_cb,
					     doca_rdma_task_receive_completion_cb_t error_task_completion_cb,
					     uint32_t num_tasks)
{
	uint32_t max;

	SHIM_NEED(rdma, SHIM_RDMA);
	max = shim_dev_function(rdma->ctx.dev)->caps.rdma_max_send_queue;
	if (num_tasks > max)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "%u tasks; give 1 to %u (doca_rdma_cap_get_max_recv_queue_size)", num_tasks, max);
	return rdma_task_set_conf(__func__, rdma, RDMA_RECEIVE, (void (*)(void))successful_task_completion_cb,
				  (void (*)(void))error_task_completion_cb, num_tasks);
}

doca_error_t doca_rdma_task_receive_allocate_init(struct doca_rdma *rdma, struct doca_buf *dst_buf,
						  union doca_data user_data, struct doca_rdma_task_receive **task)
{
	struct rdma_task *allocated;
	doca_error_t result;

	SHIM_NEED_FAST(rdma, SHIM_RDMA);
	SHIM_NEED_OUT(task);
	result = rdma_task_alloc(__func__, rdma, RDMA_RECEIVE, NULL, user_data, &allocated);
	if (result != DOCA_SUCCESS)
		return result;
	allocated->dst = dst_buf;
	*task = (struct doca_rdma_task_receive *)allocated;
	return DOCA_SUCCESS;
}

RDMA_DEFINE_AS_TASK(doca_rdma_task_receive_as_task, doca_rdma_task_receive, RDMA_RECEIVE)
RDMA_DEFINE_SETTER(doca_rdma_task_receive_set_dst_buf, doca_rdma_task_receive, RDMA_RECEIVE, struct doca_buf *, dst_buf,
		   dst)
RDMA_DEFINE_GETTER(struct doca_buf *, doca_rdma_task_receive_get_dst_buf, doca_rdma_task_receive, RDMA_RECEIVE, dst)

doca_error_t doca_rdma_task_receive_set_dst_buf_list_len(struct doca_rdma *rdma, uint32_t buf_list_len)
{
	uint32_t max;

	SHIM_NEED(rdma, SHIM_RDMA);
	if (rdma->ctx.state != DOCA_CTX_STATE_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is not idle; stop it first");
	max = rdma_max_receive_list_len(&shim_dev_function(rdma->ctx.dev)->caps);
	if (buf_list_len == 0 || buf_list_len > max)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "%u buffers; give 1 to %u (doca_rdma_cap_task_receive_get_max_dst_buf_list_len)",
				   buf_list_len, max);
	rdma->properties.max_receive_list_len = buf_list_len;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_rdma_task_receive_get_dst_buf_list_len, const struct doca_rdma, rdma, SHIM_RDMA, uint32_t,
		   buf_list_len, rdma->properties.max_receive_list_len)

static const struct rdma_task *completed(const struct doca_rdma_task_receive *task)
{
	return rdma_task_is(receive_of(task), RDMA_RECEIVE) && !receive_of(task)->task.in_flight ? receive_of(task) :
												   NULL;
}

enum doca_rdma_opcode doca_rdma_task_receive_get_result_opcode(const struct doca_rdma_task_receive *task)
{
	return completed(task) ? completed(task)->opcode : DOCA_RDMA_OPCODE_RECV_SEND;
}

uint32_t doca_rdma_task_receive_get_result_len(const struct doca_rdma_task_receive *task)
{
	return completed(task) ? completed(task)->result_len : 0;
}

doca_be32_t doca_rdma_task_receive_get_result_immediate_data(const struct doca_rdma_task_receive *task)
{
	return completed(task) ? completed(task)->immediate : 0;
}

const struct doca_rdma_connection *doca_rdma_task_receive_get_result_rdma_connection(
	const struct doca_rdma_task_receive *task)
{
	return completed(task) ? completed(task)->connection : NULL;
}

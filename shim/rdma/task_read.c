/* SPDX-License-Identifier: BSD-3-Clause */
/* The task that reads memory of the peer. */
#include "rdma_priv.h"
#include "shim/common/base/check.h"
#include "sim/rdma/memory.h"

/* ---- read ---- */

static struct rdma_task *read_of(const struct doca_rdma_task_read *task)
{
	return (struct rdma_task *)(uintptr_t)task;
}

static void complete_read(struct doca_task *task)
{
	const struct rdma_conf *conf = &rdma_of(task)->conf[RDMA_READ];

	((doca_rdma_task_read_completion_cb_t)(task->status == DOCA_SUCCESS ? conf->done : conf->failed))(
		(struct doca_rdma_task_read *)task, task->user_data, task->ctx->user_data);
}

static const struct doca_buf *get_local_of_read(const struct rdma_task *task)
{
	return task->dst;
}

static const struct doca_buf *get_remote_of_read(const struct rdma_task *task)
{
	return task->src;
}

static int access_read(struct rdma_task *task)
{
	return sim_rdma_read(task->segments, task->num_segments, task->remote, task->remote_addr, task->work.bytes);
}

const struct rdma_task_type rdma_read_type = {
	.task = RDMA_TASK_TYPE(RDMA_READ, complete_read),
	.index = RDMA_READ,
	.work = { .op = PCIE_NET_READ, .execute = rdma_task_execute, .begin = rdma_task_begin },
	.peer_access = SIM_ACCESS_READ,
	.access = access_read,
	.get_local = get_local_of_read,
	.writes_local = true,
	.get_remote = get_remote_of_read,
};

doca_error_t doca_rdma_task_read_set_conf(struct doca_rdma *rdma,
					  doca_rdma_task_read_completion_cb_t successful_task_completion_cb,
					  doca_rdma_task_read_completion_cb_t error_task_completion_cb,
					  uint32_t num_tasks)
{
	SHIM_NEED(rdma, SHIM_RDMA);
	return rdma_task_set_conf(__func__, rdma, RDMA_READ, (void (*)(void))successful_task_completion_cb,
				  (void (*)(void))error_task_completion_cb, num_tasks);
}

doca_error_t doca_rdma_task_read_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
					       const struct doca_buf *src_buf, struct doca_buf *dst_buf,
					       union doca_data user_data, struct doca_rdma_task_read **task)
{
	struct rdma_task *allocated;
	doca_error_t result;

	SHIM_NEED_FAST(rdma, SHIM_RDMA);
	SHIM_NEED_OUT(task);
	result = rdma_task_alloc(__func__, rdma, RDMA_READ, rdma_connection, user_data, &allocated);
	if (result != DOCA_SUCCESS)
		return result;
	allocated->src = src_buf;
	allocated->dst = dst_buf;
	*task = (struct doca_rdma_task_read *)allocated;
	return DOCA_SUCCESS;
}

struct doca_task *doca_rdma_task_read_as_task(struct doca_rdma_task_read *task)
{
	return rdma_task_is(read_of(task), RDMA_READ) ? &read_of(task)->task : NULL;
}

void doca_rdma_task_read_set_rdma_connection(struct doca_rdma_task_read *task,
					     struct doca_rdma_connection *rdma_connection)
{
	rdma_task_set_connection(__func__, read_of(task), RDMA_READ, rdma_connection);
}

const struct doca_rdma_connection *doca_rdma_task_read_get_rdma_connection(const struct doca_rdma_task_read *task)
{
	return rdma_task_was(read_of(task), RDMA_READ) ? read_of(task)->connection : NULL;
}

void doca_rdma_task_read_set_src_buf(struct doca_rdma_task_read *task, const struct doca_buf *src_buf)
{
	if (rdma_task_may_change(__func__, read_of(task), RDMA_READ))
		read_of(task)->src = src_buf;
}

const struct doca_buf *doca_rdma_task_read_get_src_buf(const struct doca_rdma_task_read *task)
{
	return rdma_task_was(read_of(task), RDMA_READ) ? read_of(task)->src : NULL;
}

void doca_rdma_task_read_set_dst_buf(struct doca_rdma_task_read *task, struct doca_buf *dst_buf)
{
	if (rdma_task_may_change(__func__, read_of(task), RDMA_READ))
		read_of(task)->dst = dst_buf;
}

struct doca_buf *doca_rdma_task_read_get_dst_buf(const struct doca_rdma_task_read *task)
{
	return rdma_task_was(read_of(task), RDMA_READ) ? read_of(task)->dst : NULL;
}

uint32_t doca_rdma_task_read_get_result_len(const struct doca_rdma_task_read *task)
{
	return rdma_task_was(read_of(task), RDMA_READ) ? read_of(task)->result_len : 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The task that reads memory of the peer. */
#include "task_members.h"
#include "shim/common/base/check.h"
#include "sim/rdma/memory.h"

/* ---- read ---- */

RDMA_DEFINE_COMPLETE(complete_read, RDMA_READ, doca_rdma_task_read_completion_cb_t, doca_rdma_task_read)

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

RDMA_DEFINE_SET_CONF(doca_rdma_task_read_set_conf, RDMA_READ, doca_rdma_task_read_completion_cb_t)

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

RDMA_DEFINE_AS_TASK(doca_rdma_task_read_as_task, doca_rdma_task_read, RDMA_READ)
RDMA_DEFINE_SET_CONNECTION(doca_rdma_task_read_set_rdma_connection, doca_rdma_task_read, RDMA_READ)
RDMA_DEFINE_GETTER(const struct doca_rdma_connection *, doca_rdma_task_read_get_rdma_connection, doca_rdma_task_read,
		   RDMA_READ, connection)
RDMA_DEFINE_SETTER(doca_rdma_task_read_set_src_buf, doca_rdma_task_read, RDMA_READ, const struct doca_buf *, src_buf,
		   src)
RDMA_DEFINE_GETTER(const struct doca_buf *, doca_rdma_task_read_get_src_buf, doca_rdma_task_read, RDMA_READ, src)
RDMA_DEFINE_SETTER(doca_rdma_task_read_set_dst_buf, doca_rdma_task_read, RDMA_READ, struct doca_buf *, dst_buf, dst)
RDMA_DEFINE_GETTER(struct doca_buf *, doca_rdma_task_read_get_dst_buf, doca_rdma_task_read, RDMA_READ, dst)
RDMA_DEFINE_GETTER(uint32_t, doca_rdma_task_read_get_result_len, doca_rdma_task_read, RDMA_READ, result_len)

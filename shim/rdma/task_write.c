/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that write the memory of the peer, without and with immediate data. */
#include "task_members.h"
#include "shim/common/base/check.h"
#include "sim/rdma/memory.h"

static int access_write(struct rdma_task *task)
{
	return sim_rdma_write(task->segments, task->num_segments, task->remote, task->remote_addr, task->work.bytes);
}

/* ---- write ---- */

RDMA_DEFINE_COMPLETE(complete_write, RDMA_WRITE, doca_rdma_task_write_completion_cb_t, doca_rdma_task_write)

static const struct doca_buf *get_local_of_write(const struct rdma_task *task)
{
	return task->src;
}

static const struct doca_buf *get_remote_of_write(const struct rdma_task *task)
{
	return task->dst;
}

const struct rdma_task_type rdma_write_type = {
	.task = RDMA_TASK_TYPE(RDMA_WRITE, complete_write),
	.index = RDMA_WRITE,
	.work = { .op = PCIE_NET_WRITE, .execute = rdma_task_execute, .begin = rdma_task_begin },
	.peer_access = SIM_ACCESS_WRITE,
	.access = access_write,
	.get_local = get_local_of_write,
	.get_remote = get_remote_of_write,
};

RDMA_DEFINE_SET_CONF(doca_rdma_task_write_set_conf, RDMA_WRITE, doca_rdma_task_write_completion_cb_t)

doca_error_t doca_rdma_task_write_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
						const struct doca_buf *src_buf, struct doca_buf *dst_buf,
						union doca_data user_data, struct doca_rdma_task_write **task)
{
	struct rdma_task *allocated;
	doca_error_t result;

	SHIM_NEED_FAST(rdma, SHIM_RDMA);
	SHIM_NEED_OUT(task);
	result = rdma_task_alloc(__func__, rdma, RDMA_WRITE, rdma_connection, user_data, &allocated);
	if (result != DOCA_SUCCESS)
		return result;
	allocated->src = src_buf;
	allocated->dst = dst_buf;
	*task = (struct doca_rdma_task_write *)allocated;
	return DOCA_SUCCESS;
}

RDMA_DEFINE_AS_TASK(doca_rdma_task_write_as_task, doca_rdma_task_write, RDMA_WRITE)
RDMA_DEFINE_SET_CONNECTION(doca_rdma_task_write_set_rdma_connection, doca_rdma_task_write, RDMA_WRITE)
RDMA_DEFINE_GETTER(const struct doca_rdma_connection *, doca_rdma_task_write_get_rdma_connection, doca_rdma_task_write,
		   RDMA_WRITE, connection)
RDMA_DEFINE_SETTER(doca_rdma_task_write_set_src_buf, doca_rdma_task_write, RDMA_WRITE, const struct doca_buf *, src_buf,
		   src)
RDMA_DEFINE_GETTER(const struct doca_buf *, doca_rdma_task_write_get_src_buf, doca_rdma_task_write, RDMA_WRITE, src)
RDMA_DEFINE_SETTER(doca_rdma_task_write_set_dst_buf, doca_rdma_task_write, RDMA_WRITE, struct doca_buf *, dst_buf, dst)
RDMA_DEFINE_GETTER(struct doca_buf *, doca_rdma_task_write_get_dst_buf, doca_rdma_task_write, RDMA_WRITE, dst)

/* ---- write imm ---- */

RDMA_DEFINE_COMPLETE(complete_write_imm, RDMA_WRITE_IMM, doca_rdma_task_write_imm_completion_cb_t,
		     doca_rdma_task_write_imm)

static const struct doca_buf *get_local_of_write_imm(const struct rdma_task *task)
{
	return task->src;
}

static const struct doca_buf *get_remote_of_write_imm(const struct rdma_task *task)
{
	return task->dst;
}

const struct rdma_task_type rdma_write_imm_type = {
	.task = RDMA_TASK_TYPE(RDMA_WRITE_IMM, complete_write_imm),
	.index = RDMA_WRITE_IMM,
	.work = { .op = PCIE_NET_WRITE,
		  .execute = rdma_task_execute,
		  .begin = rdma_task_begin,
		  .has_message = true,
		  .is_written = true,
		  .has_immediate = true },
	.peer_access = SIM_ACCESS_WRITE,
	.access = access_write,
	.get_local = get_local_of_write_imm,
	.get_remote = get_remote_of_write_imm,
};

RDMA_DEFINE_SET_CONF(doca_rdma_task_write_imm_set_conf, RDMA_WRITE_IMM, doca_rdma_task_write_imm_completion_cb_t)

doca_error_t doca_rdma_task_write_imm_allocate_init(struct doca_rdma *rdma,
						    struct doca_rdma_connection *rdma_connection,
						    const struct doca_buf *src_buf, struct doca_buf *dst_buf,
						    doca_be32_t immediate_data, union doca_data user_data,
						    struct doca_rdma_task_write_imm **task)
{
	struct rdma_task *allocated;
	doca_error_t result;

	SHIM_NEED_FAST(rdma, SHIM_RDMA);
	SHIM_NEED_OUT(task);
	result = rdma_task_alloc(__func__, rdma, RDMA_WRITE_IMM, rdma_connection, user_data, &allocated);
	if (result != DOCA_SUCCESS)
		return result;
	allocated->src = src_buf;
	allocated->dst = dst_buf;
	allocated->immediate = immediate_data;
	*task = (struct doca_rdma_task_write_imm *)allocated;
	return DOCA_SUCCESS;
}

RDMA_DEFINE_AS_TASK(doca_rdma_task_write_imm_as_task, doca_rdma_task_write_imm, RDMA_WRITE_IMM)
RDMA_DEFINE_SET_CONNECTION(doca_rdma_task_write_imm_set_rdma_connection, doca_rdma_task_write_imm, RDMA_WRITE_IMM)
RDMA_DEFINE_GETTER(const struct doca_rdma_connection *, doca_rdma_task_write_imm_get_rdma_connection,
		   doca_rdma_task_write_imm, RDMA_WRITE_IMM, connection)
RDMA_DEFINE_SETTER(doca_rdma_task_write_imm_set_src_buf, doca_rdma_task_write_imm, RDMA_WRITE_IMM,
		   const struct doca_buf *, src_buf, src)
RDMA_DEFINE_GETTER(const struct doca_buf *, doca_rdma_task_write_imm_get_src_buf, doca_rdma_task_write_imm,
		   RDMA_WRITE_IMM, src)
RDMA_DEFINE_SETTER(doca_rdma_task_write_imm_set_dst_buf, doca_rdma_task_write_imm, RDMA_WRITE_IMM, struct doca_buf *,
		   dst_buf, dst)
RDMA_DEFINE_GETTER(struct doca_buf *, doca_rdma_task_write_imm_get_dst_buf, doca_rdma_task_write_imm, RDMA_WRITE_IMM,
		   dst)
RDMA_DEFINE_SETTER(doca_rdma_task_write_imm_set_immediate_data, doca_rdma_task_write_imm, RDMA_WRITE_IMM, doca_be32_t,
		   immediate_data, immediate)
RDMA_DEFINE_GETTER(doca_be32_t, doca_rdma_task_write_imm_get_immediate_data, doca_rdma_task_write_imm, RDMA_WRITE_IMM,
		   immediate)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that write the memory of the peer, without and with immediate data. */
#include "rdma_priv.h"
#include "shim/common/base/check.h"
#include "sim/rdma/memory.h"

static int access_write(struct rdma_task *task)
{
	return sim_rdma_write(task->segments, task->num_segments, task->remote, task->remote_addr, task->work.bytes);
}

/* ---- write ---- */

static struct rdma_task *write_of(const struct doca_rdma_task_write *task)
{
	return (struct rdma_task *)(uintptr_t)task;
}

static void complete_write(struct doca_task *task)
{
	const struct rdma_conf *conf = &rdma_of(task)->conf[RDMA_WRITE];

	((doca_rdma_task_write_completion_cb_t)(task->status == DOCA_SUCCESS ? conf->done : conf->failed))(
		(struct doca_rdma_task_write *)task, task->user_data, task->ctx->user_data);
}

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

doca_error_t doca_rdma_task_write_set_conf(struct doca_rdma *rdma,
					   doca_rdma_task_write_completion_cb_t successful_task_completion_cb,
					   doca_rdma_task_write_completion_cb_t error_task_completion_cb,
					   uint32_t num_tasks)
{
	SHIM_NEED(rdma, SHIM_RDMA);
	return rdma_task_set_conf(__func__, rdma, RDMA_WRITE, (void (*)(void))successful_task_completion_cb,
				  (void (*)(void))error_task_completion_cb, num_tasks);
}

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

struct doca_task *doca_rdma_task_write_as_task(struct doca_rdma_task_write *task)
{
	return rdma_task_is(write_of(task), RDMA_WRITE) ? &write_of(task)->task : NULL;
}

void doca_rdma_task_write_set_rdma_connection(struct doca_rdma_task_write *task,
					      struct doca_rdma_connection *rdma_connection)
{
	rdma_task_set_connection(__func__, write_of(task), RDMA_WRITE, rdma_connection);
}

const struct doca_rdma_connection *doca_rdma_task_write_get_rdma_connection(const struct doca_rdma_task_write *task)
{
	return rdma_task_was(write_of(task), RDMA_WRITE) ? write_of(task)->connection : NULL;
}

void doca_rdma_task_write_set_src_buf(struct doca_rdma_task_write *task, const struct doca_buf *src_buf)
{
	if (rdma_task_may_change(__func__, write_of(task), RDMA_WRITE))
		write_of(task)->src = src_buf;
}

const struct doca_buf *doca_rdma_task_write_get_src_buf(const struct doca_rdma_task_write *task)
{
	return rdma_task_was(write_of(task), RDMA_WRITE) ? write_of(task)->src : NULL;
}

void doca_rdma_task_write_set_dst_buf(struct doca_rdma_task_write *task, struct doca_buf *dst_buf)
{
	if (rdma_task_may_change(__func__, write_of(task), RDMA_WRITE))
		write_of(task)->dst = dst_buf;
}

struct doca_buf *doca_rdma_task_write_get_dst_buf(const struct doca_rdma_task_write *task)
{
	return rdma_task_was(write_of(task), RDMA_WRITE) ? write_of(task)->dst : NULL;
}

/* ---- write imm ---- */

static struct rdma_task *write_imm_of(const struct doca_rdma_task_write_imm *task)
{
	return (struct rdma_task *)(uintptr_t)task;
}

static void complete_write_imm(struct doca_task *task)
{
	const struct rdma_conf *conf = &rdma_of(task)->conf[RDMA_WRITE_IMM];

	((doca_rdma_task_write_imm_completion_cb_t)(task->status == DOCA_SUCCESS ? conf->done : conf->failed))(
		(struct doca_rdma_task_write_imm *)task, task->user_data, task->ctx->user_data);
}

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

doca_error_t doca_rdma_task_write_imm_set_conf(struct doca_rdma *rdma,
					       doca_rdma_task_write_imm_completion_cb_t successful_task_completion_cb,
					       doca_rdma_task_write_imm_completion_cb_t error_task_completion_cb,
					       uint32_t num_tasks)
{
	SHIM_NEED(rdma, SHIM_RDMA);
	return rdma_task_set_conf(__func__, rdma, RDMA_WRITE_IMM, (void (*)(void))successful_task_completion_cb,
				  (void (*)(void))error_task_completion_cb, num_tasks);
}

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

struct doca_task *doca_rdma_task_write_imm_as_task(struct doca_rdma_task_write_imm *task)
{
	return rdma_task_is(write_imm_of(task), RDMA_WRITE_IMM) ? &write_imm_of(task)->task : NULL;
}

void doca_rdma_task_write_imm_set_rdma_connection(struct doca_rdma_task_write_imm *task,
						  struct doca_rdma_connection *rdma_connection)
{
	rdma_task_set_connection(__func__, write_imm_of(task), RDMA_WRITE_IMM, rdma_connection);
}

const struct doca_rdma_connection *doca_rdma_task_write_imm_get_rdma_connection(
	const struct doca_rdma_task_write_imm *task)
{
	return rdma_task_was(write_imm_of(task), RDMA_WRITE_IMM) ? write_imm_of(task)->connection : NULL;
}

void doca_rdma_task_write_imm_set_src_buf(struct doca_rdma_task_write_imm *task, const struct doca_buf *src_buf)
{
	if (rdma_task_may_change(__func__, write_imm_of(task), RDMA_WRITE_IMM))
		write_imm_of(task)->src = src_buf;
}

const struct doca_buf *doca_rdma_task_write_imm_get_src_buf(const struct doca_rdma_task_write_imm *task)
{
	return rdma_task_was(write_imm_of(task), RDMA_WRITE_IMM) ? write_imm_of(task)->src : NULL;
}

void doca_rdma_task_write_imm_set_dst_buf(struct doca_rdma_task_write_imm *task, struct doca_buf *dst_buf)
{
	if (rdma_task_may_change(__func__, write_imm_of(task), RDMA_WRITE_IMM))
		write_imm_of(task)->dst = dst_buf;
}

struct doca_buf *doca_rdma_task_write_imm_get_dst_buf(const struct doca_rdma_task_write_imm *task)
{
	return rdma_task_was(write_imm_of(task), RDMA_WRITE_IMM) ? write_imm_of(task)->dst : NULL;
}

void doca_rdma_task_write_imm_set_immediate_data(struct doca_rdma_task_write_imm *task, doca_be32_t immediate_data)
{
	if (rdma_task_may_change(__func__, write_imm_of(task), RDMA_WRITE_IMM))
		write_imm_of(task)->immediate = immediate_data;
}

doca_be32_t doca_rdma_task_write_imm_get_immediate_data(const struct doca_rdma_task_write_imm *task)
{
	return rdma_task_was(write_imm_of(task), RDMA_WRITE_IMM) ? write_imm_of(task)->immediate : 0;
}

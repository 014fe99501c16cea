/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that send a message, without and with immediate data. */
#include "rdma_priv.h"
#include "shim/common/base/check.h"

/* ---- send ---- */

static struct rdma_task *send_of(const struct doca_rdma_task_send *task)
{
	return (struct rdma_task *)(uintptr_t)task;
}

static void complete_send(struct doca_task *task)
{
	const struct rdma_conf *conf = &rdma_of(task)->conf[RDMA_SEND];

	((doca_rdma_task_send_completion_cb_t)(task->status == DOCA_SUCCESS ? conf->done : conf->failed))(
		(struct doca_rdma_task_send *)task, task->user_data, task->ctx->user_data);
}

static const struct doca_buf *get_local_of_send(const struct rdma_task *task)
{
	return task->src;
}

const struct rdma_task_type rdma_send_type = {
	.task = RDMA_TASK_TYPE(RDMA_SEND, complete_send),
	.index = RDMA_SEND,
	.work = { .op = PCIE_NET_SEND, .has_message = true },
	.get_local = get_local_of_send,
};

doca_error_t doca_rdma_task_send_set_conf(struct doca_rdma *rdma,
					  doca_rdma_task_send_completion_cb_t successful_task_completion_cb,
					  doca_rdma_task_send_completion_cb_t error_task_completion_cb,
					  uint32_t num_tasks)
{
	SHIM_NEED(rdma, SHIM_RDMA);
	return rdma_task_set_conf(__func__, rdma, RDMA_SEND, (void (*)(void))successful_task_completion_cb,
				  (void (*)(void))error_task_completion_cb, num_tasks);
}

doca_error_t doca_rdma_task_send_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
					       const struct doca_buf *src_buf, union doca_data user_data,
					       struct doca_rdma_task_send **task)
{
	struct rdma_task *allocated;
	doca_error_t result;

	SHIM_NEED_FAST(rdma, SHIM_RDMA);
	SHIM_NEED_OUT(task);
	result = rdma_task_alloc(__func__, rdma, RDMA_SEND, rdma_connection, user_data, &allocated);
	if (result != DOCA_SUCCESS)
		return result;
	allocated->src = src_buf;
	*task = (struct doca_rdma_task_send *)allocated;
	return DOCA_SUCCESS;
}

struct doca_task *doca_rdma_task_send_as_task(struct doca_rdma_task_send *task)
{
	return rdma_task_is(send_of(task), RDMA_SEND) ? &send_of(task)->task : NULL;
}

void doca_rdma_task_send_set_rdma_connection(struct doca_rdma_task_send *task,
					     struct doca_rdma_connection *rdma_connection)
{
	rdma_task_set_connection(__func__, send_of(task), RDMA_SEND, rdma_connection);
}

const struct doca_rdma_connection *doca_rdma_task_send_get_rdma_connection(const struct doca_rdma_task_send *task)
{
	return rdma_task_was(send_of(task), RDMA_SEND) ? send_of(task)->connection : NULL;
}

void doca_rdma_task_send_set_src_buf(struct doca_rdma_task_send *task, const struct doca_buf *src_buf)
{
	if (rdma_task_may_change(__func__, send_of(task), RDMA_SEND))
		send_of(task)->src = src_buf;
}

const struct doca_buf *doca_rdma_task_send_get_src_buf(const struct doca_rdma_task_send *task)
{
	return rdma_task_was(send_of(task), RDMA_SEND) ? send_of(task)->src : NULL;
}

/* ---- send imm ---- */

static struct rdma_task *send_imm_of(const struct doca_rdma_task_send_imm *task)
{
	return (struct rdma_task *)(uintptr_t)task;
}

static void complete_send_imm(struct doca_task *task)
{
	const struct rdma_conf *conf = &rdma_of(task)->conf[RDMA_SEND_IMM];

	((doca_rdma_task_send_imm_completion_cb_t)(task->status == DOCA_SUCCESS ? conf->done : conf->failed))(
		(struct doca_rdma_task_send_imm *)task, task->user_data, task->ctx->user_data);
}

static const struct doca_buf *get_local_of_send_imm(const struct rdma_task *task)
{
	return task->src;
}

const struct rdma_task_type rdma_send_imm_type = {
	.task = RDMA_TASK_TYPE(RDMA_SEND_IMM, complete_send_imm),
	.index = RDMA_SEND_IMM,
	.work = { .op = PCIE_NET_SEND, .has_message = true, .has_immediate = true },
	.get_local = get_local_of_send_imm,
};

doca_error_t doca_rdma_task_send_imm_set_conf(struct doca_rdma *rdma,
					      doca_rdma_task_send_imm_completion_cb_t successful_task_completion_cb,
					      doca_rdma_task_send_imm_completion_cb_t error_task_completion_cb,
					      uint32_t num_tasks)
{
	SHIM_NEED(rdma, SHIM_RDMA);
	return rdma_task_set_conf(__func__, rdma, RDMA_SEND_IMM, (void (*)(void))successful_task_completion_cb,
				  (void (*)(void))error_task_completion_cb, num_tasks);
}

doca_error_t doca_rdma_task_send_imm_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
						   const struct doca_buf *src_buf, doca_be32_t immediate_data,
						   union doca_data user_data, struct doca_rdma_task_send_imm **task)
{
	struct rdma_task *allocated;
	doca_error_t result;

	SHIM_NEED_FAST(rdma, SHIM_RDMA);
	SHIM_NEED_OUT(task);
	result = rdma_task_alloc(__func__, rdma, RDMA_SEND_IMM, rdma_connection, user_data, &allocated);
	if (result != DOCA_SUCCESS)
		return result;
	allocated->src = src_buf;
	allocated->immediate = immediate_data;
	*task = (struct doca_rdma_task_send_imm *)allocated;
	return DOCA_SUCCESS;
}

struct doca_task *doca_rdma_task_send_imm_as_task(struct doca_rdma_task_send_imm *task)
{
	return rdma_task_is(send_imm_of(task), RDMA_SEND_IMM) ? &send_imm_of(task)->task : NULL;
}

void doca_rdma_task_send_imm_set_rdma_connection(struct doca_rdma_task_send_imm *task,
						 struct doca_rdma_connection *rdma_connection)
{
	rdma_task_set_connection(__func__, send_imm_of(task), RDMA_SEND_IMM, rdma_connection);
}

const struct doca_rdma_connection *doca_rdma_task_send_imm_get_rdma_connection(
	const struct doca_rdma_task_send_imm *task)
{
	return rdma_task_was(send_imm_of(task), RDMA_SEND_IMM) ? send_imm_of(task)->connection : NULL;
}

void doca_rdma_task_send_imm_set_src_buf(struct doca_rdma_task_send_imm *task, const struct doca_buf *src_buf)
{
	if (rdma_task_may_change(__func__, send_imm_of(task), RDMA_SEND_IMM))
		send_imm_of(task)->src = src_buf;
}

const struct doca_buf *doca_rdma_task_send_imm_get_src_buf(const struct doca_rdma_task_send_imm *task)
{
	return rdma_task_was(send_imm_of(task), RDMA_SEND_IMM) ? send_imm_of(task)->src : NULL;
}

void doca_rdma_task_send_imm_set_immediate_data(struct doca_rdma_task_send_imm *task, doca_be32_t immediate_data)
{
	if (rdma_task_may_change(__func__, send_imm_of(task), RDMA_SEND_IMM))
		send_imm_of(task)->immediate = immediate_data;
}

doca_be32_t doca_rdma_task_send_imm_get_immediate_data(const struct doca_rdma_task_send_imm *task)
{
	return rdma_task_was(send_imm_of(task), RDMA_SEND_IMM) ? send_imm_of(task)->immediate : 0;
}

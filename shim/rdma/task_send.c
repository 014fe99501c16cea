/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that send a message, without and with immediate data. */
#include "task_members.h"
#include "shim/common/base/check.h"

/* ---- send ---- */

RDMA_DEFINE_COMPLETE(complete_send, RDMA_SEND, doca_rdma_task_send_completion_cb_t, doca_rdma_task_send)

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

RDMA_DEFINE_SET_CONF(doca_rdma_task_send_set_conf, RDMA_SEND, doca_rdma_task_send_completion_cb_t)

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

RDMA_DEFINE_AS_TASK(doca_rdma_task_send_as_task, doca_rdma_task_send, RDMA_SEND)
RDMA_DEFINE_SET_CONNECTION(doca_rdma_task_send_set_rdma_connection, doca_rdma_task_send, RDMA_SEND)
RDMA_DEFINE_GETTER(const struct doca_rdma_connection *, doca_rdma_task_send_get_rdma_connection, doca_rdma_task_send,
		   RDMA_SEND, connection)
RDMA_DEFINE_SETTER(doca_rdma_task_send_set_src_buf, doca_rdma_task_send, RDMA_SEND, const struct doca_buf *, src_buf,
		   src)
RDMA_DEFINE_GETTER(const struct doca_buf *, doca_rdma_task_send_get_src_buf, doca_rdma_task_send, RDMA_SEND, src)

/* ---- send imm ---- */

RDMA_DEFINE_COMPLETE(complete_send_imm, RDMA_SEND_IMM, doca_rdma_task_send_imm_completion_cb_t, doca_rdma_task_send_imm)

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

RDMA_DEFINE_SET_CONF(doca_rdma_task_send_imm_set_conf, RDMA_SEND_IMM, doca_rdma_task_send_imm_completion_cb_t)

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

RDMA_DEFINE_AS_TASK(doca_rdma_task_send_imm_as_task, doca_rdma_task_send_imm, RDMA_SEND_IMM)
RDMA_DEFINE_SET_CONNECTION(doca_rdma_task_send_imm_set_rdma_connection, doca_rdma_task_send_imm, RDMA_SEND_IMM)
RDMA_DEFINE_GETTER(const struct doca_rdma_connection *, doca_rdma_task_send_imm_get_rdma_connection,
		   doca_rdma_task_send_imm, RDMA_SEND_IMM, connection)
RDMA_DEFINE_SETTER(doca_rdma_task_send_imm_set_src_buf, doca_rdma_task_send_imm, RDMA_SEND_IMM, const struct doca_buf *,
		   src_buf, src)
RDMA_DEFINE_GETTER(const struct doca_buf *, doca_rdma_task_send_imm_get_src_buf, doca_rdma_task_send_imm, RDMA_SEND_IMM,
		   src)
RDMA_DEFINE_SETTER(doca_rdma_task_send_imm_set_immediate_data, doca_rdma_task_send_imm, RDMA_SEND_IMM, doca_be32_t,
		   immediate_data, immediate)
RDMA_DEFINE_GETTER(doca_be32_t, doca_rdma_task_send_imm_get_immediate_data, doca_rdma_task_send_imm, RDMA_SEND_IMM,
		   immediate)

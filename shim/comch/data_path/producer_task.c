/* SPDX-License-Identifier: BSD-3-Clause */
/* The producer's send task: one message into the oldest buffer that a consumer has posted.
 *
 *   submit: reserve a posted buffer --> [in flight] --its job runs: claim the buffer, fill it--> completed
 *
 * Without a posted buffer, the submission is refused with AGAIN. A short message goes through the consumer's slot. A
 * longer one is written straight into the consumer's buffer, by the best path between the processes (sim/fabric), so
 * that no byte is copied twice. */
#include <errno.h>

#include "producer_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/base/error.h"
#include "shim/common/mem/buf_priv.h"
#include "shim/common/pe/task_memory.h"
#include "shim/common/process/runtime.h"
#include "sim/fabric/remote.h"

static struct doca_comch_producer_task_send *send_of(const struct doca_task *task)
{
	return (struct doca_comch_producer_task_send *)(uintptr_t)task;
}

/* ---- submit ---- */

static doca_error_t send_check(struct doca_task *task)
{
	const char *reason = comch_producer_describe_invalid(send_of(task));

	if (!reason)
		return DOCA_SUCCESS;
	sim_err("Comch producer's send task: %s", reason);
	return DOCA_ERROR_INVALID_VALUE;
}

static const struct shim_call_errors post_errors = {
	.allowed = SHIM_ERROR_BIT(AGAIN),
	.other = DOCA_ERROR_INVALID_VALUE,
	.overrides = { { EPROTO, DOCA_ERROR_IO_FAILED }, { ENOTCONN, DOCA_ERROR_NOT_CONNECTED } },
};

static void report_post_error(const struct doca_comch_producer_task_send *send, int rc)
{
	switch (rc) {
	case -EAGAIN: /* programs poll with it for a receive: it is not logged */
		return;
	case -EMSGSIZE:
		sim_err("Comch producer's send task: %u bytes are more than the buffer that consumer %u has posted",
			(unsigned int)send->buf->data_len, send->consumer);
		return;
	case -E2BIG:
		sim_err("Comch producer's send task: %u bytes of immediate data are more than consumer %u takes",
			send->imm_len, send->consumer);
		return;
	case -EPROTO:
		sim_err("Comch producer's send task: consumer %u wrote an invalid queue", send->consumer);
		return;
	default:
		sim_err("Comch producer's send task: the connection has no consumer %u (any more)", send->consumer);
	}
}

static doca_error_t fail_post(const struct doca_comch_producer_task_send *send, int rc)
{
	report_post_error(send, rc);
	return shim_error_for_call(rc, &post_errors);
}

/* In virtual time. */
static int reserve_in_turn(struct sim_remote_consumer *remote, struct doca_comch_producer_task_send *send)
{
	struct doca_pe *pe = send->task.ctx->pe;
	enum sim_vclock_retry retry = shim_pe_vclock_may_retry(pe);
	int rc = -EAGAIN;

	if (retry == SIM_VCLOCK_POLL_FIRST)
		return rc;
	if (retry == SIM_VCLOCK_RETRY) {
		shim_vclock_begin_call();
		rc = comch_producer_reserve(remote, send);
	}
	if (rc == -EAGAIN)
		shim_pe_vclock_wait_credit(pe, remote->info.engine);
	return rc;
}

static doca_error_t send_post(struct doca_task *task)
{
	struct doca_comch_producer_task_send *send = send_of(task);
	struct doca_comch_connection *connection = ((struct doca_comch_producer *)task->ctx)->data_path.connection;
	struct sim_remote_consumer *remote = sim_remote_consumer_get(&connection->pipe, send->consumer);
	doca_error_t result;
	int rc;

	if (!remote)
		return fail_post(send, connection->pipe.lost_error < 0 ? -ENOTCONN : -ENOENT);
	rc = doca_likely(!shim_vclock) ? comch_producer_reserve(remote, send) : reserve_in_turn(remote, send);
	send->remote = remote;
	result = rc < 0 ? fail_post(send, rc) : shim_task_post_job(task);
	if (result != DOCA_SUCCESS) {
		if (rc == 0)
			sim_remote_consumer_unreserve(remote);
		comch_producer_release(send);
	}
	return result;
}

/* The message in the program's buffer, and the consumer's buffer if it is mapped here. */
static bool send_find_memory(const struct doca_task *task, uintptr_t addr, struct shim_memory *ret_memory)
{
	const struct doca_comch_producer_task_send *send = send_of(task);
	struct sim_remote *buffers = send->remote ? send->remote->buffers : NULL;

	*ret_memory = (struct shim_memory){ .role = "consumer's buffers" };
	if (buffers) {
		ret_memory->addr = buffers->region.addr;
		ret_memory->len_bytes = buffers->region.len_bytes;
	}
	if (buffers && shim_memory_find_remote(buffers, addr, ret_memory))
		return true;
	return send->buf &&
	       shim_memory_find(send->buf, send->buf->data, send->buf->data_len, "message", addr, ret_memory);
}

static void send_complete(struct doca_task *task)
{
	struct doca_comch_producer *producer = (struct doca_comch_producer *)task->ctx;
	struct doca_comch_producer_task_send *send = send_of(task);

	if (send->remote) { /* flushed before its job ran: the reserved buffer is free for others */
		sim_remote_consumer_unreserve(send->remote);
		comch_producer_release(send);
	}
	(task->status == DOCA_SUCCESS ? producer->done : producer->failed)(send, task->user_data, task->ctx->user_data);
}

const struct shim_task_type comch_producer_send_type = {
	.name = SIM_TASK_COMCH_PRODUCER_SEND,
	.size = sizeof(struct doca_comch_producer_task_send), /* and the immediate data */
	.check = send_check,
	.validate = send_check,
	.post = send_post,
	.run = comch_producer_run,
	.find_memory = send_find_memory,
	.complete = send_complete,
	.fault_ops = &comch_producer_send_fault_ops,
};

/* ---- public functions ---- */

doca_error_t doca_comch_producer_task_send_alloc_init(struct doca_comch_producer *producer, const struct doca_buf *buf,
						      uint8_t *imm_data, uint32_t imm_data_len, uint32_t consumer_id,
						      struct doca_comch_producer_task_send **task)
{
	struct doca_task *base;
	doca_error_t result;

	SHIM_NEED_FAST(producer, SHIM_COMCH_PRODUCER);
	SHIM_NEED_OUT(task);
	if (imm_data_len > 0)
		SHIM_NEED_OUT(imm_data);
	result = shim_task_alloc(producer->pool, &producer->data_path.ctx, (union doca_data){ .u64 = 0 }, &base);
	if (result == DOCA_ERROR_BAD_STATE)
		return SHIM_REFUSE(result, "%s", shim_ctx_describe_not_running(&producer->data_path.ctx));
	if (result != DOCA_SUCCESS)
		return SHIM_REFUSE(result, "all %u configured tasks are allocated; free some", producer->num_tasks);
	*task = send_of(base);
	(*task)->buf = buf;
	(*task)->imm = imm_data;
	(*task)->imm_len = imm_data_len;
	(*task)->consumer = consumer_id;
	(*task)->remote = NULL;
	return DOCA_SUCCESS;
}

static bool is_send(const struct doca_comch_producer_task_send *task)
{
	return shim_object_is(task, SHIM_TASK) && shim_object_is(task->task.ctx, SHIM_COMCH_PRODUCER);
}

static bool may_change(const char *func, const struct doca_comch_producer_task_send *task)
{
	if (is_send(task) && !task->task.in_flight)
		return true;
	sim_err("%s: the task is NULL, freed, of another kind, or in flight; nothing was changed", func);
	return false;
}

struct doca_task *doca_comch_producer_task_send_as_task(struct doca_comch_producer_task_send *task)
{
	return is_send(task) ? &task->task : NULL;
}

void doca_comch_producer_task_send_set_buf(struct doca_comch_producer_task_send *task, const struct doca_buf *buf)
{
	if (may_change(__func__, task))
		task->buf = buf;
}

const struct doca_buf *doca_comch_producer_task_send_get_buf(const struct doca_comch_producer_task_send *task)
{
	return is_send(task) ? task->buf : NULL;
}

void doca_comch_producer_task_send_set_imm_data(struct doca_comch_producer_task_send *task, uint8_t *imm_data,
						uint32_t imm_data_len)
{
	if (!may_change(__func__, task))
		return;
	task->imm = imm_data;
	task->imm_len = imm_data ? imm_data_len : 0;
}

uint8_t *doca_comch_producer_task_send_get_imm_data(const struct doca_comch_producer_task_send *task)
{
	return is_send(task) ? (uint8_t *)(uintptr_t)task->imm : NULL;
}

uint32_t doca_comch_producer_task_send_get_imm_data_len(const struct doca_comch_producer_task_send *task)
{
	return is_send(task) ? task->imm_len : 0;
}

void doca_comch_producer_task_send_set_consumer_id(struct doca_comch_producer_task_send *task,
						   const uint32_t consumer_id)
{
	if (may_change(__func__, task))
		task->consumer = consumer_id;
}

uint32_t doca_comch_producer_task_send_get_consumer_id(const struct doca_comch_producer_task_send *task)
{
	return is_send(task) ? task->consumer : 0;
}

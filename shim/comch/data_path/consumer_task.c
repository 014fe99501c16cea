/* SPDX-License-Identifier: BSD-3-Clause */
/* The post receive task: a buffer that waits for a producer's message. */
#include <errno.h>
#include <string.h>

#include "consumer_priv.h"
#include "shim/common/pe/task_fault.h"
#include "shim/common/pe/task_memory.h"
#include "shim/common/pe/task_trace.h"
#include "shim/common/mem/buf_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/process/runtime.h"
#include "sim/base/move.h"

static struct doca_comch_consumer_task_post_recv *recv_of(const struct doca_task *task)
{
	return (struct doca_comch_consumer_task_post_recv *)(uintptr_t)task;
}

static struct doca_comch_consumer *consumer_of(const struct doca_task *task)
{
	return (struct doca_comch_consumer *)task->ctx;
}

/* Return why the buffer can't take a message, or NULL. */
static const char *describe_invalid_buf(const struct doca_comch_consumer *consumer, const struct doca_buf *buf)
{
	if (!consumer->mmap)
		return "it has a buffer, and a MsgQ brings immediate data only";
	if (!shim_object_is(buf, SHIM_BUF) || buf->is_inner)
		return "its buffer is not live, or inside a list";
	if (buf->next)
		return "its buffer is chained; Comch takes single ones";
	if (buf->mmap != consumer->mmap || !shim_buf_has_usable_mmap(buf))
		return "its buffer is not of the memory map that the consumer was created with, or that map was stopped";
	if (!shim_buf_has_data_in_map(buf))
		return "its buffer's data is outside of its memory map's range (doca_buf_set_data)";
	if (shim_buf_room_bytes(buf) > shim_dev_function(consumer->data_path.ctx.dev)->caps.comch_max_buf_bytes)
		return "its buffer is larger than doca_comch_consumer_cap_get_max_buf_size()";
	return NULL;
}

static doca_error_t post_recv_check(struct doca_task *task)
{
	const struct doca_buf *buf = recv_of(task)->buf;
	const char *reason = buf ? describe_invalid_buf(consumer_of(task), buf) : NULL;

	if (!reason)
		return DOCA_SUCCESS;
	sim_err("post receive task: %s", reason);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t post_recv_post(struct doca_task *task)
{
	struct doca_comch_consumer_task_post_recv *recv = recv_of(task);
	struct doca_comch_consumer *consumer = consumer_of(task);
	struct doca_buf *buf = recv->buf;

	shim_vclock_begin_call();
	recv->receive.desc = (struct sim_recvq_desc){ 0 };
	if (buf)
		recv->receive.desc = (struct sim_recvq_desc){ .addr = (uintptr_t)shim_buf_room(buf),
							      .len_bytes = (uint32_t)shim_buf_room_bytes(buf) };
	recv->receive.hit = task->fault_hit;
	recv->imm_len = 0;
	sim_consumer_post(&consumer->queue, &recv->receive);
	if (doca_unlikely(consumer->data_path.connection->receives_changed != NULL))
		consumer->data_path.connection->receives_changed(consumer->data_path.connection);
	if (doca_unlikely(shim_vclock != NULL))
		shim_pe_vclock_post_credit(task->ctx->pe);
	return DOCA_SUCCESS;
}

static void post_recv_complete(struct doca_task *task)
{
	struct doca_comch_consumer *consumer = consumer_of(task);
	doca_comch_consumer_task_post_recv_completion_cb_t cb =
		task->status == DOCA_SUCCESS ? consumer->done : consumer->failed;

	cb(recv_of(task), task->user_data, task->ctx->user_data);
}

static void post_recv_site(const struct doca_task *task, struct sim_fault_site *ret_site)
{
	const struct doca_buf *buf = recv_of(task)->buf;

	ret_site->size = buf ? shim_buf_room_bytes(buf) : consumer_of(task)->imm_bytes;
	if (buf)
		ret_site->addr = (uintptr_t)shim_buf_room(buf);
}

static const struct shim_task_fault_ops post_recv_fault_ops = {
	.op = SIM_OP_COMCH_CONSUMER_RECV,
	.site = post_recv_site,
};

const struct shim_task_type comch_post_recv_type = {
	.name = SIM_TASK_COMCH_CONSUMER_RECV,
	.size = sizeof(struct doca_comch_consumer_task_post_recv), /* and the immediate data */
	.check = post_recv_check,
	.validate = post_recv_check,
	.post = post_recv_post,
	.complete = post_recv_complete,
	.fault_ops = &post_recv_fault_ops,
};

/* ---- messages ---- */

/* Returns false if the buffer's memory is gone. */
static bool copy_inlined(const struct doca_task *task, const struct doca_buf *buf,
			 const struct sim_recvq_message *message)
{
	const uint8_t *room = shim_buf_room(buf);
	void *to = (void *)(uintptr_t)shim_buf_cpu_addr(buf, room);
	struct sim_range_guard guard;
	bool is_lost;

	sim_range_guard_begin(&guard, to, message->len_bytes, NULL);
	sim_move(to, message->inlined, message->len_bytes);
	is_lost = sim_range_guard_end(&guard);
	if (doca_unlikely(guard.guard.has_faulted)) {
		const struct shim_memory memory = { .role = "buffer",
						    .mmap = buf->mmap,
						    .addr = (uintptr_t)room,
						    .cpu_addr = (uintptr_t)to,
						    .len_bytes = message->len_bytes };

		shim_memory_report_range(SIM_TASK_COMCH_CONSUMER_RECV, task, &memory, &guard);
	}
	return !is_lost;
}

/* Move the message to the task. The user must not have changed the task's buffer since the submit. */
static doca_error_t store_message(const struct doca_comch_consumer *consumer,
				  struct doca_comch_consumer_task_post_recv *recv,
				  const struct sim_recvq_message *message)
{
	struct doca_buf *buf = recv->buf;

	if (message->failed)
		return DOCA_ERROR_IO_FAILED;
	if (buf && (describe_invalid_buf(consumer, buf) || (uintptr_t)shim_buf_room(buf) != recv->receive.desc.addr ||
		    shim_buf_room_bytes(buf) < message->len_bytes)) {
		sim_err("post receive task: its buffer was changed or returned while the task was in flight");
		return DOCA_ERROR_IO_FAILED;
	}
	if (message->inlined && buf && !copy_inlined(&recv->task, buf, message))
		return DOCA_ERROR_IO_FAILED;
	if (buf)
		buf->data_len += message->len_bytes;
	recv->task.bytes = message->len_bytes + message->imm_bytes;
	recv->producer = message->producer;
	recv->imm_len = message->imm_bytes;
	memcpy(recv->imm, message->imm, message->imm_bytes);
	return DOCA_SUCCESS;
}

static struct doca_comch_consumer_task_post_recv *recv_from(struct sim_receive *receive)
{
	return (void *)((uint8_t *)receive - offsetof(struct doca_comch_consumer_task_post_recv, receive));
}

/* The task completes later. A fault changes its status; or the message, which is the last part of the buffer's data, or only
 * immediate data. */
static void hold(struct doca_comch_consumer *consumer, struct doca_comch_consumer_task_post_recv *recv,
		 const struct sim_recvq_message *message, doca_error_t result)
{
	const struct doca_buf *buf = recv->buf;
	uint8_t *bytes = NULL;

	recv->result = shim_task_has_fault(&recv->task, FAIL) ? shim_fault_error(recv->task.fault_hit->status) : result;
	if (recv->result == DOCA_SUCCESS && message->len_bytes > 0)
		bytes = (void *)(uintptr_t)shim_buf_cpu_addr(buf, shim_buf_room(buf) - message->len_bytes);
	else if (recv->result == DOCA_SUCCESS)
		bytes = recv->imm;
	sim_consumer_hold(&consumer->queue, &recv->receive, message, bytes,
			  message->len_bytes > 0 ? message->len_bytes : recv->imm_len);
}

static void complete_held(struct sim_receive *receive)
{
	shim_task_complete_posted(&recv_from(receive)->task, recv_from(receive)->result);
}

/* Receive a message. Returns whether the user saw it. */
static bool poll_next_message(struct doca_comch_consumer *consumer)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct sim_recvq_message message;
	struct sim_receive *receive;
	doca_error_t result;
	int rc = sim_consumer_take(&consumer->queue, &receive, &message);

	recv = recv_from(receive);
	if (rc == 0 && message.is_recorded)
		sim_trace_message(SIM_TRACE_RECEIVED, consumer->data_path.ctx.trace_id,
				  consumer->queue.cfg.info.stream_id, consumer->queue.recvq.polled,
				  message.len_bytes + message.imm_bytes, sim_trace_now_ns(),
				  shim_task_trace_submitted_ns(&recv->task));
	if (rc < 0)
		sim_err("Comch consumer: the other end wrote an invalid message, which is lost");
	result = store_message(consumer, recv, &message);
	if (doca_unlikely(sim_consumer_must_hold(&consumer->queue, receive, &message))) {
		hold(consumer, recv, &message, result);
		return false;
	}
	shim_task_complete_posted(&recv->task, result);
	return true;
}

/* In virtual time a message stays in its slot until it is due. A consumer that stops takes it at once. */
bool comch_consumer_has_message(struct doca_comch_consumer *consumer)
{
	return sim_consumer_has_message(&consumer->queue,
					shim_vclock && consumer->data_path.ctx.state != DOCA_CTX_STATE_STOPPING);
}

bool comch_consumer_poll(struct doca_comch_consumer *consumer)
{
	for (;;) {
		struct sim_receive *due = NULL;

		if (doca_unlikely(sim_consumer_holds_any(&consumer->queue)))
			due = sim_consumer_pop_due(&consumer->queue);
		if (due) {
			complete_held(due);
			return true;
		}
		if (!comch_consumer_has_message(consumer))
			return false;
		if (poll_next_message(consumer))
			return true;
	}
}

bool comch_consumer_flush(struct doca_comch_consumer *consumer)
{
	int lost = consumer->data_path.connection->pipe.lost_error;
	struct sim_receive *receive = sim_consumer_pop_held(&consumer->queue);

	if (receive) {
		complete_held(receive);
		return true;
	}
	receive = sim_consumer_pop_any(&consumer->queue);
	if (!receive)
		return false;
	shim_task_complete_posted(&recv_from(receive)->task, lost < 0 ? comch_end_status(lost) : DOCA_ERROR_IO_FAILED);
	return true;
}

/* ---- public functions ---- */

doca_error_t doca_comch_consumer_task_post_recv_alloc_init(struct doca_comch_consumer *consumer, struct doca_buf *buf,
							   struct doca_comch_consumer_task_post_recv **task)
{
	struct doca_task *base;
	doca_error_t result;

	SHIM_NEED_FAST(consumer, SHIM_COMCH_CONSUMER);
	SHIM_NEED_OUT(task);
	result = shim_task_alloc(consumer->pool, &consumer->data_path.ctx, (union doca_data){ .u64 = 0 }, &base);
	if (result == DOCA_ERROR_BAD_STATE)
		return SHIM_REFUSE(result, "%s", shim_ctx_describe_not_running(&consumer->data_path.ctx));
	if (result != DOCA_SUCCESS)
		return SHIM_REFUSE(result, "all %u configured tasks are allocated; free some", consumer->num_tasks);
	*task = recv_of(base);
	(*task)->buf = buf;
	(*task)->imm_len = 0;
	(*task)->producer = 0;
	return DOCA_SUCCESS;
}

static bool is_recv(const struct doca_comch_consumer_task_post_recv *task)
{
	return shim_object_is(task, SHIM_TASK) && shim_object_is(task->task.ctx, SHIM_COMCH_CONSUMER);
}

struct doca_task *doca_comch_consumer_task_post_recv_as_task(struct doca_comch_consumer_task_post_recv *task)
{
	return is_recv(task) ? &task->task : NULL;
}

void doca_comch_consumer_task_post_recv_set_buf(struct doca_comch_consumer_task_post_recv *task, struct doca_buf *buf)
{
	if (is_recv(task) && !task->task.in_flight)
		task->buf = buf;
	else
		sim_err("%s: the task is NULL, freed, of another kind, or in flight; nothing was changed", __func__);
}

struct doca_buf *doca_comch_consumer_task_post_recv_get_buf(const struct doca_comch_consumer_task_post_recv *task)
{
	return is_recv(task) ? task->buf : NULL;
}

uint32_t doca_comch_consumer_task_post_recv_get_producer_id(const struct doca_comch_consumer_task_post_recv *task)
{
	return is_recv(task) ? task->producer : 0;
}

const uint8_t *doca_comch_consumer_task_post_recv_get_imm_data(const struct doca_comch_consumer_task_post_recv *task)
{
	return is_recv(task) && task->imm_len > 0 ? task->imm : NULL;
}

uint32_t doca_comch_consumer_task_post_recv_get_imm_data_len(const struct doca_comch_consumer_task_post_recv *task)
{
	return is_recv(task) ? task->imm_len : 0;
}

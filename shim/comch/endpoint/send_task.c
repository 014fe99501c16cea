/* SPDX-License-Identifier: BSD-3-Clause */
/* The send task: a control message. It completes when the message is in the other end's receive queue; while that queue
 * is full, the task waits (sim/msg/pipe_send.c). Where messages take time, it completes when the sender is free again. */
#include "endpoint_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/pe/task_fault.h"
#include "shim/common/pe/task_memory.h"
#include "shim/common/pe/task_trace.h"

static struct doca_comch_task_send *send_of(const struct doca_task *task)
{
	return (struct doca_comch_task_send *)(uintptr_t)task;
}

static doca_error_t send_check(struct doca_task *task)
{
	const struct doca_comch_connection *connection = send_of(task)->connection;

	if (shim_object_is(connection, SHIM_COMCH_CONNECTION) &&
	    connection->serial == send_of(task)->connection_serial &&
	    connection->endpoint == (struct comch_endpoint *)task->ctx && connection->pipe.state == SIM_PIPE_OPEN)
		return DOCA_SUCCESS;
	sim_err("Comch send task: its connection is closed");
	return DOCA_ERROR_NOT_CONNECTED;
}

static doca_error_t send_post(struct doca_task *task)
{
	struct doca_comch_task_send *send = send_of(task);
	int rc;

	send->send.hit = task->fault_hit;
	send->send.task_ns = doca_unlikely(task->timed) ? shim_task_trace_submitted_ns(task) : 0;
	rc = sim_pipe_submit(&send->send);
	if (doca_unlikely(rc < 0))
		comch_connection_set_lost(send->connection, rc);
	return DOCA_SUCCESS;
}

/* The program's message is gone: the task fails, and the connection stays. */
static __attribute__((noinline)) void report_lost_message(const struct doca_comch_task_send *send)
{
	const struct sim_guard guard = { .is_lost = true,
					 .fault = SIM_MEMORY_UNMAPPED,
					 .addr = (uintptr_t)send->send.msg };
	const struct shim_memory memory = {
		.role = "message", .addr = guard.addr, .cpu_addr = guard.addr, .len_bytes = send->send.len
	};

	shim_memory_report(SIM_TASK_COMCH_SEND, &send->task, &memory, &guard);
}

/* Of a send that failed. */
static __attribute__((noinline)) doca_error_t get_status(const struct doca_comch_task_send *send)
{
	switch (send->send.result) {
	case -ECANCELED:
		return shim_fault_error(send->task.fault_hit->status);
	case -EFAULT:
		report_lost_message(send);
		return DOCA_ERROR_IO_FAILED;
	case -EIO:
		return DOCA_ERROR_IO_FAILED;
	default:
		return comch_end_status(send->send.result);
	}
}

bool comch_send_complete_next(struct comch_endpoint *endpoint)
{
	struct doca_comch_task_send *send;
	struct sim_pipe_send *done;

	if (doca_likely(!sim_poll_group_has_completed(&endpoint->group)))
		return false;
	done = sim_poll_group_pop_completed(&endpoint->group);
	send = (struct doca_comch_task_send *)(void *)((uint8_t *)done - offsetof(struct doca_comch_task_send, send));
	if (done->is_sent)
		send->task.bytes = done->len;
	shim_task_complete_posted(&send->task, doca_likely(done->result == 0) ? DOCA_SUCCESS : get_status(send));
	return true;
}

static void send_complete(struct doca_task *task)
{
	struct comch_endpoint *endpoint = (struct comch_endpoint *)task->ctx;
	doca_comch_task_send_completion_cb_t cb =
		task->status == DOCA_SUCCESS ? endpoint->send_done : endpoint->send_failed;

	cb(send_of(task), task->user_data, endpoint->ctx.user_data);
}

static void send_site(const struct doca_task *task, struct sim_fault_site *ret_site)
{
	ret_site->size = send_of(task)->send.len;
}

static const struct shim_task_fault_ops send_fault_ops = {
	.op = SIM_OP_COMCH_SEND,
	.site = send_site,
};

const struct shim_task_type comch_send_type = {
	.name = SIM_TASK_COMCH_SEND,
	.size = sizeof(struct doca_comch_task_send),
	.check = send_check,
	.validate = send_check,
	.post = send_post,
	.complete = send_complete,
	.fault_ops = &send_fault_ops,
};

struct doca_task *doca_comch_task_send_as_task(struct doca_comch_task_send *task)
{
	bool is_send = shim_object_is(task, SHIM_TASK) && (shim_object_is(task->task.ctx, SHIM_COMCH_SERVER) ||
							   shim_object_is(task->task.ctx, SHIM_COMCH_CLIENT));

	return is_send ? &task->task : NULL;
}

doca_error_t comch_send_set_conf(const char *func, struct comch_endpoint *endpoint,
				 doca_comch_task_send_completion_cb_t done, doca_comch_task_send_completion_cb_t failed,
				 uint32_t count)
{
	uint32_t max = shim_dev_function(endpoint->ctx.dev)->caps.comch_max_send_tasks;

	if (!done || !failed) {
		sim_err("%s: a callback is NULL", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (endpoint->ctx.state != DOCA_CTX_STATE_IDLE) {
		sim_err("%s: the context is not idle; stop it first", func);
		return DOCA_ERROR_BAD_STATE;
	}
	if (count == 0 || count > max) {
		sim_err("%s: %u tasks; give 1 to %u (doca_comch_cap_get_max_send_tasks)", func, count, max);
		return DOCA_ERROR_INVALID_VALUE;
	}
	endpoint->send_done = done;
	endpoint->send_failed = failed;
	endpoint->num_send_tasks = count;
	return DOCA_SUCCESS;
}

doca_error_t comch_send_alloc(const char *func, struct comch_endpoint *endpoint, struct doca_comch_connection *peer,
			      const void *msg, uint32_t len, struct doca_comch_task_send **ret_task)
{
	struct doca_task *task;
	doca_error_t result;

	if (endpoint->ctx.state != DOCA_CTX_STATE_RUNNING) {
		sim_err("%s: %s", func, shim_ctx_describe_not_running(&endpoint->ctx));
		return DOCA_ERROR_BAD_STATE;
	}
	if (peer->endpoint != endpoint) {
		sim_err("%s: the connection is closed, or another context's", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (len == 0 || len > endpoint->max_msg_bytes) {
		sim_err("%s: a message of %u bytes; this context sends 1 to %u", func, len, endpoint->max_msg_bytes);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = shim_task_alloc(endpoint->send_pool, &endpoint->ctx, (union doca_data){ .u64 = 0 }, &task);
	if (doca_unlikely(result != DOCA_SUCCESS)) {
		if (result == DOCA_ERROR_BAD_STATE)
			sim_err("%s: %s", func, shim_ctx_describe_not_running(&endpoint->ctx));
		else
			sim_dbg("%s: all %u configured tasks are allocated; progress and free some", func,
				endpoint->num_send_tasks);
		return result;
	}
	*ret_task = send_of(task);
	(*ret_task)->connection = peer;
	(*ret_task)->connection_serial = peer->serial;
	(*ret_task)->send = (struct sim_pipe_send){ .pipe = &peer->pipe, .msg = msg, .len = len };
	return DOCA_SUCCESS;
}

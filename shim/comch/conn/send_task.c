/* SPDX-License-Identifier: BSD-3-Clause */
/* The send task: a control message. It is over when the message stands in the
 * other end's receive queue; while that is full, it waits. Where time is modelled, it
 * is over when it has cost its sender's time (timing.c). */
#include <errno.h>

#include "shim/comch/conn/conn_priv.h"
#include "shim/common/base/check.h"

static struct doca_comch_task_send *send_of(const struct doca_task *task)
{
	return (struct doca_comch_task_send *)(uintptr_t)task;
}

static void append_send(struct comch_send_list *sends, struct doca_comch_task_send *send)
{
	send->next = NULL;
	if (sends->first)
		sends->last->next = send;
	else
		sends->first = send;
	sends->last = send;
}

static struct doca_comch_task_send *pop_send(struct comch_send_list *sends)
{
	struct doca_comch_task_send *first = sends->first;

	sends->first = first->next;
	return first;
}

/* Another place for all of a list that @matches accepts, in its order. */
static void move_matching(struct comch_send_list *from, struct comch_send_list *to,
			  bool matches(const struct doca_comch_task_send *send, const void *arg), const void *arg)
{
	struct comch_send_list all = *from;

	*from = (struct comch_send_list){ 0 };
	while (all.first) {
		struct doca_comch_task_send *send = pop_send(&all);

		append_send(matches(send, arg) ? to : from, send);
	}
}

static bool is_sent(const struct doca_comch_task_send *send)
{
	return !shim_task_has_fault(&send->task, FAIL) && !shim_task_has_fault(&send->task, HANG);
}

/* Its end may be held back: by a fault, or by the time that it costs its sender. */
static uint64_t get_completion_due_ns(const struct comch_endpoint *endpoint, const struct doca_comch_task_send *send)
{
	uint64_t due_ns = is_sent(send) ? comch_timing_send_end_ns(endpoint) : 0;

	if (shim_task_has_fault(&send->task, HANG))
		return SIM_JOB_NEVER_DUE;
	if (shim_task_has_fault(&send->task, DELAY))
		due_ns = (due_ns ? due_ns : shim_now_ns()) + send->task.fault_hit->delay_ns;
	return due_ns;
}

/* Its turn has come: it ends, or will. */
static void complete_send(struct comch_endpoint *endpoint, struct doca_comch_task_send *send)
{
	send->result =
		shim_task_has_fault(&send->task, FAIL) ? (doca_error_t)send->task.fault_hit->status : DOCA_SUCCESS;
	send->due_ns = get_completion_due_ns(endpoint, send);
	if (doca_likely(send->due_ns == 0)) {
		append_send(&endpoint->completed, send);
		return;
	}
	append_send(&endpoint->deferred, send);
	shim_alarm_set(&endpoint->ctx, send->due_ns);
}

static bool is_due(const struct doca_comch_task_send *send, const void *now_ns)
{
	return send->due_ns <= *(const uint64_t *)now_ns;
}

void comch_send_complete_due(struct comch_endpoint *endpoint)
{
	uint64_t now_ns = shim_now_ns();

	move_matching(&endpoint->deferred, &endpoint->completed, is_due, &now_ns);
	for (const struct doca_comch_task_send *send = endpoint->deferred.first; send; send = send->next)
		shim_alarm_set(&endpoint->ctx, send->due_ns);
}

/* What a fault does with one whose turn it is. 0, -EAGAIN, -EPROTO or -ECONNABORTED. */
static int write_with_fault(struct doca_comch_connection *connection, const struct doca_comch_task_send *send)
{
	const struct sim_fault_hit *hit = send->task.fault_hit;

	if (SHIM_HIT_HAS_ACT(hit, BREAK))
		return -ECONNABORTED;
	if (SHIM_HIT_HAS_ACT(hit, FAIL) || SHIM_HIT_HAS_ACT(hit, HANG))
		return 0;
	if (!SHIM_HIT_HAS_ACT(hit, DROP))
		return comch_connection_write_with_hdr(connection, hit, send->msg, send->len);
	comch_timing_charge_send(connection->endpoint);
	return 0;
}

/* Write it if there is room. 0, -EAGAIN, -EPROTO or -ECONNABORTED. */
static int write_msg(struct doca_comch_connection *connection, struct doca_comch_task_send *send)
{
	int rc;

	connection->trace_stream.task_ns =
		doca_unlikely(send->task.timed) ? shim_task_trace_submitted_ns(&send->task) : 0;
	rc = doca_likely(!send->task.fault_hit) ? comch_connection_write(connection, send->msg, send->len) :
						  write_with_fault(connection, send);
	if (rc < 0 || doca_unlikely(!is_sent(send)))
		return rc;
	connection->counters.sent++;
	connection->counters.sent_bytes += send->len;
	send->task.bytes = send->len;
	return 0;
}

void comch_send_flush_queue(struct doca_comch_connection *connection)
{
	while (connection->send_queue.first) {
		struct doca_comch_task_send *send = connection->send_queue.first;
		int rc = write_msg(connection, send);

		if (rc == -EAGAIN && !sim_ring_arm_space(&connection->out, sizeof(struct comch_msg_hdr) + send->len))
			return; /* we are told of room */
		if (rc == -EAGAIN)
			continue;
		if (rc < 0) {
			comch_connection_set_lost(connection, rc);
			return;
		}
		pop_send(&connection->send_queue);
		complete_send(connection->endpoint, send);
	}
}

static bool is_on_connection(const struct doca_comch_task_send *send, const void *connection)
{
	return send->connection == connection;
}

/* Those that hang end with the connection, and those that are late. */
void comch_send_fail_queue(struct doca_comch_connection *connection, doca_error_t status)
{
	struct comch_endpoint *endpoint = connection->endpoint;

	for (struct doca_comch_task_send *send = endpoint->deferred.first; send; send = send->next)
		if (is_on_connection(send, connection) && shim_task_has_fault(&send->task, HANG))
			send->result = status;
	move_matching(&endpoint->deferred, &endpoint->completed, is_on_connection, connection);
	for (struct doca_comch_task_send *send = connection->send_queue.first; send; send = send->next)
		send->result = status;
	move_matching(&connection->send_queue, &endpoint->completed, is_on_connection, connection);
}

bool comch_send_complete_next(struct comch_endpoint *endpoint)
{
	struct doca_comch_task_send *send = endpoint->completed.first;

	if (!send)
		return false;
	pop_send(&endpoint->completed);
	shim_task_complete_posted(&send->task, send->result);
	return true;
}

/* ---- the task ---- */

static doca_error_t send_check(const struct doca_task *task)
{
	const struct doca_comch_connection *connection = send_of(task)->connection;

	if (shim_object_is(connection, SHIM_COMCH_CONNECTION) &&
	    connection->serial == send_of(task)->connection_serial &&
	    connection->endpoint == (struct comch_endpoint *)task->ctx && connection->state == COMCH_OPEN)
		return DOCA_SUCCESS;
	sim_err("a Comch send task: its connection is closed");
	return DOCA_ERROR_NOT_CONNECTED;
}

static doca_error_t send_post(struct doca_task *task)
{
	struct doca_comch_task_send *send = send_of(task);
	struct doca_comch_connection *connection = send->connection;

	if (!connection->send_queue.first && write_msg(connection, send) == 0) {
		complete_send(connection->endpoint, send);
		return DOCA_SUCCESS;
	}
	append_send(&connection->send_queue, send);
	comch_send_flush_queue(connection);
	return DOCA_SUCCESS;
}

static void send_complete(struct doca_task *task)
{
	struct comch_endpoint *endpoint = (struct comch_endpoint *)task->ctx;
	doca_comch_task_send_completion_cb_t cb =
		task->status == DOCA_SUCCESS ? endpoint->send_done : endpoint->send_failed;

	cb(send_of(task), task->user_data, endpoint->ctx.user_data);
}

const struct shim_task_type comch_send_type = {
	.name = SIM_TASK_COMCH_SEND,
	.size = sizeof(struct doca_comch_task_send),
	.check = send_check,
	.validate = send_check,
	.post = send_post,
	.complete = send_complete,
	.fault_ops = &comch_send_fault_ops,
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

	if (peer->endpoint != endpoint) {
		sim_err("%s: the connection is closed, or another context's", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (len == 0 || len > endpoint->max_msg_bytes) {
		sim_err("%s: a message of %u bytes; this context sends 1 to %u", func, len, endpoint->max_msg_bytes);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = shim_task_alloc(endpoint->send_pool, &endpoint->ctx, (union doca_data){ .u64 = 0 }, &task);
	if (result == DOCA_ERROR_BAD_STATE) {
		sim_err("%s: the context is not running", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (result != DOCA_SUCCESS) {
		sim_dbg("%s: all %u configured tasks are allocated; progress and free some", func,
			endpoint->num_send_tasks);
		return result;
	}
	*ret_task = send_of(task);
	(*ret_task)->connection = peer;
	(*ret_task)->connection_serial = peer->serial;
	(*ret_task)->msg = msg;
	(*ret_task)->len = len;
	return DOCA_SUCCESS;
}

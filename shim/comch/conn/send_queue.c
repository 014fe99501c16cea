/* SPDX-License-Identifier: BSD-3-Clause */
/* The send tasks of a connection: written in order, when there is room.
 *
 *   submit --no room, or behind others--> [send queue] --room--> written --> [completed] --> reported
 *        \--------------------------------------------------------/  \--> [deferred] --due--^
 *
 * A task whose message costs its sender time, or is delayed, completes later.
 *
 * A message is taken at its submission: one that waits for room is copied then. Programs free or reuse their memory at once,
 * although the reference asks them to wait (file_compression of the vendor's applications). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shim/common/pe/task_memory.h"
#include "shim/common/pe/task_trace.h"
#include "conn_priv.h"
#include "shim/common/base/alloc.h"

/* Move the tasks that @matches selects, in their order. */
static void move_matching(struct comch_send_list *from, struct comch_send_list *to,
			  bool matches(const struct doca_comch_task_send *send, const void *arg), const void *arg)
{
	struct comch_send_list all = STAILQ_HEAD_INITIALIZER(all);
	struct doca_comch_task_send *send;

	STAILQ_CONCAT(&all, from);
	while ((send = STAILQ_FIRST(&all))) {
		STAILQ_REMOVE_HEAD(&all, link);
		if (matches(send, arg))
			STAILQ_INSERT_TAIL(to, send, link);
		else
			STAILQ_INSERT_TAIL(from, send, link);
	}
}

/* ---- writing ---- */

void comch_send_count(struct doca_comch_task_send *send)
{
	send->connection->counters.sent++;
	send->connection->counters.sent_bytes += send->len;
	send->task.bytes = send->len;
}

int comch_send_write(struct doca_comch_task_send *send)
{
	int rc = comch_connection_write(send->connection, comch_send_msg(send), send->len);

	if (rc < 0)
		return rc;
	comch_send_count(send);
	send->result = DOCA_SUCCESS;
	send->due_ns = comch_timing_send_end_ns(send->connection->endpoint);
	return 0;
}

/* Returns 0, -EAGAIN (no room) or another -errno: the connection is lost. */
static int write_msg(struct doca_comch_task_send *send)
{
	send->connection->trace_stream.task_ns =
		doca_unlikely(send->task.timed) ? shim_task_trace_submitted_ns(&send->task) : 0;
	return send->write(send);
}

/* Keep the message of a task that waits. Without memory, the program's message is sent later. Returns false if the
 * program's message is gone. */
static __attribute__((noinline)) bool keep_message(struct doca_comch_task_send *send)
{
	struct sim_range_guard guard;
	bool is_lost;

	send->copy = shim_malloc(send->len);
	if (!send->copy)
		return true;
	sim_range_guard_begin(&guard, send->msg, send->len, NULL);
	memcpy(send->copy, send->msg, send->len);
	is_lost = sim_range_guard_end(&guard);
	if (guard.guard.has_faulted)
		sim_guard_settle(&guard.guard);
	return !is_lost;
}

static void forget_message(struct doca_comch_task_send *send)
{
	free(send->copy);
	send->copy = NULL;
}

/* The task's message was written: the task completes now, or when it is due. */
static void complete_send(struct doca_comch_task_send *send)
{
	struct comch_endpoint *endpoint = send->connection->endpoint;

	if (doca_likely(send->due_ns == 0)) {
		STAILQ_INSERT_TAIL(&endpoint->completed, send, link);
		return;
	}
	STAILQ_INSERT_TAIL(&endpoint->deferred, send, link);
	shim_ctx_set_alarm(&endpoint->ctx, send->due_ns);
}

/* The program's message is gone: the task fails, and the connection stays. */
static __attribute__((noinline)) void fail_without_message(struct doca_comch_task_send *send)
{
	const struct sim_guard guard = { .is_lost = true, .fault = SIM_MEMORY_UNMAPPED, .addr = (uintptr_t)send->msg };
	const struct shim_memory memory = {
		.role = "message", .addr = guard.addr, .cpu_addr = guard.addr, .len_bytes = send->len
	};

	shim_memory_report(SIM_TASK_COMCH_SEND, &send->task, &memory, &guard);
	forget_message(send);
	send->result = DOCA_ERROR_IO_FAILED;
	send->due_ns = 0;
	complete_send(send);
}

int comch_send_queue_flush(struct doca_comch_connection *connection)
{
	struct doca_comch_task_send *send;

	if (doca_unlikely(comch_connection_waits_for_room(connection)))
		return 0;
	while ((send = STAILQ_FIRST(&connection->send_queue))) {
		int rc = write_msg(send);

		if (rc == -EAGAIN && comch_connection_arm_space(connection, send->len))
			continue;
		if (rc < 0 && rc != -EFAULT)
			return rc == -EAGAIN ? 0 : rc; /* with room, the peer rings */
		STAILQ_REMOVE_HEAD(&connection->send_queue, link);
		if (rc == -EFAULT) {
			fail_without_message(send);
			continue;
		}
		forget_message(send);
		complete_send(send);
	}
	return 0;
}

int comch_send_queue_submit(struct doca_comch_task_send *send)
{
	struct doca_comch_connection *connection = send->connection;
	int rc = STAILQ_EMPTY(&connection->send_queue) ? write_msg(send) : -EAGAIN;

	if (doca_likely(rc == 0)) {
		complete_send(send);
		return 0;
	}
	if (rc == -EFAULT || !keep_message(send)) {
		fail_without_message(send);
		return 0;
	}
	STAILQ_INSERT_TAIL(&connection->send_queue, send, link);
	return rc == -EAGAIN ? comch_send_queue_flush(connection) : rc;
}

/* ---- completing ---- */

static bool is_due(const struct doca_comch_task_send *send, const void *now_ns)
{
	return send->due_ns <= *(const uint64_t *)now_ns;
}

void comch_send_complete_due(struct comch_endpoint *endpoint)
{
	const struct doca_comch_task_send *send;
	uint64_t now_ns = shim_now_ns();

	move_matching(&endpoint->deferred, &endpoint->completed, is_due, &now_ns);
	STAILQ_FOREACH(send, &endpoint->deferred, link)
		shim_ctx_set_alarm(&endpoint->ctx, send->due_ns);
}

static bool is_on_connection(const struct doca_comch_task_send *send, const void *connection)
{
	return send->connection == connection;
}

void comch_send_queue_fail(struct doca_comch_connection *connection, doca_error_t status)
{
	struct comch_endpoint *endpoint = connection->endpoint;
	struct doca_comch_task_send *send;

	STAILQ_FOREACH(send, &endpoint->deferred, link)
		if (is_on_connection(send, connection) && send->due_ns == SIM_JOB_NEVER_DUE)
			send->result = status;
	move_matching(&endpoint->deferred, &endpoint->completed, is_on_connection, connection);
	STAILQ_FOREACH(send, &connection->send_queue, link) {
		forget_message(send);
		send->result = status;
	}
	STAILQ_CONCAT(&endpoint->completed, &connection->send_queue);
}

bool comch_send_complete_next(struct comch_endpoint *endpoint)
{
	struct doca_comch_task_send *send = STAILQ_FIRST(&endpoint->completed);

	if (!send)
		return false;
	STAILQ_REMOVE_HEAD(&endpoint->completed, link);
	shim_task_complete_posted(&send->task, send->result);
	return true;
}

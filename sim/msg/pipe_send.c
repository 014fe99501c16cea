/* SPDX-License-Identifier: BSD-3-Clause */
/* The sends of a pipe: written in order, when there is room.
 *
 *   submit --no room, or behind others--> [send queue] --room--> written --> [completed] --> taken by the owner
 *        \--------------------------------------------------------/  \--> [deferred] --due--^
 *
 * A send whose message costs its sender time, or is delayed, ends later.
 *
 * A message is taken at its submission: one that waits for room is copied then. Programs free or reuse their memory at once,
 * although the reference asks them to wait (file_compression of the vendor's applications). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "pipe_priv.h"

/* Move the sends that @matches selects, in their order. */
static void move_matching(struct sim_pipe_sends *from, struct sim_pipe_sends *to,
			  bool matches(const struct sim_pipe_send *send, const void *arg), const void *arg)
{
	struct sim_pipe_sends all = STAILQ_HEAD_INITIALIZER(all);
	struct sim_pipe_send *send;

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

/* Returns 0, -EAGAIN (no room) or another -errno: the pipe is lost. */
static inline int write_send(struct sim_pipe_send *send)
{
	struct sim_pipe *pipe = send->pipe;
	int rc;

	pipe->trace.task_ns = send->task_ns;
	if (unlikely(send->hit != NULL)) {
		rc = sim_pipe_fault_write_send(send);
	} else {
		rc = sim_pipe_write_modelled(pipe, unlikely(send->copy != NULL) ? send->copy : send->msg, send->len);
		if (likely(rc == 0)) {
			send->is_sent = true;
			send->result = 0;
			send->due_ns = sim_pipe_timing_end_ns(pipe->group);
		}
	}
	if (likely(rc == 0) && send->is_sent) {
		pipe->counters.sent++;
		pipe->counters.sent_bytes += send->len;
	}
	return rc;
}

/* Keep the message of a send that waits. Without memory, the program's message is sent later. Returns false if the
 * program's message is gone. */
static __attribute__((noinline)) bool keep_message(struct sim_pipe_send *send)
{
	struct sim_range_guard guard;
	bool is_lost;

	send->copy = send->pipe->ops->alloc(send->len);
	if (!send->copy)
		return true;
	sim_range_guard_begin(&guard, send->msg, send->len, NULL);
	memcpy(send->copy, send->msg, send->len);
	is_lost = sim_range_guard_end(&guard);
	if (guard.guard.has_faulted)
		sim_guard_settle(&guard.guard);
	return !is_lost;
}

static void forget_message(struct sim_pipe_send *send)
{
	free(send->copy);
	send->copy = NULL;
}

/* The message was written: the send ends now, or when it is due. */
static inline void end_send(struct sim_pipe_send *send)
{
	struct sim_poll_group *group = send->pipe->group;

	if (likely(send->due_ns == 0)) {
		STAILQ_INSERT_TAIL(&group->completed, send, link);
		return;
	}
	STAILQ_INSERT_TAIL(&group->deferred, send, link);
	group->cfg.ops->set_alarm(group, send->due_ns);
}

/* The program's message is gone: the send fails, and the pipe stays. */
static __attribute__((noinline)) void fail_without_message(struct sim_pipe_send *send)
{
	forget_message(send);
	send->result = -EFAULT;
	send->due_ns = 0;
	end_send(send);
}

int sim_pipe_flush_sends(struct sim_pipe *pipe)
{
	struct sim_pipe_send *send;

	if (unlikely(sim_pipe_waits_for_room(pipe)))
		return 0;
	while ((send = STAILQ_FIRST(&pipe->send_queue))) {
		int rc = write_send(send);

		if (rc == -EAGAIN && sim_pipe_arm_space(pipe, send->len))
			continue;
		if (rc < 0 && rc != -EFAULT)
			return rc == -EAGAIN ? 0 : rc; /* with room, the peer rings */
		STAILQ_REMOVE_HEAD(&pipe->send_queue, link);
		if (rc == -EFAULT) {
			fail_without_message(send);
			continue;
		}
		forget_message(send);
		end_send(send);
	}
	return 0;
}

/* The peer learns of an object, or of its end, before it gets a later message. Returns 0, -EAGAIN (announcements wait for room)
 * or -EPROTO. */
static __attribute__((noinline)) int announce_before(struct sim_pipe *pipe)
{
	int rc = sim_pipe_flush_announcements(pipe);

	return rc == 0 && pipe->has_announcements ? -EAGAIN : rc;
}

int sim_pipe_submit(struct sim_pipe_send *send)
{
	struct sim_pipe *pipe = send->pipe;
	int rc;

	send->is_sent = false;
	rc = unlikely(pipe->has_announcements) ? announce_before(pipe) : 0;
	if (likely(rc == 0))
		rc = likely(STAILQ_EMPTY(&pipe->send_queue)) ? write_send(send) : -EAGAIN;
	if (likely(rc == 0)) {
		end_send(send);
		return 0;
	}
	if (rc == -EFAULT || !keep_message(send)) {
		fail_without_message(send);
		return 0;
	}
	STAILQ_INSERT_TAIL(&pipe->send_queue, send, link);
	if (rc != -EAGAIN)
		return rc;
	return pipe->has_announcements ? 0 : sim_pipe_flush_sends(pipe);
}

/* ---- without a send ---- */

int sim_pipe_send_now(struct sim_pipe *pipe, const void *msg, uint32_t len, uint32_t *ret_status)
{
	int rc;

	do {
		if (unlikely(sim_pipe_fault_may_hit(pipe->group, pipe->group->cfg.faults->send)))
			rc = sim_pipe_fault_write_now(pipe, msg, len, ret_status);
		else
			rc = sim_pipe_write_modelled(pipe, msg, len);
	} while (rc == -EAGAIN && sim_pipe_has_room(pipe, len));
	return rc;
}

bool sim_pipe_has_room(struct sim_pipe *pipe, uint32_t len)
{
	return !sim_pipe_waits_for_room(pipe) && sim_pipe_arm_space(pipe, len);
}

/* ---- ending ---- */

static bool is_due(const struct sim_pipe_send *send, const void *now_ns)
{
	return send->due_ns <= *(const uint64_t *)now_ns;
}

void sim_pipe_end_due_sends(struct sim_poll_group *group)
{
	uint64_t now_ns = sim_poll_group_now_ns(group);
	const struct sim_pipe_send *send;

	move_matching(&group->deferred, &group->completed, is_due, &now_ns);
	STAILQ_FOREACH(send, &group->deferred, link)
		group->cfg.ops->set_alarm(group, send->due_ns);
}

static bool is_on_pipe(const struct sim_pipe_send *send, const void *pipe)
{
	return send->pipe == pipe;
}

void sim_pipe_end_sends(struct sim_pipe *pipe, int status)
{
	struct sim_poll_group *group = pipe->group;
	struct sim_pipe_send *send;

	STAILQ_FOREACH(send, &group->deferred, link)
		if (is_on_pipe(send, pipe) && send->due_ns == SIM_CLOCK_NEVER_NS)
			send->result = status;
	move_matching(&group->deferred, &group->completed, is_on_pipe, pipe);
	STAILQ_FOREACH(send, &pipe->send_queue, link) {
		forget_message(send);
		send->result = status;
	}
	STAILQ_CONCAT(&group->completed, &pipe->send_queue);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Announcements: how each end learns of objects of the other, in the order of the messages.
 *
 *   announce --> [queued] --the group's thread--> [sending: carried, then its record] --> announced
 *   withdraw --> [queued] ----------------------> [sending: its record] ----------------> done
 *
 *   of the other end: the carrier's message and the record, in whichever order --both are here--> event
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pipe_priv.h"
#include "sim/protocol/wire.h"

#define MAX_ARRIVALS 4096 /* of one pipe; an honest peer is never so far ahead */

/* The announcement of an object of this end. */
struct sim_pipe_announcement {
	void *arg; /* NULL: the object is gone, or was before this was sent */
	uint32_t id;
	bool is_new, is_sending;
	struct sim_handshake_msg msg; /* of a new object */
	STAILQ_ENTRY(sim_pipe_announcement) link;
};

/* The announcement of an object of the other end; its record was not read yet. */
struct sim_pipe_arrival {
	struct sim_handshake_msg msg;
	STAILQ_ENTRY(sim_pipe_arrival) link;
};

/* ---- objects of this end; any thread ---- */

/* Under the lock. */
static void queue_announcement(struct sim_pipe *pipe, struct sim_pipe_announcement *announcement)
{
	STAILQ_INSERT_TAIL(&pipe->announcements, announcement, link);
	atomic_store(&pipe->has_announcements, true);
	sim_pipe_kick(pipe);
}

/* Under the lock. */
static void unlink_announcement(struct sim_pipe *pipe, struct sim_pipe_announcement *announcement)
{
	STAILQ_REMOVE(&pipe->announcements, announcement, sim_pipe_announcement, link);
	atomic_store(&pipe->has_announcements, !STAILQ_EMPTY(&pipe->announcements));
}

static void free_announcement(struct sim_pipe_announcement *announcement)
{
	if (!announcement)
		return;
	sim_handshake_msg_close(&announcement->msg);
	free(announcement);
}

int sim_pipe_announce(struct sim_pipe *pipe, uint32_t id, void *arg, struct sim_handshake_msg *msg)
{
	struct sim_pipe_announcement *announcement = pipe->ops->alloc(sizeof(*announcement));
	int rc;

	if (!announcement) {
		sim_handshake_msg_close(msg);
		return -ENOMEM;
	}
	*announcement = (struct sim_pipe_announcement){ .arg = arg, .id = id, .is_new = true, .msg = *msg };
	pthread_mutex_lock(&pipe->lock);
	if (pipe->state == SIM_PIPE_OPEN) {
		queue_announcement(pipe, announcement);
		announcement = NULL;
	}
	pthread_mutex_unlock(&pipe->lock);
	rc = announcement ? -ENOTCONN : 0; /* the pipe has just ended */
	free_announcement(announcement);
	return rc;
}

/* Under the lock: withdraw the announcement of a new object, unless the group's thread has begun to send it. Returns whether
 * it was withdrawn. (The list may also hold that an object was withdrawn earlier: without @arg.) */
static bool remove_unsent(struct sim_pipe *pipe, const void *arg)
{
	struct sim_pipe_announcement *found;

	STAILQ_FOREACH(found, &pipe->announcements, link)
		if (found->arg == arg)
			break;
	if (!found)
		return false;
	if (found->is_sending) {
		found->arg = NULL;
		return false;
	}
	unlink_announcement(pipe, found);
	free_announcement(found);
	return true;
}

void sim_pipe_withdraw(struct sim_pipe *pipe, uint32_t id, const void *arg)
{
	struct sim_pipe_announcement *gone = calloc(1, sizeof(*gone));

	pthread_mutex_lock(&pipe->lock);
	if (pipe->group && !remove_unsent(pipe, arg) && gone && pipe->state == SIM_PIPE_OPEN) {
		gone->id = id;
		queue_announcement(pipe, gone);
		gone = NULL;
	}
	pthread_mutex_unlock(&pipe->lock);
	free(gone);
}

/* ---- objects of this end; the group's thread ---- */

/* Return the first announcement, which can't be withdrawn from now on. */
static struct sim_pipe_announcement *begin_first(struct sim_pipe *pipe)
{
	struct sim_pipe_announcement *first;

	pthread_mutex_lock(&pipe->lock);
	first = STAILQ_FIRST(&pipe->announcements);
	if (first)
		first->is_sending = true;
	pthread_mutex_unlock(&pipe->lock);
	return first;
}

static void finish_first(struct sim_pipe *pipe)
{
	struct sim_pipe_announcement *first;

	pthread_mutex_lock(&pipe->lock);
	first = STAILQ_FIRST(&pipe->announcements);
	unlink_announcement(pipe, first);
	if (first->arg)
		pipe->ops->announced(first->arg);
	pthread_mutex_unlock(&pipe->lock);
	free_announcement(first);
}

/* Carry the announcement, once, and write its record. Returns 0, -EAGAIN (no room) or another -errno. */
static int send_announcement(struct sim_pipe *pipe, struct sim_pipe_announcement *announcement)
{
	struct sim_pipe_object record = { .id = announcement->id };
	int rc = 0;

	if (announcement->msg.num_fds > 0) {
		rc = pipe->ops->carry(pipe, &announcement->msg);
		sim_handshake_msg_close(&announcement->msg);
	}
	if (rc == 0)
		rc = sim_ring_write(&pipe->out, announcement->is_new ? SIM_PIPE_ANNOUNCED : SIM_PIPE_WITHDRAWN, &record,
				    sizeof(record));
	if (rc == 0)
		sim_pipe_notify_peer(pipe, 0);
	return rc;
}

int sim_pipe_flush_announcements(struct sim_pipe *pipe)
{
	struct sim_pipe_announcement *first;

	while ((first = begin_first(pipe))) {
		int rc = send_announcement(pipe, first);

		if (rc == -EAGAIN && sim_ring_arm_space(&pipe->out, sizeof(struct sim_pipe_object)))
			continue;
		if (rc == -EPROTO)
			return rc;
		if (rc <
		    0) /* without room: the peer rings when there is some; without carrier: the owner learns that */
			return 0;
		finish_first(pipe);
	}
	return 0;
}

/* ---- objects of the other end ---- */

int sim_pipe_add_arrival(struct sim_pipe *pipe, struct sim_handshake_msg *msg, size_t body_bytes)
{
	struct sim_pipe_arrival *arrival = calloc(1, sizeof(*arrival)), *other;
	uint32_t count = 0;
	int rc = 0;

	STAILQ_FOREACH(other, &pipe->arrivals, link)
		count++;
	if (!arrival)
		rc = -ENOMEM;
	else if (count == MAX_ARRIVALS)
		rc = -ENOBUFS;
	else if (msg->len_bytes != body_bytes)
		rc = -EPROTO;
	if (rc < 0) {
		sim_handshake_msg_close(msg);
		free(arrival);
		return rc;
	}
	arrival->msg = *msg;
	STAILQ_INSERT_TAIL(&pipe->arrivals, arrival, link);
	return 0;
}

/* The announcement of object @id, or NULL. */
static struct sim_pipe_arrival *find_arrival(const struct sim_pipe *pipe, uint32_t id)
{
	struct sim_pipe_arrival *arrival;

	STAILQ_FOREACH(arrival, &pipe->arrivals, link) {
		struct sim_pipe_object object;

		memcpy(&object, arrival->msg.body, sizeof(object));
		if (object.id == id)
			return arrival;
	}
	return NULL;
}

void sim_pipe_set_awaiting(struct sim_pipe *pipe, bool is_awaiting, uint32_t id)
{
	pipe->group->num_awaiting += (uint32_t)is_awaiting - (uint32_t)pipe->is_awaiting;
	pipe->is_awaiting = is_awaiting;
	pipe->awaited_id = id;
}

bool sim_pipe_take_arrival(struct sim_pipe *pipe, uint32_t id, struct sim_pipe_event *ret_event)
{
	struct sim_pipe_arrival *arrival = find_arrival(pipe, id);

	sim_pipe_set_awaiting(pipe, !arrival, id);
	if (!arrival)
		return false; /* its arrival rings the doorbell */
	STAILQ_REMOVE(&pipe->arrivals, arrival, sim_pipe_arrival, link);
	ret_event->kind = SIM_PIPE_OBJECT_NEW;
	ret_event->id = id;
	ret_event->announcement = arrival->msg;
	free(arrival);
	return true;
}

/* ---- the end ---- */

void sim_pipe_drop_announcements(struct sim_pipe *pipe)
{
	struct sim_pipe_announcement *first;
	struct sim_pipe_arrival *arrival;

	pthread_mutex_lock(&pipe->lock);
	while ((first = STAILQ_FIRST(&pipe->announcements))) {
		unlink_announcement(pipe, first);
		free_announcement(first);
	}
	pthread_mutex_unlock(&pipe->lock);
	sim_pipe_set_awaiting(pipe, false, 0);
	while ((arrival = STAILQ_FIRST(&pipe->arrivals))) {
		STAILQ_REMOVE_HEAD(&pipe->arrivals, link);
		sim_handshake_msg_close(&arrival->msg);
		free(arrival);
	}
}

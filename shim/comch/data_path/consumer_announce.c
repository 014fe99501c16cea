/* SPDX-License-Identifier: BSD-3-Clause */
/* Consumers come and go: how the other end learns of ours. An announcement carries the
 * consumer's memory, and a record in the ring says when: so that it is known
 * before any message that the application sends afterwards. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shim/comch/conn/conn_priv.h"
#include "shim/common/process/alloc.h"

struct comch_announcement {
	struct comch_data_path *data_path; /* NULL: it gave up before the other end knew; or it expires */
	uint32_t id;
	bool is_new, is_sending;               /* the announcement is on its way */
	struct sim_handshake_msg announce_msg; /* of a new one */
	_Atomic bool *announced;
	struct comch_announcement *next;
};

static void queue_announcement(struct doca_comch_connection *connection, struct comch_announcement *announcement)
{
	struct comch_announcement **end = &connection->announcements;

	while (*end)
		end = &(*end)->next;
	*end = announcement;
	comch_connection_notify_self(connection);
}

static void free_announcement(struct comch_announcement *announcement)
{
	if (!announcement)
		return;
	comch_close_handshake_fds(&announcement->announce_msg);
	free(announcement);
}

int comch_announce_new_consumer(struct comch_data_path *data_path, struct sim_handshake_msg *announce_msg,
				_Atomic bool *announced)
{
	struct comch_announcement *announcement = shim_calloc(1, sizeof(*announcement));
	int rc;

	if (!announcement) {
		comch_close_handshake_fds(announce_msg);
		return -ENOMEM;
	}
	*announcement = (struct comch_announcement){ .data_path = data_path,
						     .id = data_path->id,
						     .is_new = true,
						     .announce_msg = *announce_msg,
						     .announced = announced };
	pthread_mutex_lock(&data_path->connection->lock);
	if (data_path->connection->state == COMCH_OPEN) {
		queue_announcement(data_path->connection, announcement);
		announcement = NULL;
	}
	pthread_mutex_unlock(&data_path->connection->lock);
	rc = announcement ? -ENOTCONN : 0; /* it has just been closed */
	free_announcement(announcement);
	return rc;
}

/* Take back a new consumer that the endpoint's thread has not begun to announce. Whether it
 * was that; else it may still be in the list. (There may be earlier lives of it, too.) */
static bool remove_unsent(struct doca_comch_connection *connection, const struct comch_data_path *data_path)
{
	struct comch_announcement **link = &connection->announcements;
	struct comch_announcement *found;

	while (*link && (*link)->data_path != data_path)
		link = &(*link)->next;
	found = *link;
	if (!found)
		return false;
	if (found->is_sending) {
		found->data_path = NULL;
		return false;
	}
	*link = found->next;
	free_announcement(found);
	return true;
}

void comch_announce_expired_consumer(struct comch_data_path *data_path)
{
	struct doca_comch_connection *connection = data_path->connection;
	struct comch_announcement *expired = calloc(1, sizeof(*expired));

	pthread_mutex_lock(&connection->lock);
	if (connection->endpoint && !remove_unsent(connection, data_path) && expired &&
	    connection->state == COMCH_OPEN) {
		expired->id = data_path->id;
		queue_announcement(connection, expired);
		expired = NULL;
	}
	pthread_mutex_unlock(&connection->lock);
	free(expired);
}

void comch_announcements_drop(struct doca_comch_connection *connection)
{
	pthread_mutex_lock(&connection->lock);
	while (connection->announcements) {
		struct comch_announcement *first = connection->announcements;

		connection->announcements = first->next;
		free_announcement(first);
	}
	pthread_mutex_unlock(&connection->lock);
}

/* ---- the endpoint's thread ---- */

/* The first announcement; from now on it is not withdrawn any more. */
static struct comch_announcement *begin_first_announcement(struct doca_comch_connection *connection)
{
	struct comch_announcement *first;

	pthread_mutex_lock(&connection->lock);
	first = connection->announcements;
	if (first)
		first->is_sending = true;
	pthread_mutex_unlock(&connection->lock);
	return first;
}

static void finish_first_announcement(struct doca_comch_connection *connection)
{
	struct comch_announcement *first;

	pthread_mutex_lock(&connection->lock);
	first = connection->announcements;
	connection->announcements = first->next;
	if (first->data_path) {
		atomic_store(first->announced, true);
		shim_pe_notify(&first->data_path->ctx);
	}
	pthread_mutex_unlock(&connection->lock);
	free_announcement(first);
}

/* Its announcement, once, and its record. 0, -EAGAIN (no room) or another -errno. */
static int send_announcement(struct doca_comch_connection *connection, struct comch_announcement *announcement)
{
	struct comch_consumer_record record = { .id = announcement->id };
	int rc = 0;

	if (announcement->announce_msg.num_fds > 0) {
		rc = sim_channel_send(connection->channel, &announcement->announce_msg);
		comch_close_handshake_fds(&announcement->announce_msg);
	}
	if (rc == 0)
		rc = sim_ring_write(&connection->out,
				    announcement->is_new ? COMCH_CONSUMER_NEW : COMCH_CONSUMER_EXPIRED, &record,
				    sizeof(record));
	if (rc == 0)
		comch_connection_notify_peer(connection);
	return rc;
}

void comch_announce_flush(struct doca_comch_connection *connection)
{
	struct comch_announcement *first;

	while ((first = begin_first_announcement(connection))) {
		int rc = send_announcement(connection, first);

		if (rc == -EAGAIN && sim_ring_arm_space(&connection->out, sizeof(struct comch_consumer_record)))
			continue;
		if (rc == -EPROTO)
			comch_connection_set_lost(connection, rc);
		else if (rc < 0 && rc != -EAGAIN)
			comch_connection_schedule_poll(
				connection); /* it ended by this message, of which nobody tells */
		if (rc < 0)
			return; /* no room: we are told */
		finish_first_announcement(connection);
	}
}

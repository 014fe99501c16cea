/* SPDX-License-Identifier: BSD-3-Clause */
/* How the other end learns of this end's consumers. An announcement carries the consumer's memory through the session.
 * A record in the ring orders it with messages: the other end knows the consumer before any message that the application
 * sends afterwards.
 *
 *   start of a consumer --> [queued] --the endpoint's thread--> [sending: announcement, then record] --> announced
 *   end of a consumer   --> [queued] ------------------------> [sending: record] ----------------------> done
 */
#include <errno.h>
#include <stdlib.h>

#include "data_path_priv.h"
#include "shim/common/base/alloc.h"
#include "shim/common/process/runtime.h"
#include "sim/protocol/wire.h"

struct comch_announcement {
	struct comch_data_path *data_path; /* NULL: the consumer expires, or stopped before this was sent */
	uint32_t id;
	bool is_new, is_sending;
	struct sim_handshake_msg announce_msg; /* of a new consumer */
	_Atomic bool *announced;
	STAILQ_ENTRY(comch_announcement) link;
};

/* Under the lock. */
static void queue_announcement(struct doca_comch_connection *connection, struct comch_announcement *announcement)
{
	STAILQ_INSERT_TAIL(&connection->announcements, announcement, link);
	atomic_store(&connection->has_announcements, true);
	comch_connection_notify_self(connection);
}

/* Under the lock. */
static void unlink_announcement(struct doca_comch_connection *connection, struct comch_announcement *announcement)
{
	STAILQ_REMOVE(&connection->announcements, announcement, comch_announcement, link);
	atomic_store(&connection->has_announcements, !STAILQ_EMPTY(&connection->announcements));
}

static void free_announcement(struct comch_announcement *announcement)
{
	if (!announcement)
		return;
	sim_handshake_msg_close(&announcement->announce_msg);
	free(announcement);
}

int comch_announce_new_consumer(struct comch_data_path *data_path, struct sim_handshake_msg *announce_msg,
				_Atomic bool *announced)
{
	struct comch_announcement *announcement = shim_calloc(1, sizeof(*announcement));
	int rc;

	if (!announcement) {
		sim_handshake_msg_close(announce_msg);
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
	rc = announcement ? -ENOTCONN : 0; /* the connection has just ended */
	free_announcement(announcement);
	return rc;
}

/* Under the lock: withdraw the announcement of a new consumer, unless the endpoint's thread has begun to send it. Returns
 * whether it was withdrawn. (The list may also hold that the same consumer expired earlier: without @data_path.) */
static bool remove_unsent(struct doca_comch_connection *connection, const struct comch_data_path *data_path)
{
	struct comch_announcement *found;

	STAILQ_FOREACH(found, &connection->announcements, link)
		if (found->data_path == data_path)
			break;
	if (!found)
		return false;
	if (found->is_sending) {
		found->data_path = NULL;
		return false;
	}
	unlink_announcement(connection, found);
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
	struct comch_announcement *first;

	pthread_mutex_lock(&connection->lock);
	while ((first = STAILQ_FIRST(&connection->announcements))) {
		unlink_announcement(connection, first);
		free_announcement(first);
	}
	pthread_mutex_unlock(&connection->lock);
}

/* ---- the endpoint's thread ---- */

/* Return the first announcement, which can't be withdrawn from now on. */
static struct comch_announcement *begin_first_announcement(struct doca_comch_connection *connection)
{
	struct comch_announcement *first;

	pthread_mutex_lock(&connection->lock);
	first = STAILQ_FIRST(&connection->announcements);
	if (first)
		first->is_sending = true;
	pthread_mutex_unlock(&connection->lock);
	return first;
}

static void finish_first_announcement(struct doca_comch_connection *connection)
{
	struct comch_announcement *first;

	pthread_mutex_lock(&connection->lock);
	first = STAILQ_FIRST(&connection->announcements);
	unlink_announcement(connection, first);
	if (first->data_path) {
		atomic_store(first->announced, true);
		shim_pe_notify_external(&first->data_path->ctx);
	}
	pthread_mutex_unlock(&connection->lock);
	free_announcement(first);
}

/* Send the announcement, once, and write its record. Returns 0, -EAGAIN (no room) or another -errno. */
static int send_announcement(struct doca_comch_connection *connection, struct comch_announcement *announcement)
{
	struct comch_consumer_record record = { .id = announcement->id };
	int rc = 0;

	if (announcement->announce_msg.num_fds > 0) {
		rc = sim_channel_send(connection->channel, &announcement->announce_msg);
		sim_handshake_msg_close(&announcement->announce_msg);
	}
	if (rc == 0)
		rc = sim_ring_write(&connection->out,
				    announcement->is_new ? COMCH_CONSUMER_NEW : COMCH_CONSUMER_EXPIRED, &record,
				    sizeof(record));
	if (rc == 0)
		comch_connection_notify_peer(connection, 0);
	return rc;
}

int comch_announce_flush(struct doca_comch_connection *connection)
{
	struct comch_announcement *first;

	while ((first = begin_first_announcement(connection))) {
		int rc = send_announcement(connection, first);

		if (rc == -EAGAIN && sim_ring_arm_space(&connection->out, sizeof(struct comch_consumer_record)))
			continue;
		if (rc == -EPROTO)
			return rc;
		if (rc == -EAGAIN)
			return 0; /* the peer rings when there is room */
		if (rc < 0) {     /* the channel ended by this call, which causes no event */
			comch_connection_schedule_poll(connection);
			return 0;
		}
		finish_first_announcement(connection);
	}
	return 0;
}

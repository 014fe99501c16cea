/* SPDX-License-Identifier: BSD-3-Clause */
/* Consumers come and go: how the other end learns of ours. A letter carries the
 * consumer's memory, and a record in the ring says when: so that it is known
 * before any message that the application sends afterwards. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shim/comch/comch_priv.h"
#include "shim/common/process/alloc.h"

struct comch_announcement {
	struct comch_fast *fast;     /* NULL: it gave up before the other end knew; or it expires */
	uint32_t id;
	bool is_new, is_posted;      /* the letter is on its way */
	struct sim_letter letter;    /* of a new one */
	_Atomic bool *told;
	struct comch_announcement *next;
};

static void append(struct doca_comch_connection *connection, struct comch_announcement *announcement)
{
	struct comch_announcement **end = &connection->announcements;

	while (*end)
		end = &(*end)->next;
	*end = announcement;
	comch_connection_kick(connection);
}

static void drop(struct comch_announcement *announcement)
{
	if (!announcement)
		return;
	comch_letter_drop(&announcement->letter);
	free(announcement);
}

int comch_announce(struct comch_fast *fast, struct sim_letter *letter, _Atomic bool *told)
{
	struct comch_announcement *announcement = shim_calloc(1, sizeof(*announcement));
	int rc;

	if (!announcement) {
		comch_letter_drop(letter);
		return -ENOMEM;
	}
	*announcement = (struct comch_announcement){.fast = fast, .id = fast->id, .is_new = true, .letter = *letter,
						    .told = told};
	pthread_mutex_lock(&fast->connection->lock);
	if (fast->connection->state == COMCH_OPEN) {
		append(fast->connection, announcement);
		announcement = NULL;
	}
	pthread_mutex_unlock(&fast->connection->lock);
	rc = announcement ? -ENOTCONN : 0; /* it has just been closed */
	drop(announcement);
	return rc;
}

/* Take back a new consumer that the endpoint's thread has not begun to announce. Whether it
 * was that; else it may still be in the list. (There may be earlier lives of it, too.) */
static bool withdraw(struct doca_comch_connection *connection, const struct comch_fast *fast)
{
	struct comch_announcement **link = &connection->announcements;
	struct comch_announcement *found;

	while (*link && (*link)->fast != fast)
		link = &(*link)->next;
	found = *link;
	if (!found)
		return false;
	if (found->is_posted) {
		found->fast = NULL;
		return false;
	}
	*link = found->next;
	drop(found);
	return true;
}

void comch_announce_end(struct comch_fast *fast)
{
	struct doca_comch_connection *connection = fast->connection;
	struct comch_announcement *expired = calloc(1, sizeof(*expired));

	pthread_mutex_lock(&connection->lock);
	if (connection->endpoint && !withdraw(connection, fast) && expired && connection->state == COMCH_OPEN) {
		expired->id = fast->id;
		append(connection, expired);
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
		drop(first);
	}
	pthread_mutex_unlock(&connection->lock);
}

/* ---- the endpoint's thread ---- */

/* The first announcement; from now on it is not withdrawn any more. */
static struct comch_announcement *begin_first(struct doca_comch_connection *connection)
{
	struct comch_announcement *first;

	pthread_mutex_lock(&connection->lock);
	first = connection->announcements;
	if (first)
		first->is_posted = true;
	pthread_mutex_unlock(&connection->lock);
	return first;
}

static void end_first(struct doca_comch_connection *connection)
{
	struct comch_announcement *first;

	pthread_mutex_lock(&connection->lock);
	first = connection->announcements;
	connection->announcements = first->next;
	if (first->fast) {
		atomic_store(first->told, true);
		shim_pe_notify(&first->fast->ctx);
	}
	pthread_mutex_unlock(&connection->lock);
	drop(first);
}

/* Its letter, once, and its record. 0, -EAGAIN (no room) or another -errno. */
static int post(struct doca_comch_connection *connection, struct comch_announcement *announcement)
{
	struct comch_consumer_record record = {.id = announcement->id};
	int rc = 0;

	if (announcement->letter.num_fds > 0) {
		rc = sim_channel_send(connection->channel, &announcement->letter);
		comch_letter_drop(&announcement->letter);
	}
	if (rc == 0)
		rc = sim_ring_write(&connection->out, announcement->is_new ? COMCH_CONSUMER_NEW : COMCH_CONSUMER_EXPIRED,
				    &record, sizeof(record));
	if (rc == 0)
		comch_connection_tell(connection);
	return rc;
}

void comch_announce_flush(struct doca_comch_connection *connection)
{
	struct comch_announcement *first;

	while ((first = begin_first(connection))) {
		int rc = post(connection, first);

		if (rc == -EAGAIN && sim_ring_want_room(&connection->out, sizeof(struct comch_consumer_record)))
			continue;
		if (rc == -EPROTO)
			comch_connection_lost(connection, rc);
		else if (rc < 0 && rc != -EAGAIN)
			comch_connection_look(connection); /* it ended by this letter, of which nobody tells */
		if (rc < 0)
			return; /* no room: we are told */
		end_first(connection);
	}
}

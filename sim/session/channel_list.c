/* SPDX-License-Identifier: BSD-3-Clause */
/* The lists of listeners and channels: lookup, queues of handshake messages, notifications. */
#include "channel_list.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/base/log.h"
#include "sim/protocol/wire.h"

int sim_channels_create(struct sim_session *session, struct sim_channels **ret_channels)
{
	struct sim_channels *channels = calloc(1, sizeof(*channels));

	if (!channels)
		return -ENOMEM;
	channels->session = session;
	TAILQ_INIT(&channels->channels);
	pthread_mutex_init(&channels->lock, NULL);
	pthread_cond_init(&channels->notification_done, NULL);
	*ret_channels = channels;
	return 0;
}

void sim_channels_destroy(struct sim_channels *channels)
{
	if (!channels)
		return;
	while (!TAILQ_EMPTY(&channels->channels)) {
		struct sim_channel *first = TAILQ_FIRST(&channels->channels);

		sim_channels_unlist(channels, first);
		sim_channel_free(first);
	}
	while (!LIST_EMPTY(&channels->listeners)) {
		struct sim_listener *first = LIST_FIRST(&channels->listeners);

		LIST_REMOVE(first, entry);
		free(first);
	}
	pthread_cond_destroy(&channels->notification_done);
	pthread_mutex_destroy(&channels->lock);
	free(channels);
}

/* A parent thread that held the lock does not exist in the child. Then the lists may be half changed, and the
 * descriptors of the handshake messages stay open until the child ends. */
void sim_channels_abandon(struct sim_channels *channels)
{
	struct sim_channel *channel;
	struct queued_msg *unread;

	if (pthread_mutex_trylock(&channels->lock) != 0)
		return;
	TAILQ_FOREACH(channel, &channels->channels, entry)
		STAILQ_FOREACH(unread, &channel->unread, entry)
			sim_handshake_msg_close(&unread->msg);
	pthread_mutex_unlock(&channels->lock);
}

/* ---- a channel's handshake messages ---- */

static int queue_msg(struct sim_channel *channel, const struct sim_handshake_msg *handshake)
{
	struct queued_msg *queued_msg;

	if (channel->num_unread == SIM_CHANNEL_MAX_UNREAD)
		return -ENOBUFS;
	queued_msg = calloc(1, sizeof(*queued_msg));
	if (!queued_msg)
		return -ENOMEM;
	queued_msg->msg = *handshake;
	STAILQ_INSERT_TAIL(&channel->unread, queued_msg, entry);
	channel->num_unread++;
	return 0;
}

bool sim_channel_pop(struct sim_channel *channel, struct sim_handshake_msg *ret_handshake)
{
	struct queued_msg *first = STAILQ_FIRST(&channel->unread);

	if (!first)
		return false;
	STAILQ_REMOVE_HEAD(&channel->unread, entry);
	channel->num_unread--;
	*ret_handshake = first->msg;
	free(first);
	return true;
}

void sim_channel_free(struct sim_channel *channel)
{
	struct sim_handshake_msg handshake;

	while (sim_channel_pop(channel, &handshake))
		sim_handshake_msg_close(&handshake);
	free(channel);
}

/* ---- the lists; their lock is held ---- */

struct sim_channel *sim_channels_add(struct sim_channels *channels, uint64_t number)
{
	struct sim_channel *channel = calloc(1, sizeof(*channel));

	if (!channel)
		return NULL;
	channel->channels = channels;
	channel->number = number;
	STAILQ_INIT(&channel->unread);
	atomic_init(&channel->status, -EINPROGRESS);
	TAILQ_INSERT_TAIL(&channels->channels, channel, entry);
	return channel;
}

void sim_channels_unlist(struct sim_channels *channels, struct sim_channel *channel)
{
	TAILQ_REMOVE(&channels->channels, channel, entry);
}

static struct sim_channel *find_channel(const struct sim_channels *channels, uint64_t number)
{
	struct sim_channel *channel;

	TAILQ_FOREACH(channel, &channels->channels, entry)
		if (channel->number == number)
			return channel;
	return NULL;
}

static struct sim_listener *find_listener(const struct sim_channels *channels, uint64_t number)
{
	struct sim_listener *listener;

	LIST_FOREACH(listener, &channels->listeners, entry)
		if (listener->number == number)
			return listener;
	return NULL;
}

/* ---- notifications ---- */

void sim_channels_wait_notification(struct sim_channels *channels, const struct notification *notification)
{
	while (channels->running == notification)
		pthread_cond_wait(&channels->notification_done, &channels->lock);
}

/* Releases the lock during the notification: the lists may change meanwhile. */
static void run_notification(struct sim_channels *channels, struct notification *notification)
{
	notification->due = false;
	if (!notification->notify)
		return;
	channels->running = notification;
	pthread_mutex_unlock(&channels->lock);
	notification->notify(notification->arg);
	pthread_mutex_lock(&channels->lock);
	channels->running = NULL;
	pthread_cond_broadcast(&channels->notification_done);
}

/* ---- reports of the owner ---- */

int sim_channels_offered(struct sim_channels *channels, uint64_t number, uint64_t channel_number,
			 const struct sim_handshake_msg *connect_msg)
{
	struct sim_listener *listener;
	struct sim_channel *channel = NULL;
	int rc = -ECONNREFUSED;

	pthread_mutex_lock(&channels->lock);
	listener = find_listener(channels, number);
	if (listener) {
		channel = sim_channels_add(channels, channel_number);
		rc = channel ? queue_msg(channel, connect_msg) : -ENOMEM;
	}
	if (rc == 0) {
		channel->offered_by = listener;
		run_notification(channels, &listener->notification);
	} else if (channel) {
		sim_channels_unlist(channels, channel);
		sim_channel_free(channel);
	}
	pthread_mutex_unlock(&channels->lock);
	return rc;
}

static bool is_alive(const struct sim_channel *channel)
{
	int status = atomic_load(&channel->status);

	return status == 0 || status == -EINPROGRESS;
}

/* Set the reason of the close; the first reason stays. Returns whether this one was the first. */
static bool set_closed(struct sim_channel *channel, int reason, uint32_t elsewhere)
{
	if (!is_alive(channel))
		return false;
	channel->elsewhere = elsewhere;
	atomic_store(&channel->status, reason);
	return true;
}

static int deliver_to_channel(struct sim_channels *channels, uint64_t number, bool accepts,
			      const struct sim_handshake_msg *handshake)
{
	struct sim_channel *channel;
	int rc = -ECONNRESET; /* this process closed the channel */

	pthread_mutex_lock(&channels->lock);
	channel = find_channel(channels, number);
	if (channel && is_alive(channel)) {
		rc = queue_msg(channel, handshake);
		if (rc < 0)
			set_closed(channel, rc, 0);
		else if (accepts && atomic_load(&channel->status) == -EINPROGRESS)
			atomic_store(&channel->status, 0);
		run_notification(channels, &channel->notification);
	}
	pthread_mutex_unlock(&channels->lock);
	if (rc == -ENOBUFS)
		sim_err("a connection is closed: %d handshake messages of its other end were not taken",
			SIM_CHANNEL_MAX_UNREAD);
	return rc;
}

int sim_channels_accepted(struct sim_channels *channels, uint64_t number, const struct sim_handshake_msg *accept_msg)
{
	return deliver_to_channel(channels, number, true, accept_msg);
}

int sim_channels_received(struct sim_channels *channels, uint64_t number, const struct sim_handshake_msg *handshake)
{
	return deliver_to_channel(channels, number, false, handshake);
}

void sim_channels_closed(struct sim_channels *channels, uint64_t number, int reason, uint32_t elsewhere)
{
	struct sim_channel *channel;

	pthread_mutex_lock(&channels->lock);
	channel = find_channel(channels, number);
	if (channel && channel->offered_by) { /* the client gave up; the application has not seen the channel */
		sim_channels_unlist(channels, channel);
		sim_channel_free(channel);
	} else if (channel && set_closed(channel, reason, elsewhere)) {
		run_notification(channels, &channel->notification);
	}
	pthread_mutex_unlock(&channels->lock);
}

void sim_channels_notified(struct sim_channels *channels, uint64_t number)
{
	struct sim_channel *channel;

	pthread_mutex_lock(&channels->lock);
	channel = find_channel(channels, number);
	if (channel)
		run_notification(channels, &channel->notification);
	pthread_mutex_unlock(&channels->lock);
}

/* The next channel or listener whose notification is due; NULL = none. */
static struct notification *next_due(struct sim_channels *channels)
{
	struct sim_listener *listener;
	struct sim_channel *channel;

	TAILQ_FOREACH(channel, &channels->channels, entry)
		if (channel->notification.due)
			return &channel->notification;
	LIST_FOREACH(listener, &channels->listeners, entry)
		if (listener->notification.due)
			return &listener->notification;
	return NULL;
}

void sim_channels_lost(struct sim_channels *channels)
{
	struct sim_listener *listener;
	struct sim_channel *channel;
	struct notification *due;

	pthread_mutex_lock(&channels->lock);
	TAILQ_FOREACH(channel, &channels->channels, entry)
		channel->notification.due = set_closed(channel, -ESHUTDOWN, 0);
	LIST_FOREACH(listener, &channels->listeners, entry) {
		atomic_store(&listener->status, -ESHUTDOWN);
		listener->notification.due = true;
	}
	while ((due = next_due(channels)) != NULL)
		run_notification(channels, due);
	pthread_mutex_unlock(&channels->lock);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Listening, connecting, and the handshake messages of a channel. */
#include "channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "channel_list.h"
#include "session_priv.h"
#include "sim/base/log.h"

static struct sim_owner *owner_of(const struct sim_channels *channels)
{
	return channels->session->owner;
}

static bool is_alive(const struct sim_channel *channel)
{
	int status = atomic_load(&channel->status);

	return status == 0 || status == -EINPROGRESS;
}

/* ---- listening ---- */

/* The listener is listed before the owner knows it, because the first offer may come before the reply. */
static struct sim_listener *add_listener(struct sim_channels *channels, sim_channel_notify *notify, void *arg)
{
	struct sim_listener *listener = calloc(1, sizeof(*listener));

	if (!listener)
		return NULL;
	listener->channels = channels;
	listener->notification = (struct notification){ .notify = notify, .arg = arg };
	pthread_mutex_lock(&channels->lock);
	listener->number = ++channels->next_number;
	LIST_INSERT_HEAD(&channels->listeners, listener, entry);
	pthread_mutex_unlock(&channels->lock);
	return listener;
}

int sim_session_listen(struct sim_session *session, const struct sim_service *service, sim_channel_notify *notify,
		       void *arg, struct sim_listener **ret_listener)
{
	struct sim_owner *owner = session->owner;
	struct sim_listener *listener;
	int rc;

	if (strnlen(service->name, SIM_SERVICE_NAME_SIZE) == SIM_SERVICE_NAME_SIZE)
		return -ENAMETOOLONG;
	listener = add_listener(session->channels, notify, arg);
	if (!listener)
		return -ENOMEM;
	rc = owner->channels->listen(owner, listener->number, service);
	if (rc < 0) {
		sim_session_unlisten(session, listener); /* the owner may have it: its reply may be late */
		if (rc != -EDQUOT)
			return rc;
		sim_err("this process has %d services, as many as one may have; stop some", SIM_MAX_SERVICES);
		return -ENOMEM;
	}
	*ret_listener = listener;
	return 0;
}

/* Take the oldest untaken offer out of the lists. Call with the lock held. */
static struct sim_channel *pop_offer(struct sim_listener *listener)
{
	struct sim_channel *channel;

	TAILQ_FOREACH(channel, &listener->channels->channels, entry)
		if (channel->offered_by == listener)
			break;
	if (channel)
		sim_channels_unlist(listener->channels, channel);
	return channel;
}

void sim_session_unlisten(struct sim_session *session, struct sim_listener *listener)
{
	struct sim_owner *owner = session->owner;
	struct sim_channel *refused;

	if (!listener)
		return;
	owner->channels->unlisten(owner, listener->number);
	pthread_mutex_lock(&listener->channels->lock);
	LIST_REMOVE(listener, entry);
	sim_channels_wait_notification(listener->channels, &listener->notification);
	while ((refused = pop_offer(listener)) != NULL) {
		pthread_mutex_unlock(&listener->channels->lock);
		owner->channels->close(owner, refused->number, -ECONNREFUSED);
		sim_channel_free(refused);
		pthread_mutex_lock(&listener->channels->lock);
	}
	pthread_mutex_unlock(&listener->channels->lock);
	free(listener);
}

bool sim_listener_next_client(struct sim_listener *listener, sim_channel_notify *notify, void *arg,
			      struct sim_channel **ret_channel, struct sim_handshake_msg *ret_connect_msg)
{
	struct sim_channels *channels = listener->channels;
	struct sim_channel *channel;
	bool taken = false;

	pthread_mutex_lock(&channels->lock);
	TAILQ_FOREACH(channel, &channels->channels, entry)
		if (channel->offered_by == listener && is_alive(channel))
			break;
	if (channel) {
		channel->offered_by = NULL;
		channel->notification = (struct notification){ .notify = notify, .arg = arg };
		taken = sim_channel_pop(channel, ret_connect_msg);
		*ret_channel = channel;
	}
	pthread_mutex_unlock(&channels->lock);
	return taken;
}

uint32_t sim_listener_num_waiting(const struct sim_listener *listener)
{
	struct sim_channels *channels = listener->channels;
	const struct sim_channel *channel;
	uint32_t count = 0;

	pthread_mutex_lock(&channels->lock);
	TAILQ_FOREACH(channel, &channels->channels, entry)
		count += channel->offered_by == listener && is_alive(channel);
	pthread_mutex_unlock(&channels->lock);
	return count;
}

int sim_listener_status(const struct sim_listener *listener)
{
	return atomic_load(&listener->status);
}

/* ---- connecting ---- */

static struct sim_channel *add_client(struct sim_channels *channels, sim_channel_notify *notify, void *arg)
{
	struct sim_channel *channel;

	pthread_mutex_lock(&channels->lock);
	channel = sim_channels_add(channels, ++channels->next_number);
	if (channel)
		channel->notification = (struct notification){ .notify = notify, .arg = arg };
	pthread_mutex_unlock(&channels->lock);
	return channel;
}

static int connect_to(struct sim_session *session, uint32_t function, uint32_t rep, const char *name,
		      uint32_t timeout_ms, const struct sim_handshake_msg *connect_msg, sim_channel_notify *notify,
		      void *arg, struct sim_channel **ret_channel)
{
	const struct sim_connect request = {
		.function = function, .rep = rep, .name = name, .timeout_ms = timeout_ms, .connect_msg = connect_msg
	};
	struct sim_owner *owner = session->owner;
	struct sim_channel *channel;
	int rc;

	if (strnlen(name, SIM_SERVICE_NAME_SIZE) == SIM_SERVICE_NAME_SIZE)
		return -ENAMETOOLONG;
	channel = add_client(session->channels, notify, arg);
	if (!channel)
		return -ENOMEM;
	rc = owner->channels->connect(owner, channel->number, &request);
	if (rc == -ECONNREFUSED) { /* on a private card or with a timeout of 0: closed at once */
		atomic_store(&channel->status, rc);
	} else if (rc < 0) {
		sim_channel_close(session, channel, -ECONNRESET); /* the owner may have the channel, as above */
		if (rc != -EDQUOT)
			return rc;
		sim_err("this process has %d connections, or %d that no server has accepted, as many as one may have; end some",
			SIM_MAX_CHANNELS, SIM_MAX_UNACCEPTED);
		return -ENOMEM;
	}
	*ret_channel = channel;
	return 0;
}

int sim_session_connect(struct sim_session *session, uint32_t function, const char *name, uint32_t timeout_ms,
			const struct sim_handshake_msg *connect_msg, sim_channel_notify *notify, void *arg,
			struct sim_channel **ret_channel)
{
	return connect_to(session, function, function, name, timeout_ms, connect_msg, notify, arg, ret_channel);
}

int sim_session_connect_network(struct sim_session *session, uint32_t function, const char *name, uint32_t timeout_ms,
				const struct sim_handshake_msg *connect_msg, sim_channel_notify *notify, void *arg,
				struct sim_channel **ret_channel)
{
	return connect_to(session, function, SIM_NETWORK, name, timeout_ms, connect_msg, notify, arg, ret_channel);
}

/* ---- handshake messages and status ---- */

/* The owner refused a handshake message: close the channel. If the owner's close arrived in the meantime, its reason
 * stays. Returns the channel's status. */
static int fail_channel(struct sim_channel *channel, int rc)
{
	struct sim_owner *owner = owner_of(channel->channels);
	bool was_alive;

	pthread_mutex_lock(&channel->channels->lock);
	was_alive = is_alive(channel);
	if (was_alive)
		atomic_store(&channel->status, rc == -ENOENT ? -ECONNRESET : rc);
	pthread_mutex_unlock(&channel->channels->lock);
	if (was_alive)
		owner->channels->close(owner, channel->number, -ECONNRESET);
	return atomic_load(&channel->status);
}

int sim_channel_accept(struct sim_channel *channel, const struct sim_handshake_msg *accept_msg)
{
	struct sim_owner *owner = owner_of(channel->channels);
	int rc;

	if (!is_alive(channel))
		return atomic_load(&channel->status);
	rc = owner->channels->accept(owner, channel->number, accept_msg);
	if (rc < 0)
		return fail_channel(channel, rc);
	pthread_mutex_lock(&channel->channels->lock);
	if (atomic_load(&channel->status) == -EINPROGRESS)
		atomic_store(&channel->status, 0);
	pthread_mutex_unlock(&channel->channels->lock);
	return 0;
}

int sim_channel_send(struct sim_channel *channel, const struct sim_handshake_msg *handshake)
{
	struct sim_owner *owner = owner_of(channel->channels);
	int rc = atomic_load(&channel->status);

	if (rc < 0)
		return rc;
	rc = owner->channels->send(owner, channel->number, handshake);
	return rc < 0 ? fail_channel(channel, rc) : 0;
}

bool sim_channel_receive(struct sim_channel *channel, struct sim_handshake_msg *ret_handshake)
{
	bool taken;

	pthread_mutex_lock(&channel->channels->lock);
	taken = sim_channel_pop(channel, ret_handshake);
	pthread_mutex_unlock(&channel->channels->lock);
	return taken;
}

void sim_channel_notify_peer(struct sim_channel *channel)
{
	struct sim_owner *owner = owner_of(channel->channels);

	if (atomic_load(&channel->status) == 0)
		owner->channels->notify_peer(owner, channel->number);
}

int sim_channel_status(const struct sim_channel *channel)
{
	return atomic_load(&channel->status);
}

bool sim_channel_find_elsewhere(const struct sim_channel *channel, uint32_t *ret_function)
{
	if (channel->elsewhere == 0 ||
	    channel->elsewhere > sim_session_topology(channel->channels->session)->num_functions)
		return false;
	*ret_function = channel->elsewhere - 1;
	return true;
}

void sim_channel_close(struct sim_session *session, struct sim_channel *channel, int reason)
{
	struct sim_owner *owner = session->owner;

	if (!channel)
		return;
	pthread_mutex_lock(&channel->channels->lock);
	sim_channels_unlist(channel->channels, channel);
	sim_channels_wait_notification(channel->channels, &channel->notification);
	pthread_mutex_unlock(&channel->channels->lock);
	if (is_alive(channel))
		owner->channels->close(owner, channel->number, reason);
	sim_channel_free(channel);
}

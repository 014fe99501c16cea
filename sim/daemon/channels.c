/* SPDX-License-Identifier: BSD-3-Clause */
/* Services and channels: connects clients to servers and forwards their handshake messages.
 *
 * sim_services keeps the ends of each channel. A process that names a missing channel has
 * usually not yet read that the other end closed it: the daemon ignores such messages. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "sim/base/monotonic.h"
#include "sim/base/log.h"

/* A client's first handshake message, kept until a server can read it. */
struct pending_connect {
	struct sim_msg_handshake handshake;
	struct sim_fds fds;
};

static void pending_connect_free(struct pending_connect *pending)
{
	if (!pending)
		return;
	sim_fds_close(&pending->fds);
	free(pending);
}

/* Check that a handshake message is complete, and close the descriptors beyond its count. */
static int check_handshake(const struct daemon *daemon, struct conn *from, const struct sim_msg_handshake *handshake,
			   struct sim_fds *fds)
{
	int rc = sim_handshake_msg_check(handshake, fds);

	for (uint32_t i = 0; rc == 0 && i < handshake->num_fds; i++)
		rc = daemon_may_keep_fd(daemon, fds->fd[i]) ? 0 : -EMFILE;
	if (rc == -EMFILE && !from->warned_fds_lost)
		sim_err("descriptors that process %d sent were lost: no more descriptors; raise ulimit -n where the daemon starts",
			(int)sim_card_peer(daemon->card, from->peer)->pid);
	from->warned_fds_lost |= rc == -EMFILE;
	while (rc == 0 && fds->count > handshake->num_fds)
		close(fds->fd[--fds->count]);
	return rc;
}

/* @elsewhere as in the message. */
static void notify_closed(struct daemon *daemon, const struct sim_channel_end *end, int reason, uint32_t elsewhere)
{
	struct sim_msg msg = { .type = SIM_MSG_CLOSE,
			       .body.channel = { .number = end->number, .reason = reason, .elsewhere = elsewhere } };
	struct conn *conn = daemon_find_conn(daemon, end->peer);

	if (conn)
		daemon_send(daemon, conn, &msg, -1);
}

static void close_channel(struct daemon *daemon, const struct sim_closed_channel *closed, int reason)
{
	pending_connect_free(closed->handshake);
	if (closed->has_remaining)
		notify_closed(daemon, &closed->remaining, reason, closed->has_elsewhere ? closed->elsewhere + 1 : 0);
}

/* ---- connecting clients to servers ---- */

/* Returns false when the server cannot take the offer. */
static bool send_offer(struct daemon *daemon, const struct sim_offer *offer)
{
	struct sim_msg msg = { .type = SIM_MSG_OFFER,
			       .body.handshake = { .service = offer->service, .number = offer->server.number } };
	struct conn *server = daemon_find_conn(daemon, offer->server.peer);
	struct pending_connect *pending = offer->handshake;

	if (!server || !daemon_can_queue_handshake(server))
		return false;
	msg.body.handshake.msg = pending->handshake;
	daemon_send_fds(daemon, server, &msg, &pending->fds);
	return true;
}

/* Send all offers that are possible now. Call this after each change that can make one possible. */
static void send_offers(struct daemon *daemon)
{
	struct sim_offer offer;

	while (sim_services_next_offer(daemon->services, &offer)) {
		struct sim_closed_channel closed;
		bool sent = send_offer(daemon, &offer);

		pending_connect_free(offer.handshake);
		if (sent)
			continue;
		sim_services_close(daemon->services, offer.client.peer, offer.client.number, &closed);
		notify_closed(daemon, &offer.client, -EBUSY, 0);
	}
}

static int register_service(struct daemon *daemon, struct conn *conn, uint64_t number,
			    const struct sim_service *service)
{
	if (service->rep != SIM_NETWORK &&
	    !sim_function_has_rep(&sim_shared_state_of(&daemon->shared)->functions, service->rep))
		return -ENODEV;
	return sim_services_listen(daemon->services, conn->peer, number, service);
}

static void handle_listen(struct daemon *daemon, struct conn *conn, struct sim_msg *msg)
{
	struct sim_service service = { .function = msg->body.listen.function,
				       .rep = msg->body.listen.rep,
				       .name = msg->body.listen.name };
	int rc;

	TERMINATE_TEXT(msg->body.listen.name);
	rc = register_service(daemon, conn, msg->body.listen.number, &service);
	daemon_reply(daemon, conn, msg, rc, -1);
	send_offers(daemon);
}

/* The client does not wait for a server, and no server listens: the reply can say so at once. */
static bool has_no_server(const struct daemon *daemon, const struct conn *conn, const struct sim_msg *msg)
{
	uint32_t function = msg->body.connect.function;

	return msg->body.connect.timeout_ms == 0 && sim_services_may_connect(daemon->services, conn->peer, function) &&
	       !sim_services_has_service(daemon->services, msg->body.connect.rep, msg->body.connect.name) &&
	       !sim_services_is_far(daemon->services, msg->body.connect.rep, msg->body.connect.name);
}

static int queue_connect(struct daemon *daemon, struct conn *conn, const struct sim_msg *msg, struct sim_fds *fds)
{
	int rc = check_handshake(daemon, conn, &msg->body.connect.handshake, fds);
	struct pending_connect *pending;

	if (rc < 0)
		return rc;
	if (has_no_server(daemon, conn, msg))
		return -ECONNREFUSED;
	pending = calloc(1, sizeof(*pending));
	if (!pending)
		return -ENOMEM;
	rc = sim_services_connect(daemon->services, conn->peer, msg->body.connect.number, msg->body.connect.function,
				  msg->body.connect.rep, msg->body.connect.name,
				  sim_monotonic_ms() + msg->body.connect.timeout_ms, pending);
	if (rc < 0) {
		free(pending);
		return rc;
	}
	*pending = (struct pending_connect){ .handshake = msg->body.connect.handshake, .fds = *fds };
	fds->count = 0;
	return 0;
}

static void handle_connect(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds)
{
	int rc;

	TERMINATE_TEXT(msg->body.connect.name);
	rc = queue_connect(daemon, conn, msg, fds);
	daemon_reply(daemon, conn, msg, rc, -1);
	send_offers(daemon);
}

/* ---- forwarding: each end has its own number for the channel ---- */

/* Returns 0, -ENOENT (the other process has ended) or -ENOBUFS (it does not read its socket). */
static int forward_handshake(struct daemon *daemon, const struct sim_channel_end *to, const struct sim_msg *from,
			     struct sim_fds *fds)
{
	struct sim_msg msg = { .type = from->type, .body.handshake = { .number = to->number } };
	struct conn *conn = daemon_find_conn(daemon, to->peer);

	if (!conn)
		return -ENOENT;
	if (!daemon_can_queue_handshake(conn)) {
		if (!conn->warned_queue_full)
			sim_warn(
				"process %d does not read what is sent to it, so further handshake messages are refused; is it stopped?",
				(int)sim_card_peer(daemon->card, to->peer)->pid);
		conn->warned_queue_full = true;
		return -ENOBUFS;
	}
	msg.body.handshake.msg = from->body.handshake.msg;
	daemon_send_fds(daemon, conn, &msg, fds);
	return 0;
}

/* The reply tells the sender when the message can't be delivered; the sender then closes the channel. */
static void handle_handshake(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds)
{
	int rc = check_handshake(daemon, conn, &msg->body.handshake.msg, fds);
	uint64_t number = msg->body.handshake.number;
	struct sim_channel_end other;

	if (rc == 0 && msg->type == SIM_MSG_ACCEPT)
		rc = sim_services_accept(daemon->services, conn->peer, number, &other);
	else if (rc == 0)
		rc = sim_services_get_other_end(daemon->services, conn->peer, number, &other);
	if (rc == 0)
		rc = forward_handshake(daemon, &other, msg, fds);
	daemon_reply(daemon, conn, msg, rc, -1);
}

static void handle_notify_peer(struct daemon *daemon, struct conn *conn, const struct sim_msg *from)
{
	struct sim_msg msg = { .type = SIM_MSG_NOTIFY_PEER };
	struct sim_channel_end other;
	struct conn *to = NULL;

	if (sim_services_get_other_end(daemon->services, conn->peer, from->body.channel.number, &other) == 0)
		to = daemon_find_conn(daemon, other.peer);
	msg.body.channel.number = other.number;
	if (to)
		daemon_send(daemon, to, &msg, -1);
}

/* ---- closing channels ---- */

/* Restrict the reason to those that a process may give; only the daemon reports deaths and timeouts. */
static int sanitize_reason(int reason)
{
	return reason == -ECONNREFUSED || reason == -EPROTO || reason == -EBUSY ? reason : -ECONNRESET;
}

static void handle_close(struct daemon *daemon, struct conn *conn, const struct sim_msg *msg)
{
	struct sim_closed_channel closed;

	if (sim_services_close(daemon->services, conn->peer, msg->body.channel.number, &closed))
		close_channel(daemon, &closed, sanitize_reason(msg->body.channel.reason));
}

void daemon_close_channels_of(struct daemon *daemon, struct conn *conn)
{
	struct sim_closed_channel closed;

	while (sim_services_end_next_of_peer(daemon->services, conn->peer, &closed)) {
		int reason =
			closed.unaccepted ? -ECONNREFUSED : -ECONNRESET; /* the server may not have read the offer */

		close_channel(daemon, &closed, conn->state == DAEMON_CONN_LEAVING ? reason : -EPIPE);
	}
	send_offers(daemon);
}

/* Both processes still run, so the daemon notifies each of them. */
void daemon_close_channels_through(struct daemon *daemon, uint32_t function)
{
	struct sim_closed_channel closed;
	struct sim_channel_end client;

	while (sim_services_end_next_of_function(daemon->services, function, &client, &closed)) {
		close_channel(daemon, &closed, -ECONNRESET);
		notify_closed(daemon, &client, closed.has_remaining ? -ECONNRESET : -ECONNREFUSED, 0);
	}
	send_offers(daemon);
}

void daemon_drop_channels(struct daemon *daemon)
{
	struct sim_closed_channel closed;

	while (sim_services_end_next(daemon->services, &closed))
		pending_connect_free(closed.handshake);
}

void daemon_expire_channels(struct daemon *daemon, uint64_t now_ms)
{
	struct sim_closed_channel closed;

	while (sim_services_end_next_expired(daemon->services, now_ms, &closed))
		close_channel(daemon, &closed, -ECONNREFUSED);
}

bool daemon_handle_channel_msg(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds)
{
	switch (msg->type) {
	case SIM_MSG_LISTEN:
		handle_listen(daemon, conn, msg);
		return true;
	case SIM_MSG_UNLISTEN:
		sim_services_unlisten(daemon->services, conn->peer, msg->body.channel.number);
		daemon_reply(daemon, conn, msg, 0, -1);
		return true;
	case SIM_MSG_CONNECT:
		handle_connect(daemon, conn, msg, fds);
		return true;
	case SIM_MSG_ACCEPT:
	case SIM_MSG_HANDSHAKE:
		handle_handshake(daemon, conn, msg, fds);
		send_offers(daemon); /* a server that accepted may have room for the next client */
		return true;
	case SIM_MSG_CLOSE:
		handle_close(daemon, conn, msg);
		send_offers(daemon);
		return true;
	case SIM_MSG_NOTIFY_PEER:
		handle_notify_peer(daemon, conn, msg);
		return true;
	default:
		return false;
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Services and channels: who wants to talk is brought together, and letters are
 * carried between them. Who is an end of what is sim_services' business. A
 * process that names a channel which isn't there has, as a rule, not yet read
 * that the other end closed it: such messages have no effect. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "sim/base/log.h"

/* What a client wrote, until there is a server to read it. */
struct hello {
	struct sim_msg_letter letter;
	struct sim_fds fds;
};

static void hello_free(struct hello *hello)
{
	if (!hello)
		return;
	sim_fds_close(&hello->fds);
	free(hello);
}

/* All of a letter came; its descriptors are as many as it says. */
static int check_letter(const struct daemon *daemon, struct conn *from, const struct sim_msg_letter *letter,
			struct sim_fds *fds)
{
	int rc = sim_letter_check(letter, fds);

	if (rc == -EMFILE && !from->told_lost)
		sim_err("descriptors that process %d sent were lost: no more descriptors; raise ulimit -n where the daemon starts",
			(int)sim_card_peer(daemon->card, from->peer)->pid);
	from->told_lost |= rc == -EMFILE;
	while (rc == 0 && fds->count > letter->num_fds)
		close(fds->fd[--fds->count]);
	return rc;
}

static void tell_closed(struct daemon *daemon, const struct sim_end *end, int reason)
{
	struct sim_msg msg = {.type = SIM_MSG_CLOSE, .body.channel = {.number = end->number, .reason = reason}};
	struct conn *conn = daemon_conn_of(daemon, end->peer);

	if (conn)
		daemon_send(daemon, conn, &msg, -1);
}

static void end_channel(struct daemon *daemon, const struct sim_parting *parting, int reason)
{
	hello_free(parting->hello);
	if (parting->is_left)
		tell_closed(daemon, &parting->left, reason);
}

/* ---- bringing both ends together ---- */

/* Whether the server is there to read it. */
static bool send_offer(struct daemon *daemon, const struct sim_offer *offer)
{
	struct sim_msg msg = {.type = SIM_MSG_OFFER,
			      .body.letter = {.service = offer->service, .number = offer->server.number}};
	struct conn *server = daemon_conn_of(daemon, offer->server.peer);
	struct hello *hello = offer->hello;

	if (!server || !daemon_has_room(server))
		return false;
	msg.body.letter.letter = hello->letter;
	daemon_send_fds(daemon, server, &msg, &hello->fds);
	return true;
}

/* After anything by which a client may have found its server. */
static void offer_all(struct daemon *daemon)
{
	struct sim_offer offer;

	while (sim_services_next_offer(daemon->services, &offer)) {
		struct sim_parting parting;
		bool sent = send_offer(daemon, &offer);

		hello_free(offer.hello);
		if (sent)
			continue;
		sim_services_close(daemon->services, offer.client.peer, offer.client.number, &parting);
		tell_closed(daemon, &offer.client, -EBUSY);
	}
}

static int listen_on(struct daemon *daemon, struct conn *conn, uint64_t number, const struct sim_service *service)
{
	if (!sim_function_is_represented(&sim_board_of(&daemon->board)->functions, service->rep))
		return -ENODEV;
	return sim_services_listen(daemon->services, conn->peer, number, service);
}

static void take_listen(struct daemon *daemon, struct conn *conn, struct sim_msg *msg)
{
	struct sim_service service = {.function = msg->body.listen.function, .rep = msg->body.listen.rep,
				      .name = msg->body.listen.name};
	int rc;

	END_TEXT(msg->body.listen.name);
	rc = listen_on(daemon, conn, msg->body.listen.number, &service);
	daemon_reply(daemon, conn, msg, rc, -1);
	offer_all(daemon);
}

/* It wants a server that is there, and there is none: it need not hear of that later. */
static bool is_in_vain(const struct daemon *daemon, const struct conn *conn, const struct sim_msg *msg)
{
	uint32_t function = msg->body.connect.function;

	return msg->body.connect.patience_ms == 0 && sim_services_may_connect(daemon->services, conn->peer, function) &&
	       !sim_services_is_served(daemon->services, function, msg->body.connect.name);
}

static int connect_client(struct daemon *daemon, struct conn *conn, const struct sim_msg *msg, struct sim_fds *fds)
{
	int rc = check_letter(daemon, conn, &msg->body.connect.hello, fds);
	struct hello *hello;

	if (rc < 0)
		return rc;
	if (is_in_vain(daemon, conn, msg))
		return -ECONNREFUSED;
	hello = calloc(1, sizeof(*hello));
	if (!hello)
		return -ENOMEM;
	rc = sim_services_connect(daemon->services, conn->peer, msg->body.connect.number, msg->body.connect.function,
				  msg->body.connect.name, daemon_now_ms() + msg->body.connect.patience_ms, hello);
	if (rc < 0) {
		free(hello);
		return rc;
	}
	*hello = (struct hello){.letter = msg->body.connect.hello, .fds = *fds};
	fds->count = 0;
	return 0;
}

static void take_connect(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds)
{
	int rc;

	END_TEXT(msg->body.connect.name);
	rc = connect_client(daemon, conn, msg, fds);
	daemon_reply(daemon, conn, msg, rc, -1);
	offer_all(daemon);
}

/* ---- what is passed on: the other end knows the channel by another number ---- */

/* Returns 0 or -ENOBUFS (the other end's process reads nothing). */
static int pass_on(struct daemon *daemon, const struct sim_end *to, const struct sim_msg *from, struct sim_fds *fds)
{
	struct sim_msg msg = {.type = from->type, .body.letter = {.number = to->number}};
	struct conn *conn = daemon_conn_of(daemon, to->peer);

	if (!conn)
		return -ENOENT;
	if (!daemon_has_room(conn)) {
		if (!conn->told_full)
			sim_warn("process %d does not read what is sent to it, so further letters are refused; is it stopped?",
				 (int)sim_card_peer(daemon->card, to->peer)->pid);
		conn->told_full = true;
		return -ENOBUFS;
	}
	msg.body.letter.letter = from->body.letter.letter;
	daemon_send_fds(daemon, conn, &msg, fds);
	return 0;
}

/* One that can't be delivered is the sender's to deal with: it closes the channel. */
static void take_letter(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds)
{
	int rc = check_letter(daemon, conn, &msg->body.letter.letter, fds);
	uint64_t number = msg->body.letter.number;
	struct sim_end other;

	if (rc == 0 && msg->type == SIM_MSG_ACCEPT)
		rc = sim_services_accept(daemon->services, conn->peer, number, &other);
	else if (rc == 0)
		rc = sim_services_other(daemon->services, conn->peer, number, &other);
	if (rc == 0)
		rc = pass_on(daemon, &other, msg, fds);
	daemon_reply(daemon, conn, msg, rc, -1);
}

static void take_knock(struct daemon *daemon, struct conn *conn, const struct sim_msg *from)
{
	struct sim_msg msg = {.type = SIM_MSG_KNOCK};
	struct sim_end other;
	struct conn *to = NULL;

	if (sim_services_other(daemon->services, conn->peer, from->body.channel.number, &other) == 0)
		to = daemon_conn_of(daemon, other.peer);
	msg.body.channel.number = other.number;
	if (to)
		daemon_send(daemon, to, &msg, -1);
}

/* ---- ends ---- */

/* Of what a process may say. That one died, or that a server never came, is ours to say. */
static int clean_reason(int reason)
{
	return reason == -ECONNREFUSED || reason == -EPROTO || reason == -EBUSY ? reason : -ECONNRESET;
}

static void take_close(struct daemon *daemon, struct conn *conn, const struct sim_msg *msg)
{
	struct sim_parting parting;

	if (sim_services_close(daemon->services, conn->peer, msg->body.channel.number, &parting))
		end_channel(daemon, &parting, clean_reason(msg->body.channel.reason));
}

void daemon_end_channels_of(struct daemon *daemon, struct conn *conn)
{
	struct sim_parting parting;

	while (sim_services_next_of(daemon->services, conn->peer, &parting)) {
		int reason = parting.unaccepted ? -ECONNREFUSED : -ECONNRESET; /* it may not have read the offer */

		end_channel(daemon, &parting, conn->in_order ? reason : -EPIPE);
	}
	offer_all(daemon);
}

/* Both processes still live: each hears of it. */
void daemon_end_channels_through(struct daemon *daemon, uint32_t function)
{
	struct sim_parting parting;
	struct sim_end client;

	while (sim_services_next_through(daemon->services, function, &client, &parting)) {
		end_channel(daemon, &parting, -ECONNRESET);
		tell_closed(daemon, &client, parting.is_left ? -ECONNRESET : -ECONNREFUSED);
	}
	offer_all(daemon);
}

void daemon_drop_channels(struct daemon *daemon)
{
	struct sim_parting parting;

	while (sim_services_forget(daemon->services, &parting))
		hello_free(parting.hello);
}

void daemon_expire_channels(struct daemon *daemon, uint64_t now_ms)
{
	struct sim_parting parting;

	while (sim_services_next_expired(daemon->services, now_ms, &parting))
		end_channel(daemon, &parting, -ECONNREFUSED);
}

bool daemon_take_channel(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds)
{
	switch (msg->type) {
	case SIM_MSG_LISTEN:
		take_listen(daemon, conn, msg);
		return true;
	case SIM_MSG_UNLISTEN:
		sim_services_unlisten(daemon->services, conn->peer, msg->body.channel.number);
		daemon_reply(daemon, conn, msg, 0, -1);
		return true;
	case SIM_MSG_CONNECT:
		take_connect(daemon, conn, msg, fds);
		return true;
	case SIM_MSG_ACCEPT:
	case SIM_MSG_LETTER:
		take_letter(daemon, conn, msg, fds);
		offer_all(daemon); /* a server that accepted may have room for the next */
		return true;
	case SIM_MSG_CLOSE:
		take_close(daemon, conn, msg);
		offer_all(daemon);
		return true;
	case SIM_MSG_KNOCK:
		take_knock(daemon, conn, msg);
		return true;
	default:
		return false;
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Services and channels by way of the daemon: requests to it, and its messages about them. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "channel_list.h"
#include "owner_daemon_priv.h"
#include "sim/base/log.h"

static void send_channel_msg(struct sim_owner *owner, uint16_t type, uint64_t number, int reason)
{
	struct sim_msg msg = { .type = type, .body.channel = { .number = number, .reason = reason } };

	sim_calls_send(&to_daemon_owner(owner)->calls, &msg, NULL, 0);
}

static int daemon_listen(struct sim_owner *owner, uint64_t number, const struct sim_service *service)
{
	struct sim_msg msg = { .type = SIM_MSG_LISTEN,
			       .body.listen = {
				       .number = number, .function = service->function, .rep = service->rep } };

	strncpy(msg.body.listen.name, service->name, sizeof(msg.body.listen.name) - 1);
	return sim_calls_call(&to_daemon_owner(owner)->calls, &msg, NULL, 0, NULL);
}

static void daemon_unlisten(struct sim_owner *owner, uint64_t number)
{
	struct sim_msg msg = { .type = SIM_MSG_UNLISTEN, .body.channel.number = number };

	sim_calls_call(&to_daemon_owner(owner)->calls, &msg, NULL, 0,
		       NULL); /* after the reply other servers can use the name */
}

static int daemon_connect(struct sim_owner *owner, uint64_t number, const struct sim_connect *request)
{
	struct sim_msg msg = { .type = SIM_MSG_CONNECT,
			       .body.connect = { .number = number,
						 .function = request->function,
						 .rep = request->rep,
						 .timeout_ms = request->timeout_ms } };

	strncpy(msg.body.connect.name, request->name, sizeof(msg.body.connect.name) - 1);
	sim_handshake_msg_pack(request->connect_msg, &msg.body.connect.handshake);
	return sim_calls_call(&to_daemon_owner(owner)->calls, &msg, request->connect_msg->fds,
			      request->connect_msg->num_fds, NULL);
}

static int call_with_handshake(struct sim_owner *owner, uint16_t type, uint64_t number,
			       const struct sim_handshake_msg *handshake)
{
	struct sim_msg msg = { .type = type, .body.handshake.number = number };

	sim_handshake_msg_pack(handshake, &msg.body.handshake.msg);
	return sim_calls_call(&to_daemon_owner(owner)->calls, &msg, handshake->fds, handshake->num_fds, NULL);
}

static int daemon_accept(struct sim_owner *owner, uint64_t number, const struct sim_handshake_msg *accept_msg)
{
	return call_with_handshake(owner, SIM_MSG_ACCEPT, number, accept_msg);
}

static int daemon_send(struct sim_owner *owner, uint64_t number, const struct sim_handshake_msg *handshake)
{
	return call_with_handshake(owner, SIM_MSG_HANDSHAKE, number, handshake);
}

static void daemon_notify_peer(struct sim_owner *owner, uint64_t number)
{
	send_channel_msg(owner, SIM_MSG_NOTIFY_PEER, number, 0);
}

static void daemon_close(struct sim_owner *owner, uint64_t number, int reason)
{
	send_channel_msg(owner, SIM_MSG_CLOSE, number, reason);
}

const struct sim_owner_channel_ops daemon_owner_channel_ops = {
	.listen = daemon_listen,
	.unlisten = daemon_unlisten,
	.connect = daemon_connect,
	.accept = daemon_accept,
	.send = daemon_send,
	.notify_peer = daemon_notify_peer,
	.close = daemon_close,
};

/* ---- messages of the daemon ---- */

static void log_fds_lost(void)
{
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_NOFILE, &limit);
	sim_err("a connection is closed: this process has no room for the descriptors that came with a handshake message; raise ulimit -n (it is %llu)",
		(unsigned long long)limit.rlim_cur);
}

static int deliver_handshake(struct sim_channels *channels, const struct sim_msg *msg,
			     const struct sim_handshake_msg *handshake)
{
	if (msg->type == SIM_MSG_OFFER)
		return sim_channels_offered(channels, msg->body.handshake.service, msg->body.handshake.number,
					    handshake);
	if (msg->type == SIM_MSG_ACCEPT)
		return sim_channels_accepted(channels, msg->body.handshake.number, handshake);
	return sim_channels_received(channels, msg->body.handshake.number, handshake);
}

/* Handle a message with a handshake message. If that one can't be delivered, the channel is closed at both ends. -EBUSY
 * allows the client of an offer to try again. */
static void receive_handshake(struct daemon_owner *self, const struct sim_msg *msg, struct sim_fds *fds)
{
	struct sim_channels *channels = self->env.channels;
	uint64_t number = msg->body.handshake.number;
	struct sim_handshake_msg handshake;
	int rc = sim_handshake_msg_unpack(&msg->body.handshake.msg, fds, &handshake);

	if (rc == -EMFILE)
		log_fds_lost();
	if (rc < 0) {
		sim_channels_closed(channels, number, rc, 0);
	} else {
		rc = deliver_handshake(channels, msg, &handshake);
		if (rc < 0)
			sim_handshake_msg_close(&handshake);
	}
	if (rc < 0)
		daemon_close(&self->base, number,
			     msg->type != SIM_MSG_OFFER ? -ECONNRESET :
			     rc == -ECONNREFUSED        ? rc :
							  -EBUSY);
}

void daemon_owner_handle_channel_msg(struct daemon_owner *self, const struct sim_msg *msg, struct sim_fds *fds)
{
	struct sim_channels *channels = self->env.channels;
	int reason;

	switch (msg->type) {
	case SIM_MSG_OFFER:
	case SIM_MSG_ACCEPT:
	case SIM_MSG_HANDSHAKE:
		receive_handshake(self, msg, fds);
		break;
	case SIM_MSG_CLOSE:
		reason = msg->body.channel.reason;
		sim_channels_closed(channels, msg->body.channel.number,
				    reason < 0 && reason != -EINPROGRESS ? reason : -EPROTO,
				    msg->body.channel.elsewhere);
		break;
	case SIM_MSG_NOTIFY_PEER:
		sim_channels_notified(channels, msg->body.channel.number);
		break;
	default:
		break;
	}
}

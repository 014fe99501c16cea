/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels by way of the daemon. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "channel_list.h"
#include "owner_daemon_priv.h"
#include "sim/base/log.h"

static void post_of_channel(struct sim_owner *owner, uint16_t type, uint64_t number, int reason)
{
	struct sim_msg msg = {.type = type, .body.channel = {.number = number, .reason = reason}};

	sim_owner_daemon_post(owner, &msg);
}

int daemon_owner_listen(struct sim_owner *owner, uint64_t number, const struct sim_service *service)
{
	struct sim_msg msg = {.type = SIM_MSG_LISTEN,
			      .body.listen = {.number = number, .function = service->function, .rep = service->rep}};

	strncpy(msg.body.listen.name, service->name, sizeof(msg.body.listen.name) - 1);
	return sim_owner_daemon_call(owner, &msg, NULL, 0);
}

void daemon_owner_unlisten(struct sim_owner *owner, uint64_t number)
{
	struct sim_msg msg = {.type = SIM_MSG_UNLISTEN, .body.channel.number = number};

	sim_owner_daemon_call(owner, &msg, NULL, 0); /* replied to: the name is free for others then */
}

int daemon_owner_connect(struct sim_owner *owner, uint64_t number, const struct sim_connect *request)
{
	struct sim_msg msg = {.type = SIM_MSG_CONNECT,
			      .body.connect = {.number = number, .function = request->function,
					       .patience_ms = request->patience_ms}};

	strncpy(msg.body.connect.name, request->name, sizeof(msg.body.connect.name) - 1);
	sim_letter_pack(request->hello, &msg.body.connect.hello);
	return sim_owner_daemon_call(owner, &msg, request->hello->fds, request->hello->num_fds);
}

static int call_with_letter(struct sim_owner *owner, uint16_t type, uint64_t number, const struct sim_letter *letter)
{
	struct sim_msg msg = {.type = type, .body.letter.number = number};

	sim_letter_pack(letter, &msg.body.letter.letter);
	return sim_owner_daemon_call(owner, &msg, letter->fds, letter->num_fds);
}

int daemon_owner_accept(struct sim_owner *owner, uint64_t number, const struct sim_letter *welcome)
{
	return call_with_letter(owner, SIM_MSG_ACCEPT, number, welcome);
}

int daemon_owner_send(struct sim_owner *owner, uint64_t number, const struct sim_letter *letter)
{
	return call_with_letter(owner, SIM_MSG_LETTER, number, letter);
}

void daemon_owner_knock(struct sim_owner *owner, uint64_t number)
{
	post_of_channel(owner, SIM_MSG_KNOCK, number, 0);
}

void daemon_owner_close(struct sim_owner *owner, uint64_t number, int reason)
{
	post_of_channel(owner, SIM_MSG_CLOSE, number, reason);
}

/* ---- what comes ---- */

static void explain_lost_descriptors(void)
{
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	sim_err("a connection is closed: this process has no room for the descriptors that came with a letter; raise ulimit -n (it is %llu)",
		(unsigned long long)limit.rlim_cur);
}

static int take_letter(struct sim_channels *channels, const struct sim_msg *msg, const struct sim_letter *letter)
{
	if (msg->type == SIM_MSG_OFFER)
		return sim_channels_offered(channels, msg->body.letter.service, msg->body.letter.number, letter);
	if (msg->type == SIM_MSG_ACCEPT)
		return sim_channels_accepted(channels, msg->body.letter.number, letter);
	return sim_channels_letter(channels, msg->body.letter.number, letter);
}

/* Without its letter a channel is of no use: it is closed at both ends. A client
 * that finds no room here may come again. */
static void take_or_close(struct sim_owner *owner, struct sim_channels *channels, const struct sim_msg *msg,
			  struct sim_fds *fds)
{
	uint64_t number = msg->body.letter.number;
	struct sim_letter letter;
	int rc = sim_letter_unpack(&msg->body.letter.letter, fds, &letter);

	if (rc == -EMFILE)
		explain_lost_descriptors();
	if (rc < 0) {
		sim_channels_closed(channels, number, rc);
	} else {
		rc = take_letter(channels, msg, &letter);
		if (rc < 0)
			sim_letter_close(&letter);
	}
	if (rc < 0)
		daemon_owner_close(owner, number,
				   msg->type != SIM_MSG_OFFER ? -ECONNRESET : rc == -ECONNREFUSED ? rc : -EBUSY);
}

void daemon_owner_take_channel(struct sim_owner *owner, struct sim_channels *channels, const struct sim_msg *msg,
			       struct sim_fds *fds)
{
	int reason;

	switch (msg->type) {
	case SIM_MSG_OFFER:
	case SIM_MSG_ACCEPT:
	case SIM_MSG_LETTER:
		take_or_close(owner, channels, msg, fds);
		break;
	case SIM_MSG_CLOSE:
		reason = msg->body.channel.reason;
		sim_channels_closed(channels, msg->body.channel.number,
				    reason < 0 && reason != -EINPROGRESS ? reason : -EPROTO);
		break;
	case SIM_MSG_KNOCK:
		sim_channels_knocked(channels, msg->body.channel.number);
		break;
	default:
		break;
	}
}

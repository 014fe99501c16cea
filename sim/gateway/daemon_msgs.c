/* SPDX-License-Identifier: BSD-3-Clause */
/* What this machine's daemon asks of the gateway. */
#include <errno.h>
#include <unistd.h>

#include "channels.h"
#include "far.h"
#include "outage.h"
#include "slow_link.h"
#include "reach.h"

#define MAX_MESSAGES 64 /* in one poll */

static void handle_describe(struct gateway *gateway, struct sim_msg *msg)
{
	struct sim_grant grant = { 0 };
	int fd = -1, rc = far_describe(gateway, msg->body.describe.id, msg, &grant, &fd);

	msg->is_reply = 1;
	msg->status = rc;
	msg->body.described = grant;
	daemon_link_send(gateway, msg, fd);
	if (fd >= 0)
		close(fd);
}

/* The daemon tells the next gateway what this one has not taken. */
static void handle_outage(struct gateway *gateway, struct sim_msg *msg)
{
	outage_begin(gateway, msg->body.outage.machine, msg->body.outage.ns, msg->body.outage.breaks == 1);
	msg->is_reply = 1;
	msg->status = 0;
	daemon_link_send(gateway, msg, -1);
}

/* *fd is taken, or stays. */
static void handle(struct gateway *gateway, struct sim_msg *msg, int *fd)
{
	if (msg->is_reply) {
		channels_take_reply(gateway, msg);
		return;
	}
	if (channels_take_msg(gateway, msg))
		return;
	switch (msg->type) {
	case SIM_MSG_FAR_IMPORT:
		far_import(gateway, msg->seq, &msg->body.import.key, msg->body.import.function);
		break;
	case SIM_MSG_FAR_UNUSED:
		far_unused(gateway, msg->body.key.id);
		break;
	case SIM_MSG_SHUTDOWN:
		gateway->is_over = gateway->stop = true;
		break;
	case SIM_MSG_DESCRIBE:
		handle_describe(gateway, msg);
		break;
	case SIM_MSG_OUTAGE:
		handle_outage(gateway, msg);
		break;
	case SIM_MSG_SLOW_LINK:
		slow_link_begin(gateway, msg->body.slow_link.machine,
				&(struct slow_rule){ .rule = msg->body.slow_link.rule,
						     .delay_ns = msg->body.slow_link.delay_ns,
						     .rate = msg->body.slow_link.rate,
						     .lasts_ns = msg->body.slow_link.lasts_ns });
		break;
	case SIM_MSG_REACH:
		reach_begin(gateway, msg, *fd);
		*fd = -1;
		break;
	default:
		break;
	}
}

bool daemon_msgs_poll(struct gateway *gateway)
{
	bool found = false;

	for (int i = 0; i < MAX_MESSAGES && !gateway->stop; i++) {
		struct sim_msg msg;
		int fd = -1, rc = sim_msg_recv(gateway->daemon_sock, &msg, &fd);

		if (rc == -EAGAIN)
			break;
		if (rc < 0) {
			gateway->stop = true;
			return true;
		}
		handle(gateway, &msg, &fd);
		if (fd >= 0)
			close(fd);
		found = true;
	}
	return found;
}

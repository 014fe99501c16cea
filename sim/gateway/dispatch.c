/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of machines that have joined: to the part of the gateway that acts on them, on to another machine, or back. */
#include <errno.h>

#include "channels.h"
#include "direct.h"
#include "far.h"
#include "near.h"
#include "outage.h"
#include "queues.h"
#include "reach.h"
#include "slow_link.h"

/* Answer for a receiver that is not there, so that the sender does not wait. */
static void bounce(struct link *link, const struct gateway_frame *frame)
{
	struct gateway_frame answer = {
		.from = frame->to, .to = frame->from, .id = frame->id, .status = -EHOSTUNREACH
	};

	if (frame->kind == GATEWAY_CONNECT)
		answer.kind = GATEWAY_CLOSE;
	else if (frame->kind == GATEWAY_REACH || frame->kind == GATEWAY_PACKET)
		answer.kind = GATEWAY_END;
	else if (frame->kind == GATEWAY_IMPORT)
		answer.kind = GATEWAY_IMPORTED;
	else if (frame->kind == GATEWAY_READ || frame->kind == GATEWAY_WRITE || frame->kind == GATEWAY_OPERATE)
		answer.kind = GATEWAY_DONE;
	else
		return;
	link_send(link, &answer);
}

static void forward(struct gateway *gateway, struct link *link, const struct gateway_frame *frame)
{
	struct link *to = members_has(gateway, frame->to) ? gateway->machines[frame->to].link : NULL;

	if (to)
		gateway_pass(gateway, frame);
	else
		bounce(link, frame);
}

void gateway_take(struct gateway *gateway, const struct gateway_frame *frame)
{
	switch (frame->kind) {
	case GATEWAY_IMPORT:
		near_on_import(gateway, frame);
		break;
	case GATEWAY_IMPORTED:
		far_on_imported(gateway, frame);
		break;
	case GATEWAY_RELEASE:
		near_on_release(gateway, frame);
		break;
	case GATEWAY_REVOKED:
		far_on_revoked(gateway, frame);
		break;
	case GATEWAY_READ:
	case GATEWAY_WRITE:
	case GATEWAY_OPERATE:
		near_on_request(gateway, frame);
		break;
	case GATEWAY_DONE:
		if (!queues_on_done(gateway, frame))
			far_on_done(gateway, frame);
		break;
	case GATEWAY_STREAM:
		near_on_stream(gateway, frame);
		break;
	case GATEWAY_TAKE:
	case GATEWAY_RECORDS:
		near_on_records(gateway, frame);
		break;
	case GATEWAY_ANSWERS:
		far_on_answers(gateway, frame);
		break;
	case GATEWAY_CONNECT:
	case GATEWAY_MESSAGE:
	case GATEWAY_CLOSE:
		channels_on_frame(gateway, frame);
		break;
	case GATEWAY_OUTAGE:
		outage_on_frame(gateway, frame);
		break;
	case GATEWAY_READY:
	case GATEWAY_NO_DIRECT:
	case GATEWAY_SWITCH:
	case GATEWAY_BREAK:
		direct_on_frame(gateway, frame);
		break;
	case GATEWAY_SLOW_LINK:
		slow_link_on_frame(gateway, frame);
		break;
	case GATEWAY_REACH:
	case GATEWAY_PACKET:
	case GATEWAY_GRANT:
	case GATEWAY_END:
		reach_on_frame(gateway, frame);
		break;
	default:
		break;
	}
}

void gateway_take_routed(struct gateway *gateway, struct link *link, const struct gateway_frame *frame)
{
	if (frame->from == gateway->self || frame->from >= gateway->num_machines ||
	    (gateway->cfg.is_home && frame->from != link->machine))
		link_close(link, "it speaks for another machine");
	else if (frame->to == gateway->self && direct_is_void(gateway, frame))
		return;
	else if (frame->to == gateway->self)
		gateway_take(gateway, frame);
	else if (gateway->cfg.is_home)
		forward(gateway, link, frame);
	else
		link_close(link, "it sends what is for another machine");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels between programs of two machines. */
#include "channels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/queue.h"

#define SERVER_WAIT_MS 10000 /* the client's program gives up by itself before */

struct far_channel {
	uint64_t number;  /* of this machine's daemon */
	uint64_t id;      /* in frames: chosen by the client's gateway */
	uint32_t machine; /* of the other end */
	uint64_t seq;     /* of the last request to the daemon about it */
	bool is_server;   /* the program of this machine is the client, so this end is a server's */
	LIST_ENTRY(far_channel) entry;
};

static struct far_channel *add(struct gateway *gateway, const struct far_channel *values)
{
	struct far_channel *channel = malloc(sizeof(*channel));

	if (!channel)
		return NULL;
	*channel = *values;
	LIST_INSERT_HEAD(&gateway->channels, channel, entry);
	return channel;
}

static void drop(struct far_channel *channel)
{
	LIST_REMOVE(channel, entry);
	free(channel);
}

static struct far_channel *find_by_number(struct gateway *gateway, uint64_t number)
{
	struct far_channel *channel;

	LIST_FOREACH(channel, &gateway->channels, entry)
		if (channel->number == number)
			return channel;
	return NULL;
}

static struct far_channel *find_by_frame(struct gateway *gateway, const struct gateway_frame *frame)
{
	const bool is_server = frame->a == 0; /* a server's answer is for the gateway that plays the server */
	struct far_channel *channel;

	LIST_FOREACH(channel, &gateway->channels, entry)
		if (channel->id == frame->id && channel->machine == frame->from && channel->is_server == is_server)
			return channel;
	return NULL;
}

/* ---- to the daemon ---- */

static void close_local(struct gateway *gateway, uint64_t number, int reason)
{
	struct sim_msg msg = { .type = SIM_MSG_CLOSE, .body.channel = { .number = number, .reason = reason } };

	daemon_link_send(gateway, &msg, -1);
}

static void fill_handshake(struct sim_msg_handshake *handshake, const struct gateway_frame *frame)
{
	handshake->len_bytes = frame->len_bytes;
	memcpy(handshake->body, frame->body, frame->len_bytes);
}

/* ---- to the other machine ---- */

static void send_close(struct gateway *gateway, const struct far_channel *channel, int reason)
{
	struct gateway_frame frame = {
		.kind = GATEWAY_CLOSE, .id = channel->id, .status = reason, .a = channel->is_server
	};

	gateway_send(gateway, channel->machine, &frame);
}

static void send_message(struct gateway *gateway, const struct far_channel *channel, const struct sim_msg *msg)
{
	const struct sim_msg_handshake *handshake = &msg->body.handshake.msg;
	struct gateway_frame frame = { .kind = GATEWAY_MESSAGE,
				       .id = channel->id,
				       .a = channel->is_server,
				       .b = msg->type == SIM_MSG_ACCEPT,
				       .body = handshake->body,
				       .len_bytes = handshake->len_bytes };

	gateway_send(gateway, channel->machine, &frame);
}

/* ---- of the daemon ---- */

static uint32_t machine_of(const struct gateway *gateway, uint32_t function)
{
	for (uint32_t i = 0; i < gateway->num_machines; i++)
		if (members_own(gateway, i, function))
			return i;
	return LINK_NO_MACHINE;
}

/* A program of this machine connects to one of another. */
static void take_offer(struct gateway *gateway, const struct sim_msg *msg)
{
	const struct sim_msg_handshake *handshake = &msg->body.handshake.msg;
	struct far_channel values = { .number = msg->body.handshake.number,
				      .id = ++gateway->last_request,
				      .machine = machine_of(gateway, (uint32_t)(msg->body.handshake.service >> 16)),
				      .is_server = true };
	struct gateway_frame frame = { .kind = GATEWAY_CONNECT,
				       .id = values.id,
				       .a = msg->body.handshake.service,
				       .body = handshake->body,
				       .len_bytes = handshake->len_bytes };

	if (handshake->num_fds > 0 || gateway_send(gateway, values.machine, &frame) < 0)
		close_local(gateway, values.number, -ECONNREFUSED);
	else if (!add(gateway, &values))
		close_local(gateway, values.number, -EBUSY);
}

bool channels_take_msg(struct gateway *gateway, const struct sim_msg *msg)
{
	struct far_channel *channel;

	switch (msg->type) {
	case SIM_MSG_OFFER:
		take_offer(gateway, msg);
		return true;
	case SIM_MSG_ACCEPT:
	case SIM_MSG_HANDSHAKE:
		channel = find_by_number(gateway, msg->body.handshake.number);
		if (channel && msg->body.handshake.msg.num_fds == 0)
			send_message(gateway, channel, msg);
		return true;
	case SIM_MSG_CLOSE:
		channel = find_by_number(gateway, msg->body.channel.number);
		if (channel) {
			send_close(gateway, channel, msg->body.channel.reason);
			drop(channel);
		}
		return true;
	default:
		return false;
	}
}

void channels_take_reply(struct gateway *gateway, const struct sim_msg *msg)
{
	struct far_channel *channel;

	if (msg->status == 0 ||
	    (msg->type != SIM_MSG_CONNECT && msg->type != SIM_MSG_ACCEPT && msg->type != SIM_MSG_HANDSHAKE))
		return;
	LIST_FOREACH(channel, &gateway->channels, entry)
		if (channel->seq == msg->seq)
			break;
	if (!channel)
		return;
	send_close(gateway, channel, msg->type == SIM_MSG_CONNECT ? -ECONNREFUSED : -ECONNRESET);
	if (msg->type != SIM_MSG_CONNECT)
		close_local(gateway, channel->number, -ECONNRESET);
	drop(channel);
}

/* ---- of other machines ---- */

/* A program there connects to one of this machine. */
static void take_connect(struct gateway *gateway, const struct gateway_frame *frame)
{
	struct sim_msg msg = { .type = SIM_MSG_CONNECT };
	struct far_channel values = {
		.number = ++gateway->last_request, .seq = ++gateway->daemon_seq, .id = frame->id, .machine = frame->from
	};
	const uint32_t client = (uint32_t)(frame->a >> 48), server = (uint32_t)(frame->a >> 16);

	if (machine_of(gateway, client) != frame->from || machine_of(gateway, server) != gateway->self ||
	    find_by_frame(gateway, &(struct gateway_frame){ .id = frame->id, .a = 1, .from = frame->from }) ||
	    !add(gateway, &values)) {
		send_close(gateway, &values, -ECONNREFUSED);
		return;
	}
	msg.seq = values.seq;
	msg.body.connect.number = values.number;
	msg.body.connect.function = client;
	msg.body.connect.rep = SIM_NETWORK;
	msg.body.connect.timeout_ms = SERVER_WAIT_MS;
	sim_service_name_port(server, (uint16_t)frame->a, msg.body.connect.name);
	fill_handshake(&msg.body.connect.handshake, frame);
	daemon_link_send(gateway, &msg, -1);
}

static void take_message(struct gateway *gateway, struct far_channel *channel, const struct gateway_frame *frame)
{
	struct sim_msg msg = { .type = frame->b == 1 ? SIM_MSG_ACCEPT : SIM_MSG_HANDSHAKE,
			       .seq = channel->seq = ++gateway->daemon_seq,
			       .body.handshake.number = channel->number };

	fill_handshake(&msg.body.handshake.msg, frame);
	daemon_link_send(gateway, &msg, -1);
}

void channels_on_frame(struct gateway *gateway, const struct gateway_frame *frame)
{
	struct far_channel *channel;

	if (frame->kind == GATEWAY_CONNECT) {
		take_connect(gateway, frame);
		return;
	}
	channel = find_by_frame(gateway, frame);
	if (channel && frame->kind == GATEWAY_MESSAGE) {
		take_message(gateway, channel, frame);
	} else if (channel) {
		close_local(gateway, channel->number, frame->status);
		drop(channel);
	}
}

void channels_machine_lost(struct gateway *gateway, uint32_t machine)
{
	struct far_channel *channel, *next;

	LIST_FOREACH_SAFE(channel, &gateway->channels, entry, next)
		if (channel->machine == machine) {
			close_local(gateway, channel->number, -ECONNRESET);
			drop(channel);
		}
}

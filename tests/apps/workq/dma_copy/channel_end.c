/* SPDX-License-Identifier: BSD-3-Clause */
/* Common parts of a service and a client of Comm Channel: all but connecting and disconnecting. */
#include <stdlib.h>
#include <string.h>

#include "channel_comm.h"
#include "failure.h"
#include "engine_pollers.h"

#define QUEUE_MESSAGES 4 /* fewer than may be in flight: messages without room wait */

/* --- Life --- */

static uint16_t queue_size(uint32_t device_max)
{
	return (uint16_t)(device_max < QUEUE_MESSAGES ? device_max : QUEUE_MESSAGES);
}

/* Endpoints connect only with equal message sizes: the protocol's, unless the device has less. */
static doca_error_t set_sizes(struct doca_comm_channel_ep_t *ep, struct doca_devinfo *info)
{
	uint32_t message_bytes, send_queue, recv_queue;
	doca_error_t result = doca_comm_channel_get_max_message_size(info, &message_bytes);

	if (result == DOCA_SUCCESS)
		result = doca_comm_channel_get_max_send_queue_size(info, &send_queue);
	if (result == DOCA_SUCCESS)
		result = doca_comm_channel_get_max_recv_queue_size(info, &recv_queue);
	if (result == DOCA_SUCCESS)
		result = doca_comm_channel_ep_set_max_msg_size(ep, (uint16_t)channel_max_bytes(message_bytes));
	if (result == DOCA_SUCCESS)
		result = doca_comm_channel_ep_set_send_queue_size(ep, queue_size(send_queue));
	if (result == DOCA_SUCCESS)
		result = doca_comm_channel_ep_set_recv_queue_size(ep, queue_size(recv_queue));
	return result;
}

doca_error_t comm_end_new(struct channel *channel)
{
	struct channel_end *end = calloc(1, sizeof(*end));
	doca_error_t result;

	if (!end)
		return failure_report(DOCA_ERROR_NO_MEMORY, "No memory for a channel");
	channel->end = end;
	result = doca_comm_channel_ep_create(&end->ep);
	if (result == DOCA_SUCCESS)
		result = doca_comm_channel_ep_set_device(end->ep, channel->cfg.dev);
	if (result == DOCA_SUCCESS)
		result = set_sizes(end->ep, doca_dev_as_devinfo(channel->cfg.dev));
	return check(result, "make a Comm Channel endpoint");
}

void channel_end_destroy(struct channel *channel)
{
	struct channel_end *end = channel->end;

	comm_poll_no_more(channel);
	for (; end->count > 0; end->count--, end->begin++)
		free(end->waiting[end->begin % CHANNEL_MAX_SENDING].bytes);
	if (end->ep)
		check(doca_comm_channel_ep_destroy(end->ep), "destroy the Comm Channel endpoint");
	if (end->rep)
		check(doca_dev_rep_close(end->rep), "close the representor");
	free(end);
}

void comm_on_connected(struct channel *channel, struct doca_comm_channel_addr_t *peer)
{
	channel->end->peer = peer;
	channel_on_connected(channel);
}

void comm_disconnect(struct channel *channel)
{
	struct channel_end *end = channel->end;

	if (!end->peer)
		return;
	check(doca_comm_channel_ep_disconnect(end->ep, end->peer), "end the connection");
	end->peer = NULL;
	channel_on_disconnected(channel);
}

/* --- Sending --- */

/* The first waiting message is sent, or lost. */
static void drop_first(struct channel *channel, doca_error_t result)
{
	struct channel_end *end = channel->end;

	free(end->waiting[end->begin].bytes);
	end->begin = (end->begin + 1) % CHANNEL_MAX_SENDING;
	end->count--;
	channel_on_sent(channel, result);
}

static bool send_waiting(struct channel *channel)
{
	struct channel_end *end = channel->end;
	bool sent = false;

	while (end->peer && end->count > 0) {
		const struct waiting_message *first = &end->waiting[end->begin];
		doca_error_t result = doca_comm_channel_ep_sendto(end->ep, first->bytes, first->len,
								  DOCA_CC_MSG_FLAG_NONE, end->peer);

		if (result == DOCA_ERROR_AGAIN)
			break;
		drop_first(channel, result);
		sent = true;
	}
	return sent;
}

doca_error_t channel_end_send(struct channel *channel, const void *bytes, size_t len)
{
	struct channel_end *end = channel->end;
	struct waiting_message message = { .bytes = malloc(len), .len = len };

	if (!message.bytes || end->count == CHANNEL_MAX_SENDING) {
		free(message.bytes);
		return DOCA_ERROR_NO_MEMORY;
	}
	memcpy(message.bytes, bytes, len);
	end->waiting[(end->begin + end->count) % CHANNEL_MAX_SENDING] = message;
	end->count++;
	send_waiting(channel);
	return DOCA_SUCCESS;
}

/* --- Receiving --- */

static void on_broken(struct channel *channel, struct doca_comm_channel_addr_t *peer)
{
	struct channel_end *end = channel->end;

	if (peer == end->peer)
		comm_disconnect(channel);
	else
		doca_comm_channel_ep_disconnect(end->ep, peer); /* a peer of no connection of ours */
}

/* A broken connection returns its peer; other errors have none. */
static bool receive(struct channel *channel)
{
	struct channel_end *end = channel->end;
	struct doca_comm_channel_addr_t *peer = NULL;
	uint8_t bytes[MESSAGE_MAX_BYTES];
	size_t len = sizeof(bytes);
	doca_error_t result = doca_comm_channel_ep_recvfrom(end->ep, bytes, &len, DOCA_CC_MSG_FLAG_NONE, &peer);

	if (result == DOCA_SUCCESS && comm_is_ours(channel, peer))
		channel_on_message(channel, bytes, len);
	else if (result == DOCA_ERROR_CONNECTION_RESET)
		on_broken(channel, peer);
	else if (result != DOCA_SUCCESS && result != DOCA_ERROR_AGAIN)
		comm_disconnect(channel);
	return result == DOCA_SUCCESS;
}

static bool poll_end(void *self)
{
	bool sent = send_waiting(self);

	return receive(self) || sent;
}

void comm_poll(struct channel *channel)
{
	channel->end->is_polled = true;
	engine_add(channel->cfg.loop->engine, poll_end, channel);
}

void comm_poll_no_more(struct channel *channel)
{
	if (channel->end->is_polled)
		engine_remove(channel->cfg.loop->engine, channel);
	channel->end->is_polled = false;
}

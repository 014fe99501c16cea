/* SPDX-License-Identifier: BSD-3-Clause */
/* Message channel between the two sides: connection, inbox, sending. */
#include "channel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "channel_priv.h"
#include "failure.h"

DOCA_LOG_REGISTER(DMA_COPY::CHANNEL);

/* Timeouts at the end: after success, and after an error. */
#define CLOSE_TIMEOUT_S 5.0
#define ABORT_TIMEOUT_S 2.0 /* a busy machine lets the other side run late */

/* --- Events of the end --- */

void channel_on_sent(struct channel *channel, doca_error_t result)
{
	channel->num_sending--;
	if (channel->send_result == DOCA_SUCCESS)
		channel->send_result = result;
}

void channel_on_message(struct channel *channel, const uint8_t *bytes, size_t len)
{
	struct message *message = &channel->inbox[(channel->inbox_begin + channel->inbox_count) % CHANNEL_INBOX];

	if (channel->wrong)
		return; /* the reason was found already */
	if (channel->inbox_count == CHANNEL_INBOX)
		channel->wrong = "is one too many: they are sent without waiting for an answer";
	else
		channel->wrong = message_unpack(bytes, len, message);
	if (channel->wrong)
		return;
	channel->inbox_count++;
	channel->peer_gave_up |= message->type == MESSAGE_ABORT;
}

void channel_on_connected(struct channel *channel)
{
	channel->is_connected = true;
	channel->was_connected = true;
	DOCA_LOG_DBG("Connected");
}

void channel_on_disconnected(struct channel *channel)
{
	channel->is_connected = false;
	DOCA_LOG_DBG("Disconnected");
}

uint32_t channel_max_bytes(uint32_t device_bytes)
{
	return device_bytes < MESSAGE_MAX_BYTES ? device_bytes : MESSAGE_MAX_BYTES;
}

/* --- Life --- */

bool channel_has_no_connection(void *channel)
{
	return !((struct channel *)channel)->is_connected;
}

static bool has_sent_all(void *channel)
{
	return ((struct channel *)channel)->num_sending == 0 || channel_has_no_connection(channel);
}

void channel_give_up(struct channel *channel)
{
	struct message message = { .type = MESSAGE_ABORT };

	if (!channel->is_connected || channel->gave_up || channel->peer_gave_up)
		return;
	snprintf(message.text, sizeof(message.text), "%s", failure_first());
	channel->gave_up = true;
	channel_send(channel, &message);
}

void channel_close(struct channel *channel, doca_error_t result)
{
	double timeout_s = result == DOCA_SUCCESS ? CLOSE_TIMEOUT_S : ABORT_TIMEOUT_S;

	if (!channel)
		return;
	if (result != DOCA_SUCCESS)
		channel_give_up(channel);
	if (channel->end) {
		loop_settle(channel->cfg.loop, timeout_s, has_sent_all, channel);
		channel_end_disconnect(channel, timeout_s);
		channel_end_destroy(channel);
	}
	free(channel);
}

doca_error_t channel_open(const struct channel_cfg *cfg, struct channel **ret_channel)
{
	struct channel *channel = calloc(1, sizeof(*channel));
	doca_error_t result;

	if (!channel)
		return failure_report(DOCA_ERROR_NO_MEMORY, "No memory for a channel");
	channel->cfg = *cfg;
	result = channel_end_create(channel);
	if (result == DOCA_SUCCESS)
		result = channel_end_connect(channel);
	if (result == DOCA_SUCCESS)
		*ret_channel = channel;
	else
		channel_close(channel, result);
	return result;
}

/* --- Sending --- */

/* A message may fail before the event says that the connection has ended. */
static bool is_peer_gone(const struct channel *channel)
{
	return !channel->is_connected || channel->send_result == DOCA_ERROR_CONNECTION_ABORTED ||
	       channel->send_result == DOCA_ERROR_CONNECTION_RESET;
}

static doca_error_t check_connection(const struct channel *channel)
{
	if (is_peer_gone(channel))
		return failure_report(DOCA_ERROR_CONNECTION_RESET, "The other side has gone away");
	return DOCA_SUCCESS;
}

doca_error_t channel_send(struct channel *channel, const struct message *message)
{
	uint8_t bytes[MESSAGE_MAX_BYTES];
	size_t len = message_pack(message, bytes);
	doca_error_t result = check_connection(channel);

	if (result != DOCA_SUCCESS)
		return result;
	channel->num_sending++;
	result = channel_end_send(channel, bytes, len);
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	channel->num_sending--;
	return failure_report(result, "Cannot send %s to the other side: %s", message_name(message->type),
			      doca_error_get_descr(result));
}

/* --- Receiving --- */

static void take_first(struct channel *channel, struct message *ret_message)
{
	*ret_message = channel->inbox[channel->inbox_begin];
	channel->inbox_begin = (channel->inbox_begin + 1) % CHANNEL_INBOX;
	channel->inbox_count--;
}

/* The inbox is empty: can another message arrive? */
static doca_error_t check_health(const struct channel *channel)
{
	if (channel->wrong)
		return failure_report(DOCA_ERROR_UNEXPECTED, "A message from the other side %s", channel->wrong);
	if (channel->send_result != DOCA_SUCCESS && !is_peer_gone(channel))
		return failure_report(channel->send_result, "A message has not reached the other side: %s",
				      doca_error_get_descr(channel->send_result));
	return check_connection(channel);
}

doca_error_t channel_take(struct channel *channel, struct message *ret_message, bool *ret_taken)
{
	*ret_taken = channel->inbox_count > 0;
	if (!*ret_taken)
		return check_health(channel);
	take_first(channel, ret_message);
	if (ret_message->type != MESSAGE_ABORT)
		return DOCA_SUCCESS;
	return failure_report(DOCA_ERROR_SHUTDOWN, "The other side has given up: %s", ret_message->text);
}

doca_error_t channel_await(struct channel *channel, enum message_type type, struct message *ret_message)
{
	bool taken = false;

	while (!taken) {
		doca_error_t result = loop_turn(channel->cfg.loop, false);

		if (result == DOCA_SUCCESS)
			result = channel_take(channel, ret_message, &taken);
		if (result != DOCA_SUCCESS)
			return result;
	}
	return ret_message->type == type ? DOCA_SUCCESS : channel_report_unexpected(ret_message);
}

static bool has_trouble(void *arg)
{
	struct channel *channel = arg;

	return channel->peer_gave_up || !channel->is_connected;
}

doca_error_t channel_check_peer(struct channel *channel)
{
	struct message message;
	bool taken = true;
	doca_error_t result = DOCA_SUCCESS;

	if (!loop_settle(channel->cfg.loop, ABORT_TIMEOUT_S, has_trouble, channel))
		return DOCA_SUCCESS;
	while (result == DOCA_SUCCESS && taken)
		result = channel_take(channel, &message, &taken);
	return result;
}

doca_error_t channel_report_unexpected(const struct message *message)
{
	return failure_report(DOCA_ERROR_UNEXPECTED, "The other side has sent %s, which is not expected now",
			      message_name(message->type));
}

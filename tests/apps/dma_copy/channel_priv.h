/* SPDX-License-Identifier: BSD-3-Clause */
/* channel_priv.h - internals of a channel: the common part, and the part that depends on the side and the SDK.
 *
 *   channel.c     the inbox, checks of messages, ABORT
 *      |  ^
 *      v  |       channel_end_...() down, channel_on_...() up, in turns of the loop
 *   the end       a connection, and how to get one: channel_server.c (DPU) or
 *                 channel_client.c (host); a program has one of them built in
 */
#ifndef CHANNEL_PRIV_H
#define CHANNEL_PRIV_H

#include "channel.h"

#define CHANNEL_SERVER_NAME "bfsim DMA Copy"
#define CHANNEL_MAX_SENDING 128 /* more than the protocol ever has in flight */
#define CHANNEL_INBOX       128 /* more than it ever has waiting */

struct channel_end;

struct channel {
	struct channel_cfg cfg;
	struct channel_end *end;
	bool is_connected;
	bool was_connected;
	bool peer_gave_up;        /* an ABORT arrived */
	bool gave_up;             /* and one was sent */
	const char *wrong;        /* the error in a message that arrived; NULL = none */
	doca_error_t send_result; /* of the first message that couldn't be sent */
	unsigned int num_sending;
	unsigned int inbox_begin, inbox_count;
	struct message inbox[CHANNEL_INBOX];
};

/* --- The end --- */

/* Make channel->end and all that it takes to connect. On failure,
 * channel_end_destroy() copes with what there is. */
doca_error_t channel_end_create(struct channel *channel);
void channel_end_destroy(struct channel *channel);

/* Connect, waiting for the other side. */
doca_error_t channel_end_connect(struct channel *channel);

/* End the connection in order, if there is one, and all work in the background: waits @seconds at most for the
 * other side. */
void channel_end_disconnect(struct channel *channel, double seconds);

/* Begin to send @bytes, which are copied. */
doca_error_t channel_end_send(struct channel *channel, const void *bytes, size_t len);

/* --- channel.c, for the ends to report --- */

void channel_on_connected(struct channel *channel);
void channel_on_disconnected(struct channel *channel);
void channel_on_message(struct channel *channel, const uint8_t *bytes, size_t len);

/* One message was sent, or never will be. */
void channel_on_sent(struct channel *channel, doca_error_t result);

/* The largest message: @device_bytes by the device's limit, and the protocol's limit. */
uint32_t channel_max_bytes(uint32_t device_bytes);

/* For loop_settle(). */
bool channel_has_no_connection(void *channel);

#endif

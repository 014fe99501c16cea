/* SPDX-License-Identifier: BSD-3-Clause */
/* channel_comm.h - the end of a channel is an endpoint of Comm Channel.
 *
 *   send --> [waiting messages] --sendto--> peer --recvfrom--> channel_on_message()
 *
 * Messages without room wait, and are sent in a later turn.
 * channel_service.c (DPU) and channel_client.c (host) share what channel_end.c has.
 */
#ifndef CHANNEL_COMM_H
#define CHANNEL_COMM_H

#include <doca_comm_channel.h>
#include <doca_dev.h>

#include "channel_priv.h"

struct waiting_message {
	uint8_t *bytes;
	size_t len;
};

struct channel_end {
	struct doca_comm_channel_ep_t *ep;
	struct doca_comm_channel_addr_t *peer; /* NULL: not yet, or not any more */
	struct doca_dev_rep *rep;              /* the DPU's; NULL on the host */
	bool is_polled;
	unsigned int begin, count; /* of the waiting messages */
	struct waiting_message waiting[CHANNEL_MAX_SENDING];
};

/* --- channel_service.c or channel_client.c --- */

/* A message arrived, or a connection broke: is the peer the channel's? The first peer of a service is. */
bool comm_is_ours(struct channel *channel, struct doca_comm_channel_addr_t *peer);

/* --- channel_end.c --- */

/* A channel's end with an endpoint that has the device and its sizes. */
doca_error_t comm_end_new(struct channel *channel);

/* The message is for the channel, now or after an error. */
void comm_poll(struct channel *channel);
void comm_poll_no_more(struct channel *channel);

void comm_on_connected(struct channel *channel, struct doca_comm_channel_addr_t *peer);

/* Disconnect the peer, if there is one. */
void comm_disconnect(struct channel *channel);

#endif

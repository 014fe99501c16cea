/* SPDX-License-Identifier: BSD-3-Clause */
/* channel_comm.h - the end of a channel is an endpoint of Comm Channel.
 *
 *   send --> [letters that wait] --sendto--> peer --recvfrom--> channel_on_message()
 *
 * Sending takes as much as there is room for; what waits goes in a later turn.
 * channel_service.c (DPU) and channel_client.c (host) share what channel_end.c has.
 */
#ifndef CHANNEL_COMM_H
#define CHANNEL_COMM_H

#include <doca_comm_channel.h>
#include <doca_dev.h>

#include "channel_priv.h"

struct letter {
	uint8_t *bytes;
	size_t len;
};

struct channel_end {
	struct doca_comm_channel_ep_t *ep;
	struct doca_comm_channel_addr_t *peer; /* NULL: not yet, or not any more */
	struct doca_dev_rep *rep;              /* the DPU's; NULL on the host */
	bool is_polled;
	unsigned int begin, count; /* of the letters that wait */
	struct letter letters[CHANNEL_MAX_SENDING];
};

/* --- channel_service.c or channel_client.c --- */

/* A message has come, or a connection has broken: is it the one that counts?
 * The first of a service's peers is. */
bool comm_is_ours(struct channel *channel, struct doca_comm_channel_addr_t *peer);

/* --- channel_end.c --- */

/* A channel's end with an endpoint that has the device and its sizes. */
doca_error_t comm_end_new(struct channel *channel);

/* What comes is for the channel, from now on or no more. */
void comm_poll(struct channel *channel);
void comm_poll_no_more(struct channel *channel);

void comm_on_connected(struct channel *channel, struct doca_comm_channel_addr_t *peer);

/* Disconnect the peer, if there is one. */
void comm_disconnect(struct channel *channel);

#endif

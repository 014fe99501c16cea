/* SPDX-License-Identifier: BSD-3-Clause */
/* channel.h - messages to and from the other side, over Comch or what the SDK has in its place.
 *
 *   open (waits for the other side) --> send, receive ... --> close
 *
 * The DPU's end is a server, with the one client that comes first; the host's is
 * a client. Messages that have come wait in an inbox until they are taken. When
 * the connection breaks, what had come before can still be taken.
 */
#ifndef CHANNEL_H
#define CHANNEL_H

#include <stdbool.h>

#include <doca_error.h>

#include "loop.h"
#include "message.h"

struct channel;
struct doca_dev;

/* All is borrowed and outlives the channel. */
struct channel_cfg {
	struct loop *loop;
	struct doca_dev *dev;
	const char *pci_addr;     /* @dev's, for the user */
	const char *rep_pci_addr; /* the DPU's alone: whose clients are welcome */
};

/* Connect, waiting for the other side; the channel is the caller's to close. */
doca_error_t channel_open(const struct channel_cfg *cfg, struct channel **ret_channel);

/* Say goodbye and free; after an error, give up first. A few seconds at most,
 * whatever the other side does. NULL is fine. */
void channel_close(struct channel *channel, doca_error_t result);

/* Tell the other side the first complaint, unless it was told or has given up itself. */
void channel_give_up(struct channel *channel);

/* When something else has failed: has the other side given up, or gone? Waits a
 * moment for it to show; DOCA_SUCCESS if it is there. */
doca_error_t channel_check_peer(struct channel *channel);

/* Begin to send; the message is copied. */
doca_error_t channel_send(struct channel *channel, const struct message *message);

/* The next message, if there is one. An ABORT, a broken connection and a message
 * that is none are errors. */
doca_error_t channel_take(struct channel *channel, struct message *ret_message, bool *ret_taken);

/* Wait for the next message. It must be a @type. */
doca_error_t channel_await(struct channel *channel, enum message_type type, struct message *ret_message);

/* For a message that has no place here and now. */
doca_error_t channel_report_unexpected(const struct message *message);

#endif

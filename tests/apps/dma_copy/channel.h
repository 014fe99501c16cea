/* SPDX-License-Identifier: BSD-3-Clause */
/* channel.h - messages to and from the other side, over Comch, or Comm Channel with older SDKs.
 *
 *   open (waits for the other side) --> send, receive ... --> close
 *
 * The DPU's end is a server, with the one client that comes first; the host's is
 * a client. Received messages wait in an inbox until they are taken. When the
 * connection breaks, earlier messages can still be taken.
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
	const char *rep_pci_addr; /* the DPU's alone: the function whose clients may connect */
};

/* Connect, waiting for the other side; the channel is the caller's to close. */
doca_error_t channel_open(const struct channel_cfg *cfg, struct channel **ret_channel);

/* Say BYE and free; after an error, abort first. A few seconds at most, whatever the other side does. NULL is fine. */
void channel_close(struct channel *channel, doca_error_t result);

/* Send the first error to the other side, unless it was sent or the other side has aborted itself. */
void channel_give_up(struct channel *channel);

/* After another failure: has the other side aborted, or gone? Waits a moment for that; DOCA_SUCCESS if it is there. */
doca_error_t channel_check_peer(struct channel *channel);

/* Begin to send; the message is copied. */
doca_error_t channel_send(struct channel *channel, const struct message *message);

/* The next message, if there is one. An ABORT, a broken connection and a message
 * that is none are errors. */
doca_error_t channel_take(struct channel *channel, struct message *ret_message, bool *ret_taken);

/* Wait for the next message. It must be a @type. */
doca_error_t channel_await(struct channel *channel, enum message_type type, struct message *ret_message);

/* Report a message that is not expected now. */
doca_error_t channel_report_unexpected(const struct message *message);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* channel_priv.h - a channel from inside: what both ends share, and what is a server's or a client's own.
 *
 * A program has one end: channel_server.c (DPU) or channel_client.c (host) is
 * built into it, and channel.c calls it by the names below.
 */
#ifndef CHANNEL_PRIV_H
#define CHANNEL_PRIV_H

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>

#include "channel.h"

#define CHANNEL_SERVER_NAME "bfsim DMA Copy"
#define CHANNEL_SEND_TASKS 128 /* more than the protocol ever has in flight */
#define CHANNEL_INBOX 128      /* more than it ever has waiting */

struct channel {
	struct channel_cfg cfg;
	struct doca_ctx *ctx;                     /* of the server or client */
	struct doca_comch_server *server;         /* the DPU's; NULL on the host */
	struct doca_dev_rep *rep;                 /* the same */
	struct doca_comch_client *client;         /* the host's; NULL on the DPU */
	struct doca_comch_connection *connection; /* NULL: not yet, or not any more */
	bool was_connected;
	bool peer_gave_up;                        /* an ABORT has come */
	bool gave_up;                             /* and one has been sent */
	const char *wrong;                        /* with a message that came; NULL = nothing */
	doca_error_t send_result;                 /* of the first message that couldn't be sent */
	unsigned int num_sending;
	unsigned int inbox_begin, inbox_count;
	struct message inbox[CHANNEL_INBOX];
};

/* --- channel_server.c or channel_client.c --- */

/* Make the end, configure it and connect it to the engine; channel->ctx is set.
 * On failure, channel_end_destroy() copes with what there is. */
doca_error_t channel_end_create(struct channel *channel);
void channel_end_destroy(struct channel *channel);

/* Start it and wait until there is a connection. */
doca_error_t channel_end_connect(struct channel *channel);

/* End the connection in good order, if there is one, for @seconds at most. */
void channel_end_disconnect(struct channel *channel, double seconds);

/* A task that sends @len bytes, borrowed until its callback. */
doca_error_t channel_end_take_task(struct channel *channel, const void *bytes, uint32_t len,
				   struct doca_comch_task_send **ret_task);

/* --- channel.c, for the ends' callbacks --- */

/* What a message may have at most, by the device and by the protocol. */
doca_error_t channel_max_bytes(const struct channel *channel, uint32_t *ret_bytes);

void channel_on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data);
void channel_on_not_sent(struct doca_comch_task_send *task, union doca_data task_data,
			 union doca_data ctx_data);
void channel_on_message(struct channel *channel, const uint8_t *bytes, uint32_t len);
void channel_on_connected(struct channel *channel, struct doca_comch_connection *connection);
void channel_on_disconnected(struct channel *channel);

bool channel_is_idle(const struct channel *channel);

/* For loop_settle(). */
bool channel_has_no_connection(void *channel);
bool channel_has_sent_all(void *channel);
bool channel_has_stopped(void *channel);

#endif

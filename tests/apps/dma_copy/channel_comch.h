/* SPDX-License-Identifier: BSD-3-Clause */
/* channel_comch.h - the end of a channel is a server or a client of Comch.
 *
 * channel_server.c and channel_client.c share what channel_comch.c has.
 */
#ifndef CHANNEL_COMCH_H
#define CHANNEL_COMCH_H

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>

#include "channel_priv.h"

struct channel_end {
	struct doca_ctx *ctx;                     /* of the server or client */
	struct doca_comch_server *server;         /* the DPU's; NULL on the host */
	struct doca_dev_rep *rep;                 /* the same */
	struct doca_comch_client *client;         /* the host's; NULL on the DPU */
	struct doca_comch_connection *connection; /* NULL: not yet, or not any more */
};

/* --- channel_server.c or channel_client.c --- */

/* A task that sends @len bytes, borrowed until its callback. */
doca_error_t comch_take_task(struct channel *channel, const void *bytes, uint32_t len,
			     struct doca_comch_task_send **ret_task);

/* --- channel_comch.c --- */

/* A channel's end that is all zero. */
doca_error_t comch_end_new(struct channel *channel);

/* A message's size, as server and client are to be configured. */
doca_error_t comch_max_bytes(const struct channel *channel, uint32_t *ret_bytes);

/* For the tasks that send. */
void comch_on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data);
void comch_on_not_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data);

void comch_on_connected(struct channel *channel, struct doca_comch_connection *connection);
void comch_on_disconnected(struct channel *channel);

bool comch_is_idle(const struct channel *channel);

/* Stop the server or client: a few seconds at most. */
void comch_stop(struct channel *channel);

#endif

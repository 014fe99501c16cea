/* SPDX-License-Identifier: BSD-3-Clause */
/* For Comm Channel and doca_cc. What is of clients or servers alone stands in client.c and server.c. */
#include "comm_channel_hooks.h"

#include <errno.h>

#include "comch_priv.h"
#include "shim/common/process/runtime.h"

/* ---- a context that holds ---- */

static struct comch_endpoint *endpoint_of(const struct doca_ctx *ctx)
{
	return (struct comch_endpoint *)(uintptr_t)ctx;
}

void comch_be_channel(struct doca_ctx *ctx, int status_fd)
{
	struct comch_endpoint *endpoint = endpoint_of(ctx);

	endpoint->is_channel = true;
	ctx->is_inner = true;
	endpoint->holds = true;
	endpoint->status_fd = status_fd;
}

/* Look at all that was left where it was. */
static void look_again(struct comch_endpoint *endpoint)
{
	endpoint->has_held = false;
	if (shim_is(endpoint, SHIM_COMCH_SERVER))
		sim_inbox_again(&endpoint->inbox, COMCH_OFFERS_SLOT);
	for (uint32_t i = 0; i < endpoint->num_slots; i++) {
		if (!endpoint->slots[i] || !endpoint->slots[i]->is_held)
			continue;
		endpoint->slots[i]->is_held = false;
		sim_inbox_again(&endpoint->inbox, i);
	}
}

/* This and the sending are done for each message: they ask for no more than they need. */
static bool is_ours(const struct comch_endpoint *endpoint)
{
	return endpoint->ctx.generation == shim_generation;
}

bool comch_receive(struct doca_ctx *ctx)
{
	struct comch_endpoint *endpoint = endpoint_of(ctx);
	bool stepped;

	if (ctx->state == DOCA_CTX_STATE_IDLE || !is_ours(endpoint))
		return false;
	if (doca_unlikely(shim_ctx_is_cut(ctx)) && shim_ctx_cut(ctx))
		return true;
	if (endpoint->has_held)
		look_again(endpoint);
	endpoint->holds = false;
	/* in virtual time, who finds nothing lets it pass */
	stepped = doca_likely(!shim_turns) ? comch_endpoint_progress(ctx) : shim_pe_progress_one(ctx->pe);
	endpoint->holds = true;
	return stepped;
}

doca_error_t comch_receive_failure(struct doca_ctx *ctx)
{
	doca_error_t failure = endpoint_of(ctx)->receive_failed;

	endpoint_of(ctx)->receive_failed = DOCA_SUCCESS;
	return failure;
}

bool comch_has_held(const struct doca_ctx *ctx)
{
	return endpoint_of(ctx)->has_held;
}

static bool is_open(const struct doca_comch_connection *connection)
{
	return connection->endpoint && connection->state == COMCH_OPEN && is_ours(connection->endpoint);
}

bool comch_connection_is_gone(const struct doca_comch_connection *connection)
{
	int status = connection->channel ? sim_channel_status(connection->channel) : -ECONNRESET;

	if (doca_unlikely(!connection->channel) && connection->state == COMCH_OPENING)
		return false; /* a fault has it called later */
	return (status < 0 && status != -EINPROGRESS) || connection->state == COMCH_LOST;
}

static int write_out(struct doca_comch_connection *connection, const void *msg, uint32_t len)
{
	if (doca_unlikely(sim_faults_any(connection->endpoint->ctx.faults, SIM_OP_COMM_CHANNEL_SEND)))
		return comch_strike_send(connection, msg, len);
	return comch_connection_write(connection, msg, len);
}

/* Without mail from the session, its status is what it was when last asked. */
int comch_connection_send(struct doca_comch_connection *connection, const void *msg, uint32_t len)
{
	int rc;

	if (!is_open(connection))
		return connection->state == COMCH_LOST ? -ECONNRESET : -ENOTCONN;
	if ((connection->status < 0 || atomic_load(&connection->mail)) && comch_connection_is_gone(connection))
		return -ECONNRESET;
	do
		rc = write_out(connection, msg, len);
	while (rc == -EAGAIN && comch_connection_has_room(connection, len));
	if (rc < 0 && rc != -EAGAIN)
		comch_connection_lost(connection, rc);
	return rc;
}

bool comch_connection_has_room(struct doca_comch_connection *connection, uint32_t len)
{
	return !is_open(connection) || sim_ring_want_room(&connection->out, sizeof(struct comch_mark) + len);
}

/* ---- callbacks of other types ---- */

struct comch_callbacks *comch_server_callbacks(struct doca_comch_server *server)
{
	return &((struct comch_endpoint *)server)->earlier;
}

struct comch_callbacks *comch_client_callbacks(struct doca_comch_client *client)
{
	return &((struct comch_endpoint *)client)->earlier;
}

const struct comch_callbacks *comch_callbacks_of(const struct doca_comch_connection *connection)
{
	return &connection->endpoint->earlier;
}

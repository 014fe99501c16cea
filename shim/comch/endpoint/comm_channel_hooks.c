/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch functions for Comm Channel and doca_cc. Those of clients or servers alone are in client.c and server.c. */
#include "comm_channel_hooks.h"

#include <errno.h>
#include <stdlib.h>

#include "endpoint_priv.h"
#include "shim/common/pe/pe_progress.h"
#include "shim/common/process/fault.h"

/* The endpoint's compat, made at the first need; NULL = no memory. */
static struct comch_compat *make_compat(struct comch_endpoint *endpoint)
{
	if (!endpoint->compat)
		endpoint->compat = calloc(1, sizeof(*endpoint->compat));
	return endpoint->compat;
}

/* ---- a context that pauses receiving ---- */

static struct comch_endpoint *endpoint_of(const struct doca_ctx *ctx)
{
	return (struct comch_endpoint *)(uintptr_t)ctx;
}

doca_error_t comch_set_comm_channel_mode(struct doca_ctx *ctx, int status_fd)
{
	struct comch_compat *compat = make_compat(endpoint_of(ctx));

	if (!compat)
		return DOCA_ERROR_NO_MEMORY;
	compat->is_comm_channel = compat->recv_paused = true;
	compat->status_fd = status_fd;
	ctx->is_internal = true;
	ctx->is_silent = false; /* Comm Channel has event handles of its own */
	return DOCA_SUCCESS;
}

/* Have the next step look at each slot that progress left something at. */
static void requeue_pending_recv(struct comch_endpoint *endpoint)
{
	endpoint->compat->has_pending_recv = false;
	if (shim_object_is(endpoint, SHIM_COMCH_SERVER))
		sim_doorbell_requeue(&endpoint->group.doorbells, SIM_POLL_GROUP_OWN_SLOT);
	for (uint32_t i = 0; i < endpoint->group.num_slots; i++) {
		struct doca_comch_connection *connection = comch_connection_at(endpoint, i);

		if (!connection || !connection->has_pending_recv)
			continue;
		connection->has_pending_recv = false;
		comch_connection_requeue(connection);
	}
}

static bool is_of_this_process(const struct comch_endpoint *endpoint)
{
	return endpoint->ctx.fork_generation == shim_fork_generation;
}

bool comch_progress_recv(struct doca_ctx *ctx)
{
	struct comch_endpoint *endpoint = endpoint_of(ctx);
	bool stepped;

	if (ctx->state == DOCA_CTX_STATE_IDLE || !is_of_this_process(endpoint))
		return false;
	if (doca_unlikely(shim_ctx_is_stale(ctx)) && shim_ctx_stop_stale(ctx))
		return true;
	if (endpoint->compat->has_pending_recv)
		requeue_pending_recv(endpoint);
	endpoint->compat->recv_paused = false;
	/* in virtual time, a step that finds nothing lets time pass */
	stepped = doca_likely(!shim_vclock) ? comch_endpoint_progress(ctx) : shim_pe_progress_one(ctx->pe);
	endpoint->compat->recv_paused = true;
	return stepped;
}

doca_error_t comch_take_injected_status(struct doca_ctx *ctx)
{
	struct comch_compat *compat = endpoint_of(ctx)->compat;
	doca_error_t status = compat->injected_status;

	compat->injected_status = DOCA_SUCCESS;
	return status;
}

bool comch_has_pending_recv(const struct doca_ctx *ctx)
{
	return endpoint_of(ctx)->compat->has_pending_recv;
}

static bool is_open(const struct doca_comch_connection *connection)
{
	return connection->endpoint && connection->pipe.state == SIM_PIPE_OPEN &&
	       is_of_this_process(connection->endpoint);
}

bool comch_connection_is_disconnected(const struct doca_comch_connection *connection)
{
	int status = connection->channel ? sim_channel_status(connection->channel) : -ECONNRESET;

	if (doca_unlikely(!connection->channel) && connection->pipe.state == SIM_PIPE_OPENING)
		return false; /* the connect is deferred */
	if (connection->pipe.state == SIM_PIPE_OPEN && sim_pipe_get_end(&connection->pipe) < 0)
		return true;
	return (status < 0 && status != -EINPROGRESS) || connection->pipe.state == SIM_PIPE_LOST;
}

/* Without a channel event since the last poll, what the connection knows of its end is up to date. */
int comch_connection_send(struct doca_comch_connection *connection, const void *msg, uint32_t len)
{
	uint32_t status;
	int rc;

	if (!is_open(connection))
		return connection->pipe.state == SIM_PIPE_LOST ? -ECONNRESET : -ENOTCONN;
	if ((sim_pipe_get_end(&connection->pipe) < 0 || atomic_load(&connection->channel_event)) &&
	    comch_connection_is_disconnected(connection))
		return -ECONNRESET;
	rc = sim_pipe_send_now(&connection->pipe, msg, len, &status);
	if (doca_unlikely(rc == -ECANCELED))
		connection->endpoint->compat->injected_status = shim_fault_error(status);
	if (doca_unlikely(rc < 0) && rc != -EAGAIN && rc != -ECANCELED)
		comch_connection_set_lost(connection, rc);
	return rc;
}

bool comch_connection_has_room(struct doca_comch_connection *connection, uint32_t len)
{
	if (!is_open(connection))
		return true;
	return sim_pipe_has_room(&connection->pipe, len);
}

/* ---- callbacks of doca_cc ---- */

struct comch_compat *comch_server_compat(struct doca_comch_server *server)
{
	return make_compat((struct comch_endpoint *)server);
}

struct comch_compat *comch_client_compat(struct doca_comch_client *client)
{
	return make_compat((struct comch_endpoint *)client);
}

const struct comch_compat *comch_compat_of(const struct doca_comch_connection *connection)
{
	return connection->endpoint->compat;
}

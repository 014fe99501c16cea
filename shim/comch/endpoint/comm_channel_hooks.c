/* SPDX-License-Identifier: BSD-3-Clause */
/* For Comm Channel and doca_cc. What is of clients or servers alone stands in client.c and server.c. */
#include "shim/comch/endpoint/comm_channel_hooks.h"

#include <errno.h>

#include "shim/comch/conn/conn_priv.h"
#include "shim/common/process/runtime.h"

/* ---- a context that holds ---- */

static struct comch_endpoint *endpoint_of(const struct doca_ctx *ctx)
{
	return (struct comch_endpoint *)(uintptr_t)ctx;
}

void comch_set_comm_channel_mode(struct doca_ctx *ctx, int status_fd)
{
	struct comch_endpoint *endpoint = endpoint_of(ctx);

	endpoint->is_comm_channel = true;
	ctx->is_internal = true;
	endpoint->recv_paused = true;
	endpoint->status_fd = status_fd;
}

/* Look at all that was left where it was. */
static void requeue_pending_recv(struct comch_endpoint *endpoint)
{
	endpoint->has_pending_recv = false;
	if (shim_object_is(endpoint, SHIM_COMCH_SERVER))
		sim_doorbell_requeue(&endpoint->doorbells, COMCH_LISTENER_SLOT);
	for (uint32_t i = 0; i < endpoint->num_slots; i++) {
		if (!endpoint->slots[i] || !endpoint->slots[i]->has_pending_recv)
			continue;
		endpoint->slots[i]->has_pending_recv = false;
		sim_doorbell_requeue(&endpoint->doorbells, i);
	}
}

/* This and the sending are done for each message: they ask for no more than they need. */
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
	if (endpoint->has_pending_recv)
		requeue_pending_recv(endpoint);
	endpoint->recv_paused = false;
	/* in virtual time, who finds nothing lets it pass */
	stepped = doca_likely(!shim_vclock) ? comch_endpoint_progress(ctx) : shim_pe_progress_one(ctx->pe);
	endpoint->recv_paused = true;
	return stepped;
}

doca_error_t comch_recv_fault_status(struct doca_ctx *ctx)
{
	doca_error_t status = endpoint_of(ctx)->recv_fault;

	endpoint_of(ctx)->recv_fault = DOCA_SUCCESS;
	return status;
}

bool comch_has_pending_recv(const struct doca_ctx *ctx)
{
	return endpoint_of(ctx)->has_pending_recv;
}

static bool is_open(const struct doca_comch_connection *connection)
{
	return connection->endpoint && connection->state == COMCH_OPEN && is_of_this_process(connection->endpoint);
}

bool comch_connection_is_disconnected(const struct doca_comch_connection *connection)
{
	int status = connection->channel ? sim_channel_status(connection->channel) : -ECONNRESET;

	if (doca_unlikely(!connection->channel) && connection->state == COMCH_OPENING)
		return false; /* a fault has it called later */
	return (status < 0 && status != -EINPROGRESS) || connection->state == COMCH_LOST;
}

static int write_msg(struct doca_comch_connection *connection, const void *msg, uint32_t len)
{
	if (doca_unlikely(sim_injector_may_hit(connection->endpoint->ctx.faults, SIM_OP_COMM_CHANNEL_SEND)))
		return comch_fault_send(connection, msg, len);
	return comch_connection_write(connection, msg, len);
}

/* Without an event from the session, its status is what it was when last asked. */
int comch_connection_send(struct doca_comch_connection *connection, const void *msg, uint32_t len)
{
	int rc;

	if (!is_open(connection))
		return connection->state == COMCH_LOST ? -ECONNRESET : -ENOTCONN;
	if ((connection->status < 0 || atomic_load(&connection->channel_event)) &&
	    comch_connection_is_disconnected(connection))
		return -ECONNRESET;
	do
		rc = write_msg(connection, msg, len);
	while (rc == -EAGAIN && comch_connection_has_room(connection, len));
	if (rc < 0 && rc != -EAGAIN)
		comch_connection_set_lost(connection, rc);
	return rc;
}

bool comch_connection_has_room(struct doca_comch_connection *connection, uint32_t len)
{
	return !is_open(connection) || sim_ring_arm_space(&connection->out, sizeof(struct comch_msg_hdr) + len);
}

/* ---- callbacks of other types ---- */

struct comch_callbacks *comch_server_callbacks(struct doca_comch_server *server)
{
	return &((struct comch_endpoint *)server)->cc_callbacks;
}

struct comch_callbacks *comch_client_callbacks(struct doca_comch_client *client)
{
	return &((struct comch_endpoint *)client)->cc_callbacks;
}

const struct comch_callbacks *comch_callbacks_of(const struct doca_comch_connection *connection)
{
	return &connection->endpoint->cc_callbacks;
}

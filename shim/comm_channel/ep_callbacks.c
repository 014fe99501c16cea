/* SPDX-License-Identifier: BSD-3-Clause */
/* The callbacks that Comch calls for an endpoint: peers come and go, and a message is received. */
#include <doca_ctx.h>
#include <doca_pe.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "ep_priv.h"
#include "shim/comch/endpoint/comm_channel_hooks.h"
#include "shim/common/base/check.h"
#include "shim/common/pe/ctx_priv.h"
#include "shim/common/pe/pe_progress.h"

/* The endpoint of a server's connection. */
static struct doca_comm_channel_ep_t *get_service_ep(struct doca_comch_connection *connection)
{
	union doca_data data = { .u64 = 0 };

	doca_ctx_get_user_data(doca_comch_server_as_ctx(doca_comch_server_get_server_ctx(connection)), &data);
	return data.ptr;
}

static struct doca_comm_channel_addr_t *get_addr(struct doca_comch_connection *connection)
{
	return doca_comch_connection_get_user_data(connection).ptr;
}

void channel_progress_all(struct doca_comm_channel_ep_t *ep)
{
	while (shim_pe_progress_one(ep->pe)) /* also if the program waits on the endpoint's event handle */
		;
}

void channel_progress_connect(const struct doca_comm_channel_addr_t *addr)
{
	while (addr->state == CHANNEL_CONNECTING && shim_pe_progress_one(addr->ep->pe))
		;
}

/* ---- peers ---- */

struct doca_comm_channel_addr_t *channel_addr_new(struct doca_comm_channel_ep_t *ep,
						  struct doca_comch_connection *connection,
						  enum channel_peer_state state)
{
	struct doca_comm_channel_addr_t *addr = shim_object_new(SHIM_CHANNEL_ADDR, sizeof(*addr));

	if (!addr)
		return NULL;
	addr->ep = ep;
	addr->connection = connection;
	addr->state = state;
	doca_comch_connection_set_user_data(connection, (union doca_data){ .ptr = addr });
	LIST_INSERT_HEAD(&ep->addrs, addr, link);
	return addr;
}

/* The user may hold the snapshot. */
static void remove_from_snapshot(struct doca_comm_channel_ep_t *ep, const struct doca_comm_channel_addr_t *addr)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < ep->num_snapshot_addrs; i++)
		if (ep->snapshot_addrs[i] != addr)
			ep->snapshot_addrs[kept++] = ep->snapshot_addrs[i];
	ep->num_snapshot_addrs = kept;
}

void channel_addr_free(struct doca_comm_channel_addr_t *addr)
{
	struct doca_comm_channel_ep_t *ep = addr->ep;

	if (addr->connection)
		doca_comch_connection_set_user_data(addr->connection, (union doca_data){ .ptr = NULL });
	if (ep->pending_msg && ep->pending_msg->addr == addr) {
		free(ep->pending_msg);
		ep->pending_msg = NULL;
	}
	ep->num_unreported -= addr->state == CHANNEL_ENDED && !addr->end_reported;
	remove_from_snapshot(ep, addr);
	LIST_REMOVE(addr, link);
	shim_object_free(addr, SHIM_CHANNEL_ADDR);
}

bool channel_peer_is_disconnected(const struct doca_comm_channel_addr_t *addr)
{
	return addr->state == CHANNEL_ENDED || comch_connection_is_disconnected(addr->connection);
}

bool channel_is_shut_down(const struct doca_comm_channel_ep_t *ep)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	if (ep->role == CHANNEL_CLIENT)
		return LIST_FIRST(&ep->addrs)->state == CHANNEL_ENDED;
	doca_ctx_get_state(ep->ctx, &state);
	return state != DOCA_CTX_STATE_RUNNING;
}

static void mark_addr_ended(struct doca_comm_channel_addr_t *addr)
{
	if (!channel_peer_state_set(&addr->state, CHANNEL_ENDED))
		return; /* it has ended before */
	addr->connection = NULL;
	addr->ep->num_unreported++;
}

static void on_connect(struct doca_comch_event_connection_status_changed *event,
		       struct doca_comch_connection *connection, uint8_t successful)
{
	struct doca_comm_channel_ep_t *ep;

	(void)event;
	if (!successful) /* Comch has logged why */
		return;
	ep = get_service_ep(connection);
	if (!channel_addr_new(ep, connection, CHANNEL_CONNECTED)) {
		sim_err("Comm Channel: no memory for another peer; it is disconnected");
		doca_comch_server_disconnect(ep->server, connection);
		return;
	}
	eventfd_write(ep->status_eventfd, 1);
}

static void on_disconnect(struct doca_comch_event_connection_status_changed *event,
			  struct doca_comch_connection *connection, uint8_t successful)
{
	struct doca_comm_channel_addr_t *addr = get_addr(connection);

	(void)event;
	(void)successful;
	if (!addr)
		return;
	mark_addr_ended(addr);
	eventfd_write(addr->ep->status_eventfd, 1);
}

/* A client's one peer is connected when the context runs, and has ended when it stops. */
static void on_client_state(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states from,
			    enum doca_ctx_states to)
{
	struct doca_comm_channel_ep_t *ep = data.ptr;
	struct doca_comm_channel_addr_t *peer = LIST_FIRST(&ep->addrs);

	(void)ctx;
	(void)from;
	if (!peer)
		return;
	if (to == DOCA_CTX_STATE_RUNNING)
		channel_peer_state_set(&peer->state, CHANNEL_CONNECTED);
	else if (to == DOCA_CTX_STATE_STOPPING)
		mark_addr_ended(peer);
}

/* The service's function was reset, failed or was removed: the context has closed all connections, without a callback
 * for each. (A service that is closed has no peers any more.) */
static void on_service_state(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states from,
			     enum doca_ctx_states to)
{
	struct doca_comm_channel_ep_t *ep = data.ptr;
	struct doca_comm_channel_addr_t *addr;

	(void)ctx;
	(void)from;
	if (to != DOCA_CTX_STATE_STOPPING)
		return;
	LIST_FOREACH(addr, &ep->addrs, link)
		mark_addr_ended(addr);
	eventfd_write(ep->status_eventfd, 1);
}

/* ---- messages ---- */

static void save_pending_msg(struct doca_comm_channel_addr_t *addr, const uint8_t *bytes, uint32_t len)
{
	struct channel_pending_msg *pending = malloc(sizeof(*pending) + len);

	if (!pending) {
		sim_err("Comm Channel: no memory for a message of %u bytes that is longer than its buffer; the message is lost",
			len);
		return;
	}
	*pending = (struct channel_pending_msg){ .addr = addr, .len = len };
	memcpy(pending->bytes, bytes, len);
	addr->ep->pending_msg = pending;
}

/* Called in a recvfrom only: the message is the one that the recvfrom asks for. */
static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	struct doca_comm_channel_addr_t *addr = get_addr(connection);
	struct doca_comm_channel_ep_t *ep;

	(void)event;
	if (!addr)
		return;
	ep = addr->ep;
	if (len > ep->recv_buf_len) {
		save_pending_msg(addr, bytes, len);
		return;
	}
	memcpy(ep->recv_buf, bytes, len);
	ep->recv_buf_len = len;
	ep->recv_from = addr;
}

doca_error_t channel_set_callbacks(struct doca_comm_channel_ep_t *ep)
{
	doca_error_t result;

	doca_ctx_set_user_data(ep->ctx, (union doca_data){ .ptr = ep });
	if (ep->client) {
		doca_ctx_set_state_changed_cb(ep->ctx, on_client_state);
		return doca_comch_client_event_msg_recv_register(ep->client, on_message);
	}
	doca_ctx_set_state_changed_cb(ep->ctx, on_service_state);
	result = doca_comch_server_event_msg_recv_register(ep->server, on_message);
	if (result != DOCA_SUCCESS)
		return result;
	return doca_comch_server_event_connection_status_changed_register(ep->server, on_connect, on_disconnect);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What Comch tells an endpoint: peers that come and go, messages, sends that are over. */
#include <doca_ctx.h>
#include <doca_pe.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "ep_priv.h"
#include "shim/common/check.h"

static struct doca_comm_channel_ep_t *ep_of_data(union doca_data data)
{
	return data.ptr;
}

/* The endpoint of a connection, by the context that it is of. */
static struct doca_comm_channel_ep_t *ep_of(struct doca_comch_connection *connection)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(connection);
	struct doca_ctx *ctx = server ? doca_comch_server_as_ctx(server) :
					doca_comch_client_as_ctx(doca_comch_client_get_client_ctx(connection));
	union doca_data data = {.u64 = 0};

	doca_ctx_get_user_data(ctx, &data);
	return ep_of_data(data);
}

static struct doca_comm_channel_addr_t *addr_of(struct doca_comch_connection *connection)
{
	return doca_comch_connection_get_user_data(connection).ptr;
}

/* ---- peers ---- */

struct doca_comm_channel_addr_t *channel_addr_new(struct doca_comm_channel_ep_t *ep,
						  struct doca_comch_connection *connection)
{
	struct doca_comm_channel_addr_t *addr = shim_object_new(SHIM_CHANNEL_ADDR, sizeof(*addr));

	if (!addr)
		return NULL;
	addr->ep = ep;
	addr->connection = connection;
	doca_comch_connection_set_user_data(connection, (union doca_data){.ptr = addr});
	addr->next = ep->addrs;
	ep->addrs = addr;
	return addr;
}

static void drop_kept(struct doca_comm_channel_addr_t *addr)
{
	struct channel_kept **link = &addr->ep->kept;

	while (*link) {
		struct channel_kept *kept = *link;

		if (kept->addr != addr) {
			link = &kept->next;
			continue;
		}
		*link = kept->next;
		free(kept);
	}
	addr->ep->kept_end = link; /* the end of the list */
}

void channel_addr_free(struct doca_comm_channel_addr_t *addr)
{
	struct doca_comm_channel_addr_t **link = &addr->ep->addrs;

	drop_kept(addr);
	for (uint32_t i = 0; i < addr->ep->send_queue_size; i++)
		if (addr->ep->sends[i].addr == addr)
			addr->ep->sends[i].addr = NULL;
	while (*link != addr)
		link = &(*link)->next;
	*link = addr->next;
	shim_object_free(addr, SHIM_CHANNEL_ADDR);
}

void channel_keep(struct doca_comm_channel_addr_t *addr, const void *bytes, size_t len, bool is_end)
{
	struct channel_kept *kept = malloc(sizeof(*kept) + len);

	if (!kept) {
		sim_err("Comm Channel: no memory for a message of %zu bytes; it is lost", len);
		return;
	}
	*kept = (struct channel_kept){.addr = addr, .is_end = is_end, .len = len};
	if (len > 0)
		memcpy(kept->bytes, bytes, len);
	*addr->ep->kept_end = kept;
	addr->ep->kept_end = &kept->next;
}

static void on_connect(struct doca_comch_event_connection_status_changed *event,
		       struct doca_comch_connection *connection, uint8_t well)
{
	struct doca_comm_channel_ep_t *ep = ep_of(connection);

	(void)event;
	if (well && !channel_addr_new(ep, connection)) {
		sim_err("Comm Channel: no memory for another peer; it is disconnected");
		doca_comch_server_disconnect(ep->server, connection);
	}
	eventfd_write(ep->service_news, 1);
}

static void end_addr(struct doca_comm_channel_addr_t *addr)
{
	addr->ended = true;
	addr->connection = NULL;
	channel_keep(addr, NULL, 0, true);
	eventfd_write(addr->ep->service_news, 1);
}

static void on_disconnect(struct doca_comch_event_connection_status_changed *event,
			  struct doca_comch_connection *connection, uint8_t well)
{
	struct doca_comm_channel_addr_t *addr = addr_of(connection);

	(void)event;
	(void)well;
	if (addr)
		end_addr(addr);
}

/* A client's peer is gone when its context stops. */
static void on_client_state(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states from,
			    enum doca_ctx_states to)
{
	struct doca_comm_channel_ep_t *ep = ep_of_data(data);

	(void)ctx;
	(void)from;
	if (to == DOCA_CTX_STATE_STOPPING && ep->addrs && !ep->addrs->ended)
		end_addr(ep->addrs);
}

/* ---- messages ---- */

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	struct doca_comm_channel_addr_t *addr = addr_of(connection);
	struct doca_comm_channel_ep_t *ep;

	(void)event;
	if (!addr)
		return;
	ep = addr->ep;
	if (!ep->want || ep->got_from) {
		channel_keep(addr, bytes, len, false);
		return;
	}
	ep->got_from = addr;
	ep->got_too_long = len > ep->want_len;
	if (ep->got_too_long)
		channel_keep(addr, bytes, len, false);
	else
		memcpy(ep->want, bytes, len);
	ep->want_len = len;
}

/* Well or not: a peer that it did not reach has ended, of which there is other news. */
static void on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct doca_comm_channel_ep_t *ep = ep_of_data(ctx_data);
	struct channel_send *send = &ep->sends[task_data.u64];

	if (send->addr)
		send->addr->counters.in_flight--;
	send->addr = NULL;
	send->next_free = ep->free_send;
	ep->free_send = (uint32_t)task_data.u64;
	doca_task_free(doca_comch_task_send_as_task(task));
	if (ep->send_armed)
		eventfd_write(ep->send_news, 1);
}

doca_error_t channel_set_callbacks(struct doca_comm_channel_ep_t *ep)
{
	doca_error_t result;

	doca_ctx_set_user_data(ep->ctx, (union doca_data){.ptr = ep});
	if (ep->client) {
		doca_ctx_set_state_changed_cb(ep->ctx, on_client_state);
		result = doca_comch_client_event_msg_recv_register(ep->client, on_message);
		if (result == DOCA_SUCCESS)
			result = doca_comch_client_task_send_set_conf(ep->client, on_sent, on_sent, ep->send_queue_size);
		return result;
	}
	result = doca_comch_server_event_msg_recv_register(ep->server, on_message);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_connection_status_changed_register(ep->server, on_connect, on_disconnect);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_task_send_set_conf(ep->server, on_sent, on_sent, ep->send_queue_size);
	return result;
}

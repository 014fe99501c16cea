/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending and receiving. */
#include <doca_pe.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "ep_priv.h"
#include "shim/common/check.h"

/* ---- sending ---- */

static doca_error_t check_send(const struct doca_comm_channel_ep_t *ep, const struct doca_comm_channel_addr_t *addr,
			       size_t len)
{
	if (!shim_is(addr, SHIM_CHANNEL_ADDR) || addr->ep != ep) {
		sim_err("doca_comm_channel_ep_sendto: there is no such peer of this endpoint");
		return DOCA_ERROR_NOT_CONNECTED;
	}
	if (len == 0 || len > ep->max_msg_bytes) {
		sim_err("doca_comm_channel_ep_sendto: a message of %zu bytes; this endpoint sends 1 to %u", len,
			ep->max_msg_bytes);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

static doca_error_t alloc_task(struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t *addr, const void *msg,
			       size_t len, struct doca_comch_task_send **ret_task)
{
	return ep->client ? doca_comch_client_task_send_alloc_init(ep->client, addr->connection, msg, (uint32_t)len, ret_task) :
			    doca_comch_server_task_send_alloc_init(ep->server, addr->connection, msg, (uint32_t)len, ret_task);
}

/* The peer may be told of later: its bytes are ours by then. */
static doca_error_t send(struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t *addr, const void *msg,
			 size_t len)
{
	uint32_t slot = ep->free_send;
	uint8_t *bytes = ep->send_bytes + (size_t)slot * ep->max_msg_bytes;
	struct doca_comch_task_send *task;
	doca_error_t result = alloc_task(ep, addr, bytes, len, &task);

	if (result != DOCA_SUCCESS)
		return DOCA_ERROR_CONNECTION_RESET;
	memcpy(bytes, msg, len);
	doca_task_set_user_data(doca_comch_task_send_as_task(task), (union doca_data){.u64 = slot});
	result = doca_task_submit(doca_comch_task_send_as_task(task));
	if (result != DOCA_SUCCESS) {
		doca_task_free(doca_comch_task_send_as_task(task));
		return DOCA_ERROR_CONNECTION_RESET;
	}
	ep->free_send = ep->sends[slot].next_free;
	ep->sends[slot].addr = addr;
	addr->counters.in_flight++;
	addr->counters.sent++;
	addr->counters.sent_bytes += len;
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_sendto(struct doca_comm_channel_ep_t *local_ep, const void *msg, size_t len, int flags,
					 struct doca_comm_channel_addr_t *peer_addr)
{
	doca_error_t result;

	SHIM_NEED(local_ep, SHIM_CHANNEL_EP);
	SHIM_NEED_OUT(msg);
	if (flags != DOCA_CC_MSG_FLAG_NONE)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "flags %#x; there are none", (unsigned int)flags);
	result = check_send(local_ep, peer_addr, len);
	if (result != DOCA_SUCCESS)
		return result;
	if (!peer_addr->ended && local_ep->free_send == local_ep->send_queue_size)
		channel_drive(local_ep, NULL);
	if (peer_addr->ended)
		return SHIM_REFUSE(DOCA_ERROR_CONNECTION_RESET, "the connection ended; disconnect this peer");
	if (local_ep->free_send == local_ep->send_queue_size || channel_is_connecting(peer_addr))
		return DOCA_ERROR_AGAIN; /* the common way to wait: no word in the log */
	return send(local_ep, peer_addr, msg, len);
}

/* ---- receiving ---- */

static void count_received(struct doca_comm_channel_addr_t *addr, size_t len)
{
	addr->counters.received++;
	addr->counters.received_bytes += len;
}

/* The oldest that is kept. A message longer than the buffer stays, so that nothing is lost. */
static doca_error_t take_kept(struct doca_comm_channel_ep_t *ep, void *msg, size_t *len,
			      struct doca_comm_channel_addr_t **ret_addr)
{
	struct channel_kept *kept = ep->kept;
	doca_error_t result = kept->is_end ? DOCA_ERROR_CONNECTION_RESET : DOCA_SUCCESS;

	if (kept->len > *len)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "a message of %zu bytes waits; the buffer has %zu", kept->len, *len);
	ep->kept = kept->next;
	if (!ep->kept)
		ep->kept_end = &ep->kept;
	if (kept->len > 0)
		memcpy(msg, kept->bytes, kept->len);
	*len = kept->len;
	*ret_addr = kept->addr;
	if (!kept->is_end)
		count_received(kept->addr, kept->len);
	free(kept);
	return result;
}

/* Have the next message written to @msg. Whether one came. */
static bool receive(struct doca_comm_channel_ep_t *ep, void *msg, size_t len)
{
	ep->want = msg;
	ep->want_len = len;
	ep->got_from = NULL;
	channel_drive(ep, &ep->got_from);
	ep->want = NULL;
	return ep->got_from && !ep->got_too_long;
}

/* A client whose service is gone has nothing more to wait for. */
static bool is_over(const struct doca_comm_channel_ep_t *ep)
{
	return ep->role == CHANNEL_CLIENT && ep->addrs->ended;
}

doca_error_t doca_comm_channel_ep_recvfrom(struct doca_comm_channel_ep_t *local_ep, void *msg, size_t *len, int flags,
					   struct doca_comm_channel_addr_t **peer_addr)
{
	SHIM_NEED(local_ep, SHIM_CHANNEL_EP);
	SHIM_NEED_OUT(msg);
	SHIM_NEED_OUT(len);
	SHIM_NEED_OUT(peer_addr);
	if (flags != DOCA_CC_MSG_FLAG_NONE)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "flags %#x; there are none", (unsigned int)flags);
	if (local_ep->role == CHANNEL_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_NOT_CONNECTED, "the endpoint neither listens nor is connected");
	if (local_ep->kept)
		return take_kept(local_ep, msg, len, peer_addr);
	if (receive(local_ep, msg, *len)) {
		*len = local_ep->want_len;
		*peer_addr = local_ep->got_from;
		count_received(local_ep->got_from, *len);
		return DOCA_SUCCESS;
	}
	if (local_ep->kept)
		return take_kept(local_ep, msg, len, peer_addr);
	if (is_over(local_ep))
		return SHIM_REFUSE(DOCA_ERROR_CONNECTION_RESET, "the connection ended; disconnect the peer");
	return DOCA_ERROR_AGAIN;
}

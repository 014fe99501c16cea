/* SPDX-License-Identifier: BSD-3-Clause */
/* Public functions of peers: user data, counters, and the peers of a service. */
#include <stdlib.h>
#include <sys/eventfd.h>

#include "ep_priv.h"
#include "shim/comch/endpoint/comm_channel_hooks.h"
#include "shim/common/base/alloc.h"
#include "shim/common/base/check.h"

#define NEED_ADDR(addr) SHIM_NEED(addr, SHIM_CHANNEL_ADDR)

doca_error_t doca_comm_channel_peer_addr_set_user_data(struct doca_comm_channel_addr_t *peer_addr,
						       uint64_t user_context)
{
	NEED_ADDR(peer_addr);
	peer_addr->user_data = user_context;
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_peer_addr_get_user_data(struct doca_comm_channel_addr_t *peer_addr, uint64_t *user_data)
{
	NEED_ADDR(peer_addr);
	SHIM_NEED_OUT(user_data);
	*user_data = peer_addr->user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_peer_addr_update_info(struct doca_comm_channel_addr_t *peer_addr)
{
	NEED_ADDR(peer_addr);
	if (peer_addr->state == CHANNEL_CONNECTING)
		channel_progress_connect(peer_addr);
	else
		channel_progress_all(peer_addr->ep);
	peer_addr->snapshot = peer_addr->counters;
	if (channel_peer_is_disconnected(peer_addr))
		return SHIM_REFUSE(DOCA_ERROR_CONNECTION_ABORTED,
				   "the peer is gone, or was never reached; disconnect it");
	return peer_addr->state == CHANNEL_CONNECTING ? DOCA_ERROR_CONNECTION_INPROGRESS : DOCA_SUCCESS;
}

#define DEFINE_COUNTER_GETTER(name, member)                                                                   \
	doca_error_t doca_comm_channel_peer_addr_get_##name(const struct doca_comm_channel_addr_t *peer_addr, \
							    uint64_t *name)                                   \
	{                                                                                                     \
		NEED_ADDR(peer_addr);                                                                         \
		SHIM_NEED_OUT(name);                                                                          \
		*name = peer_addr->snapshot.member;                                                           \
		return DOCA_SUCCESS;                                                                          \
	}
DEFINE_COUNTER_GETTER(send_messages, sent)
DEFINE_COUNTER_GETTER(send_bytes, sent_bytes)
DEFINE_COUNTER_GETTER(recv_messages, received)
DEFINE_COUNTER_GETTER(recv_bytes, received_bytes)

/* A message that sendto took is in the peer's receive queue at once, so none is in flight. */
doca_error_t doca_comm_channel_peer_addr_get_send_in_flight_messages(const struct doca_comm_channel_addr_t *peer_addr,
								     uint64_t *send_in_flight_messages)
{
	NEED_ADDR(peer_addr);
	SHIM_NEED_OUT(send_in_flight_messages);
	*send_in_flight_messages = 0;
	return DOCA_SUCCESS;
}

/* ---- a service's peers ---- */

#define NEED_SERVICE(ep)                                                                            \
	do {                                                                                        \
		SHIM_NEED(ep, SHIM_CHANNEL_EP);                                                     \
		if ((ep)->role == CHANNEL_IDLE)                                                     \
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the endpoint does not listen");   \
		if ((ep)->role != CHANNEL_SERVICE)                                                  \
			return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "the endpoint is a client's"); \
	} while (0)

static uint32_t count_addrs(const struct doca_comm_channel_ep_t *ep)
{
	const struct doca_comm_channel_addr_t *addr;
	uint32_t count = 0;

	LIST_FOREACH(addr, &ep->addrs, link)
		count++;
	return count;
}

/* The eventfd is read first: a peer that comes after that writes it again. */
doca_error_t doca_comm_channel_ep_update_service_state_info(struct doca_comm_channel_ep_t *local_ep)
{
	struct doca_comm_channel_addr_t **snapshot, *addr;
	eventfd_t unused;

	NEED_SERVICE(local_ep);
	snapshot = shim_realloc(local_ep->snapshot_addrs,
				(count_addrs(local_ep) + 1) * sizeof(struct doca_comm_channel_addr_t *));
	if (!snapshot)
		return SHIM_REFUSE(DOCA_ERROR_NO_MEMORY, "no memory for a list of %u peers", count_addrs(local_ep));
	eventfd_read(local_ep->status_eventfd, &unused);
	local_ep->snapshot_pending = comch_server_num_pending(local_ep->server);
	local_ep->snapshot_addrs = snapshot;
	local_ep->num_snapshot_addrs = 0;
	LIST_FOREACH(addr, &local_ep->addrs, link)
		if (!channel_peer_is_disconnected(addr))
			snapshot[local_ep->num_snapshot_addrs++] = addr;
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_get_peer_addr_list(const struct doca_comm_channel_ep_t *local_ep,
						     struct doca_comm_channel_addr_t ***peer_addr_array,
						     uint32_t *peer_addr_array_len)
{
	NEED_SERVICE(local_ep);
	SHIM_NEED_OUT(peer_addr_array);
	SHIM_NEED_OUT(peer_addr_array_len);
	*peer_addr_array = local_ep->snapshot_addrs;
	*peer_addr_array_len = local_ep->num_snapshot_addrs;
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_get_pending_connections(const struct doca_comm_channel_ep_t *local_ep,
							  uint32_t *pending_connections)
{
	NEED_SERVICE(local_ep);
	SHIM_NEED_OUT(pending_connections);
	*pending_connections = local_ep->snapshot_pending;
	return DOCA_SUCCESS;
}

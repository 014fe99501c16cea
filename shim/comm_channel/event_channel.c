/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors to sleep on: for messages, for room to send, and for a service's peers. */
#include <doca_pe.h>
#include <sys/eventfd.h>

#include "ep_priv.h"
#include "shim/comch/endpoint/comm_channel_hooks.h"
#include "shim/common/base/check.h"

doca_error_t doca_comm_channel_ep_get_event_channel(struct doca_comm_channel_ep_t *local_ep,
						    doca_event_channel_t *send_event_channel,
						    doca_event_channel_t *recv_event_channel)
{
	SHIM_NEED(local_ep, SHIM_CHANNEL_EP);
	if (!send_event_channel && !recv_event_channel)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "both outputs are NULL");
	if (local_ep->role == CHANNEL_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the endpoint neither listens nor is connected");
	if (send_event_channel)
		*send_event_channel = local_ep->send_epoll;
	if (recv_event_channel)
		*recv_event_channel = local_ep->recv_epoll;
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_get_service_event_channel(struct doca_comm_channel_ep_t *local_ep,
							    doca_event_channel_t *service_event_channel)
{
	SHIM_NEED(local_ep, SHIM_CHANNEL_EP);
	SHIM_NEED_OUT(service_event_channel);
	if (local_ep->role == CHANNEL_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the endpoint does not listen");
	if (local_ep->role != CHANNEL_SERVICE)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "the endpoint is a client's");
	*service_event_channel = local_ep->status_eventfd;
	return DOCA_SUCCESS;
}

/* ---- arming ---- */

/* Whether recvfrom would return anything but AGAIN. */
static bool can_receive(const struct doca_comm_channel_ep_t *ep)
{
	return ep->pending_msg || ep->num_unreported > 0 || comch_has_pending_recv(ep->ctx) || channel_is_shut_down(ep);
}

/* Whether a message that was refused would be taken now; true if none was refused. */
static bool can_send(struct doca_comm_channel_ep_t *ep)
{
	struct doca_comm_channel_addr_t *addr;
	bool is_blocked = false;

	LIST_FOREACH(addr, &ep->addrs, link) {
		if (addr->blocked_bytes == 0) {
			is_blocked |= addr->state == CHANNEL_CONNECTING;
			continue;
		}
		if (channel_peer_is_disconnected(addr) ||
		    comch_connection_has_room(addr->connection, addr->blocked_bytes)) {
			addr->blocked_bytes = 0;
			return true;
		}
		is_blocked = true;
	}
	return !is_blocked;
}

/* From here on, the engine's descriptor becomes readable at the next event. An event that is there already is written
 * to the eventfd of each armed direction, as the engine's descriptor was cleared. */
static void arm_notification(struct doca_comm_channel_ep_t *ep)
{
	doca_notification_handle_t engine;

	doca_pe_get_notification_handle(ep->pe, &engine);
	doca_pe_clear_notification(ep->pe, engine);
	channel_progress_all(ep);
	doca_pe_request_notification(ep->pe);
	if (ep->recv_armed && can_receive(ep)) {
		ep->recv_armed = false;
		eventfd_write(ep->recv_eventfd, 1);
	}
	if (ep->send_armed && can_send(ep)) {
		ep->send_armed = false;
		eventfd_write(ep->send_eventfd, 1);
	}
}

doca_error_t doca_comm_channel_ep_event_handle_arm_recv(struct doca_comm_channel_ep_t *local_ep)
{
	eventfd_t unused;

	SHIM_NEED(local_ep, SHIM_CHANNEL_EP);
	if (local_ep->role == CHANNEL_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the endpoint neither listens nor is connected");
	eventfd_read(local_ep->recv_eventfd, &unused);
	local_ep->recv_armed = true;
	arm_notification(local_ep);
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_event_handle_arm_send(struct doca_comm_channel_ep_t *local_ep)
{
	eventfd_t unused;

	SHIM_NEED(local_ep, SHIM_CHANNEL_EP);
	if (local_ep->role == CHANNEL_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the endpoint neither listens nor is connected");
	eventfd_read(local_ep->send_eventfd, &unused);
	local_ep->send_armed = true;
	arm_notification(local_ep);
	return DOCA_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors to sleep on: for messages, for room to send, for a service's peers. */
#include <doca_pe.h>
#include <sys/eventfd.h>

#include "ep_priv.h"
#include "shim/common/check.h"

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
		doca_pe_get_notification_handle(local_ep->pe, recv_event_channel);
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
	*service_event_channel = local_ep->service_epoll;
	return DOCA_SUCCESS;
}

/* Make the engine's descriptor readable at the next news, or now if there is some. */
static void arm_engine(struct doca_comm_channel_ep_t *ep, bool news)
{
	doca_notification_handle_t engine;

	doca_pe_get_notification_handle(ep->pe, &engine);
	doca_pe_clear_notification(ep->pe, engine);
	doca_pe_request_notification(ep->pe);
	if (news)
		eventfd_write(engine, 1);
}

doca_error_t doca_comm_channel_ep_event_handle_arm_recv(struct doca_comm_channel_ep_t *local_ep)
{
	SHIM_NEED(local_ep, SHIM_CHANNEL_EP);
	if (local_ep->role == CHANNEL_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the endpoint neither listens nor is connected");
	arm_engine(local_ep, local_ep->kept != NULL);
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_event_handle_arm_send(struct doca_comm_channel_ep_t *local_ep)
{
	eventfd_t unused;

	SHIM_NEED(local_ep, SHIM_CHANNEL_EP);
	if (local_ep->role == CHANNEL_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the endpoint neither listens nor is connected");
	eventfd_read(local_ep->send_news, &unused);
	local_ep->send_armed = true;
	arm_engine(local_ep, false);
	if (local_ep->free_send != local_ep->send_queue_size)
		eventfd_write(local_ep->send_news, 1);
	return DOCA_SUCCESS;
}

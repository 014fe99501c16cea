/* SPDX-License-Identifier: BSD-3-Clause */
/* The DPU's end of a channel: a service that accepts the first client that sends a message. */
#include <doca_log.h>

#include "channel_comm.h"
#include "failure.h"
#include "device.h"

#ifndef DOCA_ARCH_DPU
#error "channel_service.c is for the DPU: build it against the DPU's SDK tree"
#endif

DOCA_LOG_REGISTER(DMA_COPY::SERVICE);

doca_error_t channel_end_create(struct channel *channel)
{
	doca_error_t result = comm_end_new(channel);

	if (result == DOCA_SUCCESS)
		result = device_open_rep(channel->cfg.dev, channel->cfg.rep_pci_addr, &channel->end->rep);
	if (result != DOCA_SUCCESS)
		return result;
	return check(doca_comm_channel_ep_set_device_rep(channel->end->ep, channel->end->rep),
		     "serve the host through its representor");
}

doca_error_t channel_end_connect(struct channel *channel)
{
	doca_error_t result = doca_comm_channel_ep_listen(channel->end->ep, CHANNEL_SERVER_NAME);

	if (result != DOCA_SUCCESS)
		return failure_report(result, "Cannot wait for the host's %s: %s; does another DMA Copy wait for it?",
				      channel->cfg.rep_pci_addr, doca_error_get_descr(result));
	comm_poll(channel);
	DOCA_LOG_INFO("Waiting for the host to connect");
	while (result == DOCA_SUCCESS && !channel->was_connected)
		result = loop_turn(channel->cfg.loop, false);
	return result;
}

bool comm_is_ours(struct channel *channel, struct doca_comm_channel_addr_t *peer)
{
	if (!channel->was_connected)
		comm_on_connected(channel, peer);
	if (peer == channel->end->peer)
		return true;
	DOCA_LOG_WARN("Another client has come, and is sent away: one file, one client");
	doca_comm_channel_ep_disconnect(channel->end->ep, peer);
	return false;
}

/* A peer that disconnects leaves the list of peers without an error. */
static bool has_no_peers(void *self)
{
	struct channel *channel = self;
	struct doca_comm_channel_addr_t **peers;
	uint32_t num;

	return doca_comm_channel_ep_update_service_state_info(channel->end->ep) != DOCA_SUCCESS ||
	       doca_comm_channel_ep_get_peer_addr_list(channel->end->ep, &peers, &num) != DOCA_SUCCESS || num == 0;
}

/* The client disconnects first, so that no message on its way is lost. */
void channel_end_disconnect(struct channel *channel, double seconds)
{
	comm_poll_no_more(channel);
	if (channel->end->peer && !loop_settle(channel->cfg.loop, seconds, has_no_peers, channel))
		DOCA_LOG_WARN("The host doesn't end the connection; we do");
	comm_disconnect(channel);
}

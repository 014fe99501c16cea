/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's end of a channel: a client. */
#include <doca_log.h>

#include "channel_comm.h"
#include "failure.h"

#ifndef DOCA_ARCH_HOST
#error "channel_client.c is for the host: build it against the host's SDK tree"
#endif

DOCA_LOG_REGISTER(DMA_COPY::CLIENT);

/* Wait for a service that does not exist yet: attempts at growing intervals. */
#define FIRST_PAUSE_S 0.05
#define MAX_TRIES     8 /* 6.4 s in all */

doca_error_t channel_end_create(struct channel *channel)
{
	return comm_end_new(channel);
}

static doca_error_t pause_for(struct channel *channel, double seconds)
{
	double end_s = now_s() + seconds;
	doca_error_t result = DOCA_SUCCESS;

	while (result == DOCA_SUCCESS && now_s() < end_s)
		result = loop_turn(channel->cfg.loop, false);
	return result;
}

static doca_error_t report_no_service(const struct channel *channel)
{
	return failure_report(DOCA_ERROR_NOT_CONNECTED,
			      "No DMA Copy on the DPU takes us: start it there first, with -r for our %s",
			      channel->cfg.pci_addr);
}

static doca_error_t find_service(struct channel *channel, struct doca_comm_channel_addr_t **ret_peer)
{
	double wait_s = FIRST_PAUSE_S;
	doca_error_t result = DOCA_SUCCESS;

	for (int tries = 1; result == DOCA_SUCCESS; tries++, wait_s *= 2) {
		if (doca_comm_channel_ep_connect(channel->end->ep, CHANNEL_SERVER_NAME, ret_peer) == DOCA_SUCCESS)
			return DOCA_SUCCESS;
		if (tries == MAX_TRIES)
			return report_no_service(channel);
		result = pause_for(channel, wait_s);
	}
	return result;
}

static doca_error_t await_service(struct channel *channel, struct doca_comm_channel_addr_t *peer)
{
	doca_error_t state = doca_comm_channel_peer_addr_update_info(peer), result = DOCA_SUCCESS;

	while (state == DOCA_ERROR_CONNECTION_INPROGRESS && result == DOCA_SUCCESS) {
		result = loop_turn(channel->cfg.loop, false);
		state = doca_comm_channel_peer_addr_update_info(peer);
	}
	if (result != DOCA_SUCCESS)
		return result;
	return state == DOCA_SUCCESS ? DOCA_SUCCESS : report_no_service(channel);
}

doca_error_t channel_end_connect(struct channel *channel)
{
	struct doca_comm_channel_addr_t *peer;
	doca_error_t result;

	DOCA_LOG_INFO("Connecting to the DPU");
	result = find_service(channel, &peer);
	if (result == DOCA_SUCCESS)
		result = await_service(channel, peer);
	if (result != DOCA_SUCCESS)
		return result;
	comm_on_connected(channel, peer);
	comm_poll(channel);
	return DOCA_SUCCESS;
}

bool comm_is_ours(struct channel *channel, struct doca_comm_channel_addr_t *peer)
{
	return peer == channel->end->peer;
}

void channel_end_disconnect(struct channel *channel, double seconds)
{
	(void)seconds;
	comm_poll_no_more(channel);
	comm_disconnect(channel);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's end of a channel: a client. */
#include <stdlib.h>

#include <doca_log.h>
#include <doca_pe.h>

#include "channel_comch.h"
#include "failure.h"
#include "engine_pe.h"

#ifndef DOCA_ARCH_HOST
#error "channel_client.c is for the host: build it against the host's SDK tree"
#endif

DOCA_LOG_REGISTER(DMA_COPY::CLIENT);

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	struct doca_comch_client *client = doca_comch_client_get_client_ctx(connection);
	union doca_data data = { .ptr = NULL };

	(void)event;
	doca_ctx_get_user_data(doca_comch_client_as_ctx(client), &data);
	channel_on_message(data.ptr, bytes, len);
}

/* A client's states are those of its connection. */
static void on_state_changed(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states before,
			     enum doca_ctx_states now)
{
	struct channel *channel = data.ptr;
	struct doca_comch_connection *connection;

	(void)ctx;
	(void)before;
	if (now == DOCA_CTX_STATE_STOPPING || now == DOCA_CTX_STATE_IDLE)
		comch_on_disconnected(channel);
	else if (now == DOCA_CTX_STATE_RUNNING &&
		 doca_comch_client_get_connection(channel->end->client, &connection) == DOCA_SUCCESS)
		comch_on_connected(channel, connection);
}

static doca_error_t configure(struct channel *channel)
{
	struct doca_comch_client *client = channel->end->client;
	uint32_t max_bytes;
	doca_error_t result = comch_max_bytes(channel, &max_bytes);

	if (result == DOCA_SUCCESS)
		result = doca_comch_client_set_max_msg_size(client, max_bytes);
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_task_send_set_conf(client, comch_on_sent, comch_on_not_sent,
							      CHANNEL_MAX_SENDING);
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_event_msg_recv_register(client, on_message);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(channel->end->ctx, (union doca_data){ .ptr = channel });
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_state_changed_cb(channel->end->ctx, on_state_changed);
	if (result == DOCA_SUCCESS)
		result = doca_pe_connect_ctx(engine_pe(channel->cfg.loop->engine), channel->end->ctx);
	return check(result, "configure the Comch client");
}

static doca_error_t create(struct channel *channel)
{
	struct channel_end *end = channel->end;
	struct doca_dev *dev = channel->cfg.dev;
	doca_error_t result = check(doca_comch_cap_client_is_supported(doca_dev_as_devinfo(dev)),
				    "have a Comch client on this device");

	if (result == DOCA_SUCCESS)
		result = check(doca_comch_client_create(dev, CHANNEL_SERVER_NAME, &end->client),
			       "create a Comch client");
	if (result != DOCA_SUCCESS)
		return result;
	end->ctx = doca_comch_client_as_ctx(end->client);
	return configure(channel);
}

doca_error_t channel_end_create(struct channel *channel)
{
	doca_error_t result = comch_end_new(channel);

	return result == DOCA_SUCCESS ? create(channel) : result;
}

void channel_end_destroy(struct channel *channel)
{
	if (channel->end->client)
		check(doca_comch_client_destroy(channel->end->client), "destroy the Comch client");
	free(channel->end);
}

doca_error_t channel_end_connect(struct channel *channel)
{
	doca_error_t result = doca_ctx_start(channel->end->ctx);

	if (result != DOCA_SUCCESS && result != DOCA_ERROR_IN_PROGRESS)
		return check(result, "start the Comch client");
	DOCA_LOG_INFO("Connecting to the DPU");
	result = DOCA_SUCCESS;
	while (result == DOCA_SUCCESS && !channel->was_connected && !comch_is_idle(channel))
		result = loop_turn(channel->cfg.loop, false);
	if (result != DOCA_SUCCESS || channel->was_connected)
		return result;
	return failure_report(DOCA_ERROR_NOT_CONNECTED,
			      "No DMA Copy on the DPU takes us: start it there first, with -r for our %s",
			      channel->cfg.pci_addr);
}

/* Stopping the client ends the connection. */
void channel_end_disconnect(struct channel *channel, double seconds)
{
	(void)seconds;
	comch_stop(channel);
}

doca_error_t comch_take_task(struct channel *channel, const void *bytes, uint32_t len,
			     struct doca_comch_task_send **ret_task)
{
	struct channel_end *end = channel->end;

	return doca_comch_client_task_send_alloc_init(end->client, end->connection, bytes, len, ret_task);
}

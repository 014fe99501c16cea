/* SPDX-License-Identifier: BSD-3-Clause */
/* The DPU's end of a channel: a server that takes the first client that comes. */
#include <stdlib.h>

#include <doca_log.h>
#include <doca_pe.h>

#include "channel_comch.h"
#include "failure.h"
#include "device.h"
#include "engine_pe.h"

#ifndef DOCA_ARCH_DPU
#error "channel_server.c is for the DPU: build it against the DPU's SDK tree"
#endif

DOCA_LOG_REGISTER(DMA_COPY::SERVER);

static struct channel *channel_of(struct doca_comch_connection *connection)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(connection);
	union doca_data data = { .ptr = NULL };

	doca_ctx_get_user_data(doca_comch_server_as_ctx(server), &data);
	return data.ptr;
}

static void on_connect(struct doca_comch_event_connection_status_changed *event,
		       struct doca_comch_connection *connection, uint8_t change_successful)
{
	struct channel *channel = channel_of(connection);

	(void)event;
	if (!change_successful) {
		DOCA_LOG_WARN("A client could not connect; waiting for another");
	} else if (channel->was_connected) {
		DOCA_LOG_WARN("Another client has come, and is sent away: one file, one client");
		doca_comch_server_disconnect(channel->end->server, connection);
	} else {
		comch_on_connected(channel, connection);
	}
}

static void on_disconnect(struct doca_comch_event_connection_status_changed *event,
			  struct doca_comch_connection *connection, uint8_t change_successful)
{
	struct channel *channel = channel_of(connection);

	(void)event;
	(void)change_successful;
	if (connection == channel->end->connection)
		comch_on_disconnected(channel);
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	struct channel *channel = channel_of(connection);

	(void)event;
	if (connection == channel->end->connection)
		channel_on_message(channel, bytes, len);
}

/* A server that leaves the running state ends its connections. */
static void on_state_changed(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states before,
			     enum doca_ctx_states now)
{
	(void)ctx;
	(void)before;
	if (now == DOCA_CTX_STATE_IDLE)
		comch_on_disconnected(data.ptr);
}

static doca_error_t configure(struct channel *channel)
{
	struct doca_comch_server *server = channel->end->server;
	uint32_t max_bytes;
	doca_error_t result = comch_max_bytes(channel, &max_bytes);

	if (result == DOCA_SUCCESS)
		result = doca_comch_server_set_max_msg_size(server, max_bytes);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_task_send_set_conf(server, comch_on_sent, comch_on_not_sent,
							      CHANNEL_MAX_SENDING);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_msg_recv_register(server, on_message);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_connection_status_changed_register(server, on_connect, on_disconnect);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(channel->end->ctx, (union doca_data){ .ptr = channel });
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_state_changed_cb(channel->end->ctx, on_state_changed);
	if (result == DOCA_SUCCESS)
		result = doca_pe_connect_ctx(engine_pe(channel->cfg.loop->engine), channel->end->ctx);
	return check(result, "configure the Comch server");
}

static doca_error_t create(struct channel *channel)
{
	struct channel_end *end = channel->end;
	struct doca_dev *dev = channel->cfg.dev;
	doca_error_t result = check(doca_comch_cap_server_is_supported(doca_dev_as_devinfo(dev)),
				    "have a Comch server on this device");

	if (result == DOCA_SUCCESS)
		result = device_open_rep(dev, channel->cfg.rep_pci_addr, &end->rep);
	if (result != DOCA_SUCCESS)
		return result;
	result = check(doca_comch_server_create(dev, end->rep, CHANNEL_SERVER_NAME, &end->server),
		       "create a Comch server");
	if (result != DOCA_SUCCESS)
		return result;
	end->ctx = doca_comch_server_as_ctx(end->server);
	return configure(channel);
}

doca_error_t channel_end_create(struct channel *channel)
{
	doca_error_t result = comch_end_new(channel);

	return result == DOCA_SUCCESS ? create(channel) : result;
}

void channel_end_destroy(struct channel *channel)
{
	struct channel_end *end = channel->end;

	if (end->server)
		check(doca_comch_server_destroy(end->server), "destroy the Comch server");
	if (end->rep)
		check(doca_dev_rep_close(end->rep), "close the representor");
	free(end);
}

doca_error_t channel_end_connect(struct channel *channel)
{
	doca_error_t result = doca_ctx_start(channel->end->ctx);

	if (result != DOCA_SUCCESS && result != DOCA_ERROR_IN_PROGRESS)
		return failure_report(result, "Cannot wait for the host's %s: %s; does another DMA Copy wait for it?",
				      channel->cfg.rep_pci_addr, doca_error_get_descr(result));
	DOCA_LOG_INFO("Waiting for the host to connect");
	result = DOCA_SUCCESS;
	while (result == DOCA_SUCCESS && !channel->was_connected)
		result = loop_turn(channel->cfg.loop, false);
	return result;
}

/* The client disconnects first, so that no message on its way is lost. */
void channel_end_disconnect(struct channel *channel, double seconds)
{
	if (!loop_settle(channel->cfg.loop, seconds, channel_has_no_connection, channel))
		DOCA_LOG_WARN("The host doesn't end the connection; we do");
	comch_stop(channel);
}

doca_error_t comch_take_task(struct channel *channel, const void *bytes, uint32_t len,
			     struct doca_comch_task_send **ret_task)
{
	struct channel_end *end = channel->end;

	return doca_comch_server_task_send_alloc_init(end->server, end->connection, bytes, len, ret_task);
}

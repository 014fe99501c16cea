/* SPDX-License-Identifier: BSD-3-Clause */
/* "s": a server. "c": a client. Both sleep until their context is idle, or the message has come. */
#include <poll.h>

#include "talk.h"

static void sleep_once(struct doca_pe *pe)
{
	struct pollfd pollfd = { .fd = report_handle(pe), .events = POLLIN };

	OK(doca_pe_request_notification(pe));
	HOLDS(poll(&pollfd, 1, -1) == 1);
	OK(doca_pe_clear_notification(pe, 0));
	while (doca_pe_progress(pe))
		;
}

static void serve(void)
{
	struct talk server;

	talk_open_server(&server, "03:00.0", "b1:00.0", "sleeper");
	talk_start_server(&server);
	while (server.disconnected == 0)
		sleep_once(server.pe);
	HOLDS(server.received == 1);
	talk_close(&server);
}

static void say_and_leave(struct talk *client, enum doca_ctx_states next)
{
	if (next != DOCA_CTX_STATE_RUNNING)
		return;
	OK(doca_comch_client_get_connection(client->client, &client->connection));
	HOLDS(talk_send(client));
}

static void stop(struct talk *client)
{
	(void)doca_ctx_stop(client->ctx);
}

static void call(void)
{
	struct talk client;

	talk_open_client(&client, "b1:00.0", "sleeper");
	client.on_state = say_and_leave;
	client.on_sent = stop;
	WANT(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	while (report_state(client.ctx) != DOCA_CTX_STATE_IDLE)
		sleep_once(client.pe);
	HOLDS(client.sent == 1);
	talk_close(&client);
}

int main(int argc, char **argv)
{
	return talk_main(argc, argv, serve, call);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* "s": a server of one client. "c": the client. */
#include "talk.h"

static bool is_gone;

static void stop(struct talk *client)
{
	doca_error_t result = doca_ctx_stop(client->ctx);

	HOLDS(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
}

static void destroy_when_idle(struct talk *client, enum doca_ctx_states next)
{
	if (next != DOCA_CTX_STATE_IDLE)
		return;
	OK(doca_comch_client_destroy(client->client));
	is_gone = true;
}

static void call(void)
{
	struct talk client;

	talk_open_client(&client, "b1:00.0", "chain");
	client.on_sent = stop;
	client.on_state = destroy_when_idle;
	talk_connect(&client);
	HOLDS(talk_send(&client));
	PROGRESS_UNTIL(client.pe, is_gone);
	HOLDS(doca_pe_progress(client.pe) == 0);
	OK(doca_pe_destroy(client.pe));
	OK(doca_dev_close(client.dev));
}

static void serve(void)
{
	struct talk server;

	talk_open_server(&server, "03:00.0", "b1:00.0", "chain");
	talk_start_server(&server);
	PROGRESS_UNTIL(server.pe, server.disconnected == 1);
	HOLDS(server.received == 1);
	talk_close(&server);
}

int main(int argc, char **argv)
{
	return talk_main(argc, argv, serve, call);
}

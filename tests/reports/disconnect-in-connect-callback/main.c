/* SPDX-License-Identifier: BSD-3-Clause */
/* "s": a server that takes nobody, up to the last client. "c": a client that starts again. */
#include "talk.h"

#define NUM_REFUSED 20

static void refuse(struct talk *server, struct doca_comch_connection *connection)
{
	if (server->connected <= NUM_REFUSED)
		OK(doca_comch_server_disconnect(server->server, connection));
}

static void serve(void)
{
	struct talk server;

	talk_open_server(&server, "03:00.0", "b1:00.0", "admission");
	server.on_connected = refuse;
	talk_start_server(&server);
	PROGRESS_UNTIL(server.pe, server.connected == NUM_REFUSED + 1);
	HOLDS(server.disconnected == 0);
	PROGRESS_UNTIL(server.pe, server.disconnected == 1); /* the last client, which left */
	talk_close(&server);
}

static void call(void)
{
	struct talk client;

	talk_open_client(&client, "b1:00.0", "admission");
	for (int i = 0; i < NUM_REFUSED; i++) {
		WANT(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
		report_progress_to(client.pe, client.ctx, DOCA_CTX_STATE_IDLE);
	}
	talk_connect(&client);
	talk_close(&client);
}

int main(int argc, char **argv)
{
	return talk_main(argc, argv, serve, call);
}

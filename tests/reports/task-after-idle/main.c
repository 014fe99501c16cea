/* SPDX-License-Identifier: BSD-3-Clause */
/* "s": a server that leaves when it has a client. "c": a client that goes on. */
#include "talk.h"

static void call(void)
{
	struct doca_comch_task_send *task;
	struct talk client;
	doca_error_t result;

	talk_open_client(&client, "b1:00.0", "gone");
	talk_connect(&client);
	report_progress_to(client.pe, client.ctx, DOCA_CTX_STATE_IDLE);
	result = doca_comch_client_task_send_alloc_init(client.client, client.connection, "x", 1, &task);
	HOLDS(result == DOCA_ERROR_BAD_STATE || result == DOCA_ERROR_INVALID_VALUE);
	talk_close(&client);
}

static void serve(void)
{
	struct talk server;

	talk_open_server(&server, "03:00.0", "b1:00.0", "gone");
	talk_start_server(&server);
	PROGRESS_UNTIL(server.pe, server.connected == 1);
	OK(doca_comch_server_disconnect(server.server, server.connection));
	talk_close(&server);
}

int main(int argc, char **argv)
{
	return talk_main(argc, argv, serve, call);
}

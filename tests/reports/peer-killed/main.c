/* SPDX-License-Identifier: BSD-3-Clause */
/* "s FILE": a server that reads nothing, and is killed when FILE is there. "c FILE [stop]": a client that sends to it; its error
 * callback may stop the context. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "talk.h"

#define NUM_MESSAGES 16

static void serve(const char *file)
{
	struct talk server;

	talk_open_server(&server, "03:00.0", "b1:00.0", "loss");
	OK(doca_comch_server_set_recv_queue_size(server.server, 1));
	talk_start_server(&server);
	PROGRESS_UNTIL(server.pe, server.connected == 1);
	while (access(file, F_OK) != 0)
		report_nap_ms(1);
	raise(SIGKILL);
}

static void stop(struct talk *client)
{
	(void)doca_ctx_stop(client->ctx);
}

static void call(const char *file, bool stops)
{
	struct talk client;
	int64_t begin_ms;

	talk_open_client(&client, "b1:00.0", "loss");
	if (stops)
		client.on_failed = stop;
	talk_connect(&client);
	for (int i = 0; i < NUM_MESSAGES; i++)
		HOLDS(talk_send(&client));
	close(open(file, O_WRONLY | O_CREAT, 0600));
	begin_ms = report_now_ms();
	report_progress_to(client.pe, client.ctx, DOCA_CTX_STATE_IDLE);
	HOLDS(client.failed > 0 && client.sent + client.failed == NUM_MESSAGES);
	printf("noticed after %lld ms\n", (long long)(report_now_ms() - begin_ms));
	talk_close(&client);
}

int main(int argc, char **argv)
{
	HOLDS(argc >= 3);
	if (argv[1][0] == 's')
		serve(argv[2]);
	else
		call(argv[2], argc == 4);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* "s": a server that answers one message. "c MODE": a client that arms its engine, sends, and polls for the answer. */
#include <string.h>

#include "talk.h"

static void serve(void)
{
	struct talk server;

	talk_open_server(&server, "03:00.0", "b1:00.0", "ready");
	talk_start_server(&server);
	PROGRESS_UNTIL(server.pe, server.received == 1);
	HOLDS(talk_send(&server));
	PROGRESS_UNTIL(server.pe, server.disconnected == 1);
	talk_close(&server);
}

static void call(bool in_mode_all)
{
	struct talk client;

	talk_open_client(&client, "b1:00.0", "ready");
	if (in_mode_all)
		OK(doca_pe_set_event_mode(client.pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
	talk_connect(&client);
	while (doca_pe_progress(client.pe))
		;
	OK(doca_pe_request_notification(client.pe));
	HOLDS(talk_send(&client));
	HOLDS(report_is_readable(client.pe, REPORT_DEADLINE_MS));
	if (!in_mode_all) {
		for (int i = 0; i < 1000; i++)
			HOLDS(doca_pe_progress(client.pe) == 0);
		HOLDS(client.sent == 0 && client.received == 0);
		OK(doca_pe_clear_notification(client.pe, report_handle(client.pe)));
	}
	PROGRESS_UNTIL(client.pe, client.sent == 1 && client.received == 1);
	talk_close(&client);
}

int main(int argc, char **argv)
{
	if (argc == 2)
		serve();
	else
		call(strcmp(argv[2], "all") == 0);
	return 0;
}

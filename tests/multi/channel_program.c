/* SPDX-License-Identifier: BSD-3-Clause */
/* One end of a Comm Channel, as a program: built with the headers and libraries of each generation,
 * for test_channel_generations.c.
 *
 *   channel_program service     listen and report that; echo messages until the peer is gone; report that
 *   channel_program client      send CHANNEL_MESSAGES messages and receive the echoes; report that; wait for the service's end; report that
 *
 * Reports go to descriptor 3, the socket of a test's process (proc.h).
 */
#include <string.h>

#include "channel_end.h"

#define CTL 3

static void be_service(void)
{
	end_start_service(0);
	end_sync_send(CTL);
	end_echo_until_gone();
	end_sync_send(CTL);
}

static void be_client(void)
{
	uint32_t value;

	CHECK(end_call_service(0) == DOCA_SUCCESS);
	for (uint32_t i = 0; i < CHANNEL_MESSAGES; i++) {
		CHECK(end_send(i) == DOCA_SUCCESS);
		CHECK(end_receive(&value) == DOCA_SUCCESS);
		CHECK(value == i);
	}
	end_sync_send(CTL);
	CHECK(end_receive(&value) == DOCA_ERROR_CONNECTION_RESET);
	CHECK(end_try_send(0) == DOCA_ERROR_CONNECTION_RESET);
	end_sync_send(CTL);
}

int main(int argc, char **argv)
{
	proc_become();
	CHECK(argc == 2);
	if (strcmp(argv[1], "service") == 0)
		be_service();
	else
		be_client();
	CHECK(doca_comm_channel_ep_destroy(end.ep) == DOCA_SUCCESS);
	return 0;
}

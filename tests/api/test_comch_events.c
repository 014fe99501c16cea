/* SPDX-License-Identifier: BSD-3-Clause */
/* The notification handle of an engine with Comch contexts: it wakes, or does not (BFSIM_COMCH_EVENTS). */
#include <poll.h>

#include "comch_util.h"
#include "log_file.h"

static bool is_readable(struct side *side)
{
	struct pollfd handle = { .events = POLLIN };

	MUST(doca_pe_get_notification_handle(side->pe, &handle.fd));
	return poll(&handle, 1, 0) == 1;
}

/* Progress until nothing is left, and arm the handle. */
static void fall_asleep(struct side *side)
{
	do {
		MUST(doca_pe_clear_notification(side->pe, 0));
		while (doca_pe_progress(side->pe))
			;
		MUST(doca_pe_request_notification(side->pe));
	} while (is_readable(side));
}

/* On each word but 0: send a message, and say when it is at the client. */
static void serve_messages(struct side *side)
{
	struct comch_actor *server = comch_serve(side);

	for (uint32_t count = 1; comch_sync_recv(side) != 0; count++) {
		comch_send(server, side->connection, count, "x");
		comch_until(side, side->num_sent == count);
		comch_sync_send(side, 0);
	}
	comch_until(side, strstr(side->trace, "disconnected"));
	comch_end(server);
}

static void test_handle_wakes_dpu(struct side *side)
{
	serve_messages(side);
}

static void test_handle_wakes_host(struct side *side)
{
	struct comch_actor *client = comch_call(side);

	for (uint32_t count = 1; count <= 3; count++) {
		fall_asleep(side);
		comch_sync_send(side, 1);
		comch_sync_recv(side);
		CHECK(is_readable(side));
		comch_until(side, side->num_messages == count);
	}
	comch_sync_send(side, 0);
	comch_end(client);
}

static void test_handle_does_not_wake_if_told_so_dpu(struct side *side)
{
	serve_messages(side);
}

/* Messages wait until the program makes progress by itself. */
static void test_handle_does_not_wake_if_told_so_host(struct side *side)
{
	FILE *log = log_file_open(DOCA_LOG_LEVEL_WARNING);
	struct comch_actor *client;

	side->is_busy = true;
	setenv("BFSIM_COMCH_EVENTS", "off", 1);
	client = comch_call(side);
	for (uint32_t count = 1; count <= 3; count++) {
		fall_asleep(side);
		comch_sync_send(side, 1);
		comch_sync_recv(side);
		CHECK(!is_readable(side));
		CHECK(doca_pe_progress(side->pe) == 1 && side->num_messages == count);
	}
	comch_sync_send(side, 0);
	comch_end(client);
	setenv("BFSIM_COMCH_EVENTS", "perhaps", 1);
	comch_end(comch_client(side, side->dev, "x"));
	CHECK(log_file_has(log, "BFSIM_COMCH_EVENTS=perhaps: neither on nor off"));
}

static const struct CMUnitTest tests[] = {
	COMCH_TEST(test_handle_wakes),
	COMCH_TEST(test_handle_does_not_wake_if_told_so),
};

int main(void)
{
	return comch_run(tests);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at Comch's control path: outgoing messages, incoming messages, connections.
 *
 * In each cell the host's client sends four texts, and a fault hits the second one. A second connection between the
 * same processes must not be affected, and everything stops in order. */
#include <bfsim.h>

#include "cell.h"
#include "other.h"

static const char *const texts[] = { "one", "two", "three", "four" };

/* ---- messages ---- */

/* The trace, with what differs by one bit made the same again. */
static void unflip(struct comch_actor *actor, struct doca_comch_connection *connection)
{
	struct side *side = actor->side;
	unsigned int wrong = 0;

	if (side->num_messages != 2)
		return;
	CHECK(side->message_len == 3);
	for (int i = 0; i < 3; i++)
		wrong += (unsigned int)__builtin_popcount(side->message[i] ^ (uint8_t)texts[1][i]);
	CHECK(wrong == 1);
	strcpy(strrchr(side->trace, '"') - 4, "\"two\"\n");
}

static bool is_at_receiver(void)
{
	return strcmp(cell->op, "comch.recv") == 0;
}

static void messages_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side), *other;
	struct doca_comch_connection *connection = side->connection;

	other = other_serve(side);
	if (cell_is("flip"))
		server->on.message = unflip;
	cell_begin(side, is_at_receiver());
	comch_expect(side, cell->on_dpu);
	if (cell_is("delay"))
		CHECK(cell_since_ns(comch_sync_recv(side)) >= CELL_DELAY_NS);
	if (is_at_receiver())
		cell_expect_hit();
	comch_meet(side);
	other_use_dpu(side, other);
	if (!cell_is("break"))
		MUST(doca_comch_server_disconnect(server->server, connection));
	comch_end(server);
}

static void submit(struct comch_actor *client, struct doca_comch_connection *connection, int number)
{
	struct doca_task *task = doca_comch_task_send_as_task(comch_task(
		client, connection, (uint64_t)number, texts[number - 1], (uint32_t)strlen(texts[number - 1])));
	doca_error_t expected = DOCA_SUCCESS;

	if (cell_is("refuse") && number == 2)
		expected = strstr(cell->rest, "NO_MEMORY") ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_AGAIN;
	if (cell_is("break") && !is_at_receiver() && number > 2)
		expected = DOCA_ERROR_NOT_CONNECTED;
	EXPECT(doca_task_submit(task), expected);
	if (expected != DOCA_SUCCESS)
		doca_task_free(task);
}

static void messages_host(struct side *side)
{
	struct comch_actor *client = comch_call(side), *other = other_call(side);
	struct doca_comch_connection *connection = side->connection;
	uint64_t begin_ns;

	cell_begin(side, !is_at_receiver());
	begin_ns = bfsim_now_ns();
	for (int number = 1; number <= 4; number++)
		submit(client, connection, number);
	comch_expect(side, cell->on_host);
	if (cell_is("delay") && !is_at_receiver())
		CHECK(cell_since_ns(begin_ns) >= CELL_DELAY_NS);
	if (cell_is("delay"))
		comch_sync_send(side, begin_ns);
	if (!is_at_receiver())
		cell_expect_hit();
	comch_meet(side);
	other_use_host(side, other);
	if (!cell_is("break"))
		comch_expect(side, cell_is("hang") ? "send 2 failed: DOCA_ERROR_CONNECTION_RESET\n"
						     "client: running -> stopping\nclient: stopping -> idle\n" :
						     "client: running -> stopping\nclient: stopping -> idle\n");
	comch_end(client);
}

/* The sender leaves at once, and its messages are delivered all the same. */
static void left_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side);

	cell_begin(side, is_at_receiver());
	comch_expect(side, cell->on_dpu);
	if (is_at_receiver())
		cell_expect_hit();
	comch_end(server);
}

static void left_host(struct side *side)
{
	struct comch_actor *client = comch_call(side);

	cell_begin(side, !is_at_receiver());
	for (int number = 1; number <= 4; number++)
		submit(client, side->connection, number);
	comch_expect(side, cell->on_host);
	if (!is_at_receiver())
		cell_expect_hit();
	comch_end(client);
}

#define RECEIVED_ALL    "received \"one\"\nreceived \"two\"\nreceived \"three\"\nreceived \"four\"\n"
#define RECEIVED_OTHERS "received \"one\"\nreceived \"three\"\nreceived \"four\"\n"
#define RECEIVED_TWICE  "received \"one\"\nreceived \"two\"\nreceived \"two\"\nreceived \"three\"\nreceived \"four\"\n"
#define RECEIVED_BEHIND "received \"one\"\nreceived \"three\"\nreceived \"two\"\nreceived \"four\"\n"
#define RECEIVED_CUT    "received \"one\"\nreceived \"t\"\nreceived \"three\"\nreceived \"four\"\n"
#define SENT_ALL        "sent 1\nsent 2\nsent 3\nsent 4\n"
#define ENDED           "client: running -> stopping\nclient: stopping -> idle\n"

/* ---- connections ---- */

static void connect_dpu(struct side *side)
{
	bool comes = cell_is("stall");
	struct comch_actor *server = comch_server(side, side->dev, side->rep, COMCH_NAME), *other;

	comch_start(server);
	comch_expect(side, "server: idle -> running\n");
	other = other_serve(side);
	comch_meet(side);
	if (comes)
		comch_expect(side, "connected\n");
	comch_meet(side);
	other_use_dpu(side, other);
	if (comes)
		comch_expect(side, "disconnected\n");
	comch_end(server);
}

static void start_hit(struct side *side, struct comch_actor *client)
{
	if (cell_is("fail")) {
		EXPECT(doca_ctx_start(client->ctx), DOCA_ERROR_TIME_OUT);
		CHECK(comch_state(client) == DOCA_CTX_STATE_IDLE);
		return;
	}
	comch_start(client);
	comch_expect(side, cell->on_host);
}

/* No event happens until the context is stopped. */
static void see_it_hang(struct comch_actor *client)
{
	uint64_t begin_ns = bfsim_now_ns();

	while (cell_since_ns(begin_ns) < CELL_DELAY_NS)
		CHECK(doca_pe_progress(client->side->pe) == 0);
	CHECK(comch_state(client) == DOCA_CTX_STATE_STARTING);
}

static void connect_host(struct side *side)
{
	struct comch_actor *other = other_call(side), *client = comch_client(side, side->dev, COMCH_NAME);
	uint64_t begin_ns;

	cell_arm();
	comch_meet(side);
	begin_ns = bfsim_now_ns();
	start_hit(side, client);
	if (cell_is("stall"))
		CHECK(cell_since_ns(begin_ns) >= CELL_DELAY_NS);
	if (cell_is("hang"))
		see_it_hang(client);
	cell_expect_hit();
	comch_meet(side);
	other_use_host(side, other);
	comch_end(client);
}

#define STARTING "client: idle -> starting\n"

static const struct cell cells[] = {
	{ "comch.send", "refuse", "nth=2 refuse", messages_dpu, messages_host, RECEIVED_OTHERS,
	  "sent 1\nsent 3\nsent 4\n" },
	{ "comch.send", "refuse", "nth=2 refuse=NO_MEMORY", messages_dpu, messages_host, RECEIVED_OTHERS,
	  "sent 1\nsent 3\nsent 4\n" },
	{ "comch.send", "fail", "nth=2 fail=TIME_OUT", messages_dpu, messages_host, RECEIVED_OTHERS,
	  "sent 1\nsend 2 failed: DOCA_ERROR_TIME_OUT\nsent 3\nsent 4\n" },
	{ "comch.send", "hang", "nth=2 hang", messages_dpu, messages_host, RECEIVED_OTHERS,
	  "sent 1\nsent 3\nsent 4\n" },
	{ "comch.send", "delay", "nth=2 delay=3s", messages_dpu, messages_host, RECEIVED_ALL,
	  "sent 1\nsent 3\nsent 4\nsent 2\n" },
	{ "comch.send", "drop", "nth=2 drop", messages_dpu, messages_host, RECEIVED_OTHERS, SENT_ALL },
	{ "comch.send", "duplicate", "nth=2 duplicate", messages_dpu, messages_host, RECEIVED_TWICE, SENT_ALL },
	{ "comch.send", "reorder", "nth=2 reorder=1", messages_dpu, messages_host, RECEIVED_BEHIND, SENT_ALL },
	{ "comch.send", "reorder", "nth=4 reorder=3", messages_dpu, messages_host, RECEIVED_ALL,
	  SENT_ALL }, /* no message follows */
	{ "comch.send", "reorder", "nth=4 reorder=3", left_dpu, left_host, RECEIVED_ALL "disconnected\n", SENT_ALL },
	{ "comch.recv", "reorder", "nth=4 reorder=3", left_dpu, left_host, RECEIVED_ALL "disconnected\n", SENT_ALL },
	{ "comch.recv", "reorder", "nth=2 reorder=5", left_dpu, left_host,
	  "received \"one\"\nreceived \"three\"\nreceived \"four\"\nreceived \"two\"\ndisconnected\n", SENT_ALL },
	{ "comch.send", "truncate", "nth=2 truncate=1", messages_dpu, messages_host, RECEIVED_CUT, SENT_ALL },
	{ "comch.send", "flip", "nth=2 flip=1", messages_dpu, messages_host, RECEIVED_ALL, SENT_ALL },
	{ "comch.send", "break", "nth=2 break", messages_dpu, messages_host, "received \"one\"\ndisconnected\n",
	  "sent 1\nsend 2 failed: DOCA_ERROR_CONNECTION_ABORTED\n" ENDED },
	{ "comch.recv", "delay", "nth=2 delay=500ms", messages_dpu, messages_host, RECEIVED_ALL, SENT_ALL },
	{ "comch.recv", "drop", "nth=2 drop", messages_dpu, messages_host, RECEIVED_OTHERS, SENT_ALL },
	{ "comch.recv", "duplicate", "nth=2 duplicate", messages_dpu, messages_host, RECEIVED_TWICE, SENT_ALL },
	{ "comch.recv", "reorder", "nth=2 reorder=1", messages_dpu, messages_host, RECEIVED_BEHIND, SENT_ALL },
	{ "comch.recv", "reorder", "nth=4 reorder=3", messages_dpu, messages_host, RECEIVED_ALL, SENT_ALL },
	{ "comch.recv", "truncate", "nth=2 truncate=1", messages_dpu, messages_host, RECEIVED_CUT, SENT_ALL },
	{ "comch.recv", "flip", "nth=2 flip=1", messages_dpu, messages_host, RECEIVED_ALL, SENT_ALL },
	{ "comch.recv", "break", "nth=2 break", messages_dpu, messages_host, "received \"one\"\ndisconnected\n",
	  SENT_ALL ENDED },
	{ "comch.connect", "refuse", "nth=1 refuse", connect_dpu, connect_host, NULL,
	  STARTING "client: starting -> stopping\nclient: stopping -> idle\n" },
	{ "comch.connect", "fail", "nth=1 fail=TIME_OUT", connect_dpu, connect_host, NULL, NULL },
	{ "comch.connect", "stall", "nth=1 stall=500ms", connect_dpu, connect_host, NULL,
	  STARTING "client: starting -> running\n" },
	{ "comch.connect", "hang", "nth=1 hang", connect_dpu, connect_host, NULL, STARTING },
};

int main(void)
{
	return cell_run("messages", cells, sizeof(cells) / sizeof(cells[0]));
}

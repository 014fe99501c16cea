/* SPDX-License-Identifier: BSD-3-Clause */
/* The client: how it finds its server, its states, its configuration and its end. */
#include "comch_util.h"
#include "log_file.h"

#include <string.h>
#include <time.h>

/* unreachable: doca_comch_client_create DOCA_ERROR_INITIALIZATION: no mutex is initialized that could fail to be
 * unreachable: doca_comch_client_get_device DOCA_ERROR_BAD_STATE: the device never changes
 * unreachable: doca_comch_client_get_max_msg_size DOCA_ERROR_BAD_STATE: it can be read in any state
 */

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- starting ---- */

static void test_client_runs_when_the_server_has_accepted_it_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side);

	comch_expect(side, "disconnected\n");
	comch_end(server);
}

static void test_client_runs_when_the_server_has_accepted_it_host(struct side *side)
{
	struct comch_actor *client = comch_client(side, side->dev, COMCH_NAME);

	EXPECT(doca_ctx_start(client->ctx), DOCA_ERROR_IN_PROGRESS);
	CHECK(comch_state(client) == DOCA_CTX_STATE_STARTING);
	comch_expect(side, "client: idle -> starting\nclient: starting -> running\n");
	EXPECT(doca_ctx_stop(client->ctx), DOCA_ERROR_IN_PROGRESS);
	comch_expect(side, "client: running -> stopping\nclient: stopping -> idle\n");
	comch_end(client);
}

static void test_client_may_start_before_the_server_dpu(struct side *side)
{
	struct comch_actor *server;

	comch_sync_recv(side);
	server = comch_serve(side);
	comch_expect(side, "disconnected\n");
	comch_end(server);
}

static void test_client_may_start_before_the_server_host(struct side *side)
{
	struct comch_actor *client = comch_client(side, side->dev, COMCH_NAME);
	FILE *log = log_file_open(DOCA_LOG_LEVEL_INFO);

	comch_start(client);
	comch_sync_send(side, 0);
	comch_expect(side, "client: idle -> starting\nclient: starting -> running\n");
	CHECK(log_file_count(
		      log, "no server of that name listens for this function yet; waits for it, at most 5000 ms") == 1);
	comch_end(client);
}

static void test_client_waits_as_long_as_told_host(struct side *side)
{
	static const char all[] = "client: idle -> starting\nclient: starting -> stopping\nclient: stopping -> idle\n";
	FILE *log = log_file_open(DOCA_LOG_LEVEL_INFO);
	struct comch_actor *client;
	double start;

	setenv("BFSIM_COMCH_WAIT", "0", 1);
	client = comch_client(side, side->dev, "nobody");
	comch_start(client);
	comch_expect(side, all);
	comch_end(client);
	CHECK(!log_file_has(log, "waits for it"));
	CHECK(log_file_has(log, "no server of that name listens"));
	setenv("BFSIM_COMCH_WAIT", "300", 1);
	client = comch_client(side, side->dev, "nobody");
	start = now_s();
	comch_forget(side);
	comch_start(client);
	comch_expect(side, all);
	CHECK(now_s() - start > 0.29);
	CHECK(log_file_has(log, "at most 300 ms"));
	comch_end(client);
	setenv("BFSIM_COMCH_WAIT", "5s", 1);
	comch_end(comch_client(side, side->dev, "nobody"));
	CHECK(log_file_has(log, "BFSIM_COMCH_WAIT=5s: not a number of milliseconds"));
}

/* Three at once: a name that no server has, a server of another function, and one that has stopped. */
static void test_client_without_a_server_gives_up_after_5_s_dpu(struct side *side)
{
	struct doca_dev_rep *other = comch_open_rep(side->dev, "b1:00.2");
	struct comch_actor *elsewhere = comch_server(side, side->dev, other, "elsewhere");
	struct comch_actor *over = comch_server(side, side->dev, side->rep, "over");

	comch_start(elsewhere);
	comch_start(over);
	comch_end(over);
	comch_forget(side);
	comch_sync_send(side, 0);
	comch_sync_recv_progressing(side);
	comch_expect(side, ""); /* no client connected */
	comch_end(elsewhere);
	MUST(doca_dev_rep_close(other));
}

static void test_client_without_a_server_gives_up_after_5_s_host(struct side *side)
{
	static const char *const names[] = { "nobody", "elsewhere", "over", "ELSEWHERE", "els" };
	struct comch_actor *clients[5];
	double start;

	comch_sync_recv(side);
	start = now_s();
	for (int i = 0; i < 5; i++) {
		clients[i] = comch_client(side, side->dev, names[i]);
		comch_start(clients[i]);
	}
	comch_forget(side);
	for (int i = 0; i < 5; i++)
		comch_until(side, comch_state(clients[i]) == DOCA_CTX_STATE_IDLE);
	CHECK(now_s() - start > 4.9);
	for (int i = 0; i < 5; i++)
		comch_end(clients[i]);
	comch_forget(side);
	clients[0] = comch_client(side, side->dev, "nobody");
	comch_start(clients[0]);
	comch_expect(side, "client: idle -> starting\nclient: starting -> stopping\nclient: stopping -> idle\n");
	comch_sync_send(side, 0);
	comch_end(clients[0]);
}

static void stop_it(struct comch_actor *actor, enum doca_ctx_states next)
{
	if (next == DOCA_CTX_STATE_RUNNING || next == DOCA_CTX_STATE_STARTING)
		EXPECT(doca_ctx_stop(actor->ctx), DOCA_ERROR_IN_PROGRESS);
}

static void test_client_can_stop_while_it_starts_host(struct side *side)
{
	struct comch_actor *client = comch_client(side, side->dev, "nobody");

	for (int i = 0; i < 3; i++) {
		comch_start(client);
		EXPECT(doca_comch_client_destroy(client->client), DOCA_ERROR_IN_USE);
		/* provokes: doca_comch_client_destroy DOCA_ERROR_IN_USE */
		EXPECT(doca_ctx_start(client->ctx), DOCA_ERROR_BAD_STATE);
		EXPECT(doca_ctx_stop(client->ctx), DOCA_ERROR_IN_PROGRESS);
		EXPECT(doca_comch_client_destroy(client->client), DOCA_ERROR_IN_USE);
		EXPECT(doca_ctx_stop(client->ctx), DOCA_ERROR_IN_PROGRESS);
		comch_expect(side,
			     "client: idle -> starting\nclient: starting -> stopping\nclient: stopping -> idle\n");
	}
	client->on.state = stop_it; /* from within the callback of the change to running */
	doca_ctx_start(client->ctx);
	comch_expect(side, "client: idle -> starting\nclient: starting -> stopping\nclient: stopping -> idle\n");
	comch_end(client);
}

static void test_client_can_stop_in_the_callback_that_says_it_runs_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side);

	comch_expect(side, "disconnected\n");
	comch_end(server);
}

static void stop_when_running(struct comch_actor *actor, enum doca_ctx_states next)
{
	if (next == DOCA_CTX_STATE_RUNNING)
		EXPECT(doca_ctx_stop(actor->ctx), DOCA_ERROR_IN_PROGRESS);
}

static void test_client_can_stop_in_the_callback_that_says_it_runs_host(struct side *side)
{
	struct comch_actor *client = comch_client(side, side->dev, COMCH_NAME);

	client->on.state = stop_when_running;
	comch_start(client);
	comch_expect(side, "client: idle -> starting\nclient: starting -> running\nclient: running -> stopping\n"
			   "client: stopping -> idle\n");
	comch_end(client);
}

static void test_client_starts_again_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side);

	comch_expect(side, "disconnected\nconnected\ndisconnected\nconnected\ndisconnected\n");
	comch_end(server);
}

static void test_client_starts_again_host(struct side *side)
{
	struct comch_actor *client = comch_call(side);

	for (int i = 0; i < 2; i++) {
		EXPECT(doca_ctx_stop(client->ctx), DOCA_ERROR_IN_PROGRESS);
		comch_expect(side, "client: running -> stopping\nclient: stopping -> idle\n");
		comch_start(client);
		comch_expect(side, "client: idle -> starting\nclient: starting -> running\n");
	}
	comch_end(client);
}

/* ---- many on one engine ---- */

static unsigned int count_of(const char *text, const char *word)
{
	unsigned int count = 0;

	for (; (text = strstr(text, word)) != NULL; text += strlen(word))
		count++;
	return count;
}

static void test_clients_share_an_engine_dpu(struct side *side)
{
	struct comch_actor *server = comch_server(side, side->dev, side->rep, COMCH_NAME);

	comch_start(server);
	comch_expect(side, "server: idle -> running\nconnected\nconnected\nconnected\n");
	/* Events of one connection are ordered, those of several are not. */
	comch_until(side, side->num_messages == 3 && count_of(side->trace, "disconnected\n") == 3);
	CHECK(strstr(side->trace, "\"from 0\"") && strstr(side->trace, "\"from 1\"") &&
	      strstr(side->trace, "\"from 2\""));
	comch_forget(side);
	comch_end(server);
}

static void test_clients_share_an_engine_host(struct side *side)
{
	static const char *const texts[] = { "from 0", "from 1", "from 2" };
	struct comch_actor *clients[3];
	struct doca_comch_connection *connections[3];

	for (int i = 0; i < 3; i++) {
		clients[i] = comch_client(side, side->dev, COMCH_NAME);
		comch_start(clients[i]);
	}
	for (int i = 0; i < 3; i++)
		comch_until(side, comch_state(clients[i]) == DOCA_CTX_STATE_RUNNING);
	comch_forget(side);
	for (int i = 0; i < 3; i++) {
		MUST(doca_comch_client_get_connection(clients[i]->client, &connections[i]));
		CHECK(i == 0 || connections[i] != connections[i - 1]);
		comch_send(clients[i], connections[i], (uint64_t)i, texts[i]);
		comch_until(side, side->num_sent == (uint32_t)i + 1);
	}
	for (int i = 0; i < 3; i++)
		comch_end(clients[i]);
}

/* ---- limits of the server ---- */

static void test_sizes_of_messages_must_match_dpu(struct side *side)
{
	struct comch_actor *server = comch_server(side, side->dev, side->rep, COMCH_NAME);

	MUST(doca_comch_server_set_max_msg_size(server->server, 100));
	comch_start(server);
	comch_expect(side, "server: idle -> running\nrefused\nrefused\nconnected\ndisconnected\n");
	comch_end(server);
}

static void test_sizes_of_messages_must_match_host(struct side *side)
{
	struct comch_actor *client = comch_client(side, side->dev, COMCH_NAME);
	static const uint32_t sizes[] = { 99, 101 };

	for (int i = 0; i < 2; i++) {
		MUST(doca_comch_client_set_max_msg_size(client->client, sizes[i]));
		comch_start(client);
		comch_expect(side,
			     "client: idle -> starting\nclient: starting -> stopping\nclient: stopping -> idle\n");
	}
	MUST(doca_comch_client_set_max_msg_size(client->client, 100));
	comch_start(client);
	comch_expect(side, "client: idle -> starting\nclient: starting -> running\n");
	comch_end(client);
}

static void test_queues_need_not_match_dpu(struct side *side)
{
	struct comch_actor *server = comch_server(side, side->dev, side->rep, COMCH_NAME);

	MUST(doca_comch_server_set_recv_queue_size(server->server, 1));
	comch_start(server);
	comch_expect(side, "server: idle -> running\nconnected\nreceived \"a\"\nreceived \"b\"\nreceived \"c\"\n"
			   "disconnected\n");
	comch_end(server);
}

static void test_queues_need_not_match_host(struct side *side)
{
	struct comch_actor *client = comch_client(side, side->dev, COMCH_NAME);

	MUST(doca_comch_client_set_recv_queue_size(client->client, 8192));
	comch_start(client);
	comch_expect(side, "client: idle -> starting\nclient: starting -> running\n");
	MUST(doca_comch_client_get_connection(client->client, &side->connection));
	comch_send(client, side->connection, 1, "a");
	comch_send(client, side->connection, 2, "b");
	comch_send(client, side->connection, 3, "c");
	comch_expect(side, "sent 1\nsent 2\nsent 3\n");
	comch_end(client);
}

/* ---- configuration ---- */

static void test_client_is_made_of_a_device_and_a_name_host(struct side *side)
{
	struct doca_dev *small = comch_open("b1:00.1");
	struct doca_comch_client *client = NULL;
	char name[201];

	/* provokes: doca_comch_client_create DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_client_create(NULL, "x", &client), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_create((struct doca_dev *)side->pe, "x", &client), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_create(side->dev, NULL, &client), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_create(side->dev, "", &client), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_create(side->dev, "x", NULL), DOCA_ERROR_INVALID_VALUE);
	memset(name, 'n', 200); /* the limits are 120 and 8, with the zero byte */
	for (int len = 200; len > 119; len--) {
		name[len] = '\0';
		EXPECT(doca_comch_client_create(side->dev, name, &client), DOCA_ERROR_INVALID_VALUE);
	}
	EXPECT(doca_comch_client_create(small, "12345678", &client), DOCA_ERROR_INVALID_VALUE);
	CHECK(!client);
	name[119] = '\0';
	MUST(doca_comch_client_create(side->dev, name, &client));
	EXPECT(doca_dev_close(side->dev), DOCA_ERROR_IN_USE);
	MUST(doca_comch_client_destroy(client));
	MUST(doca_comch_client_create(small, "1234567", &client));
	MUST(doca_comch_client_destroy(client));
	/* provokes: doca_comch_client_destroy DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_client_destroy(client), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_destroy((struct doca_comch_client *)side->dev), DOCA_ERROR_INVALID_VALUE);
	CHECK(!doca_comch_client_as_ctx(client) && !doca_comch_client_as_ctx(NULL));
	MUST(doca_dev_close(small));
}

static void test_client_is_made_of_a_device_and_a_name_dpu(struct side *side)
{
	struct doca_comch_client *client;

	EXPECT(doca_comch_client_create(side->dev, "x", &client), DOCA_ERROR_NOT_PERMITTED); /* the host's only */
}

static void some_send(struct doca_comch_task_send *task, union doca_data a, union doca_data b)
{
}

static void some_receive(struct doca_comch_event_msg_recv *event, uint8_t *data, uint32_t len,
			 struct doca_comch_connection *connection)
{
}

static void some_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection,
			  uint32_t id)
{
}

static void test_client_needs_callbacks_to_start_host(struct side *side)
{
	struct doca_comch_client *client;
	struct doca_ctx *ctx;

	MUST(doca_comch_client_create(side->dev, "nobody", &client));
	ctx = doca_comch_client_as_ctx(client);
	EXPECT(doca_ctx_start(ctx), DOCA_ERROR_NOT_CONNECTED);
	MUST(doca_pe_connect_ctx(side->pe, ctx));
	EXPECT(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE);
	MUST(doca_comch_client_task_send_set_conf(client, some_send, some_send, 1));
	EXPECT(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE);
	MUST(doca_comch_client_event_msg_recv_register(client, some_receive));
	EXPECT(doca_ctx_start(ctx), DOCA_ERROR_IN_PROGRESS); /* consumers' events are not needed */
	EXPECT(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
	while (doca_comch_client_destroy(client) != DOCA_SUCCESS)
		doca_pe_progress(side->pe);
}

static void test_client_takes_values_up_to_the_devices_limits_host(struct side *side)
{
	struct comch_actor *actor = comch_client(side, side->dev, "nobody");
	struct doca_comch_client *client = actor->client;
	struct doca_dev *dev;
	uint32_t value;

	/* provokes: doca_comch_client_set_max_msg_size DOCA_ERROR_INVALID_VALUE */
	MUST(doca_comch_client_get_max_msg_size(client, &value));
	CHECK(value == 4080);
	EXPECT(doca_comch_client_set_max_msg_size(client, 0), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_set_max_msg_size(client, 4081), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_set_max_msg_size(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_comch_client_set_max_msg_size(client, 1));
	MUST(doca_comch_client_get_max_msg_size(client, &value));
	CHECK(value == 1);
	/* provokes: doca_comch_client_set_recv_queue_size DOCA_ERROR_INVALID_VALUE */
	MUST(doca_comch_client_get_recv_queue_size(client, &value));
	CHECK(value == 32);
	EXPECT(doca_comch_client_set_recv_queue_size(client, 0), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_set_recv_queue_size(client, 8193), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_set_recv_queue_size(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_comch_client_set_recv_queue_size(client, 8192));
	MUST(doca_comch_client_get_recv_queue_size(client, &value));
	CHECK(value == 8192);
	/* provokes: doca_comch_client_task_send_set_conf DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_client_task_send_set_conf(client, some_send, some_send, 0), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_task_send_set_conf(client, some_send, some_send, 8193), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_task_send_set_conf(client, NULL, some_send, 1), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_task_send_set_conf(client, some_send, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_task_send_set_conf(NULL, some_send, some_send, 1), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_comch_client_task_send_set_conf(client, some_send, some_send, 8192));
	/* provokes: doca_comch_client_event_msg_recv_register DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_client_event_msg_recv_register(client, NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_event_msg_recv_register(NULL, some_receive), DOCA_ERROR_INVALID_VALUE);
	/* provokes: doca_comch_client_event_consumer_register DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_client_event_consumer_register(client, NULL, some_consumer), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_event_consumer_register(client, some_consumer, NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_event_consumer_register(NULL, some_consumer, some_consumer), DOCA_ERROR_INVALID_VALUE);
	/* provokes: doca_comch_client_get_device DOCA_ERROR_INVALID_VALUE */
	MUST(doca_comch_client_get_device(client, &dev));
	CHECK(dev == side->dev);
	EXPECT(doca_comch_client_get_device(client, NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_get_device(NULL, &dev), DOCA_ERROR_INVALID_VALUE);
	/* provokes: doca_comch_client_get_max_msg_size DOCA_ERROR_INVALID_VALUE */
	/* provokes: doca_comch_client_get_recv_queue_size DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_client_get_max_msg_size(client, NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_get_max_msg_size(NULL, &value), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_get_recv_queue_size(client, NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_get_recv_queue_size(NULL, &value), DOCA_ERROR_INVALID_VALUE);
	comch_end(actor);
}

static void expect_settled(struct doca_comch_client *client)
{
	/* provokes: doca_comch_client_set_max_msg_size DOCA_ERROR_BAD_STATE */
	EXPECT(doca_comch_client_set_max_msg_size(client, 1), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_comch_client_set_recv_queue_size DOCA_ERROR_BAD_STATE */
	EXPECT(doca_comch_client_set_recv_queue_size(client, 1), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_comch_client_task_send_set_conf DOCA_ERROR_BAD_STATE */
	EXPECT(doca_comch_client_task_send_set_conf(client, some_send, some_send, 1), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_comch_client_event_msg_recv_register DOCA_ERROR_BAD_STATE */
	EXPECT(doca_comch_client_event_msg_recv_register(client, some_receive), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_comch_client_event_consumer_register DOCA_ERROR_BAD_STATE */
	EXPECT(doca_comch_client_event_consumer_register(client, some_consumer, some_consumer), DOCA_ERROR_BAD_STATE);
}

static void expect_settled_in(struct comch_actor *actor, enum doca_ctx_states next)
{
	if (next != DOCA_CTX_STATE_IDLE)
		expect_settled(actor->client);
}

static void test_client_is_configured_while_idle_only_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side);

	comch_expect(side, "disconnected\n");
	comch_end(server);
}

static void test_client_is_configured_while_idle_only_host(struct side *side)
{
	struct comch_actor *client = comch_client(side, side->dev, COMCH_NAME);
	struct doca_comch_connection *connection;

	/* provokes: doca_comch_client_get_connection DOCA_ERROR_BAD_STATE */
	EXPECT(doca_comch_client_get_connection(client->client, &connection), DOCA_ERROR_BAD_STATE);
	client->on.state = expect_settled_in;
	comch_start(client);
	EXPECT(doca_comch_client_get_connection(client->client, &connection), DOCA_ERROR_BAD_STATE); /* starting */
	comch_until(side, comch_state(client) == DOCA_CTX_STATE_RUNNING);
	MUST(doca_comch_client_get_connection(client->client, &connection));
	/* provokes: doca_comch_client_get_connection DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_client_get_connection(client->client, NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_get_connection(NULL, &connection), DOCA_ERROR_INVALID_VALUE);
	comch_expect(side, "client: idle -> starting\nclient: starting -> running\n");
	EXPECT(doca_ctx_stop(client->ctx), DOCA_ERROR_IN_PROGRESS);
	comch_expect(side, "client: running -> stopping\nclient: stopping -> idle\n");
	MUST(doca_comch_client_set_max_msg_size(client->client, 1));
	comch_end(client);
}

static const struct CMUnitTest client_tests[] = {
	COMCH_TEST(test_client_runs_when_the_server_has_accepted_it),
	COMCH_TEST(test_client_may_start_before_the_server),
	COMCH_HOST_TEST(test_client_waits_as_long_as_told),
	COMCH_TEST(test_client_without_a_server_gives_up_after_5_s),
	COMCH_HOST_TEST(test_client_can_stop_while_it_starts),
	COMCH_TEST(test_client_can_stop_in_the_callback_that_says_it_runs),
	COMCH_TEST(test_client_starts_again),
	COMCH_TEST(test_clients_share_an_engine),
	COMCH_TEST(test_sizes_of_messages_must_match),
	COMCH_TEST(test_queues_need_not_match),
	COMCH_TEST(test_client_is_made_of_a_device_and_a_name),
	COMCH_HOST_TEST(test_client_needs_callbacks_to_start),
	COMCH_HOST_TEST(test_client_takes_values_up_to_the_devices_limits),
	COMCH_TEST(test_client_is_configured_while_idle_only),
};

int main(void)
{
	return comch_run(client_tests);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections: their owners, counters, stale handles; and calls from within callbacks. */
#include "comch_util.h"

/* ---- owner ---- */

static void expect_user_data(const struct doca_comch_connection *connection, uint64_t value)
{
	CHECK(doca_comch_connection_get_user_data(connection).u64 == value);
}

static void test_connection_knows_its_context_and_user_data_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side);
	struct doca_comch_connection *first = side->connection, *second;

	CHECK(doca_comch_server_get_server_ctx(first) == server->server);
	CHECK(!doca_comch_client_get_client_ctx(first));
	expect_user_data(first, 0);
	comch_sync_send(side, 0);
	comch_expect(side, "connected\n");
	second = side->connection;
	CHECK(first != second);
	MUST(doca_comch_connection_set_user_data(first, (union doca_data){ .u64 = 1 }));
	MUST(doca_comch_connection_set_user_data(second, (union doca_data){ .u64 = 2 }));
	expect_user_data(first, 1);
	comch_sync_send(side, 0);
	comch_expect(side, "received \"second\"\ndisconnected\n");
	CHECK(side->connection == second);
	EXPECT(doca_comch_connection_set_user_data(second, (union doca_data){ .u64 = 3 }), DOCA_ERROR_INVALID_VALUE);
	CHECK(!doca_comch_server_get_server_ctx(second) && !doca_comch_client_get_client_ctx(second));
	expect_user_data(second, 0); /* it is gone */
	expect_user_data(first, 1);
	comch_sync_send(side, 0);
	comch_expect(side, "disconnected\n");
	comch_end(server);
	expect_user_data(NULL, 0);
	EXPECT(doca_comch_connection_set_user_data(NULL, (union doca_data){ .u64 = 3 }), DOCA_ERROR_INVALID_VALUE);
	CHECK(!doca_comch_server_get_server_ctx(NULL) && !doca_comch_client_get_client_ctx(NULL));
}

static void test_connection_knows_its_context_and_user_data_host(struct side *side)
{
	struct comch_actor *first = comch_call(side), *second;
	struct doca_comch_connection *connection;

	CHECK(doca_comch_client_get_client_ctx(side->connection) == first->client);
	CHECK(!doca_comch_server_get_server_ctx(side->connection));
	comch_sync_recv(side);
	second = comch_call(side);
	MUST(doca_comch_client_get_connection(second->client, &connection));
	CHECK(connection == side->connection);
	comch_sync_recv(side);
	comch_send(second, connection, 1, "second");
	comch_expect(side, "sent 1\n");
	comch_end(second);
	comch_sync_recv(side);
	comch_end(first);
}

/* ---- counters ---- */

static void expect_counters(const struct doca_comch_connection *connection, uint64_t sent, uint64_t sent_bytes,
			    uint64_t received, uint64_t received_bytes)
{
	const uint64_t expected[] = { sent, sent_bytes, received, received_bytes };

	for (int i = 0; i < 4; i++) {
		uint64_t value = UINT64_MAX;

		MUST(doca_comch_connection_get_counter(connection, (enum doca_comch_counter)(i + 1), &value));
		CHECK(value == expected[i]);
	}
}

static void test_counters_are_those_of_the_last_update_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side);
	struct doca_comch_connection *connection = side->connection;
	uint64_t value = 77;

	comch_sync_send(side, 0);
	comch_expect(side, "received \"12345\"\nreceived \"678\"\n");
	expect_counters(connection, 0, 0, 0, 0);
	MUST(doca_comch_connection_update_info(connection));
	expect_counters(connection, 0, 0, 2, 8);
	comch_send(server, connection, 1, "abcd");
	comch_expect(side, "sent 1\n");
	expect_counters(connection, 0, 0, 2, 8);
	MUST(doca_comch_connection_update_info(connection));
	expect_counters(connection, 1, 4, 2, 8);
	/* provokes: doca_comch_connection_get_counter DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_connection_get_counter(connection, (enum doca_comch_counter)0, &value),
	       DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_connection_get_counter(connection, (enum doca_comch_counter)5, &value),
	       DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_connection_get_counter(NULL, DOCA_COMCH_COUNTER_SENT_BYTES, &value),
	       DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_connection_get_counter(connection, DOCA_COMCH_COUNTER_SENT_BYTES, NULL),
	       DOCA_ERROR_INVALID_VALUE);
	CHECK(value == 77);
	comch_expect(side, "disconnected\n");
	/* provokes: doca_comch_connection_update_info DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_connection_update_info(connection), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_connection_update_info(NULL), DOCA_ERROR_INVALID_VALUE);
	comch_end(server);
}

/* unreachable: doca_comch_connection_update_info DOCA_ERROR_CONNECTION_INPROGRESS: a client has its connection once it runs */
static void update_in(struct comch_actor *actor, enum doca_ctx_states state)
{
	struct doca_comch_connection *connection;

	if (state == DOCA_CTX_STATE_IDLE || state == DOCA_CTX_STATE_STARTING)
		return;
	MUST(doca_comch_client_get_connection(actor->client, &connection));
	if (state == DOCA_CTX_STATE_RUNNING)
		MUST(doca_comch_connection_update_info(connection));
	else /* provokes: doca_comch_connection_update_info DOCA_ERROR_CONNECTION_ABORTED */
		EXPECT(doca_comch_connection_update_info(connection), DOCA_ERROR_CONNECTION_ABORTED);
	if (state == DOCA_CTX_STATE_STOPPING)
		expect_counters(connection, 2, 8, 1, 4); /* they stay */
}

static void test_counters_are_those_of_the_last_update_host(struct side *side)
{
	struct comch_actor *client = comch_client(side, side->dev, COMCH_NAME);

	client->on.state = update_in;
	comch_start(client);
	comch_expect(side, "client: idle -> starting\nclient: starting -> running\n");
	MUST(doca_comch_client_get_connection(client->client, &side->connection));
	comch_sync_recv(side);
	comch_send(client, side->connection, 1, "12345");
	comch_send(client, side->connection, 2, "678");
	comch_expect(side, "sent 1\nsent 2\nreceived \"abcd\"\n");
	comch_end(client);
}

/* ---- calls from within callbacks ---- */

static void answer(struct comch_actor *actor, struct doca_comch_connection *connection)
{
	comch_send(actor, connection, 9, "answer");
}

/* The library calls a callback that progresses for the next message meanwhile. */
static void progress_in_it(struct comch_actor *actor, struct doca_comch_connection *connection)
{
	uint32_t so_far = actor->side->num_messages;

	if (so_far < 3)
		comch_until(actor->side, actor->side->num_messages > so_far);
	comch_note(actor->side, "back from %u\n", so_far);
}

static void test_receive_callback_may_send_and_progress_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side);

	server->on.message = progress_in_it;
	comch_sync_send(side, 0);
	comch_expect(side, "received \"1\"\nreceived \"2\"\nreceived \"3\"\nback from 3\nback from 2\nback from 1\n");
	server->on.message = answer;
	comch_sync_send(side, 0);
	comch_expect(side, "received \"4\"\nsent 9\ndisconnected\n");
	comch_end(server);
}

static void test_receive_callback_may_send_and_progress_host(struct side *side)
{
	struct comch_actor *client = comch_call(side);

	comch_sync_recv(side);
	comch_send(client, side->connection, 1, "1");
	comch_send(client, side->connection, 2, "2");
	comch_send(client, side->connection, 3, "3");
	comch_expect(side, "sent 1\nsent 2\nsent 3\n");
	comch_sync_recv(side);
	comch_send(client, side->connection, 4, "4");
	comch_expect(side, "sent 4\nreceived \"answer\"\n");
	comch_end(client);
}

static void disconnect_it(struct comch_actor *server, struct doca_comch_connection *connection)
{
	comch_send(server, connection, 9, "answer");
	MUST(doca_comch_server_disconnect(server->server, connection));
	EXPECT(doca_comch_connection_update_info(connection), DOCA_ERROR_INVALID_VALUE);
}

static void test_receive_callback_may_disconnect_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side);

	server->on.message = disconnect_it;
	comch_sync_send(side, 0);
	comch_expect(side, "received \"1\"\nsent 9\n"); /* and not the messages sent later */
	for (int i = 0; i < 1000; i++)
		CHECK(!doca_pe_progress(side->pe));
	comch_end(server);
}

static void test_receive_callback_may_disconnect_host(struct side *side)
{
	struct comch_actor *client = comch_call(side);

	comch_send(client, side->connection, 1, "1");
	comch_send(client, side->connection, 2, "2");
	comch_expect(side, "sent 1\nsent 2\n");
	comch_sync_recv(side);
	comch_expect(side, "received \"answer\"\nclient: running -> stopping\nclient: stopping -> idle\n");
	comch_end(client);
}

static void stop_in_it(struct comch_actor *actor, struct doca_comch_connection *connection)
{
	EXPECT(doca_ctx_stop(actor->ctx), DOCA_ERROR_IN_PROGRESS);
}

/* Stop, become idle and start anew with larger messages, all in the callback of a small one. */
static void restart_in_it(struct comch_actor *client, struct doca_comch_connection *connection)
{
	stop_in_it(client, connection);
	comch_until(client->side, comch_state(client) == DOCA_CTX_STATE_IDLE);
	MUST(doca_comch_client_set_max_msg_size(client->client, 4000));
	client->on.message = NULL;
	comch_sync_recv(client->side); /* a server that has such messages is there */
	comch_start(client);
}

static void test_receive_callback_may_stop_and_restart_dpu(struct side *side)
{
	struct comch_actor *server = comch_server(side, side->dev, side->rep, COMCH_NAME);
	static char large[4000];

	memset(large, 'x', sizeof(large));
	MUST(doca_comch_server_set_max_msg_size(server->server, 8));
	comch_start(server);
	comch_expect(side, "server: idle -> running\nconnected\n");
	comch_send(server, side->connection, 1, "restart");
	comch_expect(side, "sent 1\ndisconnected\n");
	comch_end(server);
	comch_forget(side);
	server = comch_server(side, side->dev, side->rep, COMCH_NAME);
	MUST(doca_comch_server_set_max_msg_size(server->server, 4000));
	comch_start(server);
	comch_sync_send(side, 0);
	comch_expect(side, "server: idle -> running\nconnected\n");
	server->on.message = stop_in_it;
	MUST(doca_task_submit(
		doca_comch_task_send_as_task(comch_task(server, side->connection, 2, large, sizeof(large)))));
	comch_expect(side, "sent 2\nreceived \"stop\"\nserver: running -> stopping\nserver: stopping -> idle\n");
	comch_end(server);
}

static void test_receive_callback_may_stop_and_restart_host(struct side *side)
{
	struct comch_actor *client = comch_client(side, side->dev, COMCH_NAME);

	MUST(doca_comch_client_set_max_msg_size(client->client, 8));
	client->on.message = restart_in_it;
	comch_start(client);
	comch_until(side, side->num_messages == 2);
	CHECK(side->message_len == 4000);
	comch_forget(side);
	comch_send(client, side->connection, 3, "stop");
	comch_expect(side, "sent 3\nclient: running -> stopping\nclient: stopping -> idle\n");
	comch_end(client);
}

static void stop_when_status_changes(struct comch_actor *server, struct doca_comch_connection *connection,
				     bool connected)
{
	EXPECT(doca_ctx_stop(server->ctx), DOCA_ERROR_IN_PROGRESS);
	EXPECT(doca_comch_server_disconnect(server->server, connection), DOCA_ERROR_INVALID_VALUE); /* closed already */
}

static void stop_when_refused(struct comch_actor *server, struct doca_comch_connection *connection, bool connected)
{
	CHECK(!connected);
	EXPECT(doca_comch_server_disconnect(server->server, connection), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_connection_update_info(connection), DOCA_ERROR_CONNECTION_ABORTED);
	EXPECT(doca_ctx_stop(server->ctx), DOCA_ERROR_IN_PROGRESS);
	comch_until(server->side, comch_state(server) == DOCA_CTX_STATE_IDLE);
}

static void test_status_callbacks_may_stop_dpu(struct side *side)
{
	struct comch_actor *server = comch_server(side, side->dev, side->rep, COMCH_NAME);

	server->on.status = stop_when_status_changes;
	comch_start(server);
	comch_expect(side,
		     "server: idle -> running\nconnected\nserver: running -> stopping\nserver: stopping -> idle\n");
	server->on.status = NULL;
	comch_start(server);
	comch_sync_send(side, 0);
	comch_expect(side, "server: idle -> running\nconnected\n");
	server->on.status = stop_when_status_changes;
	comch_sync_send(side, 0);
	comch_expect(side, "disconnected\nserver: running -> stopping\nserver: stopping -> idle\n");
	MUST(doca_comch_server_set_max_msg_size(server->server, 77));
	server->on.status = stop_when_refused;
	comch_start(server);
	comch_sync_send(side, 0);
	comch_expect(side, "server: idle -> running\nrefused\nserver: running -> stopping\nserver: stopping -> idle\n");
	comch_end(server);
}

static void test_status_callbacks_may_stop_host(struct side *side)
{
	struct comch_actor *client = comch_client(side, side->dev, COMCH_NAME);

	comch_start(client); /* runs for a moment */
	comch_until(side, comch_state(client) == DOCA_CTX_STATE_IDLE);
	comch_sync_recv(side);
	comch_start(client);
	comch_until(side, comch_state(client) == DOCA_CTX_STATE_RUNNING);
	comch_sync_recv(side);
	EXPECT(doca_ctx_stop(client->ctx), DOCA_ERROR_IN_PROGRESS);
	comch_until(side, comch_state(client) == DOCA_CTX_STATE_IDLE);
	comch_sync_recv(side);
	comch_start(client); /* with another maximum size than the server */
	comch_until(side, comch_state(client) == DOCA_CTX_STATE_IDLE);
	comch_end(client);
}

static const struct CMUnitTest connection_tests[] = {
	COMCH_TEST(test_connection_knows_its_context_and_user_data),
	COMCH_TEST(test_counters_are_those_of_the_last_update),
	COMCH_TEST(test_receive_callback_may_send_and_progress),
	COMCH_TEST(test_receive_callback_may_disconnect),
	COMCH_TEST(test_receive_callback_may_stop_and_restart),
	COMCH_TEST(test_status_callbacks_may_stop),
};

int main(void)
{
	return comch_run(connection_tests);
}

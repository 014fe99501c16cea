/* SPDX-License-Identifier: BSD-3-Clause */
/* Control messages: sizes, order, receive queues that are full, tasks. */
#include "comch_util.h"
#include "emulated.h"
#include "under_valgrind.h"

#include <poll.h>
#include <sys/mman.h>

static struct doca_comch_connection *connections[2]; /* in the order of their clients */
static uint32_t num_connections;

static void disconnected_in_the_end(struct comch_actor *server)
{
	comch_expect(server->side, "disconnected\n");
	comch_end(server);
}

/* ---- sizes ---- */

static const uint32_t sizes[] = { 1, 2, 7, 8, 9, 63, 64, 65, 1023, 4079, 4080 };
#define NUM_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static uint8_t byte_of(uint32_t size, uint32_t i)
{
	return (uint8_t)(size * 7 + i * 13 + (i >> 8));
}

static void check_pattern(struct comch_actor *actor, struct doca_comch_connection *connection)
{
	struct side *side = actor->side;

	CHECK(side->message_len == sizes[side->num_messages - 1]);
	for (uint32_t i = 0; i < side->message_len; i++)
		CHECK(side->message[i] == byte_of(side->message_len, i));
}

static void exchange_sizes(struct side *side, struct comch_actor *actor)
{
	static uint8_t messages[NUM_SIZES][4081];
	struct doca_comch_task_send *task;

	side->is_quiet = true;
	actor->on.message = check_pattern;
	for (uint32_t m = 0; m < NUM_SIZES; m++) {
		for (uint32_t i = 0; i < sizes[m]; i++)
			messages[m][i] = byte_of(sizes[m], i);
		task = comch_task(actor, side->connection, m, messages[m], sizes[m]);
		MUST(doca_task_submit(doca_comch_task_send_as_task(task)));
	}
	comch_until(side, side->num_messages == NUM_SIZES && side->num_sent == NUM_SIZES);
	comch_expect(side, "");
}

static void test_messages_of_all_sizes_arrive_both_ways_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side);
	struct doca_comch_task_send *task;

	/* provokes: doca_comch_server_task_send_alloc_init DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_server_task_send_alloc_init(server->server, side->connection, "x", 4081, &task),
	       DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_task_send_alloc_init(server->server, side->connection, "x", 0, &task),
	       DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_task_send_alloc_init(server->server, side->connection, NULL, 1, &task),
	       DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_task_send_alloc_init(server->server, side->connection, "x", 1, NULL),
	       DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_task_send_alloc_init(server->server, NULL, "x", 1, &task), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_server_task_send_alloc_init(NULL, side->connection, "x", 1, &task), DOCA_ERROR_INVALID_VALUE);
	exchange_sizes(side, server);
	comch_sync_send(side, 0);
	disconnected_in_the_end(server);
}

static void test_messages_of_all_sizes_arrive_both_ways_host(struct side *side)
{
	struct comch_actor *client = comch_call(side), *idle = comch_client(side, side->dev, "other");
	struct doca_comch_task_send *task;

	/* provokes: doca_comch_client_task_send_alloc_init DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comch_client_task_send_alloc_init(client->client, side->connection, "x", 4081, &task),
	       DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_task_send_alloc_init(client->client, side->connection, "x", UINT32_MAX, &task),
	       DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_task_send_alloc_init(client->client, side->connection, "x", 0, &task),
	       DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_task_send_alloc_init(client->client, side->connection, NULL, 1, &task),
	       DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_task_send_alloc_init(idle->client, side->connection, "x", 1, &task),
	       DOCA_ERROR_BAD_STATE);
	EXPECT(doca_comch_client_task_send_alloc_init(client->client, NULL, "x", 1, &task), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_task_send_alloc_init(NULL, side->connection, "x", 1, &task), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comch_client_task_send_alloc_init(client->client, side->connection, "x", 1, NULL),
	       DOCA_ERROR_INVALID_VALUE);
	comch_end(idle);
	exchange_sizes(side, client);
	comch_sync_recv_progressing(side);
	comch_end(client);
}

/* ---- a message whose memory is gone ---- */

/* Nothing of it arrives, and the connection goes on. */
static void test_message_that_was_unmapped_fails_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side);

	comch_expect(side, "received \"before\"\nreceived \"behind\"\n");
	comch_sync_send(side, 0);
	disconnected_in_the_end(server);
}

static void test_message_that_was_unmapped_fails_host(struct side *side)
{
	struct comch_actor *client = comch_call(side);
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct doca_comch_task_send *task;

	CHECK(page != MAP_FAILED);
	memset(page, 'x', 100);
	task = comch_task(client, side->connection, 2, page, 100);
	CHECK(munmap(page, 4096) == 0);
	comch_send(client, side->connection, 1, "before");
	MUST(doca_task_submit(doca_comch_task_send_as_task(task)));
	comch_send(client, side->connection, 3, "behind");
	comch_expect(side, "sent 1\nsend 2 failed: DOCA_ERROR_IO_FAILED\nsent 3\n");
	comch_sync_recv_progressing(side);
	comch_end(client);
}

/* ---- a receiver that does not progress ---- */

/* Its queue takes 4: those complete, the others wait; all arrive in order, also if the program reuses its memory. */
static void test_sends_wait_for_room_in_the_receive_queue_dpu(struct side *side)
{
	struct comch_actor *server = comch_server(side, side->dev, side->rep, COMCH_NAME);

	MUST(doca_comch_server_set_recv_queue_size(server->server, 4));
	comch_start(server);
	comch_expect(side, "server: idle -> running\nconnected\n");
	comch_meet(side); /* no progress here until the other side has filled the queue */
	comch_expect(side, "received \"a\"\nreceived \"b\"\nreceived \"c\"\nreceived \"d\"\nreceived \"e\"\n"
			   "received \"f\"\nreceived \"g\"\n");
	comch_sync_send(side, 0);
	disconnected_in_the_end(server);
}

static void test_sends_wait_for_room_in_the_receive_queue_host(struct side *side)
{
	struct comch_actor *client = comch_call(side);
	char texts[] = "a\0b\0c\0d\0e\0f\0g";
	size_t in_flight;

	for (uint64_t i = 0; i < 7; i++)
		comch_send(client, side->connection, i, &texts[i * 2]);
	memset(texts, 'x', sizeof(texts));
	comch_expect(side, "sent 0\nsent 1\nsent 2\nsent 3\n");
	MUST(doca_ctx_get_num_inflight_tasks(client->ctx, &in_flight));
	CHECK(in_flight == 3);
	for (int i = 0; i < 1000; i++)
		CHECK(!doca_pe_progress(side->pe));
	comch_meet(side);
	comch_expect(side, "sent 4\nsent 5\nsent 6\n");
	comch_sync_recv_progressing(side);
	comch_end(client);
}

static void test_waiting_sends_fail_when_their_own_context_stops_dpu(struct side *side)
{
	struct comch_actor *server = comch_server(side, side->dev, side->rep, COMCH_NAME);

	MUST(doca_comch_server_set_recv_queue_size(server->server, 1));
	comch_start(server);
	comch_expect(side, "server: idle -> running\nconnected\n");
	comch_meet(side);
	comch_expect(side, "received \"a\"\ndisconnected\n"); /* what was sent arrives before the end */
	comch_end(server);
}

static void test_waiting_sends_fail_when_their_own_context_stops_host(struct side *side)
{
	struct comch_actor *client = comch_call(side);

	comch_send(client, side->connection, 1, "a");
	comch_send(client, side->connection, 2, "b");
	comch_send(client, side->connection, 3, "c");
	EXPECT(doca_ctx_stop(client->ctx), DOCA_ERROR_IN_PROGRESS);
	comch_expect(side, "client: running -> stopping\nsent 1\nsend 2 failed: DOCA_ERROR_IO_FAILED\n"
			   "send 3 failed: DOCA_ERROR_IO_FAILED\nclient: stopping -> idle\n");
	comch_meet(side);
	comch_end(client);
}

static void test_waiting_sends_fail_when_the_other_end_goes_dpu(struct side *side)
{
	struct comch_actor *server = comch_server(side, side->dev, side->rep, COMCH_NAME);

	MUST(doca_comch_server_set_recv_queue_size(server->server, 1));
	comch_start(server);
	comch_expect(side, "server: idle -> running\nconnected\n");
	comch_meet(side);
	MUST(doca_comch_server_disconnect(server->server, side->connection));
	comch_end(server);
}

static void test_waiting_sends_fail_when_the_other_end_goes_host(struct side *side)
{
	struct comch_actor *client = comch_call(side);

	comch_send(client, side->connection, 1, "a");
	comch_send(client, side->connection, 2, "b");
	comch_send(client, side->connection, 3, "c");
	comch_expect(side, "sent 1\n");
	comch_meet(side);
	comch_expect(side, "send 2 failed: DOCA_ERROR_CONNECTION_RESET\nsend 3 failed: DOCA_ERROR_CONNECTION_RESET\n"
			   "client: running -> stopping\nclient: stopping -> idle\n");
	comch_end(client);
}

static void keep_connection(struct comch_actor *server, struct doca_comch_connection *connection, bool connected)
{
	(void)server;
	if (connected)
		connections[num_connections++] = connection;
}

/* In one step the server completes a waiting send on one connection and finds a message on the other: the completion comes
 * first if the server looks at its connection first. Each connection is once the one that waits, as the order is the server's. */
static void test_send_that_a_step_completes_is_reported_first_dpu(struct side *side)
{
	struct comch_actor *server = comch_server(side, side->dev, side->rep, COMCH_NAME);
	unsigned int num_first = 0;

	server->on.status = keep_connection;
	comch_start(server);
	comch_expect(side, "server: idle -> running\nconnected\nconnected\n");
	for (uint32_t turn = 0; turn < 2; turn++) {
		comch_meet(side); /* the clients run, and have got all before */
		comch_send(server, connections[turn], 1, "a");
		comch_send(server, connections[turn], 2, "b");
		comch_expect(side, "sent 1\n");
		comch_meet(side); /* the queue is full */
		comch_meet(side); /* it has room, and a message is here */
		comch_until(side, side->num_sent + side->num_messages == 3 * turn + 2);
		num_first += side->num_sent == 2 * turn + 2;
		comch_until(side, side->num_sent + side->num_messages == 3 * turn + 3);
		comch_forget(side);
	}
	CHECK(num_first > 0);
	server->on.status = NULL;
	comch_sync_send(side, 0);
	comch_expect(side, "disconnected\ndisconnected\n");
	comch_end(server);
}

static void test_send_that_a_step_completes_is_reported_first_host(struct side *side)
{
	struct comch_actor *clients[2];

	for (int i = 0; i < 2; i++) {
		clients[i] = comch_client(side, side->dev, COMCH_NAME);
		MUST(doca_comch_client_set_recv_queue_size(clients[i]->client, 1));
		comch_start(clients[i]);
		comch_until(side, comch_state(clients[i]) == DOCA_CTX_STATE_RUNNING);
		MUST(doca_comch_client_get_connection(clients[i]->client, &connections[i]));
	}
	for (uint32_t turn = 0; turn < 2; turn++) {
		comch_meet(side);
		comch_meet(side);
		comch_send(clients[1 - turn], connections[1 - turn], 3, "c");
		comch_until(side, side->num_messages == 2 * turn + 1 && side->num_sent == turn + 1);
		comch_meet(side);
		comch_until(side, side->num_messages == 2 * turn + 2);
	}
	comch_sync_recv_progressing(side);
	for (int i = 0; i < 2; i++)
		comch_end(clients[i]);
}

/* ---- many, both ways, from within callbacks ---- */

static uint32_t next_sent, num_to_send;

static void send_number(struct comch_actor *actor, struct doca_comch_connection *connection)
{
	static uint32_t numbers[COMCH_TASKS];
	uint32_t *number = &numbers[next_sent % COMCH_TASKS];
	struct doca_comch_task_send *task = comch_task(actor, connection, next_sent, number, sizeof(*number));

	*number = next_sent++;
	MUST(doca_task_submit(doca_comch_task_send_as_task(task)));
}

static void check_number(struct comch_actor *actor, struct doca_comch_connection *connection)
{
	uint32_t number;

	memcpy(&number, actor->side->message, sizeof(number));
	CHECK(number == actor->side->num_messages - 1);
}

static void send_next(struct comch_actor *actor, struct doca_task *task)
{
	CHECK(doca_task_get_status(task) == DOCA_SUCCESS);
	doca_task_free(task);
	if (next_sent < num_to_send)
		send_number(actor, actor->side->connection);
}

static void storm(struct side *side, struct comch_actor *actor)
{
	num_to_send =
		RUNNING_ON_VALGRIND || is_emulated() ? 2000 : 20000; /* a message takes many times as long there */
	side->is_quiet = true;
	actor->on.message = check_number;
	actor->on.task = send_next;
	for (int i = 0; i < COMCH_TASKS; i++)
		send_number(actor, side->connection);
	comch_until(side, side->num_messages == num_to_send && side->num_sent == num_to_send);
}

static void test_many_messages_pass_each_other_in_order_dpu(struct side *side)
{
	struct comch_actor *server = comch_server(side, side->dev, side->rep, COMCH_NAME);

	MUST(doca_comch_server_set_recv_queue_size(server->server, 5));
	comch_start(server);
	comch_expect(side, "server: idle -> running\nconnected\n");
	storm(side, server);
	comch_sync_send(side, 0);
	disconnected_in_the_end(server);
}

static void test_many_messages_pass_each_other_in_order_host(struct side *side)
{
	struct comch_actor *client = comch_call(side);

	storm(side, client);
	comch_sync_recv_progressing(side);
	comch_end(client);
}

/* ---- an end that connects, sends and disconnects ---- */

static void test_what_was_sent_before_the_end_arrives_dpu(struct side *side)
{
	struct comch_actor *server = comch_server(side, side->dev, side->rep, COMCH_NAME);

	comch_start(server);
	comch_forget(side);
	for (int i = 0; i < 50; i++) {
		comch_sync_send(side, 0);
		comch_expect(side, "connected\nreceived \"a\"\ndisconnected\n");
	}
	comch_end(server);
}

static void test_what_was_sent_before_the_end_arrives_host(struct side *side)
{
	struct comch_actor *client = comch_client(side, side->dev, COMCH_NAME);

	for (int i = 0; i < 50; i++) {
		comch_sync_recv(side);
		comch_start(client);
		comch_until(side, comch_state(client) == DOCA_CTX_STATE_RUNNING);
		MUST(doca_comch_client_get_connection(client->client, &side->connection));
		comch_send(client, side->connection, 1, "a");
		EXPECT(doca_ctx_stop(client->ctx), DOCA_ERROR_IN_PROGRESS);
		comch_until(side, comch_state(client) == DOCA_CTX_STATE_IDLE);
		CHECK(strstr(side->trace, "sent 1\n"));
		comch_forget(side);
	}
	comch_end(client);
}

static void greet_and_close(struct comch_actor *server, struct doca_comch_connection *connection, bool connected)
{
	CHECK(connected);
	comch_send(server, connection, 1, "bye");
	MUST(doca_comch_server_disconnect(server->server, connection));
}

static void test_server_may_send_and_close_when_a_client_comes_dpu(struct side *side)
{
	struct comch_actor *server = comch_server(side, side->dev, side->rep, COMCH_NAME);

	server->on.status = greet_and_close;
	comch_start(server);
	comch_expect(side, "server: idle -> running\nconnected\nsent 1\nconnected\nsent 1\n");
	comch_sync_recv_progressing(side);
	comch_end(server);
}

static void test_server_may_send_and_close_when_a_client_comes_host(struct side *side)
{
	struct comch_actor *client = comch_client(side, side->dev, COMCH_NAME);

	for (int i = 0; i < 2; i++) {
		comch_start(client);
		comch_expect(side, "client: idle -> starting\nclient: starting -> running\nreceived \"bye\"\n"
				   "client: running -> stopping\nclient: stopping -> idle\n");
	}
	comch_sync_send(side, 0);
	comch_end(client);
}

/* ---- tasks ---- */

static struct doca_task *kept;

static void keep_task(struct comch_actor *actor, struct doca_task *task)
{
	kept = task;
}

static void test_tasks_are_the_users_between_flights_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side);

	comch_expect(side, "received \"a\"\nreceived \"a\"\n");
	disconnected_in_the_end(server);
}

static void test_tasks_are_the_users_between_flights_host(struct side *side)
{
	struct comch_actor *client = comch_call(side);
	struct doca_comch_task_send *tasks[COMCH_TASKS], *more;
	struct doca_task *task;

	client->on.task = keep_task;
	for (uint64_t i = 0; i < COMCH_TASKS; i++)
		tasks[i] = comch_task(client, side->connection, i, "a", 1);
	/* provokes: doca_comch_client_task_send_alloc_init DOCA_ERROR_NO_MEMORY */
	EXPECT(doca_comch_client_task_send_alloc_init(client->client, side->connection, "a", 1, &more),
	       DOCA_ERROR_NO_MEMORY);
	task = doca_comch_task_send_as_task(tasks[0]);
	CHECK(doca_task_get_ctx(task) == client->ctx);
	for (int i = 0; i < 2; i++) { /* a task that was sent may be sent again */
		MUST(doca_task_submit(task));
		EXPECT(doca_task_submit(task), DOCA_ERROR_BAD_STATE);
		comch_expect(side, "sent 0\n");
		CHECK(kept == task);
	}
	EXPECT(doca_ctx_stop(client->ctx), DOCA_ERROR_IN_PROGRESS);
	EXPECT(doca_task_submit(task), DOCA_ERROR_BAD_STATE);
	for (int i = 0; i < 100; i++)
		doca_pe_progress(side->pe);
	CHECK(comch_state(client) == DOCA_CTX_STATE_STOPPING); /* tasks are out */
	for (int i = 0; i < COMCH_TASKS; i++) {
		doca_task_free(doca_comch_task_send_as_task(tasks[i]));
		doca_task_free((struct doca_task *)tasks[i]); /* once is enough */
		CHECK(!doca_comch_task_send_as_task(tasks[i]));
	}
	EXPECT(doca_task_submit((struct doca_task *)tasks[0]), DOCA_ERROR_INVALID_VALUE);
	CHECK(!doca_comch_task_send_as_task(NULL));
	comch_expect(side, "client: running -> stopping\nclient: stopping -> idle\n");
	comch_end(client);
}

static void test_tasks_of_a_connection_that_ended_are_refused_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side);
	struct doca_comch_task_send *tasks[COMCH_TASKS], *more;

	for (uint64_t i = 0; i < COMCH_TASKS; i++)
		tasks[i] = comch_task(server, side->connection, i, "a", 1);
	/* provokes: doca_comch_server_task_send_alloc_init DOCA_ERROR_NO_MEMORY */
	EXPECT(doca_comch_server_task_send_alloc_init(server->server, side->connection, "a", 1, &more),
	       DOCA_ERROR_NO_MEMORY);
	comch_sync_send(side, 0);
	comch_expect(side, "disconnected\n");
	for (int i = 0; i < COMCH_TASKS; i++) {
		EXPECT(doca_task_submit(doca_comch_task_send_as_task(tasks[i])), DOCA_ERROR_NOT_CONNECTED);
		EXPECT(doca_task_try_submit(doca_comch_task_send_as_task(tasks[i])), DOCA_ERROR_NOT_CONNECTED);
		doca_task_free(doca_comch_task_send_as_task(tasks[i]));
	}
	EXPECT(doca_comch_server_task_send_alloc_init(server->server, side->connection, "a", 1, &more),
	       DOCA_ERROR_INVALID_VALUE);
	comch_end(server);
}

static void test_tasks_of_a_connection_that_ended_are_refused_host(struct side *side)
{
	struct comch_actor *client = comch_call(side);

	comch_sync_recv(side);
	comch_end(client);
}

/* The next connection may get the address of the previous one: a task of the previous one is refused. */
static void test_task_is_not_sent_on_a_later_connection_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side);
	struct doca_comch_task_send *task = comch_task(server, side->connection, 1, "secret", 6);

	comch_sync_send(side, 0);
	comch_expect(side, "disconnected\nconnected\n");
	EXPECT(doca_task_submit(doca_comch_task_send_as_task(task)), DOCA_ERROR_NOT_CONNECTED);
	doca_task_free(doca_comch_task_send_as_task(task));
	comch_send(server, side->connection, 2, "well");
	comch_expect(side, "sent 2\n");
	disconnected_in_the_end(server);
}

static void test_task_is_not_sent_on_a_later_connection_host(struct side *side)
{
	struct comch_actor *client = comch_call(side);

	comch_sync_recv(side);
	comch_end(client);
	comch_forget(side);
	client = comch_call(side);
	comch_expect(side, "received \"well\"\n");
	comch_end(client);
}

/* Messages that the program will not read any more are no event for a context that stops. */
static void test_stopping_context_lets_its_engine_sleep_dpu(struct side *side)
{
	struct comch_actor *server = comch_serve(side);

	comch_send(server, side->connection, 1, "a");
	comch_send(server, side->connection, 2, "b");
	comch_expect(side, "sent 1\nsent 2\n");
	comch_sync_send(side, 0);
	disconnected_in_the_end(server);
}

static void test_stopping_context_lets_its_engine_sleep_host(struct side *side)
{
	struct comch_actor *client = comch_call(side);
	struct doca_comch_task_send *task = comch_task(client, side->connection, 1, "a", 1);
	doca_notification_handle_t handle;

	comch_sync_recv(side);
	EXPECT(doca_ctx_stop(client->ctx), DOCA_ERROR_IN_PROGRESS);
	while (doca_pe_progress(side->pe))
		;
	MUST(doca_pe_get_notification_handle(side->pe, &handle));
	MUST(doca_pe_clear_notification(side->pe, 0));
	MUST(doca_pe_request_notification(side->pe));
	CHECK(poll(&(struct pollfd){ .fd = handle, .events = POLLIN }, 1, 0) == 0);
	MUST(doca_pe_clear_notification(side->pe, 0));
	doca_task_free(doca_comch_task_send_as_task(task));
	comch_end(client);
}

static const struct CMUnitTest send_tests[] = {
	COMCH_TEST(test_messages_of_all_sizes_arrive_both_ways),
	COMCH_NATIVE_TEST(test_message_that_was_unmapped_fails),
	COMCH_TEST(test_sends_wait_for_room_in_the_receive_queue),
	COMCH_TEST(test_waiting_sends_fail_when_their_own_context_stops),
	COMCH_TEST(test_waiting_sends_fail_when_the_other_end_goes),
	COMCH_TEST(test_send_that_a_step_completes_is_reported_first),
	COMCH_TEST(test_many_messages_pass_each_other_in_order),
	COMCH_TEST(test_what_was_sent_before_the_end_arrives),
	COMCH_TEST(test_server_may_send_and_close_when_a_client_comes),
	COMCH_TEST(test_tasks_are_the_users_between_flights),
	COMCH_TEST(test_tasks_of_a_connection_that_ended_are_refused),
	COMCH_TEST(test_task_is_not_sent_on_a_later_connection),
	COMCH_TEST(test_stopping_context_lets_its_engine_sleep),
};

int main(void)
{
	return comch_run(send_tests);
}

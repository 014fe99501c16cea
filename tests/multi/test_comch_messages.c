/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch's control path between processes: many connections at once, floods, pauses, order of start, permitted
 * peers. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "comch_exchange.h"
#include "comch_endpoint.h"
#include "../common/rest.h"

#define CLIENTS 64

static int setup(void **state)
{
	card_start(getenv("TOPOLOGY"));
	return 0;
}

static void start_both(struct proc *server, const struct exchange_arg *server_arg, struct proc *client,
		       const struct exchange_arg *client_arg)
{
	exchange_start(server, true, server_arg);
	exchange_hear(server, EXCHANGE_STARTED);
	exchange_start(client, false, client_arg);
	exchange_hear(client, EXCHANGE_STARTED);
}

static void end_both(struct proc *server, struct proc *client)
{
	exchange_hear(client, EXCHANGE_DONE);
	exchange_hear(server, EXCHANGE_DONE);
	proc_end(client);
	proc_end(server);
}

/* Each client's messages and the answers to it are its own, whole and in order. */
static void test_64_clients_in_64_processes_exchange_messages_both_ways_at_once(void **state)
{
	struct exchange_arg arg = { .name = "many",
				    .sleeps = true,
				    .num_peers = CLIENTS,
				    .num_in = 100,
				    .num_out = 100,
				    .num_tasks = 4 * CLIENTS,
				    .window = 4 };
	struct proc server, clients[CLIENTS];

	exchange_start(&server, true, &arg);
	exchange_hear(&server, EXCHANGE_STARTED);
	for (uint32_t i = 0; i < CLIENTS; i++) {
		arg.number = i + 1;
		exchange_start(&clients[i], false, &arg);
	}
	for (uint32_t i = 0; i < CLIENTS; i++) {
		exchange_hear(&clients[i], EXCHANGE_STARTED);
		exchange_hear(&clients[i], EXCHANGE_DONE);
		proc_end(&clients[i]);
	}
	exchange_hear(&server, EXCHANGE_DONE);
	proc_end(&server);
	card_end();
}

/* More clients than a server keeps wake-up descriptors for: it wakes some through the daemon. A client keeps one. */
static void test_300_clients_in_one_process_connect_exchange_and_disconnect(void **state)
{
	enum { MANY = 300 };
	struct exchange_arg arg = { .name = "many",
				    .sleeps = true,
				    .num_peers = MANY,
				    .num_in = 40,
				    .num_out = 40,
				    .num_tasks = 1200,
				    .window = 4,
				    .recv_queue = 2 };
	struct exchange_arg client_arg = arg;
	struct proc server, client;
	int64_t end;
	int fds;

	client_arg.num_clients = MANY;
	client_arg.holds = true;
	client_arg.number = 1;
	client_arg.num_tasks = 8;
	exchange_start(&server, true, &arg);
	exchange_hear(&server, EXCHANGE_STARTED);
	fds = proc_num_fds(server.pid);
	exchange_start(&client, false, &client_arg);
	exchange_hear(&client, EXCHANGE_STARTED);
	exchange_hear(&client, EXCHANGE_HELD);
	assert_true(proc_num_fds(client.pid) < MANY + 40);
	assert_true(proc_num_fds(server.pid) < 256 + 40);
	exchange_thaw(&client);
	exchange_hear(&client, EXCHANGE_DONE);
	exchange_hear(&server, EXCHANGE_DONE);
	end = proc_now_ms() + PROC_DEADLINE_MS;
	while (proc_num_fds(server.pid) > fds) /* its helper may be about to close the last ones */
		assert_true(proc_now_ms() < end);
	proc_end(&client);
	proc_end(&server);
	card_end();
}

/* ---- a receiver that does not progress ---- */

#define QUEUE 16
#define TASKS 50
#define STORM 5000

/* The queue's capacity has been sent; the other tasks stay in flight. */
static void expect_back_pressure(struct proc *sender)
{
	struct exchange_status status;
	int64_t end = proc_now_ms() + PROC_DEADLINE_MS;

	do {
		status = exchange_ask(sender);
		assert_true(proc_now_ms() < end);
	} while (status.sent < QUEUE || status.in_flight < TASKS);
	for (int i = 0; i < 200; i++) {
		status = exchange_ask(sender);
		assert_int_equal(status.sent, QUEUE);
		assert_int_equal(status.in_flight, TASKS);
	}
}

static void storm(bool to_server, bool sleeps)
{
	struct exchange_arg to = {
		.name = "storm", .sleeps = sleeps, .freezes = true, .num_peers = 1, .num_in = STORM, .recv_queue = QUEUE
	};
	struct exchange_arg from = {
		.name = "storm", .sleeps = sleeps, .num_peers = 1, .num_out = STORM, .num_tasks = TASKS
	};
	struct proc server, client;

	start_both(&server, to_server ? &to : &from, &client, to_server ? &from : &to);
	exchange_hear(to_server ? &server : &client, EXCHANGE_FROZEN);
	expect_back_pressure(to_server ? &client : &server);
	exchange_thaw(to_server ? &server : &client);
	end_both(&server, &client);
}

static void test_flood_waits_for_a_receiver_that_does_not_progress(void **state)
{
	storm(true, true);
	storm(false, true);
	storm(true, false);
	storm(false, false);
	card_end();
}

/* The other process is stopped: this one fills its queue and then sends nothing more, however often it progresses.
 * Each query makes it progress. */
static void wait_until_stalled(struct proc *sender)
{
	struct exchange_status status = exchange_ask(sender);
	int64_t end = proc_now_ms() + PROC_DEADLINE_MS;

	for (unsigned int num_equal = 0; num_equal < 40;) { /* a busy machine takes 100 ms for each */
		uint64_t sent = status.sent;

		status = exchange_ask(sender);
		num_equal = status.in_flight > 0 && status.sent == sent ? num_equal + 1 : 0;
		rest_between_polls();
		assert_true(proc_now_ms() < end);
	}
}

/* One process is stopped in the middle until the other one waits for it. However late the stop, half of the
 * messages are still unsent, more than the queues hold. */
static void stop_one(bool stop_server)
{
	struct exchange_arg arg = {
		.name = "stopped", .sleeps = true, .num_peers = 1, .num_in = 40000, .num_out = 40000, .withholds = 20000
	};
	struct proc server, client;

	start_both(&server, &arg, &client, &arg);
	while (exchange_ask(&client).received < 1000)
		;
	proc_signal(stop_server ? &server : &client, SIGSTOP);
	exchange_thaw(&server);
	exchange_thaw(&client);
	wait_until_stalled(stop_server ? &client : &server);
	assert_int_equal(kill(stop_server ? server.pid : client.pid, SIGCONT), 0);
	end_both(&server, &client);
}

static void test_stopped_process_loses_nothing(void **state)
{
	stop_one(true);
	stop_one(false);
	card_end();
}

/* ---- order of start ---- */

/* Both have started: a client waits a few seconds only for its server, in which a busy machine may start no process. */
static void meet(bool client_first, bool sleeps)
{
	struct exchange_arg arg = {
		.name = "order", .sleeps = sleeps, .waits = true, .num_peers = 1, .num_in = 100, .num_out = 100
	};
	struct proc server, client, *first = client_first ? &client : &server,
				    *second = client_first ? &server : &client;

	exchange_start(&server, true, &arg);
	exchange_start(&client, false, &arg);
	exchange_hear(&server, EXCHANGE_READY);
	exchange_hear(&client, EXCHANGE_READY);
	exchange_thaw(first);
	exchange_hear(first, EXCHANGE_STARTED);
	exchange_thaw(second);
	exchange_hear(second, EXCHANGE_STARTED);
	end_both(&server, &client);
}

static void test_server_and_client_start_in_either_order(void **state)
{
	meet(false, false);
	meet(false, true);
	meet(true, false);
	meet(true, true);
	card_end();
}

static void echo(struct endpoint *endpoint, struct doca_comch_connection *connection, const uint8_t *bytes,
		 uint32_t len)
{
	CHECK(note_take(bytes, len, 0) == 7);
	if (endpoint->server)
		CHECK(note_send(endpoint, connection, 7, 0));
}

struct lives {
	uint32_t sleeps, count;
};

/* Sends 'r' when all is open. On each command, answers one message and stops; each time with the same context. */
static void serve_lives(int ctl)
{
	struct endpoint_cfg cfg = { .name = "lives", .message = echo };
	struct doca_dev *dev = device_open(NULL);
	struct lives lives;
	struct loop loop;
	struct endpoint endpoint;
	char byte;

	proc_recv(ctl, &lives, sizeof(lives));
	loop_open(&loop, lives.sleeps);
	endpoint_open_server(&endpoint, &cfg, &loop, dev);
	proc_send(ctl, "r", 1);
	proc_recv(ctl, &byte, 1);
	for (uint32_t life = 1; life <= lives.count; life++) {
		endpoint_start(&endpoint);
		LOOP_UNTIL(&loop, endpoint.sent == life);
		endpoint_stop(&endpoint);
	}
	CHECK(endpoint.num_connected == lives.count && endpoint.received == lives.count);
	endpoint_close(&endpoint);
	loop_close(&loop);
	MUST(doca_dev_close(dev));
}

/* Restarts after each end of its server; reports the first start. */
static void reconnect_repeatedly(int ctl)
{
	struct endpoint_cfg cfg = { .name = "lives", .message = echo };
	struct doca_dev *dev = device_open(NULL);
	struct lives lives;
	struct loop loop;
	struct endpoint endpoint;

	proc_recv(ctl, &lives, sizeof(lives));
	loop_open(&loop, lives.sleeps);
	endpoint_open_client(&endpoint, &cfg, &loop, dev);
	for (uint32_t life = 1; life <= lives.count; life++) {
		endpoint_start(&endpoint);
		if (life == 1)
			proc_send(ctl, "s", 1);
		LOOP_UNTIL(&loop, endpoint.state != DOCA_CTX_STATE_STARTING);
		CHECK(note_send(&endpoint, endpoint.connection, 7, 0));
		LOOP_UNTIL(&loop, endpoint.state == DOCA_CTX_STATE_IDLE);
		CHECK(endpoint.received == life && endpoint.num_disconnected == life);
	}
	endpoint_close(&endpoint);
	loop_close(&loop);
	MUST(doca_dev_close(dev));
}

static void run_restarts(bool sleeps)
{
	static const struct peer_role serve_role = { "serve_lives", serve_lives },
				      outlive_role = { "outlive", reconnect_repeatedly };
	struct lives three = { .sleeps = sleeps, .count = 3 }, two = { .sleeps = sleeps, .count = 2 },
		     one = { .sleeps = sleeps, .count = 1 };
	struct proc client, first, second;
	char byte;

	peer_start(&first, "dpu", &serve_role, &two, sizeof(two));
	peer_start(&second, "dpu", &serve_role, &one, sizeof(one));
	proc_recv(first.ctl, &byte, 1);
	proc_recv(second.ctl, &byte, 1);
	peer_start(&client, "host", &outlive_role, &three, sizeof(three));
	proc_recv(client.ctl, &byte, 1);
	proc_send(first.ctl, "!", 1);
	assert_int_equal(proc_wait(&first), 0);
	proc_send(second.ctl, "!", 1);
	assert_int_equal(proc_wait(&second), 0);
	assert_int_equal(proc_wait(&client), 0);
}

static void test_clients_find_a_server_that_starts_again_under_its_name(void **state)
{
	run_restarts(false);
	run_restarts(true);
	card_end();
}

/* ---- permitted peers ---- */

static void seek_in_vain(int ctl)
{
	static const struct {
		const char *function, *name;
	} seeks[] = {
		{ "b1:00.3", "second" }, { "b1:00.4", "first" }, { "b1:00.0", "first" }, { "b1:00.3", "nobody" }
	};
	enum { NUM_SEEKS = sizeof(seeks) / sizeof(seeks[0]) };
	struct endpoint endpoints[NUM_SEEKS];
	struct doca_dev *devs[NUM_SEEKS];
	struct loop loop;
	char unused;

	proc_recv(ctl, &unused, 1);
	loop_open(&loop, true);
	for (int i = 0; i < NUM_SEEKS; i++) {
		struct endpoint_cfg cfg = { .name = seeks[i].name };

		devs[i] = device_open(seeks[i].function);
		endpoint_open_client(&endpoints[i], &cfg, &loop, devs[i]);
		endpoint_start(&endpoints[i]);
	}
	for (int i = 0; i < NUM_SEEKS; i++) {
		LOOP_UNTIL(&loop, endpoints[i].state == DOCA_CTX_STATE_IDLE);
		CHECK(endpoints[i].num_connected == 0 && endpoints[i].num_refused == 1);
		endpoint_close(&endpoints[i]);
		MUST(doca_dev_close(devs[i]));
	}
	loop_close(&loop);
}

/* Two servers, each for one VF, under names of their own, and two under one name. */
static void test_clients_of_two_functions_reach_their_own_servers_alone(void **state)
{
	static const struct peer_role seek_role = { "seek_in_vain", seek_in_vain };
	struct exchange_arg args[4] = { { .name = "first", .function = "b1:00.3" },
					{ .name = "second", .function = "b1:00.4" },
					{ .name = "same", .function = "b1:00.3" },
					{ .name = "same", .function = "b1:00.4" } };
	struct proc servers[4], clients[4], in_vain;

	for (int i = 0; i < 4; i++) {
		args[i].sleeps = true;
		args[i].num_peers = 1;
		args[i].num_in = 100 + (uint32_t)i; /* a wrong peer would have sent another number of messages */
		args[i].num_out = 100 + (uint32_t)i;
		exchange_start(&servers[i], true, &args[i]);
		exchange_hear(&servers[i], EXCHANGE_STARTED);
	}
	peer_start(&in_vain, "host", &seek_role, "!", 1);
	assert_int_equal(proc_wait(&in_vain), 0);
	for (int i = 0; i < 4; i++)
		exchange_start(&clients[i], false, &args[i]);
	for (int i = 0; i < 4; i++) {
		exchange_hear(&clients[i], EXCHANGE_STARTED);
		end_both(&servers[i], &clients[i]);
	}
	card_end();
}

/* ---- a server without descriptors ---- */

#define OFFER_FDS 3 /* messages that arrive together with a client */
#define MOST_FDS  200

/* Take all descriptors but those that a client's offer needs. Returns how many were taken. */
static int take_fds(int fds[MOST_FDS])
{
	const struct rlimit few = { .rlim_cur = MOST_FDS, .rlim_max = MOST_FDS };
	int count = 0;

	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
	while (count < MOST_FDS && (fds[count] = dup(STDERR_FILENO)) >= 0)
		count++;
	CHECK(count > OFFER_FDS);
	for (int i = 0; i < OFFER_FDS; i++)
		close(fds[--count]);
	return count;
}

static void run_server_without_fds(int ctl)
{
	struct endpoint_cfg cfg = { .name = "poor" };
	int fds[MOST_FDS], num_fds;
	struct doca_dev *dev;
	struct endpoint endpoint;
	struct loop loop;
	char byte;

	proc_recv(ctl, &byte, 1);
	loop_open(&loop, true);
	loop_watch(&loop, ctl);
	dev = device_open(NULL);
	endpoint_open_server(&endpoint, &cfg, &loop, dev);
	endpoint_start(&endpoint);
	num_fds = take_fds(fds);
	proc_send(ctl, "!", 1);
	LOOP_UNTIL(&loop, proc_readable_within(ctl, 0));
	proc_recv(ctl, &byte, 1);
	CHECK(endpoint.num_connected == 0);
	while (num_fds > 0)
		close(fds[--num_fds]);
	proc_send(ctl, "!", 1);
	LOOP_UNTIL(&loop, endpoint.num_disconnected == 1);
	endpoint_stop(&endpoint);
	endpoint_close(&endpoint);
	loop_close(&loop);
	MUST(doca_dev_close(dev));
}

static void run_client_that_comes_again(int ctl)
{
	struct endpoint_cfg cfg = { .name = "poor" };
	struct doca_dev *dev = device_open(NULL);
	struct endpoint endpoint;
	struct loop loop;
	char byte;

	proc_recv(ctl, &byte, 1);
	loop_open(&loop, true);
	endpoint_open_client(&endpoint, &cfg, &loop, dev);
	endpoint_start(&endpoint);
	LOOP_UNTIL(&loop, endpoint.state == DOCA_CTX_STATE_IDLE);
	CHECK(endpoint.num_connected == 0 && endpoint.num_refused == 1);
	proc_send(ctl, "!", 1);
	proc_recv(ctl, &byte, 1);
	endpoint_start(&endpoint);
	LOOP_UNTIL(&loop, endpoint.state == DOCA_CTX_STATE_RUNNING);
	endpoint_stop(&endpoint);
	endpoint_close(&endpoint);
	loop_close(&loop);
	MUST(doca_dev_close(dev));
}

/* The server receives the client's offer and has no descriptor left for the connection: the client gets an error
 * and may retry. */
static void test_server_without_descriptors_refuses_a_client(void **state)
{
	static const struct peer_role server_role = { "server", run_server_without_fds },
				      client_role = { "client", run_client_that_comes_again };
	struct proc server, client;
	char byte;

	peer_start(&server, "dpu", &server_role, "!", 1);
	proc_recv(server.ctl, &byte, 1);
	peer_start(&client, "host", &client_role, "!", 1);
	proc_recv(client.ctl, &byte, 1);
	proc_send(server.ctl, "!", 1);
	proc_recv(server.ctl, &byte, 1);
	proc_send(client.ctl, "!", 1);
	assert_int_equal(proc_wait(&client), 0);
	assert_int_equal(proc_wait(&server), 0);
	card_end();
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, card_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_server_and_client_start_in_either_order),
		TEST(test_clients_find_a_server_that_starts_again_under_its_name),
		TEST(test_clients_of_two_functions_reach_their_own_servers_alone),
		TEST(test_64_clients_in_64_processes_exchange_messages_both_ways_at_once),
		TEST(test_300_clients_in_one_process_connect_exchange_and_disconnect),
		TEST(test_flood_waits_for_a_receiver_that_does_not_progress),
		TEST(test_stopped_process_loses_nothing),
		TEST(test_server_without_descriptors_refuses_a_client),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

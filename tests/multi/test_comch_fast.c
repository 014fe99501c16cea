/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch's fast path between processes. The build runs this program once for each
 * data path (BFSIM_PATH), and with the host in other namespaces (HOST_WRAPPER). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "comch_fast.h"
#include "comch_endpoint.h"
#include "../common/rest.h"

#define MIB (1024u * 1024)

/* ---- the roles: a server or a client, and workers on its connection ---- */

struct side_arg { /* sent as bytes, so it has no padding */
	uint32_t is_server, sleeps;
	uint32_t consumes, produces;
	uint32_t freezes; /* the workers poll for no message until the test sends a byte */
	uint32_t holds;   /* the workers withhold their last messages until the test sends '!' */
	uint32_t num_workers;
	uint32_t num_messages; /* from each worker to each of the other side's */
	uint32_t max_len;
};

struct side_status {
	uint64_t sent, received, refused;
};

struct side {
	struct side_arg arg;
	int ctl, done_fd;
	struct loop loop;
	struct endpoint endpoint;
	struct fast_consumers consumers;
	_Atomic bool held;
	struct fast workers[FAST_MAX];
};

static void on_connected(struct endpoint *endpoint, struct doca_comch_connection *connection)
{
	struct side *side = endpoint->cfg.owner;
	struct fast_cfg cfg = { .connection = connection,
				.dev = endpoint->dev,
				.consumers = &side->consumers,
				.sleeps = side->arg.sleeps,
				.consumes = side->arg.consumes,
				.produces = side->arg.produces,
				.num_peers = side->arg.num_workers,
				.num_messages = side->arg.num_messages,
				.max_len = side->arg.max_len,
				.freeze_fd = side->arg.freezes ? side->ctl : -1,
				.held = &side->held,
				.done_fd = side->done_fd };

	for (uint32_t i = 0; i < side->arg.num_workers; i++)
		fast_start(&side->workers[i], &cfg);
}

static void on_consumer(struct endpoint *endpoint, struct doca_comch_connection *connection, uint32_t id, bool is_new)
{
	struct side *side = endpoint->cfg.owner;

	fast_learn(&side->consumers, id, is_new);
}

/* '?' asks for its status; '!' is no question. */
static void answer(struct side *side)
{
	struct side_status status = { 0 };
	char byte;

	proc_recv(side->ctl, &byte, 1);
	if (byte == '!') {
		side->held = false;
		return;
	}
	for (uint32_t i = 0; i < side->arg.num_workers; i++) {
		status.sent += side->workers[i].sent;
		status.received += side->workers[i].received;
		status.refused += side->workers[i].refused;
	}
	proc_send(side->ctl, &status, sizeof(status));
}

/* The expected messages of its own workers have arrived, and the other side's consumers are gone. */
static bool is_done(struct side *side)
{
	unsigned int others = side->arg.produces ? side->arg.num_workers : 0;
	eventfd_t unused;

	if (!side->arg.freezes && proc_readable_within(side->ctl, 0))
		answer(side);
	eventfd_read(side->done_fd, &unused);
	for (uint32_t i = 0; i < side->arg.num_workers; i++)
		if (!side->workers[i].done)
			return false;
	return side->consumers.expired == others;
}

static void open_side(struct side *side, int ctl, struct doca_dev **ret_dev)
{
	struct endpoint_cfg cfg = { .name = "fast", .owner = side, .connected = on_connected, .consumer = on_consumer };

	*side = (struct side){ .ctl = ctl, .done_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) };
	proc_recv(ctl, &side->arg, sizeof(side->arg));
	side->held = side->arg.holds;
	fast_consumers_init(&side->consumers);
	loop_open(&side->loop, side->arg.sleeps);
	loop_watch(&side->loop, side->done_fd);
	if (!side->arg.freezes)
		loop_watch(&side->loop, ctl);
	*ret_dev = device_open(NULL);
	(side->arg.is_server ? endpoint_open_server : endpoint_open_client)(&side->endpoint, &cfg, &side->loop,
									    *ret_dev);
}

static void run_side(int ctl)
{
	static struct side side;
	struct doca_dev *dev;

	open_side(&side, ctl, &dev);
	endpoint_start(&side.endpoint);
	if (side.arg.is_server)
		proc_send(ctl, "l", 1);
	LOOP_UNTIL(&side.loop, is_done(&side));
	for (uint32_t i = 0; i < side.arg.num_workers; i++) {
		fast_join(&side.workers[i]);
		CHECK(side.workers[i].failed == 0);
	}
	if (side.arg.is_server) /* the client disconnects first */
		LOOP_UNTIL(&side.loop, side.endpoint.num_disconnected == 1);
	endpoint_stop(&side.endpoint);
	endpoint_close(&side.endpoint);
	loop_close(&side.loop);
	close(side.done_fd);
	MUST(doca_dev_close(dev));
	proc_send(ctl, "d", 1);
	CHECK(proc_readable_within(ctl, PROC_DEADLINE_MS)); /* the test's end */
}

static const struct peer_role side_role = { "side", run_side };

/* ---- the test's part ---- */

static void start_sides(struct proc *server, struct side_arg server_arg, struct proc *client,
			struct side_arg client_arg)
{
	char byte;

	server_arg.is_server = true;
	peer_start(server, "dpu", &side_role, &server_arg, sizeof(server_arg));
	proc_recv(server->ctl, &byte, 1); /* the server listens: a client waits for it for some seconds only */
	peer_start(client, "host", &side_role, &client_arg, sizeof(client_arg));
}

static void end_side(struct proc *side)
{
	char byte;

	proc_recv(side->ctl, &byte, 1);
	assert_int_equal(byte, 'd');
	proc_end(side);
}

static struct side_status ask(struct proc *side)
{
	struct side_status status;

	proc_send(side->ctl, "?", 1);
	proc_recv(side->ctl, &status, sizeof(status));
	return status;
}

static void exchange(bool sleeps)
{
	struct side_arg arg = { .sleeps = sleeps,
				.consumes = true,
				.produces = true,
				.num_workers = 4,
				.max_len = MIB,
				.num_messages = peer_rounds(16) };
	struct proc server, client;

	start_sides(&server, arg, &client, arg);
	end_side(&client);
	end_side(&server);
}

static void test_4_producers_and_4_consumers_on_4_threads_exchange_both_ways_at_once(void **state)
{
	exchange(false);
	exchange(true);
	card_end();
}

/* The path that "bfsim ps" prints for the messages (EXPECT_PATH). */
static void expect_path(void)
{
	const char *expected = getenv("EXPECT_PATH");
	char command[4096], line[512], wanted[64];
	bool found = false;
	FILE *status;

	if (!expected)
		return;
	snprintf(command, sizeof(command), "'%s' ps --json", getenv("BFSIM"));
	snprintf(wanted, sizeof(wanted), "\"path\":\"%s\"", expected);
	status = popen(command, "r");
	assert_non_null(status);
	while (fgets(line, sizeof(line), status))
		found |= strstr(line, wanted) != NULL;
	assert_int_equal(pclose(status), 0);
	assert_true(found);
}

/* The producer fills the posted receives; later sends fail with AGAIN until the consumer polls. */
static void storm(bool to_server)
{
	struct side_arg to = { .sleeps = true,
			       .consumes = true,
			       .freezes = true,
			       .num_workers = 1,
			       .max_len = 65536,
			       .num_messages = peer_rounds(1000) };
	struct side_arg from = {
		.sleeps = true, .produces = true, .num_workers = 1, .max_len = 65536, .num_messages = peer_rounds(1000)
	};
	struct proc server, client;
	struct side_status status;

	start_sides(&server, to_server ? to : from, &client, to_server ? from : to);
	do {
		status = ask(to_server ? &client : &server);
	} while (status.sent < FAST_DEPTH || status.refused == 0);
	for (uint64_t refused = status.refused; status.refused < refused + 50;) {
		status = ask(to_server ? &client : &server);
		assert_int_equal(status.sent, FAST_DEPTH);
	}
	expect_path(); /* one message was too long for a slot */
	proc_send(to_server ? server.ctl : client.ctl, "!", 1);
	end_side(&client);
	end_side(&server);
}

static void test_flood_waits_for_a_consumer_that_does_not_progress(void **state)
{
	storm(true);
	storm(false);
	card_end();
}

/* The other process is stopped: this one fills its posted receives, then sends and receives nothing. */
static void wait_until_stalled(struct proc *side)
{
	struct side_status status = ask(side);
	int64_t end = proc_now_ms() + PROC_DEADLINE_MS;

	for (unsigned int num_equal = 0; num_equal < 40;) { /* a busy machine takes 100 ms for each */
		struct side_status before = status;

		status = ask(side);
		num_equal = status.sent == before.sent && status.received == before.received ? num_equal + 1 : 0;
		rest_between_polls();
		assert_true(proc_now_ms() < end);
	}
}

static void stop_one(bool stop_server)
{
	struct side_arg arg = { .sleeps = true,
				.consumes = true,
				.produces = true,
				.holds = true,
				.num_workers = 2,
				.max_len = 65536,
				.num_messages = peer_rounds(1600) };
	struct proc server, client;

	start_sides(&server, arg, &client, arg);
	while (ask(&client).received < arg.num_messages / 10)
		;
	proc_signal(stop_server ? &server : &client, SIGSTOP);
	wait_until_stalled(stop_server ? &client : &server);
	assert_int_equal(kill(stop_server ? server.pid : client.pid, SIGCONT), 0);
	proc_send(server.ctl, "!", 1);
	proc_send(client.ctl, "!", 1);
	end_side(&client);
	end_side(&server);
}

static void test_stopped_process_loses_nothing(void **state)
{
	if (getenv("HOST_WRAPPER"))
		skip(); /* the pid is the wrapper's */
	stop_one(true);
	stop_one(false);
	card_end();
}

/* Count the lines of the session's recording, as "bfsim trace" prints it, that contain @what. */
static unsigned int count_recorded(const char *format, const char *what)
{
	char command[4096], line[1024];
	unsigned int count = 0;
	FILE *trace;

	snprintf(command, sizeof(command), "'%s' trace --format %s", getenv("BFSIM"), format);
	trace = popen(command, "r");
	assert_non_null(trace);
	while (fgets(line, sizeof(line), trace))
		count += strstr(line, what) != NULL;
	assert_int_equal(pclose(trace), 0);
	return count;
}

/* Two workers at either end send 20 messages to each of the other's: 160. Arrows lead from each submission of a send
 * by its job to the sending, on to the receipt, and to the end of the task that takes it. */
static void test_messages_on_record_were_sent_and_received(void **state)
{
	struct side_arg arg = {
		.consumes = true, .produces = true, .num_workers = 2, .max_len = 4096, .num_messages = 20
	};
	struct proc server, client;

	if (getenv("HOST_WRAPPER"))
		skip(); /* the host's recording is as of another machine */
	setenv("BFSIM_TRACE", "full", 1);
	start_sides(&server, arg, &client, arg);
	end_side(&client);
	end_side(&server);
	unsetenv("BFSIM_TRACE");
	assert_int_equal(count_recorded("csv", ",sent,comch_producer,"), 160);
	assert_int_equal(count_recorded("csv", ",received,comch_consumer,"), 160);
	assert_int_equal(count_recorded("perfetto", "\"name\":\"message\",\"cat\":\"message\""), 2 * 160);
	assert_int_equal(count_recorded("perfetto", "{\"ph\":\"t\""), 3 * 160);
	card_end();
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, card_setup, card_teardown)

int main(int argc, char **argv)
{
	static const struct peer_role roles[] = { { "side", run_side }, { NULL, NULL } };
	static const struct CMUnitTest tests[] = {
		TEST(test_4_producers_and_4_consumers_on_4_threads_exchange_both_ways_at_once),
		TEST(test_flood_waits_for_a_consumer_that_does_not_progress),
		TEST(test_stopped_process_loses_nothing),
		TEST(test_messages_on_record_were_sent_and_received),
	};

	peer_main(argc, argv, roles);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

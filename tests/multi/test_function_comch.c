/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch connections whose function is reset or whose representor is removed: both ends get the disconnect, polling
 * or sleeping, and can connect again. The bfsim command adds the rules. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "cmocka_test.h"
#include "comch_endpoint.h"

/* ---- in the ends ---- */

struct end_arg {
	bool is_server, sleeps;
};

struct end {
	struct end_arg arg;
	uint32_t connected, disconnected;
};

static void on_connected(struct endpoint *endpoint, struct doca_comch_connection *connection)
{
	struct end *end = endpoint->cfg.owner;

	end->connected++;
}

static void on_disconnected(struct endpoint *endpoint, struct doca_comch_connection *connection)
{
	struct end *end = endpoint->cfg.owner;

	end->disconnected++;
}

static bool is_over(const struct endpoint *endpoint, const struct end *end)
{
	return endpoint->state == DOCA_CTX_STATE_IDLE || end->disconnected == end->connected;
}

/* Send 'l' (a server, when it listens), 'c' when connected and 'd' when disconnected; twice, with a newly opened
 * device for the second time. */
static void run_end(int ctl)
{
	struct end end = { 0 };
	struct endpoint_cfg cfg = {
		.name = "reset", .owner = &end, .connected = on_connected, .disconnected = on_disconnected
	};

	proc_recv(ctl, &end.arg, sizeof(end.arg));
	for (uint32_t round = 1; round <= 2; round++) {
		struct doca_dev *dev = device_open(NULL);
		static struct endpoint endpoint;
		struct loop loop;
		char byte;

		loop_open(&loop, end.arg.sleeps);
		loop_watch(&loop, ctl);
		(end.arg.is_server ? endpoint_open_server : endpoint_open_client)(&endpoint, &cfg, &loop, dev);
		endpoint_start(&endpoint);
		if (end.arg.is_server)
			proc_send(ctl, "l", 1);
		LOOP_UNTIL(&loop, end.connected == round);
		proc_send(ctl, "c", 1);
		LOOP_UNTIL(&loop, is_over(&endpoint, &end));
		end.disconnected = end.connected;
		proc_send(ctl, "d", 1);
		LOOP_UNTIL(&loop, proc_readable_within(ctl, 0));
		proc_recv(ctl, &byte, 1);
		if (endpoint.state != DOCA_CTX_STATE_IDLE)
			endpoint_stop(&endpoint);
		endpoint_close(&endpoint);
		loop_close(&loop);
		MUST(doca_dev_close(dev));
	}
}

/* ---- a message, which has to cross the link ---- */

static void on_message(struct endpoint *endpoint, struct doca_comch_connection *connection, const uint8_t *bytes,
		       uint32_t len)
{
	note_take(bytes, len, 0);
}

/* Send 'c' when connected; on a command, the client sends a message. Both send 'd' on its arrival, and end. */
static void run_note(int ctl)
{
	struct end end = { 0 };
	struct endpoint_cfg cfg = { .name = "note",
				    .owner = &end,
				    .connected = on_connected,
				    .disconnected = on_disconnected,
				    .message = on_message };
	struct doca_dev *dev = device_open(NULL);
	static struct endpoint endpoint;
	struct loop loop;
	char byte;

	proc_recv(ctl, &end.arg, sizeof(end.arg));
	loop_open(&loop, end.arg.sleeps);
	loop_watch(&loop, ctl);
	(end.arg.is_server ? endpoint_open_server : endpoint_open_client)(&endpoint, &cfg, &loop, dev);
	endpoint_start(&endpoint);
	if (end.arg.is_server)
		proc_send(ctl, "l", 1);
	LOOP_UNTIL(&loop, end.connected == 1);
	proc_send(ctl, "c", 1);
	if (!end.arg.is_server) {
		proc_recv(ctl, &byte, 1);
		CHECK(note_send(&endpoint, endpoint.connection, 1, 0));
	}
	LOOP_UNTIL(&loop, endpoint.received + endpoint.sent == 1);
	proc_send(ctl, "d", 1);
	LOOP_UNTIL(&loop, proc_readable_within(ctl, 0));
	endpoint_stop(&endpoint);
	endpoint_close(&endpoint);
	loop_close(&loop);
	MUST(doca_dev_close(dev));
}

/* ---- the test ---- */

static const struct peer_role end_role = { "end", run_end }, note_role = { "note", run_note };

static void expect_word(struct proc *end, char wanted)
{
	char byte;

	proc_recv(end->ctl, &byte, 1);
	assert_int_equal(byte, wanted);
}

static void run_bfsim(const char *words)
{
	char command[4096];

	snprintf(command, sizeof(command), "'%s' %s >/dev/null", getenv("BFSIM"), words);
	assert_int_equal(system(command), 0);
}

static void expect_break(const char *first, const char *second, bool sleeps)
{
	const struct end_arg server_arg = { .is_server = true, .sleeps = sleeps }, client_arg = { .sleeps = sleeps };
	const char *commands[] = { first, second };
	struct proc server, client;

	peer_start(&server, "dpu", &end_role, &server_arg, sizeof(server_arg));
	expect_word(&server, 'l'); /* a client waits for it for some seconds only */
	peer_start(&client, "host", &end_role, &client_arg, sizeof(client_arg));
	for (int round = 0; round < 2; round++) {
		expect_word(&server, 'c');
		expect_word(&client, 'c');
		run_bfsim(commands[round]);
		expect_word(&server, 'd');
		expect_word(&client, 'd');
		proc_send(server.ctl, "g", 1);
		if (round == 0)
			expect_word(&server, 'l');
		proc_send(client.ctl, "g", 1);
	}
	assert_int_equal(proc_wait(&server), 0);
	assert_int_equal(proc_wait(&client), 0);
	card_end();
}

static void test_reset_of_either_function_breaks_the_connection(void **state)
{
	expect_break("function reset 03:00.0", "function reset b1:00.0", false);
}

static void test_sleeping_ends_get_the_disconnect(void **state)
{
	expect_break("function reset b1:00.0", "function fatal 03:00.0", true);
}

static void test_connection_breaks_with_its_representor(void **state)
{
	expect_break("function reset 03:00.0", "fault add 'function device=b1:00.0 rep_remove'", false);
}

static void expect_wait(bool sleeps)
{
	const struct end_arg server_arg = { .is_server = true, .sleeps = sleeps }, client_arg = { .sleeps = sleeps };
	struct proc server, client;
	int64_t from_ms;

	peer_start(&server, "dpu", &note_role, &server_arg, sizeof(server_arg));
	expect_word(&server, 'l');
	peer_start(&client, "host", &note_role, &client_arg, sizeof(client_arg));
	expect_word(&server, 'c');
	expect_word(&client, 'c');
	from_ms =
		proc_now_ms(); /* the commands may take longer than the link is down: then the message does not wait */
	run_bfsim("link down 03:00.0 --for 1s");
	run_bfsim("fault list"); /* reaches the daemon while the link is down */
	proc_send(client.ctl, "g", 1);
	expect_word(&server, 'd');
	assert_true(proc_now_ms() - from_ms >= 1000);
	expect_word(&client, 'd');
	proc_end(&client);
	proc_end(&server);
	card_end();
}

static void test_messages_wait_while_the_link_is_down(void **state)
{
	expect_wait(false);
}

static void test_messages_to_sleepers_wait_while_the_link_is_down(void **state)
{
	expect_wait(true);
}

int main(int argc, char **argv)
{
	static const struct peer_role roles[] = { { "end", run_end }, { "note", run_note }, { 0 } };
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_reset_of_either_function_breaks_the_connection, card_setup,
						card_teardown),
		cmocka_unit_test_setup_teardown(test_sleeping_ends_get_the_disconnect, card_setup, card_teardown),
		cmocka_unit_test_setup_teardown(test_connection_breaks_with_its_representor, card_setup, card_teardown),
		cmocka_unit_test_setup_teardown(test_messages_wait_while_the_link_is_down, card_setup, card_teardown),
		cmocka_unit_test_setup_teardown(test_messages_to_sleepers_wait_while_the_link_is_down, card_setup,
						card_teardown),
	};

	peer_main(argc, argv, roles);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

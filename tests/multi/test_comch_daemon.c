/* SPDX-License-Identifier: BSD-3-Clause */
/* A Comch server when the card's daemon is killed: its context stops, with or without clients, also if another daemon
 * starts in the same directory. */
#include <signal.h>
#include <stdlib.h>

#include "cmocka_test.h"
#include "comch_endpoint.h"

#define SOON_MS (PROC_DEADLINE_MS / 4) /* from the daemon's death to the end of a context, on a busy machine too */

/* ---- the processes ---- */

struct end {
	bool sleeps;
	unsigned int num_disconnected; /* when the server's context began to stop */
	struct loop loop;
	struct doca_dev *dev;
	struct endpoint comch;
};

static void meet(int ctl)
{
	char word;

	proc_send(ctl, "!", 1);
	proc_recv(ctl, &word, 1);
}

static void open_end(struct end *end, int ctl)
{
	proc_recv(ctl, &end->sleeps, sizeof(end->sleeps));
	loop_open(&end->loop, end->sleeps);
	end->dev = device_open(NULL);
}

static void close_end(struct end *end)
{
	endpoint_close(&end->comch);
	loop_close(&end->loop);
	MUST(doca_dev_close(end->dev));
}

static void await_idle(struct end *end)
{
	int64_t since_ms = proc_now_ms();

	LOOP_UNTIL(&end->loop, end->comch.state != DOCA_CTX_STATE_RUNNING);
	end->num_disconnected = end->comch.num_disconnected;
	LOOP_UNTIL(&end->loop, end->comch.state == DOCA_CTX_STATE_IDLE);
	CHECK(proc_now_ms() - since_ms < SOON_MS);
}

static void run_server(int ctl)
{
	static const struct endpoint_cfg cfg = { .name = "daemon" };
	struct end end = { 0 };

	open_end(&end, ctl);
	endpoint_open_server(&end.comch, &cfg, &end.loop, end.dev);
	endpoint_start(&end.comch);
	meet(ctl); /* it listens */
	await_idle(&end);
	CHECK(end.num_disconnected == end.comch.num_connected);
	CHECK(doca_ctx_start(end.comch.ctx) == DOCA_ERROR_DRIVER); /* there is no daemon to listen at */
	close_end(&end);
}

static void run_client(int ctl)
{
	static const struct endpoint_cfg cfg = { .name = "daemon" };
	struct end end = { 0 };

	open_end(&end, ctl);
	endpoint_open_client(&end.comch, &cfg, &end.loop, end.dev);
	endpoint_start(&end.comch);
	LOOP_UNTIL(&end.loop, end.comch.state == DOCA_CTX_STATE_RUNNING);
	meet(ctl);
	await_idle(&end);
	CHECK(end.num_disconnected == 1);
	close_end(&end);
}

/* ---- the tests ---- */

static const struct peer_role server_role = { "server", run_server }, client_role = { "client", run_client };

static void start_end(struct proc *proc, const char *side, const struct peer_role *role, bool sleeps)
{
	char word;

	peer_start(proc, side, role, &sleeps, sizeof(sleeps));
	proc_recv(proc->ctl, &word, 1);
}

static void expect_server_stops(bool sleeps, bool has_client)
{
	struct proc server, client;

	start_end(&server, "dpu", &server_role, sleeps);
	proc_send(server.ctl, "!", 1);
	if (has_client) {
		start_end(&client, "host", &client_role, sleeps);
		proc_send(client.ctl, "!", 1);
	}
	card_kill_daemon();
	card_restart();
	assert_int_equal(proc_wait(&server), 0);
	if (has_client)
		assert_int_equal(proc_wait(&client), 0);
	card_end();
}

static void test_polling_server_without_clients_stops(void **state)
{
	expect_server_stops(false, false);
}

static void test_sleeping_server_without_clients_stops(void **state)
{
	expect_server_stops(true, false);
}

static void test_server_with_a_client_reports_its_end_and_stops(void **state)
{
	expect_server_stops(true, true);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_polling_server_without_clients_stops, card_setup, card_teardown),
		cmocka_unit_test_setup_teardown(test_sleeping_server_without_clients_stops, card_setup, card_teardown),
		cmocka_unit_test_setup_teardown(test_server_with_a_client_reports_its_end_and_stops, card_setup,
						card_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

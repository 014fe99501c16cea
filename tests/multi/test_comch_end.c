/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a Comch connection together with another event: a server that has not polled for a while finds both. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>

#include "cmocka_test.h"
#include "session_util.h"
#include "doca_device.h"

#define NAME      "end"
#define NUM_TASKS 100 /* more than a receive queue holds */

/* --- In the processes: one end each --- */

static struct end {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_ctx *ctx;
	struct doca_comch_connection *connection;
	bool was_connected;
	int received, sent, failed;
} end;

static void on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	end.sent++;
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void on_not_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	end.failed++;
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	end.received++;
}

static void on_connect(struct doca_comch_event_connection_status_changed *event,
		       struct doca_comch_connection *connection, uint8_t well)
{
	CHECK(well);
	end.connection = connection;
	end.was_connected = true;
}

static void on_disconnect(struct doca_comch_event_connection_status_changed *event,
			  struct doca_comch_connection *connection, uint8_t well)
{
	CHECK(end.connection == connection);
	end.connection = NULL;
}

static void open_device(const char *side)
{
	memset(&end, 0, sizeof(end));
	setenv("BFSIM_SIDE", side, 1);
	end.dev = device_open(NULL);
	CHECK(doca_pe_create(&end.pe) == DOCA_SUCCESS);
}

static struct doca_comch_server *start_server(void)
{
	struct doca_comch_server *server;

	open_device("dpu");
	CHECK(doca_comch_server_create(end.dev, device_open_rep(end.dev, NULL), NAME, &server) == DOCA_SUCCESS);
	CHECK(doca_comch_server_task_send_set_conf(server, on_sent, on_not_sent, NUM_TASKS) == DOCA_SUCCESS);
	CHECK(doca_comch_server_event_msg_recv_register(server, on_message) == DOCA_SUCCESS);
	CHECK(doca_comch_server_event_connection_status_changed_register(server, on_connect, on_disconnect) ==
	      DOCA_SUCCESS);
	end.ctx = doca_comch_server_as_ctx(server);
	CHECK(doca_pe_connect_ctx(end.pe, end.ctx) == DOCA_SUCCESS);
	CHECK(doca_ctx_start(end.ctx) == DOCA_SUCCESS);
	return server;
}

static bool has_state(enum doca_ctx_states wanted)
{
	enum doca_ctx_states state;

	CHECK(doca_ctx_get_state(end.ctx, &state) == DOCA_SUCCESS);
	return state == wanted;
}

static struct doca_comch_client *connect_client(void)
{
	struct doca_comch_client *client;

	open_device("host");
	CHECK(doca_comch_client_create(end.dev, NAME, &client) == DOCA_SUCCESS);
	CHECK(doca_comch_client_task_send_set_conf(client, on_sent, on_not_sent, 1) == DOCA_SUCCESS);
	CHECK(doca_comch_client_event_msg_recv_register(client, on_message) == DOCA_SUCCESS);
	end.ctx = doca_comch_client_as_ctx(client);
	CHECK(doca_pe_connect_ctx(end.pe, end.ctx) == DOCA_SUCCESS);
	CHECK(doca_ctx_start(end.ctx) == DOCA_ERROR_IN_PROGRESS);
	while (!has_state(DOCA_CTX_STATE_RUNNING))
		doca_pe_progress(end.pe);
	CHECK(doca_comch_client_get_connection(client, &end.connection) == DOCA_SUCCESS);
	return client;
}

/* Report readiness and wait for the test. */
static void meet(int ctl)
{
	char byte = 0;

	proc_send(ctl, &byte, 1);
	proc_recv(ctl, &byte, 1);
}

/* Connect, then poll nothing until the test's command; then receive all events before the deadline. */
static void server(int ctl, const void *num_messages)
{
	struct doca_comch_server *comch = start_server();
	int64_t deadline_ms;
	char byte = 0;

	proc_send(ctl, &byte, 1); /* the server listens */
	while (!end.was_connected)
		doca_pe_progress(end.pe);
	for (int i = 0; i < *(const int *)num_messages; i++) {
		struct doca_comch_task_send *task;

		CHECK(doca_comch_server_task_send_alloc_init(comch, end.connection, "x", 1, &task) == DOCA_SUCCESS);
		CHECK(doca_task_submit(doca_comch_task_send_as_task(task)) == DOCA_SUCCESS);
	}
	meet(ctl);
	deadline_ms = proc_now_ms() + PROC_DEADLINE_MS / 4;
	while (end.connection || end.sent + end.failed < *(const int *)num_messages) {
		doca_pe_progress(end.pe);
		CHECK(proc_now_ms() < deadline_ms);
	}
	proc_send(ctl, &end, sizeof(end));
}

/* Connect; on the test's command, send a message and disconnect. */
static void client_that_goes(int ctl, const void *unused)
{
	struct doca_comch_client *comch = connect_client();
	struct doca_comch_task_send *task;

	meet(ctl);
	CHECK(doca_comch_client_task_send_alloc_init(comch, end.connection, "x", 1, &task) == DOCA_SUCCESS);
	CHECK(doca_task_submit(doca_comch_task_send_as_task(task)) == DOCA_SUCCESS);
	while (!end.sent)
		doca_pe_progress(end.pe);
	doca_ctx_stop(end.ctx);
	while (!has_state(DOCA_CTX_STATE_IDLE))
		doca_pe_progress(end.pe);
	CHECK(doca_comch_client_destroy(comch) == DOCA_SUCCESS);
}

/* Connect, then never progress again. */
static void client_that_waits(int ctl, const void *unused)
{
	connect_client();
	meet(ctl);
}

/* --- The tests --- */

static void start_both(struct proc *dpu, struct proc *host, const int *num_messages, proc_body *client)
{
	char byte;

	proc_start(dpu, server, num_messages);
	proc_recv(dpu->ctl, &byte, 1);
	proc_start(host, client, NULL);
	proc_recv(host->ctl, &byte, 1); /* the client is connected */
	proc_recv(dpu->ctl, &byte, 1);  /* the server has the connection, has submitted, and does not poll */
}

static void test_last_message_and_disconnect_found_together(void **state)
{
	static const int num_messages = 0;
	struct proc dpu, host;
	struct end seen;

	start_both(&dpu, &host, &num_messages, client_that_goes);
	proc_send(host.ctl, "", 1);
	assert_int_equal(proc_wait(&host), 0);
	proc_send(dpu.ctl, "", 1);
	proc_recv(dpu.ctl, &seen, sizeof(seen));
	assert_int_equal(seen.received, 1);
	assert_null(seen.connection);
	proc_end(&dpu);
}

/* The receive queue takes some of them; the others end with an error. */
static void test_death_with_messages_waiting_ends_their_tasks(void **state)
{
	static const int num_messages = NUM_TASKS;
	struct proc dpu, host;
	struct end seen;

	start_both(&dpu, &host, &num_messages, client_that_waits);
	proc_signal(&host, SIGKILL);
	proc_send(dpu.ctl, "", 1);
	proc_recv(dpu.ctl, &seen, sizeof(seen));
	assert_true(seen.sent > 0);
	assert_true(seen.failed > 0);
	assert_int_equal(seen.sent + seen.failed, NUM_TASKS);
	assert_null(seen.connection);
	proc_end(&dpu);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_last_message_and_disconnect_found_together, session_setup,
						session_stop_teardown),
		cmocka_unit_test_setup_teardown(test_death_with_messages_waiting_ends_their_tasks, session_setup,
						session_stop_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

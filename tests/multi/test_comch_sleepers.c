/* SPDX-License-Identifier: BSD-3-Clause */
/* More clients than a server has wake-up descriptors for: the server wakes the last ones through the daemon. */
#include <poll.h>
#include <stdlib.h>

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>

#include "cmocka_test.h"
#include "session_util.h"
#include "doca_device.h"

#define NAME        "sleepers"
#define NUM_CLIENTS 300 /* the server keeps 256 descriptors */

/* --- In the processes --- */

static struct {
	struct doca_dev *dev;
	struct doca_pe *pe;
	doca_notification_handle_t handle;
	struct doca_comch_connection *last; /* messages received */
	int connected, received, sent;
} end;

static void on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	end.sent++;
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void on_not_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	CHECK(!"a message could be sent");
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	CHECK(len == 1 && bytes[0] == 'x');
	end.received++;
}

static void on_connect(struct doca_comch_event_connection_status_changed *event,
		       struct doca_comch_connection *connection, uint8_t well)
{
	CHECK(well);
	end.last = connection;
	end.connected++;
}

static void on_disconnect(struct doca_comch_event_connection_status_changed *event,
			  struct doca_comch_connection *connection, uint8_t well)
{
	end.connected--;
}

static void open_device(const char *side)
{
	setenv("BFSIM_SIDE", side, 1);
	end.dev = device_open(NULL);
	CHECK(doca_pe_create(&end.pe) == DOCA_SUCCESS);
	CHECK(doca_pe_get_notification_handle(end.pe, &end.handle) == DOCA_SUCCESS);
}

static void start_server(struct doca_comch_server **ret_server)
{
	struct doca_ctx *ctx;

	open_device("dpu");
	CHECK(doca_comch_server_create(end.dev, device_open_rep(end.dev, NULL), NAME, ret_server) == DOCA_SUCCESS);
	CHECK(doca_comch_server_task_send_set_conf(*ret_server, on_sent, on_not_sent, 1) == DOCA_SUCCESS);
	CHECK(doca_comch_server_event_msg_recv_register(*ret_server, on_message) == DOCA_SUCCESS);
	CHECK(doca_comch_server_event_connection_status_changed_register(*ret_server, on_connect, on_disconnect) ==
	      DOCA_SUCCESS);
	ctx = doca_comch_server_as_ctx(*ret_server);
	CHECK(doca_pe_connect_ctx(end.pe, ctx) == DOCA_SUCCESS);
	CHECK(doca_ctx_start(ctx) == DOCA_SUCCESS);
}

static void connect_client(void)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;
	struct doca_comch_client *client;
	struct doca_ctx *ctx;

	CHECK(doca_comch_client_create(end.dev, NAME, &client) == DOCA_SUCCESS);
	CHECK(doca_comch_client_task_send_set_conf(client, on_sent, on_not_sent, 1) == DOCA_SUCCESS);
	CHECK(doca_comch_client_event_msg_recv_register(client, on_message) == DOCA_SUCCESS);
	ctx = doca_comch_client_as_ctx(client);
	CHECK(doca_pe_connect_ctx(end.pe, ctx) == DOCA_SUCCESS);
	CHECK(doca_ctx_start(ctx) == DOCA_ERROR_IN_PROGRESS);
	while (state != DOCA_CTX_STATE_RUNNING) {
		doca_pe_progress(end.pe);
		CHECK(doca_ctx_get_state(ctx, &state) == DOCA_SUCCESS && state != DOCA_CTX_STATE_IDLE);
	}
}

static bool wakes_within(int ms)
{
	struct pollfd pollfd = { .fd = end.handle, .events = POLLIN };

	return poll(&pollfd, 1, ms) == 1;
}

/* Drain all events and arm the notification. */
static void drain_and_arm(void)
{
	for (;;) {
		while (doca_pe_progress(end.pe))
			;
		CHECK(doca_pe_request_notification(end.pe) == DOCA_SUCCESS);
		if (!wakes_within(0))
			return;
		CHECK(doca_pe_clear_notification(end.pe, end.handle) == DOCA_SUCCESS);
	}
}

static void server(int ctl, const void *unused)
{
	struct doca_comch_task_send *task;
	struct doca_comch_server *comch;
	char byte = 0;

	start_server(&comch);
	proc_send(ctl, &byte, 1);
	while (end.connected < NUM_CLIENTS)
		doca_pe_progress(end.pe);
	proc_recv(ctl, &byte, 1); /* the clients sleep */
	CHECK(doca_comch_server_task_send_alloc_init(comch, end.last, "x", 1, &task) == DOCA_SUCCESS);
	CHECK(doca_task_submit(doca_comch_task_send_as_task(task)) == DOCA_SUCCESS);
	while (!end.sent)
		doca_pe_progress(end.pe);
	proc_recv(ctl, &byte, 1);
}

static void clients(int ctl, const void *unused)
{
	char byte = 0;

	open_device("host");
	for (int i = 0; i < NUM_CLIENTS; i++)
		connect_client();
	drain_and_arm();
	proc_send(ctl, &byte, 1);
	while (!end.received) {
		CHECK(wakes_within(PROC_DEADLINE_MS / 4));
		CHECK(doca_pe_clear_notification(end.pe, end.handle) == DOCA_SUCCESS);
		drain_and_arm();
	}
	proc_send(ctl, &byte, 1);
	proc_recv(ctl, &byte, 1);
}

/* --- The test --- */

static void test_the_last_of_many_sleeping_clients_is_woken(void **state)
{
	struct proc dpu, host;
	char byte = 0;

	proc_start(&dpu, server, NULL);
	proc_recv(dpu.ctl, &byte, 1);
	proc_start(&host, clients, NULL);
	proc_recv(host.ctl, &byte, 1);
	proc_send(dpu.ctl, &byte, 1);
	proc_recv(host.ctl, &byte, 1); /* the message arrived */
	proc_send(host.ctl, &byte, 1);
	proc_end(&host);
	proc_send(dpu.ctl, &byte, 1);
	proc_end(&dpu);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_last_of_many_sleeping_clients_is_woken, session_setup,
						session_stop_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of release 2.5: a request and a response by libdoca_cc, the earlier name of Comch.
 *
 *   old_cc server      on the DPU
 *   old_cc client      on the host, after the server
 */
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_cc.h>
#include <doca_ctx.h>
#include <doca_pe.h>

#include "old_card.h"

#define NAME      "old_cc"
#define LOG_TASKS 2

static struct doca_cc_server *server;
static struct doca_cc_client *client;
static struct doca_pe *pe;
static bool is_over;

static void on_sent(struct doca_cc_send_task *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	doca_task_free(doca_cc_send_task_as_task(task));
}

static void say(struct doca_cc_connection *connection, const char *text)
{
	struct doca_cc_send_task *task;

	if (server)
		must(doca_cc_server_send_task_alloc_init(server, connection, text, strlen(text), &task),
		     "make an answer");
	else
		must(doca_cc_client_send_task_alloc_init(client, connection, text, strlen(text), &task),
		     "make a question");
	must(doca_task_submit(doca_cc_send_task_as_task(task)), "send it");
}

static void on_message(struct doca_cc_event_msg_recv *event, uint8_t *bytes, size_t len,
		       struct doca_cc_connection *connection)
{
	(void)event;
	printf("heard: %.*s\n", (int)len, (const char *)bytes);
	if (server)
		say(connection, "an answer");
	else
		is_over = true;
}

static void on_connect(struct doca_cc_event_connection_status_changed *event, struct doca_cc_connection *connection,
		       bool is_well)
{
	(void)event;
	(void)connection;
	must(is_well ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_ABORTED, "take a client");
}

static void on_disconnect(struct doca_cc_event_connection_status_changed *event, struct doca_cc_connection *connection,
			  bool is_well)
{
	(void)event;
	(void)connection;
	(void)is_well;
	is_over = true;
}

static void progress(void)
{
	if (!doca_pe_progress(pe))
		sched_yield();
}

static enum doca_ctx_states state_of(struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	must(doca_ctx_get_state(ctx, &state), "ask for the state");
	return state;
}

static void start(struct doca_ctx *ctx)
{
	doca_error_t result;

	must(doca_pe_connect_ctx(pe, ctx), "connect it to the engine");
	result = doca_ctx_start(ctx);
	must(result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result, "start it");
	while (state_of(ctx) == DOCA_CTX_STATE_STARTING)
		progress();
	must(state_of(ctx) == DOCA_CTX_STATE_RUNNING ? DOCA_SUCCESS : DOCA_ERROR_NOT_CONNECTED, "run");
}

static void stop(struct doca_ctx *ctx)
{
	doca_error_t result = doca_ctx_stop(ctx);

	must(result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result, "stop it");
	while (state_of(ctx) != DOCA_CTX_STATE_IDLE)
		progress();
}

static void serve(struct doca_dev *dev)
{
	struct doca_dev_rep *rep = open_first_rep(dev);

	must(doca_cc_server_create(dev, rep, NAME, &server), "make a server");
	must(doca_cc_server_send_task_set_conf(server, on_sent, on_sent, LOG_TASKS), "configure sending");
	must(doca_cc_server_event_msg_recv_register(server, on_message), "configure receiving");
	must(doca_cc_server_event_connection_register(server, on_connect, on_disconnect), "configure connections");
	start(doca_cc_server_as_ctx(server));
	printf("ready\n");
	fflush(stdout);
	while (!is_over)
		progress();
	stop(doca_cc_server_as_ctx(server));
	must(doca_cc_server_destroy(server), "destroy the server");
	must(doca_dev_rep_close(rep), "close the representor");
}

static void ask(struct doca_dev *dev)
{
	struct doca_cc_connection *connection;

	must(doca_cc_client_create(dev, NAME, &client), "make a client");
	must(doca_cc_client_send_task_set_conf(client, on_sent, on_sent, LOG_TASKS), "configure sending");
	must(doca_cc_client_event_msg_recv_register(client, on_message), "configure receiving");
	start(doca_cc_client_as_ctx(client));
	must(doca_cc_client_get_connection(client, &connection), "get the connection");
	say(connection, "a question");
	while (!is_over)
		progress();
	stop(doca_cc_client_as_ctx(client));
	must(doca_cc_client_destroy(client), "destroy the client");
}

int main(int argc, char **argv)
{
	struct doca_dev *dev = open_first();

	must(doca_pe_create(&pe), "make a progress engine");
	if (argc == 2 && strcmp(argv[1], "server") == 0)
		serve(dev);
	else
		ask(dev);
	must(doca_pe_destroy(pe), "destroy the engine");
	must(doca_dev_close(dev), "close the device");
	return EXIT_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch between the sides: messages there and back, and the connection on which the fast path is measured.
 *
 *   host                                     DPU
 *   client  --- message, DEPTH under way --> server
 *           <-- the same, sent back --------
 */
#include "probe_comch.h"

#include <stdio.h>
#include <stdlib.h>

#include <bfsim.h>
#include <doca_ctx.h>

#include "probe.h"

#define SERVICE "bfsim-bench"

static struct probe_end *end_of(const struct doca_comch_connection *connection)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(connection);
	struct doca_comch_client *client = doca_comch_client_get_client_ctx(connection);
	union doca_data data = { 0 };

	doca_ctx_get_user_data(server ? doca_comch_server_as_ctx(server) : doca_comch_client_as_ctx(client), &data);
	return data.ptr;
}

/* ---- the host's messages ---- */

/* Send until DEPTH messages are under way. A task is used again when it has ended. */
static void send_more(struct probe_end *end)
{
	const struct probe_comch_cfg *cfg = end->cfg;

	while (end->num_free > 0 && end->num_sent < cfg->count && end->num_sent - end->times.count < cfg->depth) {
		struct doca_task *task = end->free_tasks[--end->num_free];

		end->sent_ns[end->num_sent++ % cfg->depth] = bfsim_now_ns();
		probe_must(doca_task_submit(task), "send a message");
	}
}

static void on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct probe_end *end = ctx_data.ptr;

	(void)task_data;
	if (end->server) {
		doca_task_free(doca_comch_task_send_as_task(task));
		return;
	}
	end->free_tasks[end->num_free++] = doca_comch_task_send_as_task(task);
	send_more(end);
}

/* At the end, the other side may have gone. */
static void on_send_failed(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct probe_end *end = ctx_data.ptr;

	if (!end->is_over)
		probe_must(doca_task_get_status(doca_comch_task_send_as_task(task)), "send a message");
	on_sent(task, task_data, ctx_data);
}

static void answer(struct probe_end *end, struct doca_comch_connection *connection, uint8_t *bytes, uint32_t len)
{
	struct doca_comch_task_send *task;

	probe_must(doca_comch_server_task_send_alloc_init(end->server, connection, bytes, len, &task), "make a task");
	probe_must(doca_task_submit(doca_comch_task_send_as_task(task)), "send a message");
}

/* Messages come back in their order. */
static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	struct probe_end *end = end_of(connection);

	(void)event;
	if (end->server) {
		answer(end, connection, bytes, len);
		return;
	}
	end->times.latencies[end->times.count] = bfsim_now_ns() - end->sent_ns[end->times.count % end->cfg->depth];
	end->times.count++;
	send_more(end);
}

/* ---- the connection ---- */

static void on_connected(struct doca_comch_event_connection_status_changed *event,
			 struct doca_comch_connection *connection, uint8_t is_connected)
{
	(void)event;
	probe_must(is_connected ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_ABORTED, "connect");
	end_of(connection)->connection = connection;
}

static void on_disconnected(struct doca_comch_event_connection_status_changed *event,
			    struct doca_comch_connection *connection, uint8_t is_disconnected)
{
	(void)event;
	(void)is_disconnected;
	end_of(connection)->is_over = true;
}

static void on_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id)
{
	(void)event;
	end_of(connection)->consumer = id;
}

static void on_consumer_expired(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection,
				uint32_t id)
{
	(void)event;
	(void)connection;
	(void)id;
}

static void make_server(struct probe_end *end)
{
	struct doca_devinfo_rep **list;
	uint32_t count;

	probe_must(doca_devinfo_rep_create_list(end->dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count),
		   "list the representors");
	probe_must(count > 0 ? doca_dev_rep_open(list[0], &end->rep) : DOCA_ERROR_NOT_FOUND, "open a representor");
	doca_devinfo_rep_destroy_list(list);
	probe_must(doca_comch_server_create(end->dev, end->rep, SERVICE, &end->server), "create a server");
	probe_must(doca_comch_server_task_send_set_conf(end->server, on_sent, on_send_failed, end->cfg->depth),
		   "configure it");
	probe_must(doca_comch_server_event_msg_recv_register(end->server, on_message), "ask for messages");
	probe_must(
		doca_comch_server_event_connection_status_changed_register(end->server, on_connected, on_disconnected),
		"ask for connections");
	probe_must(doca_comch_server_event_consumer_register(end->server, on_consumer, on_consumer_expired),
		   "ask for consumers");
	end->ctx = doca_comch_server_as_ctx(end->server);
}

static void make_client(struct probe_end *end)
{
	probe_must(doca_comch_client_create(end->dev, SERVICE, &end->client), "create a client");
	probe_must(doca_comch_client_task_send_set_conf(end->client, on_sent, on_send_failed, end->cfg->depth),
		   "configure it");
	probe_must(doca_comch_client_event_msg_recv_register(end->client, on_message), "ask for messages");
	probe_must(doca_comch_client_event_consumer_register(end->client, on_consumer, on_consumer_expired),
		   "ask for consumers");
	end->ctx = doca_comch_client_as_ctx(end->client);
}

static void open_end(struct probe_end *end, bool is_server)
{
	end->dev = probe_open_first();
	probe_must(doca_pe_create(&end->pe), "create a progress engine");
	if (is_server)
		make_server(end);
	else
		make_client(end);
	probe_ctx_start(end->ctx, end->pe, end, NULL);
	while (is_server && !end->connection)
		doca_pe_progress(end->pe);
	if (!is_server)
		probe_must(doca_comch_client_get_connection(end->client, &end->connection), "get the connection");
}

static void close_end(struct probe_end *end)
{
	probe_ctx_stop(end->ctx, end->pe);
	if (end->server)
		probe_must(doca_comch_server_destroy(end->server), "destroy the server");
	if (end->client)
		probe_must(doca_comch_client_destroy(end->client), "destroy the client");
	probe_must(doca_pe_destroy(end->pe), "destroy the progress engine");
	if (end->rep)
		probe_must(doca_dev_rep_close(end->rep), "close the representor");
	probe_must(doca_dev_close(end->dev), "close the device");
}

/* ---- messages there and back ---- */

static void ping(struct probe_end *end)
{
	const struct probe_comch_cfg *cfg = end->cfg;
	void *bytes = probe_allocate(cfg->size);

	end->free_tasks = probe_calloc(cfg->depth, sizeof(struct doca_task *));
	end->sent_ns = probe_calloc(cfg->depth, sizeof(*end->sent_ns));
	end->times.latencies = probe_calloc(cfg->count, sizeof(*end->times.latencies));
	for (unsigned int i = 0; i < cfg->depth; i++) {
		struct doca_comch_task_send *task;

		probe_must(doca_comch_client_task_send_alloc_init(end->client, end->connection, bytes,
								  (uint32_t)cfg->size, &task),
			   "make a task");
		end->free_tasks[end->num_free++] = doca_comch_task_send_as_task(task);
	}
	end->times.began_ns = bfsim_now_ns();
	send_more(end);
	while (end->times.count < cfg->count)
		doca_pe_progress(end->pe);
	end->times.ended_ns = bfsim_now_ns();
	while (end->num_free < cfg->depth)
		doca_pe_progress(end->pe);
	probe_print_result(&end->times, 1, cfg->size, "");
	for (unsigned int i = 0; i < cfg->depth; i++)
		doca_task_free(end->free_tasks[i]);
	free(end->free_tasks);
	free(end->sent_ns);
	free(end->times.latencies);
}

int probe_comch_host(const struct probe_comch_cfg *cfg)
{
	struct probe_end end = { .cfg = cfg };

	open_end(&end, false);
	if (cfg->is_fast)
		probe_produce(&end);
	else
		ping(&end);
	end.is_over = true;
	close_end(&end);
	return EXIT_SUCCESS;
}

int probe_comch_dpu(const struct probe_comch_cfg *cfg)
{
	struct probe_end end = { .cfg = cfg };

	open_end(&end, true);
	if (cfg->is_fast)
		probe_consume(&end);
	while (!end.is_over)
		doca_pe_progress(end.pe);
	close_end(&end);
	return EXIT_SUCCESS;
}

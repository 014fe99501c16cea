/* SPDX-License-Identifier: BSD-3-Clause */
/* One of two processes that exchange Comch messages and copy by DMA, and print what happened at which session time.
 *
 *   clock_pair server|client NAME COUNT END_US FILE [die|sleep]
 *
 * The client sends COUNT messages, one after the other, each of another size; the server answers each. Both copy a block
 * for each message that they receive. Then both copy blocks up to END_US of session time, and end. FILE gets a line for
 * each event. "die": the process kills itself after half of the messages; "sleep": it sleeps there for ever.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bfsim.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#define BLOCK_BYTES 4096
#define MSG_BYTES   1024

struct end {
	const char *name;
	bool is_server;
	FILE *events;
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_pe *pe;
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	struct doca_comch_connection *connection;
	struct doca_dma *dma;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_dma_task_memcpy *copy;
	struct doca_buf *src, *dst;
	unsigned int num_received, num_sent, num_copied, num_started;
};

static char memory[2 * BLOCK_BYTES];

static void must(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS)
		return;
	fprintf(stderr, "clock_pair: %s: %s\n", what, doca_error_get_descr(result));
	exit(EXIT_FAILURE);
}

static void note(const struct end *end, const char *event, unsigned int number)
{
	fprintf(end->events, "%10llu %s %s %u\n", (unsigned long long)bfsim_now_ns(),
		end->is_server ? "server" : "client", event, number);
}

/* ---- callbacks ---- */

static void on_copied(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	struct end *end = ctx_data.ptr;

	note(end, doca_task_get_status(doca_dma_task_memcpy_as_task(task)) == DOCA_SUCCESS ? "copied" : "failed",
	     ++end->num_copied);
}

static void start_copy(struct end *end)
{
	if (end->num_started > end->num_copied)
		return;
	end->num_started++;
	must(doca_buf_reset_data_len(end->dst), "empty the destination");
	must(doca_task_submit(doca_dma_task_memcpy_as_task(end->copy)), "submit a copy");
}

static void on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct end *end = ctx_data.ptr;

	note(end, "sent", ++end->num_sent);
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void send_message(struct end *end, unsigned int number)
{
	static char message[MSG_BYTES];
	uint32_t bytes = 1 + number * 37 % MSG_BYTES;
	struct doca_comch_task_send *task;

	must(end->is_server ?
		     doca_comch_server_task_send_alloc_init(end->server, end->connection, message, bytes, &task) :
		     doca_comch_client_task_send_alloc_init(end->client, end->connection, message, bytes, &task),
	     "make a message");
	must(doca_task_submit(doca_comch_task_send_as_task(task)), "send a message");
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	union doca_data data = doca_comch_connection_get_user_data(connection);
	struct end *end = data.ptr;

	note(end, "received", len);
	end->num_received++;
	start_copy(end);
	if (end->is_server)
		send_message(end, end->num_received);
}

static struct end *the_end; /* a server's connection has no user data before this callback */

static void on_connected(struct doca_comch_event_connection_status_changed *event,
			 struct doca_comch_connection *connection, uint8_t success)
{
	if (!success)
		exit(EXIT_FAILURE);
	the_end->connection = connection;
	must(doca_comch_connection_set_user_data(connection, (union doca_data){ .ptr = the_end }), "name a connection");
	note(the_end, "connected", 0);
}

static void on_disconnected(struct doca_comch_event_connection_status_changed *event,
			    struct doca_comch_connection *connection, uint8_t success)
{
	the_end->connection = NULL;
}

/* ---- set-up ---- */

static void open_device(struct end *end)
{
	const char *pci = end->is_server ? "03:00.0" : "b1:00.0";
	struct doca_devinfo_rep **reps;
	struct doca_devinfo **list;
	uint32_t count;

	must(doca_devinfo_create_list(&list, &count), "list the devices");
	for (uint32_t i = 0; i < count && !end->dev; i++) {
		uint8_t equal = 0;

		if (doca_devinfo_is_equal_pci_addr(list[i], pci, &equal) == DOCA_SUCCESS && equal)
			must(doca_dev_open(list[i], &end->dev), "open the device");
	}
	doca_devinfo_destroy_list(list);
	if (!end->is_server)
		return;
	must(doca_devinfo_rep_create_list(end->dev, DOCA_DEVINFO_REP_FILTER_ALL, &reps, &count), "list representors");
	must(doca_dev_rep_open(reps[0], &end->rep), "open a representor");
	doca_devinfo_rep_destroy_list(reps);
}

static void start_ctx(struct end *end, struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	must(doca_pe_connect_ctx(end->pe, ctx), "connect a context");
	must(doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = end }), "name a context");
	must(doca_ctx_start(ctx), "start a context");
	while (doca_ctx_get_state(ctx, &state) == DOCA_SUCCESS && state == DOCA_CTX_STATE_STARTING)
		doca_pe_progress(end->pe);
	if (state == DOCA_CTX_STATE_IDLE)
		must(DOCA_ERROR_NOT_CONNECTED, "connect");
}

static void open_dma(struct end *end)
{
	must(doca_mmap_create(&end->mmap), "create a map");
	must(doca_mmap_set_memrange(end->mmap, memory, sizeof(memory)), "set its range");
	must(doca_mmap_add_dev(end->mmap, end->dev), "add the device");
	must(doca_mmap_start(end->mmap), "start it");
	must(doca_buf_inventory_create(2, &end->inventory), "create an inventory");
	must(doca_buf_inventory_start(end->inventory), "start it");
	must(doca_buf_inventory_buf_get_by_data(end->inventory, end->mmap, memory, BLOCK_BYTES, &end->src),
	     "get a source");
	must(doca_buf_inventory_buf_get_by_addr(end->inventory, end->mmap, memory + BLOCK_BYTES, BLOCK_BYTES,
						&end->dst),
	     "get a destination");
	must(doca_dma_create(end->dev, &end->dma), "create a context");
	must(doca_dma_task_memcpy_set_conf(end->dma, on_copied, on_copied, 1), "configure it");
	start_ctx(end, doca_dma_as_ctx(end->dma));
	must(doca_dma_task_memcpy_alloc_init(end->dma, end->src, end->dst, (union doca_data){ .ptr = end }, &end->copy),
	     "make a task");
}

static void open_server(struct end *end)
{
	must(doca_comch_server_create(end->dev, end->rep, end->name, &end->server), "create a server");
	must(doca_comch_server_task_send_set_conf(end->server, on_sent, on_sent, 8), "configure it");
	must(doca_comch_server_event_msg_recv_register(end->server, on_message), "register for messages");
	must(doca_comch_server_event_connection_status_changed_register(end->server, on_connected, on_disconnected),
	     "register for connections");
	start_ctx(end, doca_comch_server_as_ctx(end->server));
}

static void open_client(struct end *end)
{
	must(doca_comch_client_create(end->dev, end->name, &end->client), "create a client");
	must(doca_comch_client_task_send_set_conf(end->client, on_sent, on_sent, 8), "configure it");
	must(doca_comch_client_event_msg_recv_register(end->client, on_message), "register for messages");
	start_ctx(end, doca_comch_client_as_ctx(end->client));
	must(doca_comch_client_get_connection(end->client, &end->connection), "get the connection");
	must(doca_comch_connection_set_user_data(end->connection, (union doca_data){ .ptr = end }),
	     "name a connection");
	note(end, "connected", 0);
}

/* ---- the run ---- */

static void stop_ctx(struct end *end, struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	must(doca_ctx_stop(ctx), "stop a context");
	while (doca_ctx_get_state(ctx, &state) == DOCA_SUCCESS && state != DOCA_CTX_STATE_IDLE)
		doca_pe_progress(end->pe);
}

static void exchange(struct end *end, unsigned int count, const char *misfortune)
{
	for (unsigned int i = 0; i < count; i++) {
		if (!end->is_server)
			send_message(end, i);
		while (end->num_received <= i)
			doca_pe_progress(end->pe);
		if (i == count / 2 && strcmp(misfortune, "die") == 0)
			raise(SIGKILL);
		while (i == count / 2 && strcmp(misfortune, "sleep") == 0)
			pause();
	}
}

static void copy_until(struct end *end, unsigned long end_us)
{
	while (bfsim_now_ns() < end_us * 1000) {
		start_copy(end);
		while (end->num_copied < end->num_started)
			doca_pe_progress(end->pe);
	}
}

static void close_all(struct end *end)
{
	while (end->num_copied < end->num_started)
		doca_pe_progress(end->pe);
	doca_task_free(doca_dma_task_memcpy_as_task(end->copy));
	stop_ctx(end, doca_dma_as_ctx(end->dma));
	if (end->client)
		stop_ctx(end, doca_comch_client_as_ctx(end->client));
	while (end->server && end->connection)
		doca_pe_progress(end->pe);
	if (end->server)
		stop_ctx(end, doca_comch_server_as_ctx(end->server));
}

int main(int argc, char **argv)
{
	struct end end = { 0 };

	if (argc < 6) {
		fputs("usage: clock_pair server|client NAME COUNT END_US FILE [die|sleep]\n", stderr);
		return EXIT_FAILURE;
	}
	the_end = &end;
	end.is_server = strcmp(argv[1], "server") == 0;
	end.name = argv[2];
	end.events = fopen(argv[5], "w");
	if (!end.events)
		return EXIT_FAILURE;
	open_device(&end);
	must(doca_pe_create(&end.pe), "create an engine");
	if (end.is_server)
		open_server(&end);
	open_dma(&end);
	if (!end.is_server)
		open_client(&end);
	while (!end.connection)
		doca_pe_progress(end.pe);
	exchange(&end, (unsigned int)atoi(argv[3]), argc > 6 ? argv[6] : "");
	copy_until(&end, strtoul(argv[4], NULL, 10));
	note(&end, "ends", 0);
	close_all(&end);
	return fclose(end.events) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

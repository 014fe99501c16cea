/* SPDX-License-Identifier: BSD-3-Clause */
/* One of two processes that connect by RDMA CM, and print what happened at which session time.
 *
 *   rdma_pair server|client PORT COUNT FILE [DEVICE]
 *
 * The server sends the descriptor of its memory. The client writes, reads, adds and sends COUNT times, each time another
 * size, and the server answers each message with one of its own. Then the client disconnects. If COUNT is 0, the server stops
 * when it has the client's request, without an answer. FILE gets a line for each completion and for each event of the connection. DEVICE is the index of the device: 0 for a server, 1 for a client, which is
 * the other port of the built-in card, so that the network is between them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bfsim.h"
#include "rdma_util.h"

#define RECEIVES      4
#define RECEIVE_BYTES 8192
#define DATA          (RECEIVES * RECEIVE_BYTES) /* offset of what is sent */
#define SUM           (PEER_ARENA_BYTES - 64) /* offset of the counter at the server, and of its old values at the client */
#define SERVER        "198.18.0.1"

/* The first message of the server. */
struct welcome {
	uint8_t descriptor[64];
	uint64_t base;
};

static struct peer *self;
static struct peer server_memory; /* the server's, as the client sees it */
static FILE *events;
static const char *name;
static uint32_t count, num_received, num_answers;
static bool is_requested, is_established, is_disconnected;

static size_t size_of(uint32_t number)
{
	return 8 + number * 1237 % (RECEIVE_BYTES - 8);
}

/* ---- events ---- */

static void print_event(const char *event)
{
	fprintf(events, "%10llu %s %s\n", (unsigned long long)bfsim_now_ns(), name, event);
}

static void on_request(struct doca_rdma_connection *connection, union doca_data ctx_user_data)
{
	(void)ctx_user_data;
	print_event("request");
	is_requested = true;
	if (count > 0)
		MUST(doca_rdma_connection_accept(connection, NULL, 0));
}

static void on_established(struct doca_rdma_connection *connection, union doca_data user_data,
			   union doca_data ctx_user_data)
{
	(void)user_data, (void)ctx_user_data;
	print_event("established");
	self->connections[0] = connection;
	is_established = true;
}

static void on_failure(struct doca_rdma_connection *connection, union doca_data user_data,
		       union doca_data ctx_user_data)
{
	(void)connection, (void)user_data, (void)ctx_user_data;
	print_event("failed");
	if (count > 0) {
		fputs("rdma_pair: cannot connect\n", stderr);
		exit(EXIT_FAILURE);
	}
	is_disconnected = true;
}

static void on_disconnected(struct doca_rdma_connection *connection, union doca_data user_data,
			    union doca_data ctx_user_data)
{
	(void)user_data, (void)ctx_user_data;
	MUST(doca_rdma_connection_disconnect(connection));
	print_event("disconnected");
	is_disconnected = true;
}

/* Progress once, and print the completions, all of which have this time. */
static void step(void)
{
	char *line, *rest = self->trace;

	peer_progress(self);
	while ((line = strsep(&rest, "\n")) && *line) {
		print_event(line);
		num_received += strncmp(line, "receive", 7) == 0;
	}
	self->trace[0] = '\0';
}

/* ---- messages ---- */

static void post_receive(uint32_t number)
{
	peer_receive(self, number, peer_buf(self, number % RECEIVES * RECEIVE_BYTES, RECEIVE_BYTES, 0));
}

static void send_bytes(uint32_t number, size_t bytes)
{
	peer_send(self, number, peer_buf(self, DATA, bytes, bytes));
}

/* ---- the server ---- */

static void send_welcome(void)
{
	struct welcome welcome = { .base = (uintptr_t)self->arena };
	const void *descriptor;
	size_t len;

	MUST(doca_mmap_export_rdma(self->mmap, self->dev, &descriptor, &len));
	memcpy(welcome.descriptor, descriptor, sizeof(welcome.descriptor));
	memcpy(self->arena + DATA, &welcome, sizeof(welcome));
	send_bytes(0, sizeof(welcome));
}

static void serve(uint16_t port)
{
	MUST(doca_rdma_start_listen_to_port(self->rdma, port));
	while (!is_requested)
		step();
	if (count == 0)
		return;
	while (!is_established)
		step();
	send_welcome();
	while (!is_disconnected) {
		step();
		for (; num_answers < num_received; num_answers++) {
			post_receive(RECEIVES + num_answers);
			send_bytes(1 + num_answers, size_of(3 * num_answers));
		}
	}
}

/* ---- the client ---- */

static void await_message(void)
{
	uint32_t before = num_received;

	while (num_received == before)
		step();
}

static void read_welcome(void)
{
	struct welcome welcome;

	await_message();
	memcpy(&welcome, self->arena, sizeof(welcome));
	MUST(doca_mmap_create_from_export(NULL, welcome.descriptor, sizeof(welcome.descriptor), self->dev,
					  &self->remote));
	server_memory.arena = (uint8_t *)(uintptr_t)welcome.base;
	post_receive(RECEIVES);
}

static void work(uint32_t number)
{
	size_t bytes = size_of(number);

	peer_write(self, number, peer_buf(self, DATA, bytes, bytes),
		   peer_remote_buf(self, &server_memory, DATA + PEER_ARENA_BYTES / 2, bytes, 0));
	peer_read(self, number, peer_remote_buf(self, &server_memory, DATA + PEER_ARENA_BYTES / 2, bytes, bytes),
		  peer_buf(self, DATA, bytes, 0));
	peer_fetch_add(self, number, peer_remote_buf(self, &server_memory, SUM, 8, 8), peer_buf(self, SUM, 8, 0), 1);
	send_bytes(number, bytes);
	await_message();
	post_receive(RECEIVES + 1 + number);
}

static void use_connection(void)
{
	read_welcome();
	for (uint32_t i = 0; i < count; i++)
		work(i);
	MUST(doca_rdma_connection_disconnect(self->connections[0]));
}

static void use_server(uint16_t port)
{
	struct doca_rdma_addr *addr;

	MUST(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, SERVER, port, &addr));
	MUST(doca_rdma_connect_to_addr(self->rdma, addr, (union doca_data){ .u64 = 0 }));
	while (!is_established && !is_disconnected)
		step();
	if (is_established)
		use_connection();
	while (!is_disconnected)
		step();
	MUST(doca_rdma_addr_destroy(addr));
}

int main(int argc, char **argv)
{
	uint32_t device;
	uint16_t port;

	if (argc < 5) {
		fputs("usage: rdma_pair server|client PORT COUNT FILE [DEVICE]\n", stderr);
		return EXIT_FAILURE;
	}
	name = argv[1];
	port = (uint16_t)atoi(argv[2]);
	count = (uint32_t)atoi(argv[3]);
	events = fopen(argv[4], "w");
	if (!events)
		return EXIT_FAILURE;
	device = argc > 5 ? (uint32_t)atoi(argv[5]) : strcmp(name, "client") == 0;
	self = peer_open(device, RDMA_ALL_ACCESS);
	MUST(doca_rdma_set_connection_state_callbacks(self->rdma, on_request, on_established, on_failure,
						      on_disconnected));
	peer_start(self);
	for (uint32_t i = 0; i < RECEIVES; i++)
		post_receive(i);
	if (strcmp(name, "server") == 0)
		serve(port);
	else
		use_server(port);
	print_event("ends");
	peer_stop(self);
	self->trace[0] = '\0';
	peer_close(self);
	return fclose(events) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

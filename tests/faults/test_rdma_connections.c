/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at connections of RDMA. Two contexts of one process: a client, and a server that accepts what comes; or two that connect to
 * each other's descriptors. A cell has the events of the client, and those of the server. Calls that are refused anyway come before
 * those that the fault is for, and do not count. */
#include <bfsim.h>
#include <doca_dev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cell.h"
#include "tests/api/rdma_util.h"

#define PORT     7471
#define SHORT_MS 700   /* until a client gives up that must */
#define LONG_MS  50000 /* one that must not, on a busy machine */

static void note(struct peer *peer, const char *call, doca_error_t result)
{
	if (result != DOCA_SUCCESS)
		sprintf(peer->trace + strlen(peer->trace), "%s: %s\n", call, doca_error_get_name(result));
}

static void accept(struct peer *peer, struct doca_rdma_connection *connection)
{
	note(peer, "accept", doca_rdma_connection_accept(connection, NULL, 0));
}

static void on_request(struct doca_rdma_connection *connection, union doca_data ctx_user_data)
{
	struct peer *peer = ctx_user_data.ptr;

	strcat(peer->trace, "request\n");
	accept(peer, connection);
	if (cell_is("fail")) /* the request still waits for an answer, unless it has one */
		accept(peer, connection);
}

static void on_established(struct doca_rdma_connection *connection, union doca_data user_data,
			   union doca_data ctx_user_data)
{
	struct peer *peer = ctx_user_data.ptr;

	peer->connections[peer->num_connections++] = connection;
	strcat(peer->trace, "established\n");
}

static void on_failure(struct doca_rdma_connection *connection, union doca_data user_data,
		       union doca_data ctx_user_data)
{
	struct peer *peer = ctx_user_data.ptr;

	strcat(peer->trace, "failure\n");
}

static void on_disconnected(struct doca_rdma_connection *connection, union doca_data user_data,
			    union doca_data ctx_user_data)
{
	struct peer *peer = ctx_user_data.ptr;

	strcat(peer->trace, "disconnected\n");
	if (user_data.ptr) /* the client's */
		note(peer, "destroy", doca_rdma_addr_destroy(user_data.ptr));
}

/* Whether the client finds no server, or gets no answer. */
static bool must_time_out(void)
{
	return cell_is("hang") || (strcmp(cell->op, "rdma.listen") == 0 && !cell_is("stall")) ||
	       strstr(cell->rest, "down=1000s");
}

static struct peer *open_started(void)
{
	struct peer *peer = peer_open(0, RDMA_ALL_ACCESS);

	CHECK(doca_rdma_set_connection_state_callbacks(peer->rdma, on_request, on_established, on_failure,
						       on_disconnected) == DOCA_SUCCESS);
	CHECK(doca_rdma_set_connection_request_timeout(peer->rdma, must_time_out() ? SHORT_MS : LONG_MS) ==
	      DOCA_SUCCESS);
	peer_start(peer);
	return peer;
}

static struct doca_rdma_addr *address_of(const struct peer *peer)
{
	struct doca_rdma_addr *addr;
	uint8_t bytes[4];
	char text[16];

	CHECK(doca_devinfo_get_ipv4_addr(doca_dev_as_devinfo(peer->dev), bytes, sizeof(bytes)) == DOCA_SUCCESS);
	sprintf(text, "%u.%u.%u.%u", bytes[0], bytes[1], bytes[2], bytes[3]);
	CHECK(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, text, PORT, &addr) == DOCA_SUCCESS);
	return addr;
}

static void expect_trace(const struct peer *peer, const char *expected)
{
	if (strcmp(peer->trace, expected) != 0)
		check_fail(__FILE__, __LINE__, cell->op, peer->trace, expected);
}

/* By contexts that are idle, to an address that no function has, by a context that has its connections, to a port that is taken. */
static void make_refused_calls(struct peer *peer, struct doca_rdma_addr *addr)
{
	struct peer *idle = peer_open(0, RDMA_ALL_ACCESS), *full = peer_open(0, RDMA_ALL_ACCESS);
	struct doca_rdma_connection *connection;
	struct doca_rdma_addr *nowhere;
	const void *details;
	size_t len;

	CHECK(doca_rdma_set_connection_state_callbacks(idle->rdma, on_request, on_established, on_failure,
						       on_disconnected) == DOCA_SUCCESS);
	CHECK(doca_rdma_connect_to_addr(idle->rdma, addr, (union doca_data){ 0 }) == DOCA_ERROR_BAD_STATE);
	CHECK(doca_rdma_start_listen_to_port(idle->rdma, PORT) == DOCA_ERROR_BAD_STATE);
	CHECK(doca_rdma_connect(idle->rdma, "", 0, NULL) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "10.0.0.1", PORT, &nowhere) == DOCA_SUCCESS);
	CHECK(doca_rdma_connect_to_addr(peer->rdma, nowhere, (union doca_data){ 0 }) == DOCA_ERROR_CONNECTION_ABORTED);
	CHECK(doca_rdma_addr_destroy(nowhere) == DOCA_SUCCESS);
	CHECK(doca_rdma_set_connection_state_callbacks(full->rdma, on_request, on_established, on_failure,
						       on_disconnected) == DOCA_SUCCESS);
	CHECK(doca_rdma_set_max_num_connections(full->rdma, 1) == DOCA_SUCCESS);
	peer_start(full);
	CHECK(doca_rdma_export(full->rdma, &details, &len, &connection) == DOCA_SUCCESS);
	CHECK(doca_rdma_connect_to_addr(full->rdma, addr, (union doca_data){ 0 }) == DOCA_ERROR_FULL);
	CHECK(doca_rdma_connect(full->rdma, details, len - 1, connection) == DOCA_ERROR_CONNECTION_ABORTED);
	peer_close(full);
	peer_close(idle);
}

static void connections_dpu(struct side *side)
{
	struct peer *client = open_started(), *server = open_started();
	struct doca_rdma_addr *addr = address_of(server);
	uint64_t begin_ns = bfsim_now_ns();

	cell_arm();
	make_refused_calls(client, addr);
	note(server, "listen", doca_rdma_start_listen_to_port(server->rdma, PORT));
	if (strcmp(cell->act, "stall") == 0 && strcmp(cell->op, "rdma.listen") == 0) {
		CHECK(doca_rdma_start_listen_to_port(server->rdma, PORT) == DOCA_ERROR_CONNECTION_ABORTED);
		CHECK(doca_rdma_start_listen_to_port(client->rdma, PORT) == DOCA_ERROR_CONNECTION_ABORTED);
	}
	note(client, "connect", doca_rdma_connect_to_addr(client->rdma, addr, (union doca_data){ 0 }));
	while ((strlen(client->trace) < strlen(cell->on_dpu) || strlen(server->trace) < strlen(cell->on_host)) &&
	       cell_since_ns(begin_ns) < 60000000000u) {
		peers_progress(client, server);
	}
	expect_trace(client, cell->on_dpu);
	expect_trace(server, cell->on_host);
	if (cell_is("stall") || strstr(cell->rest, "down=500ms"))
		CHECK(cell_since_ns(begin_ns) >= CELL_DELAY_NS);
	if (must_time_out())
		CHECK(cell_since_ns(begin_ns) >= SHORT_MS * UINT64_C(1000000));
	cell_expect_hit();
	peer_close(client);
	peer_close(server);
	CHECK(doca_rdma_addr_destroy(addr) == DOCA_SUCCESS);
}

static void progress_to(struct peer *client, const char *of_client, struct peer *server, const char *of_server)
{
	uint64_t begin_ns = bfsim_now_ns();

	while ((!strstr(client->trace, of_client) || !strstr(server->trace, of_server)) &&
	       cell_since_ns(begin_ns) < 60000000000u) {
		peers_progress(client, server);
	}
}

/* The server disconnects while a fault holds the receive of the client's message: the receive ends with the context. A program may
 * destroy the address when it learns of the end. */
static void held_dpu(struct side *side)
{
	struct peer *client = open_started(), *server = open_started();
	struct doca_rdma_addr *addr = address_of(server);

	cell_arm();
	peer_receive(server, 1, peer_buf(server, 0, 64, 0));
	CHECK(doca_rdma_start_listen_to_port(server->rdma, PORT) == DOCA_SUCCESS);
	CHECK(doca_rdma_connect_to_addr(client->rdma, addr, (union doca_data){ .ptr = addr }) == DOCA_SUCCESS);
	progress_to(client, "established", server, "established");
	peer_send(client, 1, peer_buf(client, 0, 8, 8));
	progress_to(client, "send 1 done", server, "");
	CHECK(doca_rdma_connection_disconnect(server->connections[0]) == DOCA_SUCCESS);
	progress_to(client, "disconnected", server, "disconnected");
	for (int i = 0; i < 10; i++)
		peer_progress(server);
	peer_stop(server);
	expect_trace(client, cell->on_dpu);
	expect_trace(server, cell->on_host);
	cell_expect_hit();
	peer_close(client);
	peer_close(server);
}

/* The client disconnects while the link is down: the server learns of it when the link is up. */
static void cut_dpu(struct side *side)
{
	struct peer *client = open_started(), *server = open_started();
	struct doca_rdma_addr *addr = address_of(server);
	uint64_t begin_ns;

	CHECK(doca_rdma_start_listen_to_port(server->rdma, PORT) == DOCA_SUCCESS);
	CHECK(doca_rdma_connect_to_addr(client->rdma, addr, (union doca_data){ .ptr = addr }) == DOCA_SUCCESS);
	progress_to(client, "established", server, "established");
	begin_ns = bfsim_now_ns();
	cell_arm();
	CHECK(doca_rdma_connection_disconnect(client->connections[0]) == DOCA_SUCCESS);
	progress_to(client, "disconnected", server, "");
	CHECK(cell_since_ns(begin_ns) >= CELL_DELAY_NS || !strstr(server->trace, "disconnected"));
	progress_to(client, "", server, "disconnected");
	CHECK(cell_since_ns(begin_ns) >= CELL_DELAY_NS);
	expect_trace(client, cell->on_dpu);
	expect_trace(server, cell->on_host);
	cell_expect_hit();
	peer_close(client);
	peer_close(server);
}

/* ---- by descriptors ---- */

struct descriptor {
	const void *bytes;
	size_t len;
};

static struct descriptor export_connection(struct peer *peer)
{
	struct descriptor descriptor;

	CHECK(doca_rdma_export(peer->rdma, &descriptor.bytes, &descriptor.len,
			       &peer->connections[peer->num_connections++]) == DOCA_SUCCESS);
	return descriptor;
}

static doca_error_t connect_to(struct peer *peer, struct descriptor descriptor)
{
	return doca_rdma_connect(peer->rdma, descriptor.bytes, descriptor.len, peer->connections[0]);
}

/* In any order, as the two tasks have none. */
static void expect_lines(const struct peer *peer, const char *expected)
{
	char line[128];
	int len;

	CHECK(strlen(peer->trace) == strlen(expected));
	for (const char *rest = expected; sscanf(rest, "%127[^\n]%n", line, &len) == 1; rest += len + 1)
		if (!strstr(peer->trace, line))
			check_fail(__FILE__, __LINE__, cell->op, peer->trace, expected);
}

/* The client's connect is hit; one that did not connect is made again. Then both send. */
static void descriptors_dpu(struct side *side)
{
	struct peer *client = open_started(), *server = open_started();
	struct descriptor of_client = export_connection(client), of_server = export_connection(server);
	struct doca_rdma_addr *addr = address_of(server);
	uint64_t begin_ns = bfsim_now_ns();

	CHECK(connect_to(server, of_client) == DOCA_SUCCESS);
	cell_arm();
	make_refused_calls(client, addr);
	CHECK(connect_to(server, of_client) == DOCA_ERROR_BAD_STATE);
	note(client, "connect", connect_to(client, of_server));
	if (strstr(client->trace, "connect"))
		note(client, "connect", connect_to(client, of_server));
	peer_receive(client, 1, peer_buf(client, 0, 64, 0));
	peer_receive(server, 1, peer_buf(server, 0, 64, 0));
	peer_send(client, 2, peer_buf(client, 64, 64, 64));
	peer_send(server, 2, peer_buf(server, 64, 64, 64));
	progress_to(client, cell_is("hang") ? "" : "send 2", server, "send 2");
	if (!cell_is("hang"))
		peers_drain(client, server, 0);
	if (cell_is("stall"))
		CHECK(cell_since_ns(begin_ns) >= CELL_DELAY_NS);
	cell_expect_hit();
	peer_stop(client);
	expect_lines(client, cell->on_dpu);
	expect_lines(server, cell->on_host);
	peer_close(client);
	peer_close(server);
	CHECK(doca_rdma_addr_destroy(addr) == DOCA_SUCCESS);
}

#define DESCRIPTORS(act, rest, client, server)                                            \
	{                                                                                 \
		"rdma.connect", act, rest, descriptors_dpu, comch_nothing, client, server \
	}
#define BOTH_SEND "receive 1 done: 64 bytes by SEND\nsend 2 done\n"

#define CELL(op, act, rest, client, server)                                   \
	{                                                                     \
		op, act, rest, connections_dpu, comch_nothing, client, server \
	}

static const struct cell cells[] = {
	CELL("rdma.connect", "refuse", "nth=1 refuse", "failure\n", ""),
	CELL("rdma.connect", "fail", "nth=1 fail=TIME_OUT", "connect: DOCA_ERROR_TIME_OUT\n", ""),
	CELL("rdma.connect", "stall", "nth=1 stall=500ms", "established\n", "request\nestablished\n"),
	CELL("rdma.connect", "hang", "nth=1 hang", "failure\n", ""),
	DESCRIPTORS("refuse", "nth=1 refuse", "connect: DOCA_ERROR_CONNECTION_ABORTED\n" BOTH_SEND, BOTH_SEND),
	DESCRIPTORS("fail", "nth=1 fail=TIME_OUT", "connect: DOCA_ERROR_TIME_OUT\n" BOTH_SEND, BOTH_SEND),
	DESCRIPTORS("stall", "nth=1 stall=500ms", BOTH_SEND, BOTH_SEND),
	DESCRIPTORS("hang", "nth=1 hang",
		    "send 2 failed: DOCA_ERROR_IO_FAILED\nreceive 1 failed: DOCA_ERROR_IO_FAILED\n",
		    "send 2 failed: DOCA_ERROR_IO_FAILED\n"),
	CELL("rdma.accept", "refuse", "nth=1 refuse", "failure\n",
	     "request\naccept: DOCA_ERROR_CONNECTION_ABORTED\nfailure\n"),
	CELL("rdma.accept", "fail", "nth=1 fail=TIME_OUT", "established\n",
	     "request\naccept: DOCA_ERROR_TIME_OUT\nestablished\n"),
	CELL("rdma.accept", "stall", "nth=1 stall=500ms", "established\n", "request\nestablished\n"),
	CELL("rdma.accept", "hang", "nth=1 hang", "failure\n", "request\nfailure\n"),
	CELL("rdma.listen", "refuse", "nth=1 refuse", "failure\n", "listen: DOCA_ERROR_CONNECTION_ABORTED\n"),
	CELL("rdma.listen", "fail", "nth=1 fail=TIME_OUT", "failure\n", "listen: DOCA_ERROR_TIME_OUT\n"),
	CELL("rdma.listen", "stall", "nth=1 stall=500ms", "established\n", "request\nestablished\n"),
	CELL("net.link", "down", "device=03:00.0 side=dpu down=500ms", "established\n", "request\nestablished\n"),
	CELL("net.link", "down", "device=03:00.0 side=dpu down=1000s", "failure\n", ""),
	CELL("net.link", "down", "device=03:00.0 side=dpu after='rdma.accept' down=500ms", "established\n",
	     "request\nestablished\n"),
	{ "net.link", "down", "device=03:00.0 side=dpu down=500ms", cut_dpu, comch_nothing,
	  "established\ndisconnected\n", "request\nestablished\ndisconnected\n" },
	{ "rdma.receive", "hang", "nth=1 hang", held_dpu, comch_nothing, "established\nsend 1 done\ndisconnected\n",
	  "request\nestablished\ndisconnected\nreceive 1 failed: DOCA_ERROR_IO_FAILED\n" },
};

int main(void)
{
	return cell_run("rdma connections", cells, sizeof(cells) / sizeof(cells[0]));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA between processes of a session: by descriptors and by addresses, over each data path, and when a peer dies. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "rdma_util.h"
#include "session_util.h"
#include "sim/control/control.h"

#define PORT 13579

enum order {
	ORDER_EXPORT,  /* reply: the descriptors of a connection and of the memory */
	ORDER_CONNECT, /* the peer's descriptors */
	ORDER_RECEIVE, /* post receives */
	ORDER_SEND,
	ORDER_WRITE,
	ORDER_READ,
	ORDER_ADD,   /* so many fetch-and-adds to the peer's first 8 bytes */
	ORDER_DRAIN, /* progress until no task is pending; reply: the trace */
	ORDER_AWAIT, /* progress until the trace has so many lines; reply: the trace */
	ORDER_SLEEP, /* the same, and sleep on the notification handle of the engine between its steps */
	ORDER_PEEK,  /* reply: the begin of the memory */
	ORDER_LISTEN,
	ORDER_REQUEST, /* connect to the address */
	ORDER_DISCONNECT,
	ORDER_STOP,       /* stop the context, progress until it is idle */
	ORDER_EXPORT_PCI, /* reply: the descriptor of the memory, for the card's other side */
	ORDER_ADOPT, /* import the memory by that; from now on, ORDER_EXPORT exports it again, as if it were the peer's own */
	ORDER_ABANDON, /* destroy the map of that memory */
	ORDER_ACCEPT,  /* the request that waits; reply: the result's name */
};

struct request {
	enum order order;
	uint64_t count;
	char text[64];
	uint8_t connection[64], memory[64];
	uint64_t base; /* of the memory in its exporter */
};

struct reply {
	char text[1024];
	uint8_t connection[64], memory[64];
	uint64_t base;
};

/* ---- in the processes ---- */

struct worker_arg {
	const char *side, *path;
	bool rejects, answers_late, is_dc;
};

static const struct worker_arg *worker_arg;

static void note_event(struct peer *peer, const char *event)
{
	strcat(peer->trace, event);
}

static struct doca_rdma_connection *waiting; /* for an answer; NULL = none */

static void on_request(struct doca_rdma_connection *connection, union doca_data ctx_user_data)
{
	struct peer *peer = ctx_user_data.ptr;
	enum doca_rdma_addr_type type;
	struct doca_rdma_addr *addr;
	const char *text;
	uint16_t port;
	char line[128];

	MUST(doca_rdma_connection_get_addr(connection, &addr));
	MUST(doca_rdma_addr_get_params(addr, &type, &text, &port));
	if (doca_rdma_addr_destroy(addr) != DOCA_ERROR_BAD_STATE) /* it is the connection's */
		abort();
	snprintf(line, sizeof(line), "request to %s port %u\n", text, port);
	note_event(peer, line);
	if (worker_arg->answers_late)
		waiting = connection;
	else if (worker_arg->rejects)
		MUST(doca_rdma_connection_reject(connection));
	else
		MUST(doca_rdma_connection_accept(connection, NULL, 0));
}

static void on_established(struct doca_rdma_connection *connection, union doca_data user_data,
			   union doca_data ctx_user_data)
{
	struct peer *peer = ctx_user_data.ptr;

	(void)user_data;
	peer->connections[peer->num_connections++] = connection;
	note_event(peer, "established\n");
}

static void on_failure(struct doca_rdma_connection *connection, union doca_data user_data,
		       union doca_data ctx_user_data)
{
	(void)connection, (void)user_data;
	note_event(ctx_user_data.ptr, "failure\n");
}

static void on_disconnected(struct doca_rdma_connection *connection, union doca_data user_data,
			    union doca_data ctx_user_data)
{
	(void)user_data;
	MUST(doca_rdma_connection_disconnect(connection));
	note_event(ctx_user_data.ptr, "disconnected\n");
}

static struct doca_mmap *adopted; /* memory of the card's other side; NULL = none */
static uint64_t adopted_base;

static void export_pci(struct peer *peer, struct reply *reply)
{
	const void *bytes;
	size_t len;

	MUST(doca_mmap_export_pci(peer->mmap, peer->dev, &bytes, &len));
	memcpy(reply->memory, bytes, len);
	reply->base = (uintptr_t)peer->arena;
}

static void adopt(struct peer *peer, const struct request *request)
{
	MUST(doca_mmap_create_from_export(NULL, request->memory, 64, peer->dev, &adopted));
	adopted_base = request->base;
}

static void abandon(void)
{
	MUST(doca_mmap_destroy(adopted));
	adopted = NULL;
}

static void export_all(struct peer *peer, struct reply *reply)
{
	const void *bytes;
	size_t len;

	MUST(doca_rdma_export(peer->rdma, &bytes, &len, &peer->connections[peer->num_connections]));
	memcpy(reply->connection, bytes, len);
	MUST(doca_mmap_export_rdma(adopted ? adopted : peer->mmap, peer->dev, &bytes, &len));
	memcpy(reply->memory, bytes, len);
	reply->base = adopted ? adopted_base : (uintptr_t)peer->arena;
}

static void connect_to(struct peer *peer, struct peer *other, const struct request *request)
{
	other->arena = (uint8_t *)(uintptr_t)request->base;
	MUST(doca_rdma_connect(peer->rdma, request->connection, 64, peer->connections[peer->num_connections++]));
	MUST(doca_mmap_create_from_export(NULL, request->memory, 64, peer->dev, &peer->remote));
}

static void submit_many(struct peer *peer, const struct peer *other, const struct request *request)
{
	size_t len = strlen(request->text) + 1;
	uint64_t from = request->order == ORDER_SEND ? 8192 : 4096; /* a write may still be under way */

	memcpy(peer->arena + from, request->text, len);
	for (uint64_t i = 0; i < request->count; i++) {
		if (request->order == ORDER_RECEIVE)
			peer_receive(peer, i, peer_buf(peer, i * 64, 64, 0));
		else if (request->order == ORDER_SEND)
			peer_send(peer, i, peer_buf(peer, from, 64, len));
		else if (request->order == ORDER_WRITE)
			peer_write(peer, i, peer_buf(peer, from, 64, len), peer_remote_buf(peer, other, 0, 64, 0));
		else if (request->order == ORDER_READ)
			peer_read(peer, i, peer_remote_buf(peer, other, 0, 64, 64), peer_buf(peer, 0, 64, 0));
		else
			peer_fetch_add(peer, i, peer_remote_buf(peer, other, 0, 8, 8), peer_buf(peer, 64, 8, 0), 1);
		if (request->order == ORDER_ADD)
			peers_drain(peer, NULL, 0);
	}
}

static uint64_t num_lines(const char *text)
{
	uint64_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

/* Sleep until the engine has work. */
static void sleep_on(struct doca_pe *pe)
{
	doca_event_handle_t handle;
	struct pollfd readable;

	MUST(doca_pe_get_notification_handle(pe, &handle));
	MUST(doca_pe_request_notification(pe));
	readable = (struct pollfd){ .fd = handle, .events = POLLIN };
	if (poll(&readable, 1, PROC_DEADLINE_MS) != 1)
		abort();
	MUST(doca_pe_clear_notification(pe, handle));
}

static void await(struct peer *peer, uint64_t count, bool sleeps)
{
	while (num_lines(peer->trace) < count)
		if (doca_pe_progress(peer->pe) == 0 && sleeps)
			sleep_on(peer->pe);
}

static void request_address(struct peer *peer, const struct request *request)
{
	struct doca_rdma_addr *addr;

	MUST(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, request->text, PORT, &addr));
	MUST(doca_rdma_connect_to_addr(peer->rdma, addr, (union doca_data){ .u64 = 0 }));
}

static void stop(struct peer *peer)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;

	(void)!doca_ctx_stop(peer->ctx);
	while (state != DOCA_CTX_STATE_IDLE) {
		peer_progress(peer);
		MUST(doca_ctx_get_state(peer->ctx, &state));
	}
}

static void obey(struct peer *peer, struct peer *other, const struct request *request, struct reply *reply)
{
	switch (request->order) {
	case ORDER_EXPORT:
		export_all(peer, reply);
		break;
	case ORDER_CONNECT:
		connect_to(peer, other, request);
		break;
	case ORDER_DRAIN:
		peers_drain(peer, NULL, 0);
		break;
	case ORDER_AWAIT:
	case ORDER_SLEEP:
		await(peer, request->count, request->order == ORDER_SLEEP);
		break;
	case ORDER_PEEK:
		memcpy(reply->text, peer->arena, 64);
		return;
	case ORDER_LISTEN:
		MUST(doca_rdma_start_listen_to_port(peer->rdma, PORT));
		break;
	case ORDER_REQUEST:
		request_address(peer, request);
		break;
	case ORDER_DISCONNECT:
		MUST(doca_rdma_connection_disconnect(peer->connections[0]));
		break;
	case ORDER_STOP:
		stop(peer);
		break;
	case ORDER_EXPORT_PCI:
		export_pci(peer, reply);
		break;
	case ORDER_ADOPT:
		adopt(peer, request);
		break;
	case ORDER_ABANDON:
		abandon();
		break;
	case ORDER_ACCEPT:
		strcpy(reply->text, doca_error_get_name(doca_rdma_connection_accept(waiting, NULL, 0)));
		break;
	default:
		submit_many(peer, other, request);
		break;
	}
	if (request->order == ORDER_DRAIN || request->order == ORDER_AWAIT || request->order == ORDER_SLEEP) {
		strncpy(reply->text, peer->trace, sizeof(reply->text) - 1);
		peer->trace[0] = '\0';
	}
}

static void worker(int ctl, const void *arg)
{
	struct request request;
	struct peer *peer, other = { 0 };

	worker_arg = arg;
	setenv("BFSIM_SIDE", worker_arg->side, 1);
	if (worker_arg->path)
		setenv("BFSIM_PATH", worker_arg->path, 1);
	peer = peer_open_with(0, RDMA_ALL_ACCESS, RDMA_ALL_ACCESS | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	MUST(doca_rdma_set_connection_state_callbacks(peer->rdma, on_request, on_established, on_failure,
						      on_disconnected));
	MUST(doca_rdma_set_connection_request_timeout(peer->rdma, 300));
	if (worker_arg->is_dc)
		MUST(doca_rdma_set_transport_type(peer->rdma, DOCA_RDMA_TRANSPORT_TYPE_DC));
	peer_start(peer);
	for (;;) {
		struct reply reply = { 0 };

		proc_recv(ctl, &request, sizeof(request));
		obey(peer, &other, &request, &reply);
		proc_send(ctl, &reply, sizeof(reply));
	}
}

/* ---- in the test ---- */

static struct reply ask_for(struct proc *proc, struct request request)
{
	struct reply reply;

	proc_send(proc->ctl, &request, sizeof(request));
	proc_recv(proc->ctl, &reply, sizeof(reply));
	return reply;
}

static struct reply ask(struct proc *proc, enum order order, uint64_t count, const char *text)
{
	struct request request = { .order = order, .count = count };

	strcpy(request.text, text);
	return ask_for(proc, request);
}

static void connect_one(struct proc *proc, const struct reply *exported)
{
	struct request request = { .order = ORDER_CONNECT, .base = exported->base };

	memcpy(request.connection, exported->connection, 64);
	memcpy(request.memory, exported->memory, 64);
	ask_for(proc, request);
}

static void connect_both(struct proc *a, struct proc *b)
{
	struct reply of_a = ask(a, ORDER_EXPORT, 0, ""), of_b = ask(b, ORDER_EXPORT, 0, "");

	connect_one(a, &of_b);
	connect_one(b, &of_a);
}

#define expect_text(reply, wanted) assert_string_equal((reply).text, wanted)

/* @requester writes @text, which is in the memory of @owner then, and reads it. The owner does nothing meanwhile. */
static void write_and_read(struct proc *requester, struct proc *owner, const char *text)
{
	ask(requester, ORDER_WRITE, 1, text);
	expect_text(ask(requester, ORDER_DRAIN, 0, ""), "write 0 done\n");
	expect_text(ask(owner, ORDER_PEEK, 0, ""), text);
	ask(requester, ORDER_READ, 1, "");
	expect_text(ask(requester, ORDER_DRAIN, 0, ""), "read 0 done\n");
	expect_text(ask(requester, ORDER_PEEK, 0, ""), text);
}

static void exchange(const char *path)
{
	const struct worker_arg host = { .side = "host", .path = path }, dpu = { .side = "dpu", .path = path };
	struct proc a, b;

	proc_start(&a, worker, &host);
	proc_start(&b, worker, &dpu);
	connect_both(&a, &b);
	write_and_read(&a, &b, "written");
	ask(&b, ORDER_RECEIVE, 2, "");
	ask(&a, ORDER_SEND, 2, "hello");
	expect_text(ask(&b, ORDER_DRAIN, 0, ""), "receive 0 done: 6 bytes by SEND\nreceive 1 done: 6 bytes by SEND\n");
	expect_text(ask(&a, ORDER_DRAIN, 0, ""), "send 0 done\nsend 1 done\n");
	expect_text(ask(&b, ORDER_PEEK, 0, ""), "hello");
	ask(&a, ORDER_STOP, 0, "");
	proc_kill_all();
}

static void test_host_and_dpu_exchange_by_the_best_path(void **state)
{
	exchange(NULL);
}

static void test_host_and_dpu_exchange_by_procmem(void **state)
{
	exchange("procmem");
}

static void test_host_and_dpu_exchange_by_cma(void **state)
{
	exchange("cma");
}

static void test_host_and_dpu_exchange_by_shm(void **state)
{
	exchange("shm");
}

static void test_host_and_dpu_exchange_by_tcp(void **state)
{
	exchange("tcp");
}

/* ---- storage: a server reads and writes memory of a host, through the host's DPU ---- */

struct storage {
	struct proc host, dpu, server;
};

static struct storage start_storage(const char *path)
{
	const struct worker_arg host = { .side = "host", .path = path }, dpu = { .side = "dpu", .path = path };
	struct request request = { .order = ORDER_ADOPT };
	struct reply of_host;
	struct storage s;

	proc_start(&s.host, worker, &host);
	proc_start(&s.dpu, worker, &dpu);
	proc_start(&s.server, worker, &host);
	of_host = ask(&s.host, ORDER_EXPORT_PCI, 0, "");
	request.base = of_host.base;
	memcpy(request.memory, of_host.memory, 64);
	ask_for(&s.dpu, request);
	connect_both(&s.server, &s.dpu);
	return s;
}

/* The host and the DPU do nothing meanwhile; the DPU's process is stopped. */
static void store(const char *path)
{
	struct storage s = start_storage(path);

	proc_signal(&s.dpu, SIGSTOP);
	write_and_read(&s.server, &s.host, "stored");
	proc_signal(&s.dpu, SIGCONT);
	ask(&s.dpu, ORDER_ABANDON, 0, "");
	ask(&s.server, ORDER_WRITE, 1, "lost");
	expect_text(ask(&s.server, ORDER_DRAIN, 0, ""), "write 0 failed: DOCA_ERROR_IO_FAILED\n");
	expect_text(ask(&s.host, ORDER_PEEK, 0, ""), "stored");
	proc_kill_all();
}

static void test_a_server_reaches_the_hosts_memory_by_the_best_path(void **state)
{
	store(NULL);
}

static void test_a_server_reaches_the_hosts_memory_by_procmem(void **state)
{
	store("procmem");
}

static void test_a_server_reaches_the_hosts_memory_by_cma(void **state)
{
	store("cma");
}

static void test_a_server_reaches_the_hosts_memory_by_shm(void **state)
{
	store("shm");
}

static void test_a_server_reaches_the_hosts_memory_by_tcp(void **state)
{
	store("tcp");
}

static void test_the_death_of_the_host_fails_the_servers_write(void **state)
{
	struct storage s = start_storage(NULL);

	proc_signal(&s.host, SIGKILL);
	assert_true(daemon_forgets(test_session.dir, s.host.pid));
	ask(&s.server, ORDER_WRITE, 1, "x");
	expect_text(ask(&s.server, ORDER_DRAIN, 0, ""), "write 0 failed: DOCA_ERROR_IO_FAILED\n");
}

static void test_atomics_of_three_processes_add_up(void **state)
{
	const struct worker_arg dpu = { .side = "dpu" };
	const struct worker_arg args[] = { { .side = "host" }, { .side = "host", .path = "shm" }, { .side = "dpu" } };
	enum { N = 3, ADDS = PROC_IS_SLOW ? 50 : 500 };
	struct request request = { .order = ORDER_ADD, .count = ADDS };
	struct proc target, adders[N];
	uint64_t sum;
	struct reply reply;

	proc_start(&target, worker, &dpu);
	for (int i = 0; i < N; i++) {
		proc_start(&adders[i], worker, &args[i]);
		connect_both(&adders[i], &target);
	}
	for (int i = 0; i < N; i++)
		proc_send(adders[i].ctl, &request, sizeof(request));
	for (int i = 0; i < N; i++)
		proc_recv(adders[i].ctl, &reply, sizeof(reply));
	reply = ask(&target, ORDER_PEEK, 0, "");
	memcpy(&sum, reply.text, sizeof(sum));
	assert_int_equal(sum, N * ADDS);
}

/* Both sleep: the responder until the message comes, the requester until it was received; then until the peer's death. */
static void test_sleepers_are_woken(void **state)
{
	const struct worker_arg host = { .side = "host" }, dpu = { .side = "dpu" };
	const struct request sleep_for = { .order = ORDER_SLEEP, .count = 1 };
	struct reply of_a, of_b;
	struct proc a, b;

	proc_start(&a, worker, &host);
	proc_start(&b, worker, &dpu);
	connect_both(&a, &b);
	ask(&b, ORDER_RECEIVE, 1, "");
	proc_send(b.ctl, &sleep_for, sizeof(sleep_for));
	assert_false(proc_readable_within(b.ctl, 50));
	ask(&a, ORDER_SEND, 1, "x");
	proc_send(a.ctl, &sleep_for, sizeof(sleep_for));
	proc_recv(b.ctl, &of_b, sizeof(of_b));
	proc_recv(a.ctl, &of_a, sizeof(of_a));
	expect_text(of_b, "receive 0 done: 2 bytes by SEND\n");
	expect_text(of_a, "send 0 done\n");
	ask(&a, ORDER_SEND, 1, "x");
	proc_send(a.ctl, &sleep_for, sizeof(sleep_for));
	assert_false(proc_readable_within(a.ctl, 50));
	proc_signal(&b, SIGKILL);
	proc_recv(a.ctl, &of_a, sizeof(of_a));
	expect_text(of_a, "send 0 failed: DOCA_ERROR_IO_FAILED\n");
}

/* ---- several requesters of one export ---- */

#define DC_REQUESTERS 4

/* One export, and those that have connected to it; the first @num_dead are killed. */
struct dc {
	struct proc target, requesters[DC_REQUESTERS + 1];
	struct reply exported;
	int num, num_dead;
};

static void dc_join(struct dc *dc)
{
	static const struct worker_arg args[] = { { .side = "host", .is_dc = true },
						  { .side = "dpu", .path = "shm", .is_dc = true } };
	struct proc *requester = &dc->requesters[dc->num];

	proc_start(requester, worker, &args[dc->num++ % 2]);
	ask(requester, ORDER_EXPORT, 0, "");
	connect_one(requester, &dc->exported);
}

static struct dc dc_start(void)
{
	static const struct worker_arg arg = { .side = "dpu", .is_dc = true };
	struct dc dc = { 0 };

	proc_start(&dc.target, worker, &arg);
	dc.exported = ask(&dc.target, ORDER_EXPORT, 0, "");
	while (dc.num < DC_REQUESTERS)
		dc_join(&dc);
	return dc;
}

/* All send, read and write at the same time, while the target awaits the messages in its callbacks, or sleeps. */
static void dc_exchange(struct dc *dc, enum order how)
{
	uint64_t num = (uint64_t)(dc->num - dc->num_dead);
	struct request await_all = { .order = how, .count = num };
	char expected[1024] = "";
	struct reply reply;

	ask(&dc->target, ORDER_RECEIVE, num, "");
	proc_send(dc->target.ctl, &await_all, sizeof(await_all));
	for (int i = dc->num_dead; i < dc->num; i++) {
		ask(&dc->requesters[i], ORDER_SEND, 1, "x");
		ask(&dc->requesters[i], ORDER_READ, 1, "");
		ask(&dc->requesters[i], ORDER_WRITE, 1, "y");
	}
	for (int i = dc->num_dead; i < dc->num; i++)
		expect_text(ask(&dc->requesters[i], ORDER_DRAIN, 0, ""), "send 0 done\nread 0 done\nwrite 0 done\n");
	for (uint64_t i = 0; i < num; i++)
		snprintf(expected + strlen(expected), 64, "receive %d done: 2 bytes by SEND\n", (int)i);
	proc_recv(dc->target.ctl, &reply, sizeof(reply));
	expect_text(reply, expected);
}

static uint64_t dc_sum(struct dc *dc)
{
	struct reply reply = ask(&dc->target, ORDER_PEEK, 0, "");
	uint64_t sum;

	memcpy(&sum, reply.text, sizeof(sum));
	return sum;
}

static void dc_add(struct dc *dc)
{
	const struct request add = { .order = ORDER_ADD, .count = 100 };
	uint64_t before = dc_sum(dc);
	struct reply reply;

	for (int i = dc->num_dead; i < dc->num; i++)
		proc_send(dc->requesters[i].ctl, &add, sizeof(add));
	for (int i = dc->num_dead; i < dc->num; i++) {
		proc_recv(dc->requesters[i].ctl, &reply, sizeof(reply));
		ask(&dc->requesters[i], ORDER_AWAIT, 100, "");
	}
	assert_int_equal(dc_sum(dc) - before, add.count * (uint64_t)(dc->num - dc->num_dead));
}

static void test_requesters_in_processes_share_a_dc_export(void **state)
{
	struct dc dc = dc_start();

	dc_exchange(&dc, ORDER_AWAIT);
	dc_add(&dc);
	dc_exchange(&dc, ORDER_SLEEP);
	proc_signal(&dc.requesters[dc.num_dead++], SIGKILL);
	dc_exchange(&dc, ORDER_SLEEP);
	dc_join(&dc);
	dc_exchange(&dc, ORDER_SLEEP);
	proc_signal(&dc.requesters[dc.num_dead++], SIGKILL);
	dc_add(&dc);
	dc_exchange(&dc, ORDER_AWAIT);
	proc_signal(&dc.target, SIGKILL);
	for (int i = dc.num_dead; i < dc.num; i++) {
		ask(&dc.requesters[i], ORDER_SEND, 1, "x");
		expect_text(ask(&dc.requesters[i], ORDER_DRAIN, 0, ""), "send 0 failed: DOCA_ERROR_IO_FAILED\n");
	}
}

/* ---- death ---- */

static void test_send_to_a_killed_peer_fails(void **state)
{
	const struct worker_arg host = { .side = "host" }, dpu = { .side = "dpu" };
	struct proc a, b;

	proc_start(&a, worker, &host);
	proc_start(&b, worker, &dpu);
	connect_both(&a, &b);
	ask(&a, ORDER_SEND, 1, "x");
	proc_signal(&b, SIGKILL);
	expect_text(ask(&a, ORDER_DRAIN, 0, ""), "send 0 failed: DOCA_ERROR_IO_FAILED\n");
}

static void test_write_to_a_killed_peer_fails(void **state)
{
	const struct worker_arg host = { .side = "host" }, dpu = { .side = "dpu" };
	struct proc a, b;

	proc_start(&a, worker, &host);
	proc_start(&b, worker, &dpu);
	connect_both(&a, &b);
	proc_signal(&b, SIGKILL);
	assert_true(daemon_forgets(test_session.dir, b.pid));
	ask(&a, ORDER_WRITE, 1, "x");
	expect_text(ask(&a, ORDER_DRAIN, 0, ""), "write 0 failed: DOCA_ERROR_IO_FAILED\n");
}

static void test_stop_of_the_peer_fails_what_waits_for_it(void **state)
{
	const struct worker_arg host = { .side = "host" }, dpu = { .side = "dpu" };
	struct proc a, b;

	proc_start(&a, worker, &host);
	proc_start(&b, worker, &dpu);
	connect_both(&a, &b);
	ask(&a, ORDER_SEND, 1, "x");
	ask(&b, ORDER_STOP, 0, "");
	expect_text(ask(&a, ORDER_DRAIN, 0, ""), "send 0 failed: DOCA_ERROR_IO_FAILED\n");
}

/* ---- by addresses: the built-in topology gives the DPU's first function 198.18.0.1 ---- */

#define DPU_ADDRESS "198.18.0.1"
#define REQUESTED   "request to " DPU_ADDRESS " port 13579\n"

static void test_client_and_server_connect_and_disconnect(void **state)
{
	const struct worker_arg host = { .side = "host" }, dpu = { .side = "dpu" };
	struct proc client, server;

	proc_start(&client, worker, &host);
	proc_start(&server, worker, &dpu);
	ask(&server, ORDER_LISTEN, 0, "");
	ask(&client, ORDER_REQUEST, 0, DPU_ADDRESS);
	expect_text(ask(&server, ORDER_AWAIT, 2, ""), REQUESTED "established\n");
	expect_text(ask(&client, ORDER_AWAIT, 1, ""), "established\n");
	ask(&server, ORDER_RECEIVE, 1, "");
	ask(&client, ORDER_SEND, 1, "hello");
	expect_text(ask(&server, ORDER_DRAIN, 0, ""), "receive 0 done: 6 bytes by SEND\n");
	expect_text(ask(&client, ORDER_DRAIN, 0, ""), "send 0 done\n");
	ask(&client, ORDER_DISCONNECT, 0, "");
	expect_text(ask(&client, ORDER_AWAIT, 1, ""), "disconnected\n");
	expect_text(ask(&server, ORDER_AWAIT, 1, ""), "disconnected\n");
}

static void test_rejected_client_gets_a_failure(void **state)
{
	const struct worker_arg host = { .side = "host" }, dpu = { .side = "dpu", .rejects = true };
	struct proc client, server;

	proc_start(&client, worker, &host);
	proc_start(&server, worker, &dpu);
	ask(&server, ORDER_LISTEN, 0, "");
	ask(&client, ORDER_REQUEST, 0, DPU_ADDRESS);
	expect_text(ask(&server, ORDER_AWAIT, 2, ""), REQUESTED "failure\n");
	expect_text(ask(&client, ORDER_AWAIT, 1, ""), "failure\n");
}

static void test_client_that_has_gone_is_not_accepted(void **state)
{
	const struct worker_arg host = { .side = "host" }, dpu = { .side = "dpu", .answers_late = true };
	struct proc client, server;

	proc_start(&client, worker, &host);
	proc_start(&server, worker, &dpu);
	ask(&server, ORDER_LISTEN, 0, "");
	ask(&client, ORDER_REQUEST, 0, DPU_ADDRESS);
	expect_text(ask(&server, ORDER_AWAIT, 1, ""), REQUESTED);
	ask(&client, ORDER_STOP, 0, "");
	expect_text(ask(&server, ORDER_ACCEPT, 0, ""), "DOCA_ERROR_CONNECTION_ABORTED");
	expect_text(ask(&server, ORDER_AWAIT, 1, ""), "failure\n");
}

static void test_client_without_a_server_gets_a_failure(void **state)
{
	const struct worker_arg host = { .side = "host" };
	struct proc client;

	proc_start(&client, worker, &host);
	ask(&client, ORDER_REQUEST, 0, DPU_ADDRESS);
	expect_text(ask(&client, ORDER_AWAIT, 1, ""), "failure\n");
}

static void test_death_of_a_peer_disconnects(void **state)
{
	const struct worker_arg host = { .side = "host" }, dpu = { .side = "dpu" };
	struct proc client, server;

	proc_start(&client, worker, &host);
	proc_start(&server, worker, &dpu);
	ask(&server, ORDER_LISTEN, 0, "");
	ask(&client, ORDER_REQUEST, 0, DPU_ADDRESS);
	expect_text(ask(&server, ORDER_AWAIT, 2, ""), REQUESTED "established\n");
	expect_text(ask(&client, ORDER_AWAIT, 1, ""), "established\n");
	proc_signal(&client, SIGKILL);
	expect_text(ask(&server, ORDER_AWAIT, 1, ""), "disconnected\n");
}

/* ---- a network link that is down: rules come from a process that runs no program ---- */

static uint32_t take_link_down(void)
{
	char delays_file[SIM_DELAYS_FILE_SIZE];
	struct sim_rule_error error;
	struct sim_rule rule;
	uint32_t id;
	int dir_fd = open(test_session.dir, O_PATH);

	assert_int_equal(sim_rule_parse("net.link device=03:00.0 side=dpu down=1000s", &rule, delays_file, &error), 0);
	assert_int_equal(sim_control_add_fault(dir_fd, &rule, NULL, &id), 0);
	close(dir_fd);
	return id;
}

static void take_link_up(uint32_t id)
{
	int dir_fd = open(test_session.dir, O_PATH);

	assert_int_equal(sim_control_change_faults(dir_fd, SIM_FAULT_REMOVE, id, 0), 0);
	close(dir_fd);
}

static void test_requests_wait_for_a_network_link(void **state)
{
	const struct worker_arg host = { .side = "host" }, dpu = { .side = "dpu" };
	struct proc a, b;
	uint32_t id;

	proc_start(&a, worker, &host);
	proc_start(&b, worker, &dpu);
	connect_both(&a, &b);
	id = take_link_down();
	ask(&a, ORDER_WRITE, 1, "late");
	ask(&a, ORDER_SEND, 1, "hello");
	expect_text(ask(&b, ORDER_PEEK, 0, ""), "");
	ask(&b, ORDER_RECEIVE, 1, ""); /* from now on the memory is the engine's */
	take_link_up(id);
	expect_text(ask(&a, ORDER_SLEEP, 2, ""), "write 0 done\nsend 0 done\n");
	expect_text(ask(&b, ORDER_SLEEP, 1, ""), "receive 0 done: 6 bytes by SEND\n");
	expect_text(ask(&b, ORDER_PEEK, 0, ""), "hello");
}

/* The peer's own requests fail, too; neither program polls. */
static void test_network_link_that_stays_down_fails_both_ends(void **state)
{
	const struct worker_arg host = { .side = "host" }, dpu = { .side = "dpu" };
	struct proc a, b;

	proc_start(&a, worker, &host);
	proc_start(&b, worker, &dpu);
	connect_both(&a, &b);
	take_link_down();
	ask(&a, ORDER_WRITE, 2, "lost");
	ask(&b, ORDER_WRITE, 1, "lost");
	expect_text(ask(&a, ORDER_SLEEP, 2, ""),
		    "write 0 failed: DOCA_ERROR_IO_FAILED\nwrite 1 failed: DOCA_ERROR_IO_FAILED\n");
	expect_text(ask(&b, ORDER_SLEEP, 1, ""), "write 0 failed: DOCA_ERROR_IO_FAILED\n");
	expect_text(ask(&a, ORDER_PEEK, 0, ""), "");
	expect_text(ask(&b, ORDER_PEEK, 0, ""), "");
}

static void test_client_does_not_connect_over_a_link_that_is_down(void **state)
{
	const struct worker_arg host = { .side = "host" }, dpu = { .side = "dpu" };
	struct proc client, server;
	uint32_t id;

	proc_start(&client, worker, &host);
	proc_start(&server, worker, &dpu);
	ask(&server, ORDER_LISTEN, 0, "");
	id = take_link_down();
	ask(&client, ORDER_REQUEST, 0, DPU_ADDRESS);
	expect_text(ask(&client, ORDER_SLEEP, 1, ""), "failure\n");
	take_link_up(id);
	ask(&client, ORDER_REQUEST, 0, DPU_ADDRESS);
	expect_text(ask(&server, ORDER_AWAIT, 2, ""), REQUESTED "established\n");
	expect_text(ask(&client, ORDER_AWAIT, 1, ""), "established\n");
}

#define IN_SESSION(test) cmocka_unit_test_setup_teardown(test, session_setup, session_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SESSION(test_host_and_dpu_exchange_by_the_best_path),
		IN_SESSION(test_host_and_dpu_exchange_by_procmem),
		IN_SESSION(test_host_and_dpu_exchange_by_cma),
		IN_SESSION(test_host_and_dpu_exchange_by_shm),
		IN_SESSION(test_host_and_dpu_exchange_by_tcp),
		IN_SESSION(test_a_server_reaches_the_hosts_memory_by_the_best_path),
		IN_SESSION(test_a_server_reaches_the_hosts_memory_by_procmem),
		IN_SESSION(test_a_server_reaches_the_hosts_memory_by_cma),
		IN_SESSION(test_a_server_reaches_the_hosts_memory_by_shm),
		IN_SESSION(test_a_server_reaches_the_hosts_memory_by_tcp),
		IN_SESSION(test_the_death_of_the_host_fails_the_servers_write),
		IN_SESSION(test_atomics_of_three_processes_add_up),
		IN_SESSION(test_sleepers_are_woken),
		IN_SESSION(test_requesters_in_processes_share_a_dc_export),
		IN_SESSION(test_send_to_a_killed_peer_fails),
		IN_SESSION(test_write_to_a_killed_peer_fails),
		IN_SESSION(test_stop_of_the_peer_fails_what_waits_for_it),
		IN_SESSION(test_client_and_server_connect_and_disconnect),
		IN_SESSION(test_rejected_client_gets_a_failure),
		IN_SESSION(test_client_that_has_gone_is_not_accepted),
		IN_SESSION(test_client_without_a_server_gets_a_failure),
		IN_SESSION(test_death_of_a_peer_disconnects),
		IN_SESSION(test_requests_wait_for_a_network_link),
		IN_SESSION(test_network_link_that_stays_down_fails_both_ends),
		IN_SESSION(test_client_does_not_connect_over_a_link_that_is_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

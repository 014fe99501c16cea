/* SPDX-License-Identifier: BSD-3-Clause */
/* Two contexts of one program in virtual time: a responder that does not progress is served at a time that is the same in each
 * run, 50 us after the arrival of the message (doc/architecture.md). */
#include <stdlib.h>

#include "cmocka_test.h"
#include "rdma_util.h"
#include "shim/rdma/rdma_priv.h"
#include "sim/api/bfsim.h"
#include "sim/rdma/inbox.h"

static void test_responder_that_does_not_progress_receives_at_an_exact_time(void **state)
{
	struct peer *a = peer_open(0, RDMA_ALL_ACCESS), *b = peer_open(0, RDMA_ALL_ACCESS);
	uint64_t first_ns = 0;

	peer_start(a);
	peer_start(b);
	peers_connect(a, b);
	for (int i = 0; i < 20; i++) {
		uint64_t begin_ns = bfsim_now_ns();

		peer_receive(b, 1, peer_buf(b, 0, 8, 0));
		peer_send(a, 1, peer_buf(a, 0, 8, 8));
		peers_drain(a, NULL, 0);
		if (i == 0)
			first_ns = bfsim_now_ns() - begin_ns;
		assert_int_equal(bfsim_now_ns() - begin_ns, first_ns);
		assert_in_range(first_ns, 50001, 55000);
		assert_peer_trace(a, "send 1 done\n");
		peers_drain(b, NULL, 0);
		assert_peer_trace(b, "receive 1 done: 8 bytes by SEND\n");
	}
	peer_close(a);
	peer_close(b);
}

/* Of the transport DC, the peer has exported a connection, and its receive is posted. It does not connect: at 4 s the send fails. */
static void test_send_to_a_peer_that_only_exported_fails(void **state)
{
	struct peer *a = peer_open(0, RDMA_ALL_ACCESS), *b = peer_open(0, RDMA_ALL_ACCESS);
	struct doca_rdma_connection *of_b;
	const void *details;
	size_t len;
	uint64_t begin_ns;

	MUST(doca_rdma_set_transport_type(a->rdma, DOCA_RDMA_TRANSPORT_TYPE_DC));
	MUST(doca_rdma_set_transport_type(b->rdma, DOCA_RDMA_TRANSPORT_TYPE_DC));
	peer_start(a);
	peer_start(b);
	MUST(doca_rdma_export(b->rdma, &details, &len, &of_b));
	MUST(doca_rdma_export(a->rdma, &(const void *){ NULL }, &(size_t){ 0 }, &a->connections[0]));
	a->num_connections = 1;
	MUST(doca_rdma_connect(a->rdma, details, len, a->connections[0]));
	peers_import(a, b);
	begin_ns = bfsim_now_ns();
	peer_receive(b, 1, NULL);
	peer_write(a, 1, peer_buf(a, 0, 8, 8), peer_remote_buf(a, b, 0, 8, 0));
	peer_send(a, 2, NULL);
	peers_drain(a, NULL, 0);
	assert_peer_trace(a, "write 1 done\n"
			     "send 2 failed: DOCA_ERROR_IO_FAILED\n");
	assert_in_range(bfsim_now_ns() - begin_ns, 4000000000, 4000100000);
	peer_close(a);
	peer_close(b);
}

static struct peer *start_dc(void)
{
	struct peer *peer = peer_open(0, RDMA_ALL_ACCESS);

	MUST(doca_rdma_set_transport_type(peer->rdma, DOCA_RDMA_TRANSPORT_TYPE_DC));
	peer_start(peer);
	return peer;
}

/* Of the transport DC: more requesters than an inbox has places for their first messages send to one export, and write. Returns the time
 * that this takes. */
static uint64_t share_export(void)
{
	enum { REQUESTERS = SIM_INBOX_CALLERS + 4 };
	struct peer *a[REQUESTERS], *b = start_dc();
	struct doca_rdma_connection *of_b;
	const void *details;
	size_t len;
	uint64_t begin_ns;

	MUST(doca_rdma_export(b->rdma, &details, &len, &of_b));
	for (int i = 0; i < REQUESTERS; i++) {
		a[i] = start_dc();
		MUST(doca_rdma_export(a[i]->rdma, &(const void *){ NULL }, &(size_t){ 0 }, &a[i]->connections[0]));
		a[i]->num_connections = 1;
		MUST(doca_rdma_connect(a[i]->rdma, details, len, a[i]->connections[0]));
		peers_import(a[i], b);
	}
	begin_ns = bfsim_now_ns();
	for (int i = 0; i < REQUESTERS; i++) {
		peer_receive(b, 1, NULL);
		peer_send(a[i], 1, NULL);
		peer_write(a[i], 2, peer_buf(a[i], 0, 8, 8), peer_remote_buf(a[i], b, 0, 8, 0));
	}
	for (int i = 0; i < REQUESTERS; i++) {
		peers_drain(a[i], b, (uint32_t)(REQUESTERS - 1 - i));
		assert_peer_trace(a[i], "send 1 done\nwrite 2 done\n");
	}
	begin_ns = bfsim_now_ns() - begin_ns;
	for (int i = 0; i < REQUESTERS; i++)
		peer_close(a[i]);
	peer_close(b);
	return begin_ns;
}

static void test_requesters_of_one_export_take_the_same_time_in_each_run(void **state)
{
	uint64_t first_ns = share_export();

	assert_in_range(first_ns, 1, 1000000);
	for (int i = 0; i < 5; i++)
		assert_int_equal(share_export(), first_ns);
}

/* The requests of both sides wait for the connect of one of them. */
static void test_connect_that_stalls_takes_its_time(void **state)
{
	struct peer *a = peer_open(0, RDMA_ALL_ACCESS), *b = peer_open(0, RDMA_ALL_ACCESS);
	uint64_t begin_ns;

	peer_start(a);
	peer_start(b);
	assert_int_equal(bfsim_fault_add("rdma.connect nth=1 stall=1ms", NULL), 0);
	begin_ns = bfsim_now_ns();
	peers_connect(a, b);
	peer_write(b, 1, peer_buf(b, 0, 8, 8), peer_remote_buf(b, a, 0, 8, 0));
	peer_write(a, 2, peer_buf(a, 0, 8, 8), peer_remote_buf(a, b, 8, 8, 0));
	peers_drain(b, NULL, 0);
	assert_in_range(bfsim_now_ns() - begin_ns, 1000001, 1010000);
	peers_drain(a, NULL, 0);
	assert_in_range(bfsim_now_ns() - begin_ns, 1000001, 1010000);
	assert_peer_trace(a, "write 2 done\n");
	assert_peer_trace(b, "write 1 done\n");
	assert_int_equal(bfsim_fault_unfired(NULL), 0);
	assert_int_equal(bfsim_fault_clear(), 0);
	peer_close(a);
	peer_close(b);
}

/* A program tries again until there is room: the task is the third of the session, however often it tried. */
static void test_task_for_which_there_is_no_room_does_not_count_for_a_fault(void **state)
{
	struct peer *a = peer_open(0, RDMA_ALL_ACCESS), *b = peer_open(0, RDMA_ALL_ACCESS);

	MUST(doca_rdma_set_send_queue_size(a->rdma, 2));
	a->may_be_refused = true;
	peer_start(a);
	peer_start(b);
	peers_connect(a, b);
	assert_int_equal(bfsim_fault_add("rdma.send nth=3 fail=TIME_OUT", NULL), 0);
	for (int i = 1; i <= 4; i++)
		peer_send(a, (uint64_t)i, peer_buf(a, 0, 8, 8));
	assert_peer_trace(a, "send 3 refused\nsend 4 refused\n");
	for (int i = 1; i <= 2; i++)
		peer_receive(b, (uint64_t)i, peer_buf(b, 0, 8, 0));
	peers_drain(a, b, 0);
	assert_peer_trace(a, "send 1 done\nsend 2 done\n");
	peer_send(a, 3, peer_buf(a, 0, 8, 8));
	peers_drain(a, NULL, 0);
	assert_peer_trace(a, "send 3 failed: DOCA_ERROR_TIME_OUT\n");
	assert_int_equal(bfsim_fault_clear(), 0);
	peer_close(a);
	peer_close(b);
}

static bool is_requested, has_failed;

static void on_request(struct doca_rdma_connection *connection, union doca_data ctx_data)
{
	is_requested = true;
}

static void on_failure(struct doca_rdma_connection *connection, union doca_data data, union doca_data ctx_data)
{
	has_failed = true;
}

static void on_other(struct doca_rdma_connection *connection, union doca_data data, union doca_data ctx_data)
{
	fail();
}

static struct peer *open_cm_peer(void)
{
	struct peer *peer = peer_open(0, RDMA_ALL_ACCESS);

	MUST(doca_rdma_set_connection_state_callbacks(peer->rdma, on_request, on_other, on_failure, on_other));
	peer_start(peer);
	return peer;
}

/* While the server's program has the request, the client's time goes on. It stays again while the end of the server is on its way,
 * which the machine decides. */
static void test_client_fails_when_a_server_stops_with_its_request(void **state)
{
	const struct bfsim_session_cfg cfg = { .clock = "virtual" };
	const struct doca_rdma_connection *request;
	struct peer *server, *client;
	struct bfsim_session *session;
	struct doca_rdma_addr *addr;
	uint64_t stopped_ns;

	assert_int_equal(bfsim_session_start(&cfg, &session), 0); /* a private card has no addresses */
	assert_int_equal(bfsim_session_enter(session, "dpu"), 0);
	server = open_cm_peer();
	client = open_cm_peer();
	MUST(doca_rdma_start_listen_to_port(server->rdma, 4791));
	MUST(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "198.18.0.1", 4791, &addr));
	MUST(doca_rdma_connect_to_addr(client->rdma, addr, (union doca_data){ .u64 = 0 }));
	request = TAILQ_FIRST(&client->rdma->connections);
	assert_int_equal(sim_qp_get_answer(request->qp), SIM_QP_NOT_ASKED);
	while (!is_requested) {
		peer_progress(server);
		peer_progress(client);
	}
	assert_int_equal(sim_qp_get_answer(request->qp), SIM_QP_ASKED);
	peer_stop(server);
	stopped_ns = bfsim_now_ns();
	assert_int_equal(sim_qp_get_answer(request->qp), SIM_QP_ANSWERED);
	while (!has_failed)
		peer_progress(client);
	assert_int_equal(bfsim_now_ns(), stopped_ns);
	MUST(doca_rdma_addr_destroy(addr));
	peer_close(client);
	peer_close(server);
	assert_int_equal(bfsim_session_stop(session), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_task_for_which_there_is_no_room_does_not_count_for_a_fault),
		cmocka_unit_test(test_client_fails_when_a_server_stops_with_its_request),
		cmocka_unit_test(test_connect_that_stalls_takes_its_time),
		cmocka_unit_test(test_responder_that_does_not_progress_receives_at_an_exact_time),
		cmocka_unit_test(test_send_to_a_peer_that_only_exported_fails),
		cmocka_unit_test(test_requesters_of_one_export_take_the_same_time_in_each_run),
	};

	setenv("BFSIM_CLOCK", "virtual", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

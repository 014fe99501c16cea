/* SPDX-License-Identifier: BSD-3-Clause */
/* What tasks of RDMA use lives as long as they do: sync events, memory maps, connections. */
#include <poll.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_test.h"
#include "rdma_util.h"

/* Peer a is connected to b, and b not yet to a: a's requests wait. */
struct pair {
	struct peer *a, *b;
	const void *details_of_a;
	size_t len;
};

static void connect_a(struct pair *pair)
{
	const void *details;
	size_t len;

	MUST(doca_rdma_export(pair->a->rdma, &pair->details_of_a, &pair->len, &pair->a->connections[0]));
	MUST(doca_rdma_export(pair->b->rdma, &details, &len, &pair->b->connections[0]));
	MUST(doca_rdma_connect(pair->a->rdma, details, len, pair->a->connections[0]));
}

static int open_pair(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	pair->a = peer_open(0, RDMA_ALL_ACCESS);
	pair->b = peer_open(0, RDMA_ALL_ACCESS);
	peer_start(pair->a);
	peer_start(pair->b);
	connect_a(pair);
	peers_import(pair->a, pair->b);
	*state = pair;
	return 0;
}

static int close_pair(void **state)
{
	struct pair *pair = *state;

	peer_close(pair->a);
	peer_close(pair->b);
	free(pair);
	return 0;
}

/* From now on a's requests are executed. */
static void connect_b(struct pair *pair)
{
	MUST(doca_rdma_connect(pair->b->rdma, pair->details_of_a, pair->len, pair->b->connections[0]));
}

/* ---- sync events ---- */

static void test_event_of_a_task_in_flight_is_not_destroyed(void **state)
{
	struct pair *pair = *state;

	peer_share_event(pair->b, pair->a);
	peer_event_set(pair->a, 1, peer_buf(pair->a, 0, 8, 8));
	peer_event_add(pair->a, 2, peer_buf(pair->a, 8, 8, 0), 1);
	assert_result(doca_sync_event_remote_net_destroy(pair->a->events[0]), DOCA_ERROR_IN_USE);
	connect_b(pair);
	peers_drain(pair->a, pair->b, 0);
	assert_peer_trace(pair->a, "event_set 1 done\nevent_add 2 done\n");
	MUST(doca_sync_event_remote_net_destroy(pair->a->events[0]));
	pair->a->events[0] = NULL;
}

/* A stop ends the task, and with it the use. */
static void test_event_of_a_flushed_task_is_destroyed(void **state)
{
	struct pair *pair = *state;

	peer_share_event(pair->b, pair->a);
	peer_event_get(pair->a, 1, peer_buf(pair->a, 0, 8, 0));
	peer_stop(pair->a);
	assert_peer_trace(pair->a, "event_get 1 failed: DOCA_ERROR_IO_FAILED\n");
	MUST(doca_sync_event_remote_net_destroy(pair->a->events[0]));
	pair->a->events[0] = NULL;
}

/* ---- memory maps ---- */

/* A program may return buffers when it has submitted their task. */
static void return_both(struct doca_buf *src, struct doca_buf *dst)
{
	MUST(doca_buf_dec_refcount(src, NULL));
	MUST(doca_buf_dec_refcount(dst, NULL));
}

static void on_write(struct doca_rdma_task_write *task, union doca_data user_data, union doca_data ctx_user_data)
{
	struct peer *peer = ctx_user_data.ptr;

	(void)user_data;
	strcat(peer->trace, doca_error_get_name(doca_task_get_status(doca_rdma_task_write_as_task(task))));
	doca_task_free(doca_rdma_task_write_as_task(task));
	peer->num_pending--;
}

static void test_maps_of_a_task_that_waits_do_not_end(void **state)
{
	struct pair *pair = *state;
	struct peer *a = pair->a;
	struct doca_buf *src, *dst;
	struct doca_rdma_task_write *task;

	peer_stop(a); /* to set other callbacks */
	MUST(doca_rdma_task_write_set_conf(a->rdma, on_write, on_write, 1));
	peer_start(a);
	peer_stop(pair->b);
	peer_start(pair->b);
	connect_a(pair);
	src = peer_buf(a, 0, 8, 8);
	dst = peer_remote_buf(a, pair->b, 0, 8, 0);
	strcpy((char *)a->arena, "written");
	MUST(doca_rdma_task_write_allocate_init(a->rdma, a->connections[0], src, dst, (union doca_data){ 0 }, &task));
	MUST(doca_task_submit(doca_rdma_task_write_as_task(task)));
	a->num_pending++;
	return_both(src, dst);
	assert_result(doca_mmap_stop(a->remote), DOCA_ERROR_NOT_PERMITTED);
	assert_result(doca_mmap_destroy(a->remote), DOCA_ERROR_NOT_PERMITTED);
	assert_result(doca_mmap_destroy(a->mmap), DOCA_ERROR_NOT_PERMITTED);
	connect_b(pair);
	peers_drain(a, pair->b, 0);
	assert_peer_trace(a, "DOCA_SUCCESS");
	assert_string_equal((char *)pair->b->arena, "written");
	MUST(doca_mmap_destroy(a->remote));
	a->remote = NULL;
}

static void on_receive(struct doca_rdma_task_receive *task, union doca_data user_data, union doca_data ctx_user_data)
{
	struct peer *peer = ctx_user_data.ptr;

	(void)user_data;
	doca_task_free(doca_rdma_task_receive_as_task(task));
	peer->num_pending--;
}

/* The map's memory is written to by a message that comes later; a stop of the context ends that. @thread_safe: no buffer counts. */
static void post_and_end_map(bool thread_safe)
{
	struct peer *peer = peer_open(0, RDMA_ALL_ACCESS);
	struct doca_rdma_task_receive *task;
	struct doca_buf *dst;

	if (thread_safe) {
		MUST(doca_mmap_stop(peer->mmap));
		MUST(doca_mmap_enable_thread_safety(peer->mmap));
		MUST(doca_mmap_start(peer->mmap));
	}
	MUST(doca_rdma_task_receive_set_conf(peer->rdma, on_receive, on_receive, 1));
	peer_start(peer);
	dst = peer_buf(peer, 0, 64, 0);
	MUST(doca_rdma_task_receive_allocate_init(peer->rdma, dst, (union doca_data){ 0 }, &task));
	MUST(doca_task_submit(doca_rdma_task_receive_as_task(task)));
	peer->num_pending++;
	MUST(doca_buf_dec_refcount(dst, NULL));
	assert_result(doca_mmap_stop(peer->mmap), DOCA_ERROR_NOT_PERMITTED);
	peer_stop(peer);
	assert_int_equal(peer->num_pending, 0);
	MUST(doca_mmap_stop(peer->mmap));
	peer_close(peer);
}

static void test_map_of_a_posted_receive_does_not_end(void **state)
{
	post_and_end_map(false);
	post_and_end_map(true);
}

/* ---- one descriptor, several connections ---- */

struct descriptor {
	const void *bytes;
	size_t len;
};

static struct descriptor export_of(struct peer *peer, int index)
{
	struct descriptor descriptor;

	MUST(doca_rdma_export(peer->rdma, &descriptor.bytes, &descriptor.len, &peer->connections[index]));
	return descriptor;
}

/* Messages of two connections would meet in one inbox. */
static void test_descriptor_is_for_one_connection(void **state)
{
	struct peer *a = peer_open(0, RDMA_ALL_ACCESS), *b = peer_open(0, RDMA_ALL_ACCESS);
	struct descriptor of_a, of_b;

	peer_start(a);
	peer_start(b);
	of_a = export_of(a, 0);
	export_of(a, 1);
	of_b = export_of(b, 0);
	MUST(doca_rdma_connect(a->rdma, of_b.bytes, of_b.len, a->connections[0]));
	assert_result(doca_rdma_connect(a->rdma, of_b.bytes, of_b.len, a->connections[1]),
		      DOCA_ERROR_CONNECTION_ABORTED);
	MUST(doca_rdma_connect(b->rdma, of_a.bytes, of_a.len, b->connections[0]));
	peer_receive(b, 1, NULL);
	peer_send(a, 2, NULL);
	peers_drain(a, b, 0);
	assert_peer_trace(a, "send 2 done\n");
	of_b = export_of(b, 1); /* the refused one is as it was */
	MUST(doca_rdma_connect(a->rdma, of_b.bytes, of_b.len, a->connections[1]));
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

/* Of the transport DC, one export serves requesters that write and send; receives tell of its connection. */
static void test_dc_responder_has_several_requesters(void **state)
{
	struct peer *a = start_dc(), *b = start_dc();
	struct descriptor of_b;

	of_b = export_of(b, 0);
	for (int i = 0; i < 2; i++) {
		export_of(a, i);
		MUST(doca_rdma_connect(a->rdma, of_b.bytes, of_b.len, a->connections[i]));
	}
	peers_import(a, b);
	peer_write(a, 1, peer_buf(a, 0, 8, 8), peer_remote_buf(a, b, 0, 8, 0));
	for (uint64_t i = 2; i < 6; i++)
		peer_receive(b, i, peer_buf(b, 8, 8, 0));
	for (uint64_t i = 2; i < 6; i++) {
		peer_send_on(a, a->connections[i % 2], i, peer_buf(a, 0, 8, i));
		peers_drain(a, b, (uint32_t)(5 - i));
		assert_ptr_equal(b->last_connection, b->connections[0]);
	}
	assert_peer_trace(a, "write 1 done\nsend 2 done\nsend 3 done\nsend 4 done\nsend 5 done\n");
	assert_peer_trace(b, "receive 2 done: 2 bytes by SEND\nreceive 3 done: 3 bytes by SEND\n"
			     "receive 4 done: 4 bytes by SEND\nreceive 5 done: 5 bytes by SEND\n");
	peer_close(a);
	peer_close(b);
}

/* A message that is too long ends its sender's connection alone; a requester that leaves makes room for the next. */
static void test_dc_requesters_fail_alone(void **state)
{
	struct peer *a = start_dc(), *b = start_dc(), *c = start_dc();
	struct descriptor of_b = export_of(b, 0);

	export_of(a, 0);
	export_of(c, 0);
	MUST(doca_rdma_connect(a->rdma, of_b.bytes, of_b.len, a->connections[0]));
	MUST(doca_rdma_connect(c->rdma, of_b.bytes, of_b.len, c->connections[0]));
	peer_receive(b, 1, NULL);
	peer_receive(b, 2, NULL);
	peer_receive(b, 3, NULL);
	peer_send(c, 4, NULL);
	peers_drain(c, b, 2);
	peer_send(a, 5, peer_buf(a, 0, 8, 8));
	peers_drain(a, b, 1);
	assert_peer_trace(a, "send 5 failed: DOCA_ERROR_IO_FAILED\n");
	peer_close(a);
	peer_send(c, 6, NULL);
	peers_drain(c, b, 0);
	assert_peer_trace(c, "send 4 done\nsend 6 done\n");
	for (uint64_t i = 0; i < 40; i++) { /* more than may ask at once */
		a = start_dc();
		export_of(a, 0);
		MUST(doca_rdma_connect(a->rdma, of_b.bytes, of_b.len, a->connections[0]));
		peer_receive(b, 7, NULL);
		peer_send(a, 8, NULL);
		peers_drain(a, b, 0);
		assert_peer_trace(a, "send 8 done\n");
		peer_close(a);
	}
	a = start_dc();
	export_of(a, 0);
	MUST(doca_rdma_connect(a->rdma, of_b.bytes, of_b.len, a->connections[0]));
	peer_send(a, 9, NULL); /* which finds no receive, or the stop */
	peer_close(b);
	peers_drain(a, c, 0);
	assert_peer_trace(a, "send 9 failed: DOCA_ERROR_IO_FAILED\n");
	peer_send(c, 10, NULL);
	peers_drain(c, a, 0);
	assert_peer_trace(c, "send 10 failed: DOCA_ERROR_IO_FAILED\n");
	peer_close(a);
	peer_close(c);
}

/* The first message connects it to the sender, for the answers; the program may do that as well, before and after. */
static void test_dc_responder_that_connects_too(void **state)
{
	for (int is_late = 0; is_late < 2; is_late++) {
		struct peer *a = start_dc(), *b = start_dc();
		struct descriptor of_a = export_of(a, 0), of_b = export_of(b, 0);

		MUST(doca_rdma_connect(a->rdma, of_b.bytes, of_b.len, a->connections[0]));
		if (!is_late)
			MUST(doca_rdma_connect(b->rdma, of_a.bytes, of_a.len, b->connections[0]));
		peer_receive(b, 1, NULL);
		peer_send(a, 2, NULL);
		peers_drain(a, b, 0);
		if (is_late)
			MUST(doca_rdma_connect(b->rdma, of_a.bytes, of_a.len, b->connections[0]));
		assert_result(doca_rdma_connect(b->rdma, of_a.bytes, of_a.len, b->connections[0]),
			      DOCA_ERROR_BAD_STATE);
		peer_receive(a, 3, NULL);
		peer_send(b, 4, NULL);
		peers_drain(b, a, 0);
		assert_peer_trace(a, "send 2 done\nreceive 3 done: 0 bytes by SEND\n");
		assert_peer_trace(b, "receive 1 done: 0 bytes by SEND\nsend 4 done\n");
		peer_close(a);
		peer_close(b);
	}
}

static bool is_notified(const struct peer *peer)
{
	struct pollfd handle = { .events = POLLIN };

	MUST(doca_pe_get_notification_handle(peer->pe, &handle.fd));
	return poll(&handle, 1, 0) == 1;
}

/* Progress the peer until there is nothing, and it may sleep on its handle. */
static void go_to_sleep(struct peer *peer)
{
	do {
		MUST(doca_pe_clear_notification(peer->pe, 0));
		peer_progress(peer);
		MUST(doca_pe_request_notification(peer->pe));
	} while (is_notified(peer));
}

/* Sleep until one of the two may progress. For less than the time after which a peer that is silent is looked for: that would hide
 * a notification that has been lost. */
static void await_either(const struct peer *a, const struct peer *b)
{
	struct pollfd handles[2] = { { .events = POLLIN }, { .events = POLLIN } };

	MUST(doca_pe_get_notification_handle(a->pe, &handles[0].fd));
	MUST(doca_pe_get_notification_handle(b->pe, &handles[1].fd));
	assert_in_range(poll(handles, 2, 3000), 1, 2);
}

/* Both sleep whenever they have nothing to do, and progress for their own handles alone: in which steps depends on what the
 * simulator's own thread does meanwhile. */
static void test_dc_message_and_its_answer_wake(void **state)
{
	struct peer *a = start_dc(), *b = start_dc();
	struct descriptor of_b = export_of(b, 0);

	export_of(a, 0);
	MUST(doca_rdma_connect(a->rdma, of_b.bytes, of_b.len, a->connections[0]));
	peer_receive(b, 1, NULL);
	go_to_sleep(b);
	peer_send(a, 2, NULL);
	go_to_sleep(a);
	while (a->num_pending + b->num_pending > 0) {
		await_either(a, b);
		if (is_notified(a))
			go_to_sleep(a);
		if (is_notified(b))
			go_to_sleep(b);
	}
	assert_peer_trace(a, "send 2 done\n");
	assert_peer_trace(b, "receive 1 done: 0 bytes by SEND\n");
	peer_close(a);
	peer_close(b);
}

/* ---- ends of connections ---- */

static void test_disconnect_makes_room_for_a_connection(void **state)
{
	struct peer *a = peer_open(0, RDMA_ALL_ACCESS), *b = peer_open(0, RDMA_ALL_ACCESS);

	MUST(doca_rdma_set_max_num_connections(a->rdma, 1));
	peer_start(a);
	peer_start(b);
	for (int i = 0; i < 3; i++) {
		a->num_connections = 0;
		peers_connect(a, b);
		peer_receive(b, 1, NULL);
		peer_send(a, 2, NULL);
		peers_drain(a, b, 0);
		assert_peer_trace(a, "send 2 done\n");
		MUST(doca_rdma_connection_disconnect(a->connections[0]));
		assert_result(doca_rdma_connection_disconnect(a->connections[0]), DOCA_ERROR_CONNECTION_ABORTED);
		peer_progress(a);
	}
	peer_close(a);
	peer_close(b);
}

/* Tasks in flight are completed before the connection ends; the handle stays one of the context. */
static void test_disconnect_flushes_tasks(void **state)
{
	struct pair *pair = *state;
	struct descriptor another;
	uint32_t id;

	peer_send(pair->a, 1, peer_buf(pair->a, 0, 8, 8));
	MUST(doca_rdma_connection_disconnect(pair->a->connections[0]));
	peers_drain(pair->a, NULL, 0);
	peer_progress(pair->a);
	assert_peer_trace(pair->a, "send 1 failed: DOCA_ERROR_IO_FAILED\n");
	MUST(doca_rdma_connection_get_id(pair->a->connections[0], &id));
	pair->a->may_be_refused = true;
	peer_send(pair->a, 2, peer_buf(pair->a, 0, 8, 8));
	assert_peer_trace(pair->a, "send 2 refused\n");
	another = export_of(pair->a, 1);
	assert_non_null(another.bytes);
}

/* A failed request has ended it; the program says that it has learned that. */
static void test_failed_connection_is_disconnected(void **state)
{
	struct peer *a = peer_open(0, RDMA_ALL_ACCESS), *b = peer_open(0, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);

	MUST(doca_rdma_set_max_num_connections(a->rdma, 1));
	MUST(doca_mmap_stop(b->mmap));
	MUST(doca_mmap_set_permissions(b->mmap, RDMA_ALL_ACCESS));
	MUST(doca_mmap_start(b->mmap));
	peer_start(a);
	peer_start(b);
	peers_connect(a, b);
	peer_write(a, 1, peer_buf(a, 0, 8, 8), peer_remote_buf(a, b, 0, 8, 0));
	peers_drain(a, NULL, 0);
	assert_peer_trace(a, "write 1 failed: DOCA_ERROR_IO_FAILED\n");
	MUST(doca_rdma_connection_disconnect(a->connections[0]));
	peer_progress(a);
	a->num_connections = 0;
	peers_connect(a, b);
	peer_close(a);
	peer_close(b);
}

#define WITH_PAIR(test) cmocka_unit_test_setup_teardown(test, open_pair, close_pair)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PAIR(test_event_of_a_task_in_flight_is_not_destroyed),
		WITH_PAIR(test_event_of_a_flushed_task_is_destroyed),
		WITH_PAIR(test_maps_of_a_task_that_waits_do_not_end),
		cmocka_unit_test(test_map_of_a_posted_receive_does_not_end),
		cmocka_unit_test(test_descriptor_is_for_one_connection),
		cmocka_unit_test(test_dc_responder_has_several_requesters),
		cmocka_unit_test(test_dc_requesters_fail_alone),
		cmocka_unit_test(test_dc_responder_that_connects_too),
		cmocka_unit_test(test_dc_message_and_its_answer_wake),
		cmocka_unit_test(test_disconnect_makes_room_for_a_connection),
		WITH_PAIR(test_disconnect_flushes_tasks),
		cmocka_unit_test(test_failed_connection_is_disconnected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

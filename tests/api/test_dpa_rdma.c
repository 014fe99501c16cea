/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA from kernels on the DPA: two contexts of one process, connected to each other. */
#include <doca_buf_array.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_rdma.h>
#include <doca_sync_event.h>
#include <string.h>
#include <unistd.h>

#include "dpa_ends.h"
#include "dpa_util.h"
#include "rdma_util.h"

/* Of dpa/rdma_kernels.c. */
doca_dpa_func_t on_completion, post_request, post_buffers, post_many, receive_again, signal_peer;

static int setup_patient(void **state)
{
	ends_are_patient = true;
	ends_setup(state);
	ends_are_patient = false;
	return 0;
}

static int setup_unconnected(void **state)
{
	ends_open(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ, RDMA_ALL_ACCESS);
	return 0;
}

/* ---- memory of the peer ---- */

static void test_write_reaches_the_peers_memory(void **state)
{
	struct completed completed;

	ends_put(end_a.memory, "written by a kernel");
	ends_post(request_from(&end_a, REQUEST_WRITE, 32));
	completed = ends_wait_one(&end_a);
	assert_int_equal(completed.type, SENT);
	assert_int_equal(completed.connection, 0);
	ends_assert_text(end_b.memory, "written by a kernel");
}

static void test_read_takes_the_peers_memory(void **state)
{
	ends_put(end_b.memory, "read by a kernel");
	ends_post(request_from(&end_a, REQUEST_READ, 32));
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	ends_assert_text(end_a.memory, "read by a kernel");
}

static void test_fetch_add_adds_to_the_peers_word(void **state)
{
	struct request add = request_from(&end_a, REQUEST_ADD, 8);
	struct completed completed[2];

	add.dst += 8;
	add.value = 40;
	ends_post(add);
	add.value = 2;
	ends_post(add);
	ends_wait(&end_a, 2, completed);
	assert_int_equal(completed[0].type, SENT);
	assert_int_equal(completed[1].type, SENT);
	assert_int_equal(ends_read_word(end_b.memory + 8), 42);
}

/* ---- messages ---- */

static void test_send_fills_a_receive(void **state)
{
	struct completed completed;

	ends_put(end_a.memory, "sent by a kernel");
	ends_receive(&end_b, 64);
	ends_post(request_from(&end_a, REQUEST_SEND, 32));
	completed = ends_wait_one(&end_b);
	assert_int_equal(completed.type, RECEIVED);
	assert_int_equal(completed.connection, 0);
	assert_int_equal(completed.index, 0);
	ends_assert_text(end_b.memory + 256, "sent by a kernel");
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
}

static void test_completion_names_its_connection(void **state)
{
	struct completed completed;

	ends_connect(); /* a second time: the ends have two connections */
	ends_receive(&end_b, 64);
	ends_post(request_with_connection(request_from(&end_a, REQUEST_SEND, 32), end_a.connection));
	completed = ends_wait_one(&end_b);
	assert_int_equal(completed.type, RECEIVED);
	assert_int_equal(completed.connection, 1);
	completed = ends_wait_one(&end_a);
	assert_int_equal(completed.type, SENT);
	assert_int_equal(completed.connection, 1);
}

static void test_send_waits_for_a_receive(void **state)
{
	ends_put(end_a.memory, "early");
	ends_post(request_from(&end_a, REQUEST_SEND, 32));
	assert_false(ends_has_completion(&end_a));
	ends_receive(&end_b, 64);
	assert_int_equal(ends_wait_one(&end_b).type, RECEIVED);
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	ends_assert_text(end_b.memory + 256, "early");
}

/* The second send waits for the write, that for the first send, and that for a receive. */
static void test_map_of_a_request_that_waits_can_be_stopped(void **state)
{
	ends_post(request_with_connection(request_from(&end_a, REQUEST_SEND, 8), end_a.connection));
	ends_post(request_with_connection(request_from(&end_a, REQUEST_WRITE, 8), end_a.connection));
	ends_post(request_with_connection(request_from(&end_a, REQUEST_SEND, 8), end_a.connection));
	assert_ok(doca_mmap_destroy(end_a.map));
	end_a.map = ends_map_heap(end_a.memory, ENDS_HEAP_BYTES, RDMA_ALL_ACCESS, &end_a.map_handle);
	ends_post(request_from(&end_b, REQUEST_RECEIVE, 64));
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	assert_int_equal(ends_wait_one(&end_a).type, SEND_FAILED);
	assert_int_equal(ends_wait_one(&end_a).type, SEND_FAILED);
}

/* A part of the message is on its way. */
static void test_map_of_a_long_message_that_waits_can_be_stopped(void **state)
{
	struct request send = request_from(&end_a, REQUEST_SEND, 65536),
		       receive = request_from(&end_b, REQUEST_RECEIVE, 65536);
	struct doca_mmap *to;

	assert_ok(doca_mmap_destroy(end_a.map));
	assert_ok(doca_dpa_mem_alloc(ends_dpa, 65536, &send.src));
	assert_ok(doca_dpa_mem_alloc(ends_dpa, 65536, &receive.dst));
	end_a.map = ends_map_heap(send.src, 65536, RDMA_ALL_ACCESS, &send.src_map);
	to = ends_map_heap(receive.dst, 65536, RDMA_ALL_ACCESS, &receive.dst_map);
	ends_post(send);
	assert_ok(doca_mmap_stop(end_a.map));
	ends_post(receive);
	assert_int_equal(ends_wait_one(&end_a).type, SEND_FAILED);
	assert_ok(doca_mmap_destroy(to)); /* a part of the message is there */
}

static void test_immediates_arrive_bit_for_bit(void **state)
{
	struct request request = request_from(&end_a, REQUEST_SEND_IMM, 32);
	struct completed completed;

	ends_receive(&end_b, 64);
	ends_receive(&end_b, 64);
	request.value = 0xabcd0123;
	ends_post(request);
	completed = ends_wait_one(&end_b);
	assert_int_equal(completed.type, RECEIVED_IMM);
	assert_int_equal(completed.immediate, 0xabcd0123);
	ends_put(end_a.memory, "written first");
	request = request_from(&end_a, REQUEST_WRITE_IMM, 32);
	request.value = 7;
	ends_post(request);
	completed = ends_wait_one(&end_b);
	assert_int_equal(completed.type, WRITTEN_IMM);
	assert_int_equal(completed.immediate, 7);
	assert_int_equal(completed.index, 1);
	ends_assert_text(end_b.memory, "written first");
}

static void test_message_without_bytes_names_no_memory(void **state)
{
	struct request request = request_from(&end_a, REQUEST_SEND_IMM, 0);

	ends_receive(&end_b, 64);
	request.src_map = 0;
	request.value = 5;
	ends_post(request);
	assert_int_equal(ends_wait_one(&end_b).immediate, 5);
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	request = request_from(&end_a, REQUEST_WRITE, 0);
	request.src_map = request.dst_map = 0;
	ends_post(request);
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
}

/* The receive queue has two places. */
static void test_acknowledged_receives_are_posted_again(void **state)
{
	uint64_t value;

	ends_receive(&end_b, 64);
	ends_receive(&end_b, 64);
	for (int i = 0; i < 2; i++) {
		ends_post(request_from(&end_a, REQUEST_SEND, 32));
		assert_int_equal(ends_wait_one(&end_b).type, RECEIVED);
	}
	ends_post(request_from(&end_a, REQUEST_SEND, 32));
	assert_false(ends_has_completion(&end_b));
	assert_ok(doca_dpa_rpc(ends_dpa, receive_again, &value, end_b.handle, 1));
	assert_int_equal(ends_wait_one(&end_b).index, 0);
}

/* ---- flags ---- */

static void test_request_waits_for_the_flush(void **state)
{
	struct request request = request_from(&end_a, REQUEST_WRITE, 32);
	struct completed completed[2];

	ends_put(end_a.memory, "flushed");
	request.flags = 0;
	ends_post(request);
	assert_int_equal(ends_read_word(end_b.memory), 0);
	ends_post(request_from(&end_a, REQUEST_WRITE, 32));
	ends_assert_text(end_b.memory, "flushed");
	ends_wait(&end_a, 2, completed);
	assert_int_equal(completed[0].index, 0);
	assert_int_equal(completed[1].index, 1);
}

static void test_success_is_not_reported_if_reports_are_optimised(void **state)
{
	struct request request = request_from(&end_a, REQUEST_WRITE, 32);

	request.flags = FLUSH | NO_REPORT;
	ends_post(request);
	ends_post(request_from(&end_a, REQUEST_READ, 32));
	assert_int_equal(ends_wait_one(&end_a).index, 1);
	assert_false(ends_has_completion(&end_a));
}

/* A kernel that posts more than the queue holds waits for the card: 128 by default. */
static void test_full_send_queue_is_waited_for(void **state)
{
	struct request request = request_from(&end_a, REQUEST_ADD, 8);
	uint64_t value;

	request.value = 1;
	request.flags = NO_REPORT;
	assert_ok(doca_dpa_rpc(ends_dpa, post_many, &value, request, UINT64_C(1000)));
	ends_post(request_from(&end_a, REQUEST_READ, 8));
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	assert_int_equal(ends_read_word(end_b.memory), 1000);
}

/* ---- elements of buffer arrays ---- */

#define ELEMENT 64

/* An array over the begin of a map. */
static struct doca_buf_arr *open_array(struct doca_mmap *map, doca_dpa_dev_buf_arr_t *ret_handle)
{
	struct doca_buf_arr *array;

	assert_ok(doca_buf_arr_create(8, &array));
	assert_ok(doca_buf_arr_set_target_dpa(array, ends_dpa));
	assert_ok(doca_buf_arr_set_params(array, map, ELEMENT, 0));
	assert_ok(doca_buf_arr_start(array));
	assert_ok(doca_buf_arr_get_dpa_handle(array, ret_handle));
	return array;
}

struct arrays {
	struct doca_buf_arr *own, *other, *of_b;
	doca_dpa_dev_buf_arr_t own_handle, other_handle, b_handle;
};

static void open_arrays(struct arrays *arrays)
{
	arrays->own = open_array(end_a.map, &arrays->own_handle);
	arrays->other = open_array(end_a.other, &arrays->other_handle);
	arrays->of_b = open_array(end_b.map, &arrays->b_handle);
}

static void close_arrays(struct arrays *arrays)
{
	assert_ok(doca_buf_arr_destroy(arrays->own));
	assert_ok(doca_buf_arr_destroy(arrays->other));
	assert_ok(doca_buf_arr_destroy(arrays->of_b));
}

/* A request by elements; an array that is 0 is none. */
static void post_elements(const struct end *end, enum request_op op, doca_dpa_dev_buf_arr_t dst, uint32_t dst_index,
			  doca_dpa_dev_buf_arr_t src, uint32_t src_index)
{
	const struct request request = { .rdma = end->handle,
					 .op = op,
					 .dst = dst,
					 .dst_map = dst_index,
					 .src = src,
					 .src_map = src_index,
					 .value = 42,
					 .flags = FLUSH };
	uint64_t value;

	assert_ok(doca_dpa_rpc(ends_dpa, post_buffers, &value, request));
}

/* Of each element the whole is transferred, and nothing beside it. */
static void test_elements_of_arrays_are_written_and_read(void **state)
{
	struct arrays arrays;

	open_arrays(&arrays);
	ends_put(end_a.memory + 2 * ELEMENT, "the third element of one side");
	ends_put(end_a.memory + 3 * ELEMENT, "not this one");
	post_elements(&end_a, REQUEST_WRITE, arrays.other_handle, 4, arrays.own_handle, 2);
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	ends_assert_text(end_b.memory + 4 * ELEMENT, "the third element of one side");
	assert_int_equal(ends_read_word(end_b.memory + 5 * ELEMENT), 0);
	post_elements(&end_a, REQUEST_READ, arrays.own_handle, 1, arrays.other_handle, 4);
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	ends_assert_text(end_a.memory + ELEMENT, "the third element of one side");
	assert_int_equal(ends_read_word(end_a.memory), 0);
	post_elements(&end_a, REQUEST_ADD, arrays.other_handle, 6, 0, 0);
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	assert_int_equal(ends_read_word(end_b.memory + 6 * ELEMENT), 42);
	close_arrays(&arrays);
}

static void expect_message(struct arrays *arrays, enum request_op op, int type, uint64_t immediate)
{
	bool is_written = op == REQUEST_WRITE_IMM;
	struct completed completed;

	assert_ok(doca_dpa_memset(ends_dpa, end_b.memory + 3 * ELEMENT, 0, ELEMENT));
	post_elements(&end_b, REQUEST_RECEIVE, arrays->b_handle, is_written ? 7 : 3, 0, 0);
	post_elements(&end_a, op, is_written ? arrays->other_handle : 0, 3, arrays->own_handle, 5);
	completed = ends_wait_one(&end_b);
	assert_int_equal(completed.type, type);
	assert_int_equal(completed.immediate, immediate);
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	ends_assert_text(end_b.memory + 3 * ELEMENT, "a message");
}

static void test_elements_of_arrays_are_sent_and_received(void **state)
{
	struct arrays arrays;

	open_arrays(&arrays);
	ends_put(end_a.memory + 5 * ELEMENT, "a message");
	expect_message(&arrays, REQUEST_SEND, RECEIVED, 0);
	expect_message(&arrays, REQUEST_SEND_IMM, RECEIVED_IMM, 42);
	expect_message(&arrays, REQUEST_WRITE_IMM, WRITTEN_IMM, 42);
	close_arrays(&arrays);
}

/* ---- sync events of the peer ---- */

static void test_signals_change_the_peers_event(void **state)
{
	doca_dpa_dev_sync_event_remote_net_t handle, other;
	struct doca_sync_event_remote_net *remote;
	struct doca_sync_event *event;
	const uint8_t *exported;
	uint64_t value;
	size_t len;

	assert_ok(doca_sync_event_create(&event));
	assert_ok(doca_sync_event_add_publisher_location_remote_net(event));
	assert_ok(doca_sync_event_add_subscriber_location_dpa(event, ends_dpa)); /* whose device is the event's */
	assert_ok(doca_sync_event_start(event));
	assert_ok(doca_sync_event_export_to_remote_net(event, &exported, &len));
	assert_ok(doca_sync_event_remote_net_create_from_export(ends_dev, exported, len, &remote));
	assert_ok(doca_sync_event_remote_net_get_dpa_handle(remote, ends_dpa, &handle));
	assert_ok(doca_dpa_rpc(ends_dpa, signal_peer, &value, end_a.handle, handle, UINT64_C(0), UINT64_C(7)));
	assert_ok(doca_sync_event_wait_eq(event, 7, UINT64_MAX));
	assert_ok(doca_dpa_rpc(ends_dpa, signal_peer, &value, end_a.handle, handle, UINT64_C(1), UINT64_C(3)));
	assert_ok(doca_sync_event_wait_eq(event, 10, UINT64_MAX));
	assert_false(ends_has_completion(&end_a));
	ends_post(request_from(&end_a, REQUEST_SEND, 8));
	assert_ok(doca_dpa_rpc(ends_dpa, signal_peer, &value, end_a.handle, handle, UINT64_C(1), UINT64_C(5)));
	ends_receive(&end_b, 64); /* the signal waits for the message */
	assert_ok(doca_sync_event_wait_eq(event, 15, UINT64_MAX));
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	assert_int_equal(ends_wait_one(&end_b).type, RECEIVED);
	ends_post(request_from(&end_a, REQUEST_READ, 8)); /* with its end the signal has ended */
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	assert_ok(doca_sync_event_remote_net_get_dpa_handle(remote, ends_dpa, &other));
	assert_int_equal(other, handle);
	assert_ok(doca_sync_event_remote_net_destroy(remote));
	assert_ok(doca_sync_event_destroy(event));
}

/* ---- a peer whose program progresses it ---- */

static void test_peers_data_path_may_be_the_cpus(void **state)
{
	struct peer *peer = peer_open(0, RDMA_ALL_ACCESS);
	doca_dpa_dev_mmap_t handle;
	struct request request;
	struct doca_mmap *imported;
	const void *details[2];
	size_t len[2];

	peer_start(peer);
	assert_ok(doca_rdma_export(end_a.rdma, &details[0], &len[0], &end_a.connection));
	assert_ok(doca_rdma_export(peer->rdma, &details[1], &len[1], &peer->connections[0]));
	peer->num_connections = 1;
	assert_ok(doca_rdma_connect(end_a.rdma, details[1], len[1], end_a.connection));
	assert_ok(doca_rdma_connect(peer->rdma, details[0], len[0], peer->connections[0]));
	assert_ok(doca_mmap_export_rdma(peer->mmap, peer->dev, &details[0], &len[0]));
	assert_ok(doca_mmap_create_from_export(NULL, details[0], len[0], ends_dev, &imported));
	assert_ok(doca_mmap_dev_get_dpa_handle(imported, ends_dev, &handle));

	ends_put(end_a.memory, "from the DPA");
	request = request_from(&end_a, REQUEST_WRITE, 32);
	request.dst_map = handle;
	request.dst = (uintptr_t)&peer->arena[512];
	ends_post(request);
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	assert_string_equal((const char *)&peer->arena[512], "from the DPA");

	peer_receive(peer, 1, peer_buf(peer, 0, 64, 0));
	ends_post(request_from(&end_a, REQUEST_SEND, 13));
	peers_drain(peer, peer, 0);
	assert_peer_trace(peer, "receive 1 done: 13 bytes by SEND\n");
	assert_string_equal((const char *)peer->arena, "from the DPA");
	assert_int_equal(ends_wait_one(&end_a).type, SENT);

	ends_receive(&end_a, 64);
	memcpy(&peer->arena[64], "from the CPU", 13);
	peer_send(peer, 2, peer_buf(peer, 64, 64, 13));
	assert_int_equal(ends_wait_one(&end_a).type, RECEIVED);
	ends_assert_text(end_a.memory + 256, "from the CPU");
	peers_drain(peer, peer, 0);
	assert_peer_trace(peer, "send 2 done\n");
	assert_ok(doca_mmap_destroy(imported));
	peer_stop(peer);
	peer_close(peer);
}

/* ---- threads ---- */

/* Another completion context, with a thread or without. Returns the former one. */
static struct doca_dpa_completion *replace_completion(struct end *end, struct doca_dpa_thread *thread)
{
	struct doca_dpa_completion *former = end->completion;

	assert_ok(doca_ctx_stop(end->ctx));
	assert_ok(doca_dpa_completion_create(ends_dpa, ENDS_COMPLETIONS, &end->completion));
	if (thread)
		assert_ok(doca_dpa_completion_set_thread(end->completion, thread));
	assert_ok(doca_dpa_completion_start(end->completion));
	assert_ok(doca_dpa_completion_get_dpa_handle(end->completion, &end->completion_handle));
	assert_ok(doca_rdma_dpa_completion_attach(end->rdma, end->completion));
	assert_ok(doca_ctx_start(end->ctx));
	assert_ok(doca_rdma_get_dpa_handle(end->rdma, &end->handle));
	return former;
}

static void restart(struct end *end)
{
	assert_ok(doca_ctx_stop(end->ctx));
	assert_ok(doca_ctx_start(end->ctx));
	assert_ok(doca_rdma_get_dpa_handle(end->rdma, &end->handle));
}

/* Each message runs the thread, which sleeps in between: nothing else takes the message. */
static void test_messages_activate_a_thread(void **state)
{
	struct {
		doca_dpa_dev_completion_t completion;
		doca_dpa_dev_sync_event_t event;
	} waiter;
	doca_dpa_dev_uintptr_t arg;
	struct doca_dpa_thread *thread;
	struct doca_sync_event *event = dpa_event_new(ends_dpa, &waiter.event);
	uint64_t value;

	assert_ok(doca_dpa_mem_alloc(ends_dpa, sizeof(waiter), &arg));
	assert_ok(doca_dpa_thread_create(ends_dpa, &thread));
	assert_ok(doca_dpa_thread_set_func_arg(thread, on_completion, arg));
	assert_ok(doca_dpa_thread_start(thread));
	assert_ok(doca_dpa_completion_destroy(replace_completion(&end_b, thread)));
	waiter.completion = end_b.completion_handle;
	assert_ok(doca_dpa_h2d_memcpy(ends_dpa, arg, &waiter, sizeof(waiter)));
	assert_ok(doca_dpa_thread_run(thread));
	restart(&end_a);
	ends_connect();
	ends_receive(&end_b, 64);
	ends_receive(&end_b, 64);
	for (uint64_t i = 0; i < 20; i++) {
		ends_post(request_with_connection(request_from(&end_a, REQUEST_SEND, 8), end_a.connection));
		dpa_event_wait(event, i);
		assert_int_equal(ends_wait_one(&end_a).type, SENT);
		assert_ok(doca_dpa_rpc(ends_dpa, receive_again, &value, end_b.handle, 1));
	}
	assert_ok(doca_dpa_completion_destroy(replace_completion(&end_b, NULL)));
	assert_ok(doca_dpa_thread_destroy(thread));
	assert_ok(doca_sync_event_destroy(event));
}

/* ---- the host's functions ---- */

/* provokes: doca_dpa_completion_stop DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_completion_destroy DOCA_ERROR_BAD_STATE */
static void test_context_is_configured_before_its_start(void **state)
{
	struct doca_rdma_addr *addr;
	struct doca_dpa_completion *idle;
	struct doca_rdma *rdma;
	uint32_t size;

	assert_invalid(doca_rdma_get_dpa_handle(NULL, &end_a.handle));
	assert_invalid(doca_rdma_get_dpa_handle(end_a.rdma, NULL));
	assert_doca(doca_rdma_dpa_completion_attach(end_a.rdma, end_b.completion), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_rdma_set_recv_queue_size(end_a.rdma, 2), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "198.18.0.1", 7, &addr));
	assert_doca(doca_rdma_connect_to_addr(end_a.rdma, addr, (union doca_data){ .u64 = 0 }),
		    DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_rdma_start_listen_to_port(end_a.rdma, 7), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_rdma_addr_destroy(addr));
	assert_doca(doca_dpa_completion_stop(end_a.completion), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_completion_destroy(end_a.completion), DOCA_ERROR_BAD_STATE);

	assert_ok(doca_rdma_create(ends_dev, &rdma));
	assert_ok(doca_ctx_set_datapath_on_dpa(doca_rdma_as_ctx(rdma), ends_dpa));
	assert_invalid(doca_rdma_set_recv_queue_size(rdma, 0));
	assert_invalid(doca_rdma_set_recv_queue_size(rdma, 32769));
	assert_ok(doca_rdma_set_recv_queue_size(rdma, 5));
	assert_ok(doca_rdma_get_recv_queue_size(rdma, &size));
	assert_int_equal(size, 8);
	assert_doca(doca_ctx_start(doca_rdma_as_ctx(rdma)), DOCA_ERROR_INITIALIZATION);
	assert_ok(doca_dpa_completion_create(ends_dpa, 4, &idle));
	assert_invalid(doca_rdma_dpa_completion_attach(rdma, NULL));
	assert_invalid(doca_rdma_dpa_completion_attach(NULL, idle));
	assert_doca(doca_rdma_dpa_completion_attach(rdma, idle), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dpa_completion_start(idle));
	assert_ok(doca_rdma_dpa_completion_attach(rdma, idle));
	assert_ok(doca_rdma_set_transport_type(rdma, DOCA_RDMA_TRANSPORT_TYPE_DC));
	assert_doca(doca_ctx_start(doca_rdma_as_ctx(rdma)), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_rdma_destroy(rdma));
	assert_ok(doca_dpa_completion_destroy(idle));
}

/* The handle is another one then, and the peer's end has failed. */
static void test_context_starts_again(void **state)
{
	doca_dpa_dev_rdma_t handle;

	assert_ok(doca_ctx_stop(end_a.ctx));
	assert_doca(doca_rdma_get_dpa_handle(end_a.rdma, &handle), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_ctx_start(end_a.ctx));
	assert_ok(doca_rdma_get_dpa_handle(end_a.rdma, &handle));
	assert_int_not_equal(handle, end_a.handle);
	ends_post(request_from(&end_b, REQUEST_SEND, 8));
	assert_int_equal(ends_wait_one(&end_b).type, SEND_FAILED);
	end_a.handle = handle;
	assert_ok(doca_ctx_stop(end_b.ctx));
	assert_ok(doca_ctx_start(end_b.ctx));
	assert_ok(doca_rdma_get_dpa_handle(end_b.rdma, &end_b.handle));
	ends_connect();
	ends_put(end_a.memory, "connected again");
	ends_post(request_with_connection(request_from(&end_a, REQUEST_WRITE, 32), end_a.connection));
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	ends_assert_text(end_b.memory, "connected again");
}

static void test_child_destroys_its_parents_contexts(void **state)
{
	pid_t child;

	child = api_fork();
	if (child == 0)
		_exit((doca_mmap_destroy(end_a.other) != DOCA_SUCCESS) + (doca_ctx_stop(end_a.ctx) != DOCA_SUCCESS) +
		      (doca_rdma_destroy(end_a.rdma) != DOCA_SUCCESS) +
		      (doca_dpa_completion_destroy(end_a.completion) != DOCA_SUCCESS));
	api_join(child);
	ends_post(request_from(&end_a, REQUEST_WRITE, 8));
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
}

#define TEST(name)         cmocka_unit_test_setup_teardown(test_##name, ends_setup, ends_teardown)
/* A message of the test finds no receive: it is given up after milliseconds by default, and a busy machine takes longer. */
#define PATIENT_TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup_patient, ends_teardown)

static const struct CMUnitTest on_card[] = {
	TEST(write_reaches_the_peers_memory),
	TEST(read_takes_the_peers_memory),
	TEST(fetch_add_adds_to_the_peers_word),
	TEST(send_fills_a_receive),
	TEST(completion_names_its_connection),
	PATIENT_TEST(send_waits_for_a_receive),
	PATIENT_TEST(map_of_a_request_that_waits_can_be_stopped),
	PATIENT_TEST(map_of_a_long_message_that_waits_can_be_stopped),
	TEST(immediates_arrive_bit_for_bit),
	TEST(message_without_bytes_names_no_memory),
	PATIENT_TEST(acknowledged_receives_are_posted_again),
	TEST(request_waits_for_the_flush),
	TEST(success_is_not_reported_if_reports_are_optimised),
	TEST(full_send_queue_is_waited_for),
	TEST(elements_of_arrays_are_written_and_read),
	TEST(elements_of_arrays_are_sent_and_received),
	TEST(signals_change_the_peers_event),
	TEST(messages_activate_a_thread),
	cmocka_unit_test_setup_teardown(test_peers_data_path_may_be_the_cpus, setup_unconnected, ends_teardown),
	TEST(context_is_configured_before_its_start),
	TEST(context_starts_again),
	TEST(child_destroys_its_parents_contexts),
};

int main(void)
{
	return API_RUN({ .name = "dpu", .side = "dpu", .dev = &ends_dev, API_WITH(on_card) });
}

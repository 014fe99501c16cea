/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA between two contexts of one process that are connected by descriptors: each type of task, errors at the peer, order.
 * Compiled a second time for the interface of 2.5 and 2.6, which has one connection a context. */
#include <poll.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_test.h"
#include "rdma_util.h"

struct pair {
	struct peer *a, *b;
};

static int open_pair_with(void **state, uint32_t a_access, uint32_t b_access)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	pair->a = peer_open(0, a_access);
	pair->b = peer_open(0, b_access);
	peer_start(pair->a);
	peer_start(pair->b);
	peers_connect(pair->a, pair->b);
	*state = pair;
	return 0;
}

static int open_pair(void **state)
{
	return open_pair_with(state, RDMA_ALL_ACCESS, RDMA_ALL_ACCESS);
}

static int close_pair(void **state)
{
	struct pair *pair = *state;

	peer_close(pair->a);
	peer_close(pair->b);
	free(pair);
	return 0;
}

/* ---- messages ---- */

static void test_send_fills_the_posted_receive(void **state)
{
	struct pair *pair = *state;

	strcpy((char *)pair->a->arena, "hello");
	peer_receive(pair->b, 1, peer_buf(pair->b, 0, 64, 0));
	peer_send(pair->a, 2, peer_buf(pair->a, 0, 64, 6));
	peers_drain(pair->a, pair->b, 0);
	assert_string_equal((char *)pair->b->arena, "hello");
	assert_peer_trace(pair->a, "send 2 done\n");
	assert_peer_trace(pair->b, "receive 1 done: 6 bytes by SEND\n");
#ifndef RDMA_OF_2_5
	assert_ptr_equal(pair->b->last_connection, pair->b->connections[0]);
#endif
}

static void test_receive_appends_behind_the_data_of_its_list(void **state)
{
	struct pair *pair = *state;
	struct doca_buf *first = peer_buf(pair->b, 0, 8, 4), *second = peer_buf(pair->b, 100, 64, 0);

	memcpy(pair->a->arena, "abcdefghij", 10);
	MUST(doca_buf_chain_list(first, second));
	peer_receive(pair->b, 1, first);
	peer_send(pair->a, 2, peer_buf(pair->a, 0, 10, 10));
	peers_drain(pair->a, pair->b, 0);
	assert_memory_equal(pair->b->arena + 4, "abcd", 4);
	assert_memory_equal(pair->b->arena + 100, "efghij", 6);
	assert_peer_trace(pair->b, "receive 1 done: 10 bytes by SEND\n");
}

static void test_send_gathers_a_list(void **state)
{
	struct pair *pair = *state;
	struct doca_buf *first = peer_buf(pair->a, 0, 3, 3);

	memcpy(pair->a->arena, "abc", 3);
	memcpy(pair->a->arena + 500, "defg", 4);
	MUST(doca_buf_chain_list(first, peer_buf(pair->a, 500, 4, 4)));
	peer_receive(pair->b, 1, peer_buf(pair->b, 0, 64, 0));
	peer_send(pair->a, 2, first);
	peers_drain(pair->a, pair->b, 0);
	assert_memory_equal(pair->b->arena, "abcdefg", 7);
	assert_peer_trace(pair->b, "receive 1 done: 7 bytes by SEND\n");
}

static void test_immediate_data_arrives_bit_for_bit(void **state)
{
	struct pair *pair = *state;

	peer_receive(pair->b, 1, NULL);
	peer_send_imm(pair->a, 2, NULL, 0xABCD);
	peers_drain(pair->a, pair->b, 0);
	assert_int_equal(pair->b->last_immediate, 0xABCD);
	assert_peer_trace(pair->a, "send_imm 2 done\n");
	assert_peer_trace(pair->b, "receive 1 done: 0 bytes by SEND_WITH_IMM\n");
}

/* More than the inbox holds at once: the requester goes on as the responder reads. */
static void test_message_of_half_a_mebibyte(void **state)
{
	struct pair *pair = *state;
	size_t len = PEER_ARENA_BYTES / 2;

	for (size_t i = 0; i < len; i++)
		pair->a->arena[i] = (uint8_t)(i * 7 + i / 4096);
	peer_receive(pair->b, 1, peer_buf(pair->b, 0, PEER_ARENA_BYTES, 0));
	peer_send(pair->a, 2, peer_buf(pair->a, 0, len, len));
	peers_drain(pair->a, pair->b, 0);
	assert_memory_equal(pair->b->arena, pair->a->arena, len);
	assert_peer_trace(pair->b, "receive 1 done: 524288 bytes by SEND\n");
}

static void test_messages_keep_their_order(void **state)
{
	struct pair *pair = *state;

	for (uint64_t i = 0; i < 3; i++)
		peer_receive(pair->b, i, peer_buf(pair->b, i * 64, 64, 0));
	for (uint64_t i = 0; i < 3; i++) {
		pair->a->arena[i * 64] = (uint8_t)(i + 1);
		peer_send(pair->a, 10 + i, peer_buf(pair->a, i * 64, 64, 1 + i));
	}
	peers_drain(pair->a, pair->b, 0);
	assert_peer_trace(pair->a, "send 10 done\nsend 11 done\nsend 12 done\n");
	assert_peer_trace(pair->b, "receive 0 done: 1 bytes by SEND\n"
				   "receive 1 done: 2 bytes by SEND\n"
				   "receive 2 done: 3 bytes by SEND\n");
	for (int i = 0; i < 3; i++)
		assert_int_equal(pair->b->arena[i * 64], i + 1);
}

/* A program that answers each message needs its answers' tasks back, however many messages come. */
static void test_receives_do_not_hold_up_the_ends_of_sends(void **state)
{
	const struct pair *pair = *state;

	for (uint64_t i = 1; i <= 4; i++) {
		peer_receive(pair->a, i, peer_buf(pair->a, 4096 + i * 64, 8, 0));
		peer_receive(pair->b, i, peer_buf(pair->b, 4096 + i * 64, 8, 0));
		peer_send(pair->a, i, peer_buf(pair->a, i * 64, 8, 8));
		peer_send(pair->b, i, peer_buf(pair->b, i * 64, 8, 8));
	}
	while (!strstr(pair->a->trace, "receive 4 done"))
		peer_progress(pair->a); /* b's sends are done, and a's wait in b's receives */
	for (int i = 0; i < 4; i++)
		peer_progress(pair->b);
	assert_non_null(strstr(pair->b->trace, "receive 2 done"));
	assert_null(strstr(pair->b->trace, "receive 3 done"));
	assert_non_null(strstr(pair->b->trace, "send 2 done"));
	peers_drain(pair->a, pair->b, 0);
}

static void test_send_waits_for_a_receive(void **state)
{
	struct pair *pair = *state;

	peer_send(pair->a, 1, peer_buf(pair->a, 0, 8, 8));
	for (int i = 0; i < 100; i++) {
		peer_progress(pair->a);
		peer_progress(pair->b);
	}
	assert_peer_trace(pair->a, "");
	peer_receive(pair->b, 2, peer_buf(pair->b, 0, 8, 0));
	peers_drain(pair->a, pair->b, 0);
	assert_peer_trace(pair->a, "send 1 done\n");
	assert_peer_trace(pair->b, "receive 2 done: 8 bytes by SEND\n");
}

/* ---- memory of the peer ---- */

static void test_write_needs_no_progress_of_the_peer(void **state)
{
	struct pair *pair = *state;

	memcpy(pair->a->arena, "payload", 7);
	peer_write(pair->a, 1, peer_buf(pair->a, 0, 7, 7), peer_remote_buf(pair->a, pair->b, 100, 64, 0));
	peers_drain(pair->a, NULL, 0);
	assert_memory_equal(pair->b->arena + 100, "payload", 7);
	assert_peer_trace(pair->a, "write 1 done\n");
}

static void test_write_grows_the_data_of_the_remote_buffer(void **state)
{
	struct pair *pair = *state;
	struct doca_buf *dst = peer_remote_buf(pair->a, pair->b, 0, 64, 10);
	size_t len;

	MUST(doca_buf_inc_refcount(dst, NULL));
	memcpy(pair->a->arena, "xy", 2);
	peer_write(pair->a, 1, peer_buf(pair->a, 0, 2, 2), dst);
	peers_drain(pair->a, NULL, 0);
	MUST(doca_buf_get_data_len(dst, &len));
	assert_int_equal(len, 12);
	assert_memory_equal(pair->b->arena + 10, "xy", 2);
	MUST(doca_buf_dec_refcount(dst, NULL));
}

static void test_read_appends_behind_the_local_data(void **state)
{
	struct pair *pair = *state;

	memcpy(pair->b->arena + 50, "remote", 6);
	peer_read(pair->a, 1, peer_remote_buf(pair->a, pair->b, 50, 6, 6), peer_buf(pair->a, 0, 64, 2));
	peers_drain(pair->a, NULL, 0);
	assert_memory_equal(pair->a->arena + 2, "remote", 6);
	assert_peer_trace(pair->a, "read 1 done\n");
}

static void test_write_with_immediate_completes_a_receive(void **state)
{
	struct pair *pair = *state;

	memcpy(pair->a->arena, "data", 4);
	peer_receive(pair->b, 1, NULL);
	peer_write_imm(pair->a, 2, peer_buf(pair->a, 0, 4, 4), peer_remote_buf(pair->a, pair->b, 8, 64, 0), 77);
	peers_drain(pair->a, pair->b, 0);
	assert_memory_equal(pair->b->arena + 8, "data", 4);
	assert_int_equal(pair->b->last_immediate, 77);
	assert_peer_trace(pair->b, "receive 1 done: 4 bytes by WRITE_WITH_IMM\n");
}

static void test_fetch_and_add_returns_the_value_before(void **state)
{
	struct pair *pair = *state;
	uint64_t value = 40, before;

	memcpy(pair->b->arena, &value, 8);
	peer_fetch_add(pair->a, 1, peer_remote_buf(pair->a, pair->b, 0, 8, 8), peer_buf(pair->a, 0, 8, 0), 2);
	peers_drain(pair->a, NULL, 0);
	memcpy(&before, pair->a->arena, 8);
	memcpy(&value, pair->b->arena, 8);
	assert_int_equal(before, 40);
	assert_int_equal(value, 42);
}

static void test_compare_and_swap_swaps_equal_values_only(void **state)
{
	struct pair *pair = *state;
	uint64_t value = 5, before[2];

	memcpy(pair->b->arena, &value, 8);
	peer_cmp_swp(pair->a, 1, peer_remote_buf(pair->a, pair->b, 0, 8, 8), peer_buf(pair->a, 0, 8, 0), 5, 9);
	peer_cmp_swp(pair->a, 2, peer_remote_buf(pair->a, pair->b, 0, 8, 8), peer_buf(pair->a, 8, 8, 0), 5, 11);
	peers_drain(pair->a, NULL, 0);
	memcpy(before, pair->a->arena, 16);
	memcpy(&value, pair->b->arena, 8);
	assert_int_equal(before[0], 5);
	assert_int_equal(before[1], 9);
	assert_int_equal(value, 9);
	assert_peer_trace(pair->a, "cmp_swp 1 done\ncmp_swp 2 done\n");
}

/* The write is executed when the send before it was received. */
static void test_write_behind_a_send_waits_for_its_receive(void **state)
{
	struct pair *pair = *state;

	pair->a->arena[0] = 1;
	peer_send(pair->a, 1, peer_buf(pair->a, 0, 1, 1));
	peer_write(pair->a, 2, peer_buf(pair->a, 0, 1, 1), peer_remote_buf(pair->a, pair->b, 100, 1, 0));
	for (int i = 0; i < 50; i++)
		peer_progress(pair->a);
	assert_int_equal(pair->b->arena[100], 0);
	peer_receive(pair->b, 3, peer_buf(pair->b, 0, 1, 0));
	peers_drain(pair->a, pair->b, 0);
	assert_int_equal(pair->b->arena[100], 1);
	assert_peer_trace(pair->a, "send 1 done\nwrite 2 done\n");
}

/* ---- errors at the peer ---- */

static void test_message_longer_than_its_receive_fails_both_and_flushes(void **state)
{
	struct pair *pair = *state;

	peer_receive(pair->b, 1, peer_buf(pair->b, 0, 4, 0));
	peer_receive(pair->b, 2, peer_buf(pair->b, 64, 64, 0));
	pair->a->may_be_refused = true; /* the second one, if the engine's thread comes before it */
	peer_send(pair->a, 3, peer_buf(pair->a, 0, 5, 5));
	peer_send(pair->a, 4, peer_buf(pair->a, 0, 5, 5));
	peers_drain(pair->a, pair->b, 1);
	assert_peer_trace(pair->a,
			  strstr(pair->a->trace, "refused") ?
				  "send 4 refused\nsend 3 failed: DOCA_ERROR_IO_FAILED\n" :
				  "send 3 failed: DOCA_ERROR_IO_FAILED\nsend 4 failed: DOCA_ERROR_IO_FAILED\n");
	assert_peer_trace(pair->b, "receive 1 failed: DOCA_ERROR_IO_FAILED\n");
}

static void test_write_beyond_the_map_is_refused_by_the_buffer(void **state)
{
	struct pair *pair = *state;
	struct doca_buf *buf;

	assert_result(doca_buf_inventory_buf_get_by_addr(pair->a->inventory, pair->a->remote,
							 pair->b->arena + PEER_ARENA_BYTES - 8, 16, &buf),
		      DOCA_ERROR_INVALID_VALUE);
}

static void test_memory_of_the_peer_is_no_local_buffer(void **state)
{
	struct pair *pair = *state;

	pair->a->may_be_refused = true;
	peer_receive(pair->b, 1, peer_buf(pair->b, 0, 64, 0));
	peer_send(pair->a, 2, peer_remote_buf(pair->a, pair->b, 0, 64, 6));
	peers_drain(pair->a, pair->b, 1);
	assert_peer_trace(pair->a, "send 2 refused\n");
}

/* Data is not replaced. */
static void test_full_buffer_takes_no_message(void **state)
{
	struct pair *pair = *state;

	memset(pair->b->arena, 7, 64);
	peer_receive(pair->b, 1, peer_buf(pair->b, 0, 64, 64));
	peer_send(pair->a, 2, peer_buf(pair->a, 0, 6, 6));
	peers_drain(pair->a, pair->b, 0);
	assert_peer_trace(pair->a, "send 2 failed: DOCA_ERROR_IO_FAILED\n");
	assert_peer_trace(pair->b, "receive 1 failed: DOCA_ERROR_IO_FAILED\n");
	assert_int_equal(pair->b->arena[0], 7);
}

static void test_local_buffer_is_of_a_map_that_has_the_device(void **state)
{
	struct pair *pair = *state;
	struct peer *other = peer_open(1, RDMA_ALL_ACCESS);
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_args(pair->a->inventory, other->mmap, other->arena, 64, other->arena, 6,
						&buf));
	pair->a->may_be_refused = true;
	peer_send(pair->a, 1, buf);
	assert_peer_trace(pair->a, "send 1 refused\n");
	peer_close(other);
}

static void test_data_outside_of_its_map_is_refused(void **state)
{
	struct pair *pair = *state;
	struct doca_buf *buf = peer_buf(pair->a, 0, 64, 6);

	MUST(doca_buf_set_data(buf, pair->a->arena + PEER_ARENA_BYTES, 1));
	pair->a->may_be_refused = true;
	peer_send(pair->a, 1, buf);
	assert_peer_trace(pair->a, "send 1 refused\n");
}

static void test_dead_buffer_is_refused(void **state)
{
	struct pair *pair = *state;
	struct doca_buf *buf = peer_buf(pair->a, 0, 64, 6);
	struct doca_rdma_task_receive *task;

	MUST(doca_rdma_task_receive_allocate_init(pair->a->rdma, buf, (union doca_data){ 0 }, &task));
	MUST(doca_buf_dec_refcount(buf, NULL));
	assert_result(doca_task_submit(doca_rdma_task_receive_as_task(task)), DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_rdma_task_receive_as_task(task));
}

static void test_element_of_a_list_is_no_local_buffer(void **state)
{
	struct pair *pair = *state;
	struct doca_buf *head = peer_buf(pair->a, 0, 8, 8), *inner = peer_buf(pair->a, 8, 8, 8);
	struct doca_rdma_task_receive *task;

	MUST(doca_buf_chain_list(head, inner));
	MUST(doca_rdma_task_receive_allocate_init(pair->a->rdma, inner, (union doca_data){ 0 }, &task));
	assert_result(doca_task_submit(doca_rdma_task_receive_as_task(task)), DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_rdma_task_receive_as_task(task));
	MUST(doca_buf_dec_refcount(head, NULL));
}

static void test_atomic_at_an_odd_address_fails(void **state)
{
	struct pair *pair = *state;

	peer_fetch_add(pair->a, 1, peer_remote_buf(pair->a, pair->b, 4, 8, 8), peer_buf(pair->a, 0, 8, 0), 2);
	peers_drain(pair->a, NULL, 0);
	assert_peer_trace(pair->a, "fetch_add 1 failed: DOCA_ERROR_IO_FAILED\n");
}

static int open_read_only_pair(void **state)
{
	return open_pair_with(state, RDMA_ALL_ACCESS, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ);
}

static void test_write_without_permission_fails_and_ends_the_connection(void **state)
{
	struct pair *pair = *state;

	peer_write(pair->a, 1, peer_buf(pair->a, 0, 8, 8), peer_remote_buf(pair->a, pair->b, 0, 8, 0));
	peers_drain(pair->a, NULL, 0);
	assert_peer_trace(pair->a, "write 1 failed: DOCA_ERROR_IO_FAILED\n");
}

static void test_memory_of_a_destroyed_map_fails(void **state)
{
	struct pair *pair = *state;
	struct doca_buf *src = peer_buf(pair->a, 0, 8, 8), *dst = peer_remote_buf(pair->a, pair->b, 0, 8, 0);

	MUST(doca_mmap_stop(pair->b->mmap));
	peer_write(pair->a, 1, src, dst);
	peers_drain(pair->a, NULL, 0);
	assert_peer_trace(pair->a, "write 1 failed: DOCA_ERROR_IO_FAILED\n");
}

static void test_stop_flushes_receives(void **state)
{
	struct pair *pair = *state;

	peer_receive(pair->b, 1, NULL);
	peer_receive(pair->b, 2, NULL);
	doca_ctx_stop(pair->b->ctx);
	peers_drain(pair->b, NULL, 0);
	assert_peer_trace(pair->b, "receive 1 failed: DOCA_ERROR_IO_FAILED\nreceive 2 failed: DOCA_ERROR_IO_FAILED\n");
}

static enum doca_ctx_states state_of(const struct peer *peer)
{
	enum doca_ctx_states state;

	MUST(doca_ctx_get_state(peer->ctx, &state));
	return state;
}

static void stop_in_callback(struct peer *peer)
{
	assert_result(doca_ctx_stop(peer->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(state_of(peer), DOCA_CTX_STATE_STOPPING);
}

/* The vendor's samples take such a stop for failed unless it is in progress. */
static void test_stop_in_a_callback_is_in_progress(void **state)
{
	struct pair *pair = *state;

	pair->b->on_received = stop_in_callback;
	peer_receive(pair->b, 1, NULL);
	peer_send(pair->a, 2, NULL);
	peers_drain(pair->a, pair->b, 0);
	peer_stop(pair->b); /* until it is idle */
}

/* Programs stop a context whose tasks are complete, and destroy it at once. */
static void test_stop_without_tasks_in_flight_is_done(void **state)
{
	struct pair *pair = *state;

	peer_receive(pair->b, 1, NULL);
	peer_send(pair->a, 2, NULL);
	peers_drain(pair->a, pair->b, 0);
	assert_result(doca_ctx_stop(pair->b->ctx), DOCA_SUCCESS);
	assert_int_equal(state_of(pair->b), DOCA_CTX_STATE_IDLE);
}

static void test_stop_with_tasks_in_flight_is_in_progress(void **state)
{
	struct pair *pair = *state;

	peer_receive(pair->b, 1, NULL);
	assert_result(doca_ctx_stop(pair->b->ctx), DOCA_ERROR_IN_PROGRESS);
	peer_stop(pair->b);
	assert_peer_trace(pair->b, "receive 1 failed: DOCA_ERROR_IO_FAILED\n");
}

/* ---- connections ---- */

#ifndef RDMA_OF_2_5

/* The vendor's storage applications stop a context that only serves its peer, and destroy it at once. */
static void test_stop_of_a_connected_context_without_tasks_is_done(void **state)
{
	struct pair *pair = *state;
	struct doca_rdma_connection *of_a, *of_b;
	struct doca_rdma *responder;
	const void *bytes_a, *bytes_b;
	size_t len_a, len_b;

	MUST(doca_rdma_create(pair->b->dev, &responder));
	MUST(doca_rdma_set_permissions(responder, RDMA_ALL_ACCESS));
	MUST(doca_pe_connect_ctx(pair->b->pe, doca_rdma_as_ctx(responder)));
	MUST(doca_ctx_start(doca_rdma_as_ctx(responder)));
	MUST(doca_rdma_export(responder, &bytes_b, &len_b, &of_b));
	MUST(doca_rdma_export(pair->a->rdma, &bytes_a, &len_a, &of_a));
	MUST(doca_rdma_connect(responder, bytes_a, len_a, of_b));
	MUST(doca_rdma_connect(pair->a->rdma, bytes_b, len_b, of_a));
	assert_result(doca_ctx_stop(doca_rdma_as_ctx(responder)), DOCA_SUCCESS);
	assert_result(doca_rdma_destroy(responder), DOCA_SUCCESS);
}

static void test_two_connections_share_the_receives(void **state)
{
	struct pair *pair = *state;

	peers_connect(pair->a, pair->b);
	peer_receive(pair->b, 1, peer_buf(pair->b, 0, 8, 0));
	peer_receive(pair->b, 2, peer_buf(pair->b, 8, 8, 0));
	peer_send_on(pair->a, pair->a->connections[1], 3, peer_buf(pair->a, 0, 8, 8));
	peers_drain(pair->a, pair->b, 1);
	assert_ptr_equal(pair->b->last_connection, pair->b->connections[1]);
	peer_send_on(pair->a, pair->a->connections[0], 4, peer_buf(pair->a, 0, 8, 8));
	peers_drain(pair->a, pair->b, 0);
	assert_ptr_equal(pair->b->last_connection, pair->b->connections[0]);
}

static void test_failed_connection_leaves_the_others(void **state)
{
	struct pair *pair = *state;

	peers_connect(pair->a, pair->b);
	peer_fetch_add(pair->a, 1, peer_remote_buf(pair->a, pair->b, 4, 8, 8), peer_buf(pair->a, 0, 8, 0), 2);
	peers_drain(pair->a, NULL, 0);
	peer_receive(pair->b, 2, peer_buf(pair->b, 0, 8, 0));
	peer_send_on(pair->a, pair->a->connections[1], 3, peer_buf(pair->a, 0, 8, 8));
	peers_drain(pair->a, pair->b, 0);
	assert_peer_trace(pair->a, "fetch_add 1 failed: DOCA_ERROR_IO_FAILED\nsend 3 done\n");
}

static void test_descriptor_is_checked(void **state)
{
	struct pair *pair = *state;
	struct doca_rdma_connection *connection;
	const void *details, *map;
	uint8_t altered[64];
	size_t len, map_len;

	MUST(doca_rdma_export(pair->a->rdma, &details, &len, &connection));
	MUST(doca_mmap_export_rdma(pair->b->mmap, pair->b->dev, &map, &map_len));
	memcpy(altered, details, len);
	altered[20] ^= 1;
	assert_result(doca_rdma_connect(pair->a->rdma, altered, len, connection), DOCA_ERROR_CONNECTION_ABORTED);
	assert_result(doca_rdma_connect(pair->a->rdma, details, len - 1, connection), DOCA_ERROR_CONNECTION_ABORTED);
	assert_result(doca_rdma_connect(pair->a->rdma, map, map_len, connection), DOCA_ERROR_CONNECTION_ABORTED);
	assert_result(doca_rdma_connect(pair->b->rdma, details, len, connection), DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_rdma_connect(pair->a->rdma, details, len, pair->a->connections[0]), DOCA_ERROR_BAD_STATE);
	MUST(doca_rdma_connect(pair->a->rdma, details, len, connection)); /* to itself */
}

static void test_connections_are_limited(void **state)
{
	struct pair *pair = *state;
	struct doca_rdma_connection *connection;
	const void *details;
	size_t len;

	for (int i = 1; i < PEER_CONNECTIONS; i++)
		MUST(doca_rdma_export(pair->a->rdma, &details, &len, &connection));
	assert_result(doca_rdma_export(pair->a->rdma, &details, &len, &connection), DOCA_ERROR_FULL);
}

/* By a disconnect, also of a connection that has failed, when its tasks have ended. The handle stays valid. */
static void test_disconnected_connection_leaves_its_place(void **state)
{
	struct pair *pair = *state;
	struct doca_rdma_connection *first = pair->a->connections[0], *connection;
	const void *details;
	size_t len;

	peer_fetch_add(pair->a, 1, peer_remote_buf(pair->a, pair->b, 4, 8, 8), peer_buf(pair->a, 0, 8, 0), 2);
	for (int i = 1; i < PEER_CONNECTIONS; i++)
		MUST(doca_rdma_export(pair->a->rdma, &details, &len, &connection));
	peers_drain(pair->a, NULL, 0);
	assert_peer_trace(pair->a, "fetch_add 1 failed: DOCA_ERROR_IO_FAILED\n");
	for (int i = 0; i < 2; i++) {
		assert_result(doca_rdma_export(pair->a->rdma, &details, &len, &connection), DOCA_ERROR_FULL);
		MUST(doca_rdma_connection_disconnect(i == 0 ? first : connection));
		assert_result(doca_rdma_connection_disconnect(i == 0 ? first : connection),
			      DOCA_ERROR_CONNECTION_ABORTED);
		peer_progress(pair->a);
		MUST(doca_rdma_export(pair->a->rdma, &details, &len, &connection));
	}
	assert_result(doca_rdma_connection_disconnect(first), DOCA_ERROR_CONNECTION_ABORTED);
	assert_result(doca_rdma_connect(pair->a->rdma, details, len, first), DOCA_ERROR_BAD_STATE);
	MUST(doca_rdma_connect(pair->a->rdma, details, len, connection)); /* to itself */
}

#endif

/* ---- engines that were armed before the work came: of a program that sleeps for sockets and the engine alike ---- */

/* Sleep until a handle is readable; then progress its engine, and arm it again. */
static void sleep_and_progress(struct pair *pair)
{
	struct peer *peers[] = { pair->a, pair->b };
	struct pollfd readable[2];

	for (int i = 0; i < 2; i++) {
		MUST(doca_pe_get_notification_handle(peers[i]->pe, &readable[i].fd));
		readable[i].events = POLLIN;
	}
	assert_true(poll(readable, 2, PEER_DEADLINE_S * 1000) > 0);
	for (int i = 0; i < 2; i++) {
		if (readable[i].revents == 0)
			continue;
		MUST(doca_pe_clear_notification(peers[i]->pe, readable[i].fd));
		while (doca_pe_progress(peers[i]->pe))
			;
		MUST(doca_pe_request_notification(peers[i]->pe));
	}
}

static void test_tasks_of_armed_engines_wake_them(void **state)
{
	struct pair *pair = *state;

	MUST(doca_pe_request_notification(pair->a->pe));
	MUST(doca_pe_request_notification(pair->b->pe));
	peer_receive(pair->b, 1, peer_buf(pair->b, 0, 64, 0));
	peer_send(pair->a, 2, peer_buf(pair->a, 0, 64, 6));
	while (pair->a->num_pending + pair->b->num_pending > 0)
		sleep_and_progress(pair);
	assert_peer_trace(pair->a, "send 2 done\n");
	assert_peer_trace(pair->b, "receive 1 done: 6 bytes by SEND\n");
}

#ifndef RDMA_OF_2_5
/* The receiver sleeps while its connection is made: the message wakes it. */
static void test_connection_of_an_armed_engine_wakes_it(void **state)
{
	struct pair *pair = *state;

	peer_receive(pair->b, 1, peer_buf(pair->b, 0, 64, 0));
	MUST(doca_pe_request_notification(pair->b->pe));
	peers_connect(pair->a, pair->b);
	peer_send_on(pair->a, pair->a->connections[1], 2, peer_buf(pair->a, 0, 64, 6));
	MUST(doca_pe_request_notification(pair->a->pe));
	while (pair->a->num_pending + pair->b->num_pending > 0)
		sleep_and_progress(pair);
	assert_peer_trace(pair->b, "receive 1 done: 6 bytes by SEND\n");
}

#endif

#define WITH_PAIR(test) cmocka_unit_test_setup_teardown(test, open_pair, close_pair)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PAIR(test_send_fills_the_posted_receive),
		WITH_PAIR(test_receive_appends_behind_the_data_of_its_list),
		WITH_PAIR(test_send_gathers_a_list),
		WITH_PAIR(test_immediate_data_arrives_bit_for_bit),
		WITH_PAIR(test_message_of_half_a_mebibyte),
		WITH_PAIR(test_messages_keep_their_order),
		WITH_PAIR(test_receives_do_not_hold_up_the_ends_of_sends),
		WITH_PAIR(test_send_waits_for_a_receive),
		WITH_PAIR(test_write_needs_no_progress_of_the_peer),
		WITH_PAIR(test_write_grows_the_data_of_the_remote_buffer),
		WITH_PAIR(test_read_appends_behind_the_local_data),
		WITH_PAIR(test_write_with_immediate_completes_a_receive),
		WITH_PAIR(test_fetch_and_add_returns_the_value_before),
		WITH_PAIR(test_compare_and_swap_swaps_equal_values_only),
		WITH_PAIR(test_write_behind_a_send_waits_for_its_receive),
		WITH_PAIR(test_message_longer_than_its_receive_fails_both_and_flushes),
		WITH_PAIR(test_write_beyond_the_map_is_refused_by_the_buffer),
		WITH_PAIR(test_memory_of_the_peer_is_no_local_buffer),
		WITH_PAIR(test_full_buffer_takes_no_message),
		WITH_PAIR(test_local_buffer_is_of_a_map_that_has_the_device),
		WITH_PAIR(test_data_outside_of_its_map_is_refused),
		WITH_PAIR(test_dead_buffer_is_refused),
		WITH_PAIR(test_element_of_a_list_is_no_local_buffer),
		WITH_PAIR(test_atomic_at_an_odd_address_fails),
		cmocka_unit_test_setup_teardown(test_write_without_permission_fails_and_ends_the_connection,
						open_read_only_pair, close_pair),
		WITH_PAIR(test_memory_of_a_destroyed_map_fails),
		WITH_PAIR(test_stop_flushes_receives),
		WITH_PAIR(test_stop_in_a_callback_is_in_progress),
		WITH_PAIR(test_stop_without_tasks_in_flight_is_done),
		WITH_PAIR(test_stop_with_tasks_in_flight_is_in_progress),
#ifndef RDMA_OF_2_5
		WITH_PAIR(test_stop_of_a_connected_context_without_tasks_is_done),
		WITH_PAIR(test_two_connections_share_the_receives),
		WITH_PAIR(test_failed_connection_leaves_the_others),
		WITH_PAIR(test_descriptor_is_checked),
		WITH_PAIR(test_connections_are_limited),
		WITH_PAIR(test_disconnected_connection_leaves_its_place),
		WITH_PAIR(test_connection_of_an_armed_engine_wakes_it),
#endif
		WITH_PAIR(test_tasks_of_armed_engines_wake_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

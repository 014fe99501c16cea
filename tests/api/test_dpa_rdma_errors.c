/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA from kernels on the DPA: requests and receives that fail, and kernels that end their context. */
#include <doca_mmap.h>
#include <doca_rdma.h>

#include "dpa_ends.h"
#include "dpa_util.h"
#include "rdma_util.h"

/* Of dpa/rdma_kernels.c. */
doca_dpa_func_t post_request, post_many, receive_again;

/* Nothing is connected; the peer permits reads alone: its context, or its memory. */
static int setup_read_only_context(void **state)
{
	ends_open(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ, RDMA_ALL_ACCESS);
	return 0;
}

static int setup_read_only_memory(void **state)
{
	ends_open(RDMA_ALL_ACCESS, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ);
	return 0;
}

/* The request fails, and then each later one on the connection. */
static void assert_fails(struct request request)
{
	struct completed completed;

	request.flags |= NO_REPORT;
	ends_post(request);
	completed = ends_wait_one(&end_a);
	assert_int_equal(completed.type, SEND_FAILED);
	assert_int_equal(completed.connection, 0);
	ends_post(request_from(&end_a, REQUEST_READ, 8));
	assert_int_equal(ends_wait_one(&end_a).type, SEND_FAILED);
}

static void test_write_that_the_peer_does_not_permit_fails(void **state)
{
	ends_connect();
	ends_post(request_from(&end_a, REQUEST_READ, 32));
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	assert_fails(request_from(&end_a, REQUEST_WRITE, 32));
}

static void test_request_of_an_unconnected_end_fails(void **state)
{
	const void *details;
	size_t len;

	assert_ok(doca_rdma_export(end_a.rdma, &details, &len, &end_a.connection));
	ends_post(request_from(&end_a, REQUEST_WRITE, 32));
	assert_int_equal(ends_wait_one(&end_a).type, SEND_FAILED);
}

static void test_write_beyond_the_peers_map_fails(void **state)
{
	struct request request = request_from(&end_a, REQUEST_WRITE, 32);

	request.dst += ENDS_HEAP_BYTES - 31;
	assert_fails(request);
}

static void test_write_from_beyond_the_local_map_fails(void **state)
{
	struct request request = request_from(&end_a, REQUEST_WRITE, 32);

	request.src += ENDS_HEAP_BYTES - 31;
	assert_fails(request);
}

static void test_handle_that_is_no_maps_fails_the_request(void **state)
{
	struct request request = request_from(&end_a, REQUEST_WRITE, 32);

	request.src_map = 0xffffff;
	assert_fails(request);
}

static void test_handle_that_is_no_maps_of_the_peer_fails_the_request(void **state)
{
	struct request request = request_from(&end_a, REQUEST_WRITE, 32);

	request.dst_map = 12345;
	assert_fails(request);
}

static void test_peers_memory_is_no_source(void **state)
{
	struct request request = request_from(&end_a, REQUEST_WRITE, 32);

	request.src_map = end_a.other_handle;
	request.src = end_b.memory + 64;
	assert_fails(request);
}

static void test_read_into_memory_that_is_not_written_fails(void **state)
{
	struct request request = request_from(&end_a, REQUEST_READ, 32);
	struct doca_mmap *map = ends_map_heap(end_a.memory, 64, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, &request.dst_map);

	ends_put(end_b.memory, "must not arrive");
	request.dst = end_a.memory;
	assert_fails(request);
	ends_assert_text(end_a.memory, "");
	assert_ok(doca_mmap_destroy(map));
}

static void test_map_of_the_wrong_side_fails_the_request(void **state)
{
	struct request request = request_from(&end_a, REQUEST_WRITE, 32);

	request.dst_map = end_a.map_handle;
	request.dst = end_a.memory;
	assert_fails(request);
}

static void test_address_that_is_not_aligned_fails_the_addition(void **state)
{
	struct request request = request_from(&end_a, REQUEST_ADD, 8);

	request.dst += 4;
	assert_fails(request);
}

static void test_handle_ends_with_its_map(void **state)
{
	struct request request = request_from(&end_a, REQUEST_WRITE, 32);
	doca_dpa_dev_mmap_t handle;
	struct doca_mmap *map = ends_map_heap(end_a.memory, 64, RDMA_ALL_ACCESS, &handle);

	request.src_map = handle;
	ends_post(request);
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	assert_ok(doca_mmap_destroy(map));
	assert_fails(request);
}

static void test_message_that_is_too_long_fails_both_ends(void **state)
{
	ends_receive(&end_b, 16);
	assert_fails(request_from(&end_a, REQUEST_SEND, 32));
	assert_int_equal(ends_wait_one(&end_b).type, RECEIVE_FAILED);
}

static void test_receive_whose_map_has_ended_fails_both_ends(void **state)
{
	struct request request = request_from(&end_b, REQUEST_RECEIVE, 64);
	struct doca_mmap *map = ends_map_heap(end_b.memory, 64, RDMA_ALL_ACCESS, &request.dst_map);

	ends_post(request);
	assert_ok(doca_mmap_destroy(map));
	assert_fails(request_from(&end_a, REQUEST_SEND, 32));
	assert_int_equal(ends_wait_one(&end_b).type, RECEIVE_FAILED);
}

static void assert_receive_fails(uint32_t map, doca_dpa_dev_uintptr_t dst)
{
	struct request request = request_from(&end_b, REQUEST_RECEIVE, 32);

	request.dst_map = map;
	request.dst = dst;
	ends_put(end_a.memory, "must not arrive");
	ends_post(request);
	assert_fails(request_from(&end_a, REQUEST_SEND, 32));
	assert_int_equal(ends_wait_one(&end_b).type, RECEIVE_FAILED);
}

/* 32 bytes from @offset on, of a map of 64 bytes. */
static void assert_receive_outside_fails(int offset)
{
	doca_dpa_dev_uintptr_t begin = end_b.memory + 64, dst = begin + (uint64_t)offset;
	doca_dpa_dev_mmap_t handle;
	struct doca_mmap *map = ends_map_heap(begin, 64, RDMA_ALL_ACCESS, &handle);

	assert_receive_fails(handle, dst);
	ends_assert_text(dst, "");
	assert_ok(doca_mmap_destroy(map));
}

static void test_receive_beyond_its_map_fails_both_ends(void **state)
{
	assert_receive_outside_fails(33);
}

static void test_receive_before_its_map_fails_both_ends(void **state)
{
	assert_receive_outside_fails(-1);
}

static void test_receive_into_memory_that_is_not_written_fails_both_ends(void **state)
{
	doca_dpa_dev_mmap_t handle;
	struct doca_mmap *map = ends_map_heap(end_b.memory, 64, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, &handle);

	assert_receive_fails(handle, end_b.memory);
	ends_assert_text(end_b.memory, "");
	assert_ok(doca_mmap_destroy(map));
}

static void test_receive_into_the_peers_memory_fails_both_ends(void **state)
{
	assert_receive_fails(end_b.other_handle, end_a.memory + 64);
	ends_assert_text(end_a.memory + 64, "");
}

static void test_disconnect_fails_what_is_posted(void **state)
{
	struct request request = request_from(&end_a, REQUEST_SEND, 8);

	ends_post(request); /* no receive is there */
	assert_ok(doca_rdma_connection_disconnect(end_a.connection));
	assert_int_equal(ends_wait_one(&end_a).type, SEND_FAILED);
}

/* ---- what a card would not forgive ---- */

static void assert_is_fatal(struct request request)
{
	uint64_t value;

	assert_doca(doca_dpa_rpc(ends_dpa, post_request, &value, request), DOCA_ERROR_DRIVER);
	dpa_remove_crash_file(NULL);
}

static void test_connection_that_is_none_is_fatal(void **state)
{
	struct request request = request_from(&end_a, REQUEST_WRITE, 8);

	request.connection = 1;
	assert_is_fatal(request);
}

static void test_context_that_is_none_is_fatal(void **state)
{
	struct request request = request_from(&end_a, REQUEST_WRITE, 8);

	request.rdma = end_a.completion_handle;
	assert_is_fatal(request);
}

static void test_receive_beyond_the_queue_is_fatal(void **state)
{
	ends_receive(&end_b, 64);
	ends_receive(&end_b, 64);
	assert_is_fatal(request_from(&end_b, REQUEST_RECEIVE, 64));
}

static void test_no_context_starts_after_a_fatal_kernel(void **state)
{
	struct request request = request_from(&end_a, REQUEST_WRITE, 8);
	struct doca_rdma *rdma;

	request.connection = 1;
	assert_is_fatal(request);
	assert_ok(doca_rdma_create(ends_dev, &rdma));
	assert_ok(doca_ctx_set_datapath_on_dpa(doca_rdma_as_ctx(rdma), ends_dpa));
	assert_ok(doca_rdma_dpa_completion_attach(rdma, end_a.completion));
	assert_doca(doca_ctx_start(doca_rdma_as_ctx(rdma)), DOCA_ERROR_INITIALIZATION);
	assert_ok(doca_rdma_destroy(rdma));
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, ends_setup, ends_teardown)

static const struct CMUnitTest on_card[] = {
	cmocka_unit_test_setup_teardown(test_write_that_the_peer_does_not_permit_fails, setup_read_only_context,
					ends_teardown),
	cmocka_unit_test_setup_teardown(test_write_that_the_peer_does_not_permit_fails, setup_read_only_memory,
					ends_teardown),
	cmocka_unit_test_setup_teardown(test_request_of_an_unconnected_end_fails, setup_read_only_memory,
					ends_teardown),
	TEST(write_beyond_the_peers_map_fails),
	TEST(write_from_beyond_the_local_map_fails),
	TEST(handle_that_is_no_maps_fails_the_request),
	TEST(handle_that_is_no_maps_of_the_peer_fails_the_request),
	TEST(peers_memory_is_no_source),
	TEST(read_into_memory_that_is_not_written_fails),
	TEST(map_of_the_wrong_side_fails_the_request),
	TEST(address_that_is_not_aligned_fails_the_addition),
	TEST(handle_ends_with_its_map),
	TEST(message_that_is_too_long_fails_both_ends),
	TEST(receive_whose_map_has_ended_fails_both_ends),
	TEST(receive_beyond_its_map_fails_both_ends),
	TEST(receive_before_its_map_fails_both_ends),
	TEST(receive_into_memory_that_is_not_written_fails_both_ends),
	TEST(receive_into_the_peers_memory_fails_both_ends),
	TEST(disconnect_fails_what_is_posted),
	TEST(connection_that_is_none_is_fatal),
	TEST(context_that_is_none_is_fatal),
	TEST(receive_beyond_the_queue_is_fatal),
	TEST(no_context_starts_after_a_fatal_kernel),
};

int main(void)
{
	return API_RUN({ .name = "dpu", .side = "dpu", .dev = &ends_dev, API_WITH(on_card) });
}

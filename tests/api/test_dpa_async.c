/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous operations of kernels: copies between maps, and waits for sync events. */
#include <doca_buf_array.h>
#include <doca_mmap.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dpa/rdma_kernels.h"
#include "dpa_util.h"
#include "under_valgrind.h"

/* unreachable: doca_dpa_async_ops_create DOCA_ERROR_NO_MEMORY: the pool of queues is small
 * unreachable: doca_dpa_async_ops_destroy DOCA_ERROR_DRIVER: no driver is asked
 * unreachable: doca_dpa_async_ops_destroy DOCA_ERROR_BAD_STATE: nothing holds a queue
 * unreachable: doca_dpa_async_ops_stop DOCA_ERROR_DRIVER: no driver is asked
 * unreachable: doca_dpa_async_ops_stop DOCA_ERROR_BAD_STATE: nothing holds a queue */

extern struct doca_dpa_app *dpa_rdma_app;
doca_dpa_func_t copy_async, copy_buffers_async, wait_async, launch_copy, wait_completions, look;

enum { DONE = 0, FAILED = 13 };     /* of the device API */
enum { FLUSH = 1, NO_REPORT = 2 };  /* likewise */
enum { QUEUE = 4, USER_DATA = 77 }; /* of the queue */

static struct doca_dev *dev;
static struct doca_dpa *dpa;
static struct doca_dpa_completion *completion;
static doca_dpa_dev_completion_t completion_handle;
static struct doca_dpa_async_ops *queue;
static doca_dpa_dev_async_ops_t queue_handle;
static doca_dpa_dev_uintptr_t heap, results;
static char host[4096];
static struct doca_mmap *heap_map, *host_map;
static doca_dpa_dev_mmap_t heap_handle, host_handle;

static void map_memory(void)
{
	assert_ok(doca_mmap_create(&heap_map));
	assert_ok(doca_mmap_set_dpa_memrange(heap_map, dpa, heap, sizeof(host)));
	assert_ok(doca_mmap_start(heap_map));
	assert_ok(doca_mmap_dev_get_dpa_handle(heap_map, dev, &heap_handle));
	assert_ok(doca_mmap_create(&host_map));
	assert_ok(doca_mmap_add_dev(host_map, dev));
	assert_ok(doca_mmap_set_memrange(host_map, host, sizeof(host)));
	assert_ok(doca_mmap_start(host_map));
	assert_ok(doca_mmap_dev_get_dpa_handle(host_map, dev, &host_handle));
}

static int setup(void **state)
{
	assert_ok(doca_dpa_create(dev, &dpa));
	assert_ok(doca_dpa_set_app(dpa, dpa_rdma_app));
	assert_ok(doca_dpa_start(dpa));
	assert_ok(doca_dpa_completion_create(dpa, 64, &completion));
	assert_ok(doca_dpa_completion_start(completion));
	assert_ok(doca_dpa_completion_get_dpa_handle(completion, &completion_handle));
	assert_ok(doca_dpa_async_ops_create(dpa, QUEUE, USER_DATA, &queue));
	assert_ok(doca_dpa_async_ops_attach(queue, completion));
	assert_ok(doca_dpa_async_ops_start(queue));
	assert_ok(doca_dpa_async_ops_get_dpa_handle(queue, &queue_handle));
	assert_ok(doca_dpa_mem_alloc(dpa, sizeof(host), &heap));
	assert_ok(doca_dpa_memset(dpa, heap, 0, sizeof(host)));
	assert_ok(doca_dpa_mem_alloc(dpa, 64 * sizeof(struct completed), &results));
	memset(host, 0, sizeof(host));
	map_memory();
	return 0;
}

static int teardown(void **state)
{
	assert_ok(doca_dpa_async_ops_destroy(queue));
	assert_ok(doca_dpa_completion_destroy(completion));
	assert_ok(doca_mmap_destroy(heap_map));
	assert_ok(doca_mmap_destroy(host_map));
	assert_ok(doca_dpa_destroy(dpa));
	return 0;
}

static struct request to_host(uint64_t len)
{
	return (struct request){ .dst_map = host_handle,
				 .dst = (uintptr_t)host,
				 .src_map = heap_handle,
				 .src = heap,
				 .len = len,
				 .flags = FLUSH };
}

static void copy(struct request request)
{
	uint64_t value;

	assert_ok(doca_dpa_rpc(dpa, copy_async, &value, queue_handle, request));
}

static void wait_event(doca_dpa_dev_sync_event_t event, bool is_greater, uint64_t value)
{
	uint64_t result;

	assert_ok(doca_dpa_rpc(dpa, wait_async, &result, queue_handle, event, (uint64_t)is_greater, value));
}

static struct completed wait_one(void)
{
	struct completed completed;
	uint64_t value;

	assert_ok(doca_dpa_rpc(dpa, wait_completions, &value, completion_handle, UINT64_C(1), results));
	assert_ok(doca_dpa_d2h_memcpy(dpa, &completed, results, sizeof(completed)));
	assert_int_equal(completed.connection, USER_DATA);
	return completed;
}

static bool has_completion(void)
{
	uint64_t value;

	assert_ok(doca_dpa_rpc(dpa, look, &value, completion_handle));
	return value;
}

/* ---- copies ---- */

static struct doca_buf_arr *open_array(struct doca_mmap *map, doca_dpa_dev_buf_arr_t *ret_handle)
{
	struct doca_buf_arr *array;

	assert_ok(doca_buf_arr_create(4, &array));
	assert_ok(doca_buf_arr_set_target_dpa(array, dpa));
	assert_ok(doca_buf_arr_set_params(array, map, 64, 0));
	assert_ok(doca_buf_arr_start(array));
	assert_ok(doca_buf_arr_get_dpa_handle(array, ret_handle));
	return array;
}

/* The whole of the source's element, to the begin of the other. */
static void test_copy_between_elements_of_arrays(void **state)
{
	struct request request = { .dst_map = 3, .src_map = 1, .flags = FLUSH };
	struct doca_buf_arr *to = open_array(host_map, &request.dst), *from = open_array(heap_map, &request.src);
	uint64_t value;

	assert_ok(doca_dpa_memset(dpa, heap + 64, 'e', 64));
	assert_ok(doca_dpa_rpc(dpa, copy_buffers_async, &value, queue_handle, request));
	assert_int_equal(wait_one().type, DONE);
	for (int i = 0; i < 64; i++)
		assert_int_equal(host[3 * 64 + i], 'e');
	assert_int_equal(host[3 * 64 - 1], 0);
	assert_int_equal(host[4 * 64], 0);
	assert_ok(doca_buf_arr_destroy(to));
	assert_ok(doca_buf_arr_destroy(from));
}

static void test_copy_between_heap_and_host(void **state)
{
	struct request request = to_host(12), back = request;

	assert_ok(doca_dpa_h2d_memcpy(dpa, heap, "from heap", 10));
	copy(request);
	assert_int_equal(wait_one().type, DONE);
	assert_string_equal(host, "from heap");
	back.dst_map = heap_handle;
	back.dst = heap + 64;
	back.src_map = host_handle;
	back.src = (uintptr_t)host;
	copy(back);
	assert_int_equal(wait_one().index, 1);
	assert_ok(doca_dpa_d2h_memcpy(dpa, &host[100], heap + 64, 12));
	assert_string_equal(&host[100], "from heap");
}

static void test_copy_waits_for_the_flush(void **state)
{
	struct request request = to_host(4);

	assert_ok(doca_dpa_h2d_memcpy(dpa, heap, "abc", 4));
	request.flags = NO_REPORT;
	copy(request);
	assert_int_equal(host[0], 0);
	request.flags = FLUSH;
	request.dst += 8;
	copy(request);
	assert_int_equal(wait_one().index, 1);
	assert_string_equal(host, "abc");
	assert_string_equal(&host[8], "abc");
	assert_false(has_completion());
}

static void test_copy_outside_of_a_map_fails_and_those_behind_it(void **state)
{
	struct request request = to_host(8);

	request.src += sizeof(host) - 7;
	copy(request);
	assert_int_equal(wait_one().type, FAILED);
	copy(to_host(8));
	assert_int_equal(wait_one().type, FAILED);
	assert_ok(doca_dpa_async_ops_stop(queue));
	assert_ok(doca_dpa_async_ops_start(queue));
	assert_ok(doca_dpa_async_ops_get_dpa_handle(queue, &queue_handle));
	copy(to_host(8));
	assert_int_equal(wait_one().type, DONE);
}

static void test_handle_that_is_no_maps_fails_the_copy(void **state)
{
	struct request request = to_host(8);

	request.dst_map = 0;
	copy(request);
	assert_int_equal(wait_one().type, FAILED);
}

/* A map of a file's page that is gone: the file was truncated. Unlike after munmap(), nothing else can come to its address. */
static struct doca_mmap *map_gone_page(char **ret_page, doca_dpa_dev_mmap_t *ret_handle)
{
	int fd = memfd_create("page", MFD_CLOEXEC);
	struct doca_mmap *map;

	assert_int_equal(ftruncate(fd, sizeof(host)), 0);
	*ret_page = mmap(NULL, sizeof(host), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_add_dev(map, dev));
	assert_ok(doca_mmap_set_memrange(map, *ret_page, sizeof(host)));
	assert_ok(doca_mmap_start(map));
	assert_ok(doca_mmap_dev_get_dpa_handle(map, dev, ret_handle));
	assert_int_equal(ftruncate(fd, 0), 0);
	close(fd);
	return map;
}

static void assert_copy_fails(struct request request)
{
	copy(request);
	assert_int_equal(wait_one().type, FAILED);
	assert_ok(doca_dpa_async_ops_stop(queue));
	assert_ok(doca_dpa_async_ops_start(queue));
	assert_ok(doca_dpa_async_ops_get_dpa_handle(queue, &queue_handle));
}

static void test_memory_that_is_gone_fails_the_copy(void **state)
{
	struct request from = to_host(8), to = to_host(8);
	struct doca_mmap *map;
	char *page;

	if (RUNNING_ON_VALGRIND)
		skip(); /* it reports the accesses */
	map = map_gone_page(&page, &from.src_map);
	to.dst_map = from.src_map;
	from.src = to.dst = (uintptr_t)page;
	assert_copy_fails(from);
	assert_copy_fails(to);
	copy(to_host(8));
	assert_int_equal(wait_one().type, DONE);
	assert_ok(doca_mmap_destroy(map));
	assert_int_equal(munmap(page, sizeof(host)), 0);
}

/* ---- waits ---- */

static void test_wait_ends_when_the_event_is_greater(void **state)
{
	doca_dpa_dev_sync_event_t handle;
	struct doca_sync_event *event = dpa_event_new(dpa, &handle);

	wait_event(handle, true, 4);
	assert_ok(doca_sync_event_update_set(event, 4));
	assert_false(has_completion());
	assert_ok(doca_sync_event_update_set(event, 5));
	assert_int_equal(wait_one().type, DONE);
	assert_ok(doca_sync_event_destroy(event));
}

static void test_wait_ends_when_the_event_differs(void **state)
{
	doca_dpa_dev_sync_event_t handle;
	struct doca_sync_event *event = dpa_event_new(dpa, &handle);

	wait_event(handle, false, 0);
	assert_false(has_completion());
	assert_ok(doca_sync_event_update_set(event, 1));
	assert_int_equal(wait_one().type, DONE);
	assert_ok(doca_sync_event_destroy(event));
}

/* The queue has four places: the fifth post waits for one. */
static void test_copies_follow_the_wait_before_them(void **state)
{
	doca_dpa_dev_sync_event_t handle;
	struct doca_sync_event *event = dpa_event_new(dpa, &handle);

	assert_ok(doca_dpa_h2d_memcpy(dpa, heap, "late", 5));
	wait_event(handle, true, 0);
	for (int i = 0; i < QUEUE - 1; i++)
		copy(to_host(5));
	assert_int_equal(host[0], 0);
	assert_ok(doca_sync_event_update_set(event, 1));
	copy(to_host(5));
	for (uint64_t i = 0; i < QUEUE + 1; i++)
		assert_int_equal(wait_one().index, i % QUEUE);
	assert_string_equal(host, "late");
	assert_ok(doca_sync_event_destroy(event));
}

static void test_wait_fails_with_its_event(void **state)
{
	doca_dpa_dev_sync_event_t handle;
	struct doca_sync_event *event = dpa_event_new(dpa, &handle);

	wait_event(handle, true, 4);
	assert_ok(doca_sync_event_destroy(event));
	assert_int_equal(wait_one().type, FAILED);
}

static void test_stop_drops_what_waits(void **state)
{
	doca_dpa_dev_sync_event_t handle;
	struct doca_sync_event *event = dpa_event_new(dpa, &handle);

	wait_event(handle, true, 4);
	assert_ok(doca_dpa_async_ops_stop(queue));
	assert_false(has_completion());
	assert_ok(doca_sync_event_destroy(event));
}

/* ---- what a card would not forgive ---- */

static void test_queue_that_is_none_is_fatal(void **state)
{
	uint64_t value;

	assert_doca(doca_dpa_rpc(dpa, copy_async, &value, completion_handle, to_host(8)), DOCA_ERROR_DRIVER);
	dpa_remove_crash_file(NULL);
}

static void test_launch_that_posts_is_fatal(void **state)
{
	struct doca_sync_event *end = dpa_event_new(dpa, NULL);

	assert_ok(doca_dpa_kernel_launch_update_set(dpa, NULL, 0, end, 1, 1, launch_copy, queue_handle));
	while (doca_dpa_peek_at_last_error(dpa) == DOCA_SUCCESS)
		;
	teardown(NULL); /* waits for the EU, which writes the file */
	dpa_remove_crash_file(NULL);
	assert_ok(doca_sync_event_destroy(end));
	setup(NULL);
}

/* ---- the host's functions ---- */

/* provokes: doca_dpa_async_ops_attach DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_async_ops_attach DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_async_ops_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_async_ops_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_async_ops_get_dpa_handle DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_async_ops_get_dpa_handle DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_async_ops_get_queue_size DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_async_ops_get_user_data DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_async_ops_start DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_async_ops_start DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_async_ops_stop DOCA_ERROR_INVALID_VALUE */
static void test_queue_is_configured_before_its_start(void **state)
{
	struct doca_dpa_completion *idle;
	struct doca_dpa_async_ops *ops;
	doca_dpa_dev_async_ops_t handle;
	unsigned int size;
	uint64_t data;

	assert_invalid(doca_dpa_async_ops_create(dpa, 0, 1, &ops));
	assert_invalid(doca_dpa_async_ops_create(dpa, 8, 1 << 24, &ops));
	assert_invalid(doca_dpa_async_ops_create(NULL, 8, 1, &ops));
	assert_ok(doca_dpa_async_ops_create(dpa, 8, 1, &ops));
	assert_doca(doca_dpa_async_ops_start(ops), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_async_ops_get_dpa_handle(ops, &handle), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dpa_completion_create(dpa, 4, &idle));
	assert_doca(doca_dpa_async_ops_attach(ops, idle), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dpa_completion_destroy(idle));
	assert_doca(doca_dpa_async_ops_attach(queue, completion), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dpa_async_ops_get_queue_size(ops, &size));
	assert_int_equal(size, 8);
	assert_ok(doca_dpa_async_ops_get_user_data(ops, &data));
	assert_int_equal(data, 1);
	assert_invalid(doca_dpa_async_ops_attach(NULL, completion));
	assert_invalid(doca_dpa_async_ops_attach(ops, NULL));
	assert_invalid(doca_dpa_async_ops_destroy(NULL));
	assert_invalid(doca_dpa_async_ops_start(NULL));
	assert_invalid(doca_dpa_async_ops_stop(NULL));
	assert_invalid(doca_dpa_async_ops_get_dpa_handle(NULL, &handle));
	assert_invalid(doca_dpa_async_ops_get_queue_size(NULL, &size));
	assert_invalid(doca_dpa_async_ops_get_user_data(NULL, &data));
	assert_doca(doca_dpa_completion_stop(completion), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dpa_async_ops_destroy(ops));
}

/* provokes: doca_dpa_async_ops_start DOCA_ERROR_DRIVER */
static void test_queue_of_a_fatal_context_does_not_start(void **state)
{
	uint64_t value;

	assert_ok(doca_dpa_async_ops_stop(queue));
	assert_doca(doca_dpa_rpc(dpa, copy_async, &value, UINT64_C(7), to_host(8)), DOCA_ERROR_DRIVER);
	dpa_remove_crash_file(NULL);
	assert_doca(doca_dpa_async_ops_start(queue), DOCA_ERROR_DRIVER);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

static const struct CMUnitTest on_card[] = {
	TEST(copy_between_heap_and_host),
	TEST(copy_between_elements_of_arrays),
	TEST(copy_waits_for_the_flush),
	TEST(copy_outside_of_a_map_fails_and_those_behind_it),
	TEST(handle_that_is_no_maps_fails_the_copy),
	TEST(memory_that_is_gone_fails_the_copy),
	TEST(wait_ends_when_the_event_is_greater),
	TEST(wait_ends_when_the_event_differs),
	TEST(copies_follow_the_wait_before_them),
	TEST(wait_fails_with_its_event),
	TEST(stop_drops_what_waits),
	TEST(queue_that_is_none_is_fatal),
	TEST(launch_that_posts_is_fatal),
	TEST(queue_is_configured_before_its_start),
	TEST(queue_of_a_fatal_context_does_not_start),
};

int main(void)
{
	return API_RUN({ .name = "dpu", .side = "dpu", .dev = &dev, API_WITH(on_card) });
}

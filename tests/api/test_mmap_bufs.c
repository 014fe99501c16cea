/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory maps and the buffers that point into them: order of destruction, and several threads. */
#include "api_util.h"

#include <pthread.h>

static uint8_t memory[4096];
static struct doca_dev *dev;
static struct doca_buf_inventory *inventory;

static int open_all(void **state)
{
	dev = api_open("03:00.0");
	inventory = api_inventory(16);
	return 0;
}

static int close_all(void **state)
{
	assert_ok(doca_buf_inventory_destroy(inventory));
	assert_ok(doca_dev_close(dev));
	return 0;
}

static struct doca_mmap *started_map(void)
{
	return api_map(dev, memory, sizeof(memory), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
}

static struct doca_mmap *thread_safe_map(void)
{
	struct doca_mmap *map = started_map();

	assert_ok(doca_mmap_stop(map));
	assert_ok(doca_mmap_enable_thread_safety(map));
	assert_ok(doca_mmap_start(map));
	return map;
}

static struct doca_buf *take(struct doca_mmap *map)
{
	struct doca_buf *buf;

	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, map, memory, sizeof(memory), &buf));
	return buf;
}

static void assert_num_bufs(struct doca_mmap *map, uint32_t expected)
{
	uint32_t num_bufs;

	assert_ok(doca_mmap_get_num_bufs(map, &num_bufs));
	assert_int_equal(num_bufs, expected);
}

static void test_map_counts_its_buffers(void **state)
{
	struct doca_mmap *map = started_map(), *other = started_map();
	struct doca_buf *first, *second, *copy;

	assert_num_bufs(map, 0);
	first = take(map);
	second = take(map);
	assert_num_bufs(map, 2);
	assert_ok(doca_buf_inventory_buf_dup(inventory, first, &copy));
	assert_num_bufs(map, 3);
	assert_ok(doca_buf_inc_refcount(copy, NULL)); /* a reference is no buffer */
	assert_num_bufs(map, 3);
	assert_ok(doca_buf_dec_refcount(copy, NULL));
	assert_num_bufs(map, 3);
	assert_ok(doca_buf_dec_refcount(copy, NULL));
	assert_num_bufs(map, 2);
	assert_ok(doca_buf_chain_list(first, second));
	assert_num_bufs(map, 2);
	assert_num_bufs(other, 0);
	assert_ok(doca_buf_dec_refcount(first, NULL)); /* and the list with it */
	assert_num_bufs(map, 0);
	assert_ok(doca_mmap_destroy(map));
	assert_ok(doca_mmap_destroy(other));
}

/* provokes: doca_mmap_stop DOCA_ERROR_NOT_PERMITTED */
/* provokes: doca_mmap_destroy DOCA_ERROR_NOT_PERMITTED */
static void test_map_with_buffers_out_is_neither_stopped_nor_destroyed(void **state)
{
	struct doca_mmap *map = started_map();
	struct doca_buf *buf = take(map), *another;

	assert_doca(doca_mmap_stop(map), DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_mmap_destroy(map), DOCA_ERROR_NOT_PERMITTED);
	another = take(map); /* it is still started */
	assert_ok(doca_buf_dec_refcount(another, NULL));
	assert_doca(doca_mmap_stop(map), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_buf_dec_refcount(buf, NULL));
	assert_ok(doca_mmap_stop(map));
	assert_ok(doca_mmap_destroy(map));
}

static void count_call(void *addr, size_t len, void *cookie)
{
	++*(unsigned int *)cookie;
}

static void test_free_callback_waits_until_the_destroy_is_not_refused(void **state)
{
	unsigned int calls = 0;
	struct doca_mmap *map = started_map();
	struct doca_buf *buf;

	assert_ok(doca_mmap_stop(map));
	assert_ok(doca_mmap_set_free_cb(map, count_call, &calls));
	assert_ok(doca_mmap_start(map));
	buf = take(map);
	assert_doca(doca_mmap_destroy(map), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(calls, 0);
	assert_ok(doca_buf_dec_refcount(buf, NULL));
	assert_ok(doca_mmap_destroy(map));
	assert_int_equal(calls, 1);
}

/* ---- with thread safety ---- */

static void test_thread_safe_map_does_not_count_its_buffers(void **state)
{
	struct doca_mmap *map = thread_safe_map();
	struct doca_buf *buf = take(map);

	assert_num_bufs(map, 0);
	assert_ok(doca_mmap_stop(map));
	assert_ok(doca_mmap_start(map));
	assert_ok(doca_buf_dec_refcount(buf, NULL));
	assert_num_bufs(map, 0);
	assert_ok(doca_mmap_destroy(map));
}

static void test_buffer_that_outlives_a_thread_safe_map_is_no_other_maps(void **state)
{
	struct doca_mmap *map = thread_safe_map(), *next;
	struct doca_buf *buf = take(map), *counted;

	assert_ok(doca_mmap_destroy(map));
	next = started_map(); /* may well have the destroyed one's handle */
	counted = take(next);
	assert_invalid(doca_buf_inventory_buf_reuse_by_addr(buf, memory, 1));
	assert_ok(doca_buf_dec_refcount(buf, NULL));
	assert_num_bufs(next, 1);
	assert_ok(doca_buf_dec_refcount(counted, NULL));
	assert_num_bufs(next, 0);
	assert_ok(doca_mmap_destroy(next));
}

/* The whole list is checked, not only its head: a map that has the handle of a destroyed one has other memory. */
static void test_list_with_a_buffer_that_outlives_its_map_has_no_duplicate(void **state)
{
	struct doca_mmap *map = thread_safe_map(), *short_lived = thread_safe_map(), *next;
	struct doca_buf *list = take(map), *copy = NULL;
	uint8_t other[64];
	uint32_t num_free;

	assert_ok(doca_buf_chain_list(list, take(short_lived)));
	assert_ok(doca_mmap_destroy(short_lived));
	assert_doca(doca_buf_inventory_buf_dup(inventory, list, &copy), DOCA_ERROR_BAD_STATE);
	next = api_map(dev, other, sizeof(other), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	assert_doca(doca_buf_inventory_buf_dup(inventory, list, &copy), DOCA_ERROR_BAD_STATE);
	assert_num_bufs(next, 0);
	assert_ok(doca_buf_inventory_get_num_free_elements(inventory, &num_free));
	assert_int_equal(num_free, 14);
	assert_ok(doca_buf_dec_refcount(list, NULL));
	assert_ok(doca_mmap_destroy(next));
	assert_ok(doca_mmap_destroy(map));
}

static void test_buffer_of_a_stopped_thread_safe_map_names_no_new_place(void **state)
{
	struct doca_mmap *map = thread_safe_map();
	struct doca_buf *buf = take(map), *copy;

	assert_ok(doca_mmap_stop(map));
	assert_invalid(doca_buf_inventory_buf_reuse_by_addr(buf, memory, 1));
	assert_doca(doca_buf_inventory_buf_dup(inventory, buf, &copy), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_buf_dec_refcount(buf, NULL));
	assert_ok(doca_mmap_destroy(map));
}

enum { NUM_THREADS = 10, ROUNDS = 20000 };

struct worker {
	pthread_t thread;
	struct doca_mmap *map;
	const void *descriptor;
	unsigned int errors;
};

/* Allocate and return buffers of an own inventory. cmocka's assertions do not work in other threads: the thread counts
 * errors. */
static void *use_bufs(void *arg)
{
	struct worker *worker = arg;
	struct doca_buf_inventory *own;
	struct doca_buf *buf;

	if (doca_buf_inventory_create(1, &own) != DOCA_SUCCESS || doca_buf_inventory_start(own) != DOCA_SUCCESS) {
		worker->errors++;
		return NULL;
	}
	for (int i = 0; i < ROUNDS; i++) {
		if (doca_buf_inventory_buf_get_by_data(own, worker->map, memory, sizeof(memory), &buf) == DOCA_SUCCESS)
			worker->errors += doca_buf_dec_refcount(buf, NULL) != DOCA_SUCCESS;
		else
			worker->errors++;
	}
	worker->errors += doca_buf_inventory_destroy(own) != DOCA_SUCCESS;
	return NULL;
}

static void *export_and_use_bufs(void *arg)
{
	struct worker *worker = arg;
	size_t len;

	worker->errors += doca_mmap_export_pci(worker->map, dev, &worker->descriptor, &len) != DOCA_SUCCESS;
	return use_bufs(worker);
}

static void run_workers(struct doca_mmap *map, void *(*work)(void *worker), struct worker workers[NUM_THREADS])
{
	for (int i = 0; i < NUM_THREADS; i++) {
		workers[i] = (struct worker){ .map = map };
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
	for (int i = 0; i < NUM_THREADS; i++) {
		assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
		assert_int_equal(workers[i].errors, 0);
	}
}

/* Programs of 2.2 do this, without thread safety. The count that is left decides over the map's end. */
static void test_threads_with_an_inventory_each_share_a_map(void **state)
{
	struct doca_mmap *map = api_map(dev, memory, sizeof(memory), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct worker workers[NUM_THREADS];
	struct doca_buf *first = take(map);

	run_workers(map, use_bufs, workers);
	assert_num_bufs(map, 1);
	assert_ok(doca_buf_dec_refcount(first, NULL));
	run_workers(map, use_bufs, workers);
	assert_num_bufs(map, 0);
	assert_ok(doca_mmap_destroy(map));
}

/* Each thread has its own inventory: those are for one thread. */
static void test_threads_share_a_thread_safe_map(void **state)
{
	struct doca_mmap *map = thread_safe_map();
	struct worker workers[NUM_THREADS];

	assert_ok(doca_mmap_stop(map));
	assert_ok(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	assert_ok(doca_mmap_start(map));
	run_workers(map, export_and_use_bufs, workers);
	for (int i = 0; i < NUM_THREADS; i++)
		assert_ptr_equal(workers[i].descriptor, workers[0].descriptor); /* one export for one device */
	assert_ok(doca_mmap_destroy(map));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_map_counts_its_buffers),
	cmocka_unit_test(test_map_with_buffers_out_is_neither_stopped_nor_destroyed),
	cmocka_unit_test(test_free_callback_waits_until_the_destroy_is_not_refused),
	cmocka_unit_test(test_thread_safe_map_does_not_count_its_buffers),
	cmocka_unit_test(test_buffer_that_outlives_a_thread_safe_map_is_no_other_maps),
	cmocka_unit_test(test_list_with_a_buffer_that_outlives_its_map_has_no_duplicate),
	cmocka_unit_test(test_buffer_of_a_stopped_thread_safe_map_names_no_new_place),
	cmocka_unit_test(test_threads_with_an_inventory_each_share_a_map),
	cmocka_unit_test(test_threads_share_a_thread_safe_map),
};

int main(void)
{
	return API_RUN(API_ON_DPU("maps and buffers", "memory.yaml", tests, open_all, close_all));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory maps in kernels: handles, windows, buffer arrays, maps of the DPA's heap. */
#include <doca_buf_array.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "dpa_util.h"
#include "emulated.h"
#include "under_valgrind.h"

extern struct doca_dpa_app *dpa_msgq_app;
doca_dpa_func_t get_pointer, load_by_map, load_behind_map, store_by_map, store_and_load, sum_by_map, count_lines,
	answer, sum_buffers;

static struct doca_dev *dev;

#define NUM_BYTES 8192

/* A context, and a map of memory that does not begin at a line. */
struct rig {
	struct doca_dpa *dpa;
	uint8_t *block, *memory;
	struct doca_mmap *map;
	doca_dpa_dev_mmap_t handle;
};

static struct doca_mmap *map_memory(void *memory, size_t len, uint32_t access)
{
	struct doca_mmap *map;

	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_add_dev(map, api_dev()));
	assert_ok(doca_mmap_set_permissions(map, access));
	assert_ok(doca_mmap_set_memrange(map, memory, len));
	assert_ok(doca_mmap_start(map));
	return map;
}

static int setup(void **state)
{
	struct rig *rig = test_calloc(1, sizeof(*rig));

	assert_ok(doca_dpa_create(api_dev(), &rig->dpa));
	assert_ok(doca_dpa_set_app(rig->dpa, dpa_msgq_app));
	assert_ok(doca_dpa_start(rig->dpa));
	rig->block = aligned_alloc(64, NUM_BYTES + 64);
	memset(rig->block, 0, NUM_BYTES + 64);
	rig->memory = rig->block + 8;
	rig->map = map_memory(rig->memory, NUM_BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	assert_ok(doca_mmap_dev_get_dpa_handle(rig->map, api_dev(), &rig->handle));
	*state = rig;
	return 0;
}

static int teardown(void **state)
{
	struct rig *rig = *state;

	assert_ok(doca_mmap_destroy(rig->map));
	assert_ok(doca_dpa_destroy(rig->dpa));
	free(rig->block);
	test_free(rig);
	return 0;
}

#define RPC(rig, function, ...)                                                          \
	({                                                                               \
		uint64_t value_ = 0;                                                     \
		assert_ok(doca_dpa_rpc((rig)->dpa, (function), &value_, ##__VA_ARGS__)); \
		value_;                                                                  \
	})

#define RPC_FAILS(rig, function, ...)                                                                         \
	do {                                                                                                  \
		uint64_t value_;                                                                              \
		assert_doca(doca_dpa_rpc((rig)->dpa, (function), &value_, ##__VA_ARGS__), DOCA_ERROR_DRIVER); \
		dpa_remove_crash_file(NULL);                                                                  \
	} while (0)

static uint64_t addr_of(const void *memory)
{
	return (uintptr_t)memory;
}

/* ---- windows ---- */

static void test_kernel_loads_and_stores_by_a_handle(void **state)
{
	struct rig *rig = *state;
	uint64_t value = UINT64_C(0x1122334455667788);

	memcpy(rig->memory + 100, &value, sizeof(value));
	assert_true(RPC(rig, load_by_map, rig->handle, addr_of(rig->memory + 100)) == value);
	RPC(rig, store_by_map, rig->handle, addr_of(rig->memory + NUM_BYTES - 8), value);
	assert_memory_equal(rig->memory + NUM_BYTES - 8, &value, sizeof(value));
	assert_int_equal(rig->memory[NUM_BYTES - 9], 0);
	assert_int_equal(rig->memory[NUM_BYTES], 0);
}

static void test_later_kernel_sees_what_changed(void **state)
{
	struct rig *rig = *state;

	for (uint64_t value = 1; value < 100; value++) {
		memcpy(rig->memory, &value, sizeof(value));
		assert_int_equal(RPC(rig, load_by_map, rig->handle, addr_of(rig->memory)), value);
	}
}

static void test_copies_of_many_lines_are_right(void **state)
{
	struct rig *rig = *state;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < NUM_BYTES; i++)
		rig->memory[i] = (uint8_t)(i * 7 + i / 256);
	for (unsigned int i = 3; i < 3 + 1000; i++)
		sum += rig->memory[i];
	assert_int_equal(RPC(rig, sum_by_map, rig->handle, addr_of(rig->memory + 3), (uint64_t)1000), sum);
}

static void test_more_lines_than_a_view_keeps_are_written_back(void **state)
{
	struct rig *rig = *state;
	uint32_t *words = (uint32_t *)(rig->block + 64);

	for (uint32_t i = 0; i < 100; i++)
		words[16 * i] = 1000 * i;
	RPC(rig, count_lines, rig->handle, addr_of(words), (uint64_t)100);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(words[16 * i], 1000 * i);
		assert_int_equal(words[16 * i + 1], 1001 * i);
		assert_int_equal(words[16 * i + 2], 0);
	}
}

/* The kernel polls the first word, and answers in another line. */
static void test_host_and_kernel_talk_by_memory(void **state)
{
	struct rig *rig = *state;
	_Atomic uint64_t *words = (_Atomic uint64_t *)(rig->block + 64);
	struct doca_sync_event *end = dpa_event_new(rig->dpa, NULL);

	atomic_store(words, 1);
	assert_ok(doca_dpa_kernel_launch_update_set(rig->dpa, NULL, 0, end, 1, 1, answer, rig->handle, addr_of(words)));
	for (uint64_t said = 1; said < 50; said++) {
		atomic_store(words, said);
		while (atomic_load(words + 8) != said + 1)
			;
	}
	atomic_store(words, 0);
	dpa_event_wait(end, 0);
	assert_int_equal(atomic_load(words + 8), 1);
	assert_ok(doca_sync_event_destroy(end));
}

static void test_stores_of_a_fatal_kernel_are_not_written_back(void **state)
{
	struct rig *rig = *state;

	RPC_FAILS(rig, store_and_load, rig->handle, addr_of(rig->memory), UINT64_C(7), addr_of(rig->memory));
	assert_int_equal(rig->memory[0], 0);
}

/* ---- what a kernel may not do ---- */

/* The window is not the host's pointer, which stays forbidden. */
static void test_hosts_pointer_is_fatal_despite_the_map(void **state)
{
	struct rig *rig = *state;

	assert_true(RPC(rig, get_pointer, rig->handle, addr_of(rig->memory)) != addr_of(rig->memory));
	RPC_FAILS(rig, load_behind_map, rig->handle, addr_of(rig->memory),
		  addr_of(rig->memory) - RPC(rig, get_pointer, rig->handle, addr_of(rig->memory)));
}

static void test_handle_that_is_none_is_fatal(void **state)
{
	struct rig *rig = *state;

	RPC_FAILS(rig, load_by_map, rig->handle + 1, addr_of(rig->memory));
}

/* A kernel may be about to load: nothing else comes to the addresses soon. */
static void test_addresses_of_a_window_outlast_its_map(void **state)
{
	struct rig *rig = *state;
	uint64_t pointer = RPC(rig, get_pointer, rig->handle, addr_of(rig->memory));
	void *page = (void *)(uintptr_t)(pointer & ~UINT64_C(4095));

	if (is_emulated() || RUNNING_ON_VALGRIND)
		skip(); /* MAP_FIXED_NOREPLACE replaces there */
	assert_ok(doca_mmap_stop(rig->map));
	assert_ptr_equal(mmap(page, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
			 MAP_FAILED);
}

static void test_handle_ends_with_the_map(void **state)
{
	struct rig *rig = *state;

	RPC(rig, load_by_map, rig->handle, addr_of(rig->memory));
	assert_ok(doca_mmap_stop(rig->map));
	RPC_FAILS(rig, load_by_map, rig->handle, addr_of(rig->memory));
}

static void test_address_outside_of_the_map_is_fatal(void **state)
{
	struct rig *rig = *state;

	RPC_FAILS(rig, get_pointer, rig->handle, addr_of(rig->memory) + NUM_BYTES + 1);
}

static void test_load_behind_the_map_is_fatal(void **state)
{
	struct rig *rig = *state;

	RPC(rig, load_behind_map, rig->handle, addr_of(rig->memory), (uint64_t)NUM_BYTES - 8);
	RPC_FAILS(rig, load_behind_map, rig->handle, addr_of(rig->memory), (uint64_t)NUM_BYTES - 7);
}

static void test_load_before_the_map_is_fatal(void **state)
{
	struct rig *rig = *state;

	RPC_FAILS(rig, load_behind_map, rig->handle, addr_of(rig->memory), (uint64_t)-1);
}

static void test_store_to_a_map_that_is_read_only_is_fatal(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *map = map_memory(rig->memory, NUM_BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	doca_dpa_dev_mmap_t handle;

	assert_ok(doca_mmap_dev_get_dpa_handle(map, api_dev(), &handle));
	assert_int_equal(RPC(rig, load_by_map, handle, addr_of(rig->memory)), 0);
	RPC_FAILS(rig, store_by_map, handle, addr_of(rig->memory), UINT64_C(7));
	assert_int_equal(rig->memory[0], 0);
	assert_ok(doca_mmap_destroy(map));
}

/* As a card's reads that fail: the kernel loads ones. */
static void test_memory_that_is_gone_reads_as_ones(void **state)
{
	struct rig *rig = *state;
	void *page;
	struct doca_mmap *map;
	doca_dpa_dev_mmap_t handle;

	if (RUNNING_ON_VALGRIND)
		skip(); /* it reports the load */
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	map = map_memory(page, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	assert_ok(doca_mmap_dev_get_dpa_handle(map, api_dev(), &handle));
	assert_int_equal(RPC(rig, load_by_map, handle, addr_of(page)), 0);
	assert_int_equal(munmap(page, 4096), 0);
	assert_true(RPC(rig, load_by_map, handle, addr_of(page)) == UINT64_MAX);
	RPC(rig, store_by_map, handle, addr_of(page), UINT64_C(7));
	assert_true(RPC(rig, load_by_map, handle, addr_of(page)) == UINT64_MAX);
	assert_ok(doca_mmap_destroy(map));
}

/* ---- maps of the heap ---- */

static void test_map_of_the_heap_has_heap_addresses(void **state)
{
	struct rig *rig = *state;
	doca_dpa_dev_uintptr_t block;
	doca_dpa_dev_mmap_t handle;
	struct doca_mmap *map;
	uint64_t value = 5;
	size_t len;
	void *addr;

	assert_ok(doca_dpa_mem_alloc(rig->dpa, 4096, &block));
	assert_ok(doca_dpa_h2d_memcpy(rig->dpa, block, &value, sizeof(value)));
	assert_ok(doca_mmap_create(&map));
	assert_invalid(doca_mmap_set_dpa_memrange(map, rig->dpa, block, 4097));
	assert_invalid(doca_mmap_set_dpa_memrange(map, rig->dpa, addr_of(rig->memory), 1));
	assert_ok(doca_mmap_set_dpa_memrange(map, rig->dpa, block, 4096));
	assert_ok(doca_mmap_start(map));
	assert_ok(doca_mmap_get_memrange(map, &addr, &len));
	assert_int_equal(addr_of(addr), block);
	assert_ok(doca_mmap_dev_get_dpa_handle(map, api_dev(), &handle));
	assert_int_equal(RPC(rig, get_pointer, handle, block), block);
	assert_int_equal(RPC(rig, load_by_map, handle, block), 5);
	assert_ok(doca_mmap_destroy(map));
	assert_ok(doca_dpa_mem_free(rig->dpa, block));
}

/* Other devices of the card that have a DPA reach the heap, too. */
static void test_map_of_the_heap_has_the_cards_devices(void **state)
{
	struct rig *rig = *state;
	struct doca_dev *other = api_open("03:00.1");
	doca_dpa_dev_mmap_t handle, other_handle;
	doca_dpa_dev_uintptr_t block;
	struct doca_mmap *map;

	assert_ok(doca_dpa_mem_alloc(rig->dpa, 64, &block));
	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_set_dpa_memrange(map, rig->dpa, block, 64));
	assert_ok(doca_mmap_start(map));
	assert_ok(doca_mmap_dev_get_dpa_handle(map, api_dev(), &handle));
	assert_ok(doca_mmap_dev_get_dpa_handle(map, other, &other_handle));
	assert_true(handle != other_handle);
	assert_int_equal(RPC(rig, get_pointer, other_handle, block), block);
	assert_ok(doca_mmap_destroy(map));
	assert_ok(doca_dev_close(other));
}

/* ---- buffer arrays ---- */

static void test_kernel_uses_a_buffer_array(void **state)
{
	struct rig *rig = *state;
	doca_dpa_dev_buf_arr_t handle;
	struct doca_buf_arr *array;

	for (uint64_t i = 0; i < 20; i++)
		memcpy(rig->memory + 32 + 96 * i, &i, sizeof(i));
	assert_ok(doca_buf_arr_create(20, &array));
	assert_ok(doca_buf_arr_set_target_dpa(array, rig->dpa));
	assert_ok(doca_buf_arr_set_params(array, rig->map, 96, 32));
	assert_ok(doca_buf_arr_start(array));
	assert_ok(doca_buf_arr_get_dpa_handle(array, &handle));
	assert_int_equal(RPC(rig, sum_buffers, handle, (uint64_t)20, addr_of(rig->memory + 32)), 190);
	assert_ok(doca_buf_arr_stop(array));
	RPC_FAILS(rig, sum_buffers, handle, (uint64_t)20, addr_of(rig->memory + 32));
	assert_ok(doca_buf_arr_destroy(array));
}

static void test_buffer_behind_the_array_is_fatal(void **state)
{
	struct rig *rig = *state;
	doca_dpa_dev_buf_arr_t handle;
	struct doca_buf_arr *array;

	assert_ok(doca_buf_arr_create(2, &array));
	assert_ok(doca_buf_arr_set_target_dpa(array, rig->dpa));
	assert_ok(doca_buf_arr_set_params(array, rig->map, 64, 0));
	assert_ok(doca_buf_arr_start(array));
	assert_ok(doca_buf_arr_get_dpa_handle(array, &handle));
	RPC_FAILS(rig, sum_buffers, handle, (uint64_t)3, addr_of(rig->memory));
	assert_ok(doca_buf_arr_destroy(array));
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static const struct CMUnitTest tests[] = {
	WITH_RIG(test_kernel_loads_and_stores_by_a_handle),
	WITH_RIG(test_later_kernel_sees_what_changed),
	WITH_RIG(test_copies_of_many_lines_are_right),
	WITH_RIG(test_more_lines_than_a_view_keeps_are_written_back),
	WITH_RIG(test_host_and_kernel_talk_by_memory),
	WITH_RIG(test_stores_of_a_fatal_kernel_are_not_written_back),
	WITH_RIG(test_hosts_pointer_is_fatal_despite_the_map),
	WITH_RIG(test_handle_that_is_none_is_fatal),
	WITH_RIG(test_addresses_of_a_window_outlast_its_map),
	WITH_RIG(test_handle_ends_with_the_map),
	WITH_RIG(test_address_outside_of_the_map_is_fatal),
	WITH_RIG(test_load_behind_the_map_is_fatal),
	WITH_RIG(test_load_before_the_map_is_fatal),
	WITH_RIG(test_store_to_a_map_that_is_read_only_is_fatal),
	WITH_RIG(test_memory_that_is_gone_reads_as_ones),
	WITH_RIG(test_map_of_the_heap_has_heap_addresses),
	WITH_RIG(test_map_of_the_heap_has_the_cards_devices),
	WITH_RIG(test_kernel_uses_a_buffer_array),
	WITH_RIG(test_buffer_behind_the_array_is_fatal),
};

int main(void)
{
	return API_RUN({ .name = "dpu", .side = "dpu", .dev = &dev, API_WITH(tests) });
}

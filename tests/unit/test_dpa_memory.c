/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap of a DPA context, and the handles that its kernels use. */
#include <errno.h>

#include "cmocka_test.h"
#include "sim/dpa/memory/handles.h"
#include "sim/dpa/memory/heap.h"

static int setup(void **state)
{
	static struct sim_dpa_heap heap;

	*state = &heap;
	return sim_dpa_heap_init(&heap, 4096);
}

static int teardown(void **state)
{
	sim_dpa_heap_fini(*state);
	return 0;
}

static uint64_t alloc(struct sim_dpa_heap *heap, uint64_t bytes)
{
	uint64_t addr = 0;

	assert_int_equal(sim_dpa_heap_alloc(heap, bytes, &addr), 0);
	assert_int_equal(addr % 64, 0);
	return addr;
}

static bool has(struct sim_dpa_heap *heap, uint64_t addr, uint64_t bytes)
{
	struct sim_dpa_range range;

	return sim_dpa_heap_find(heap, addr, bytes, &range);
}

static void test_size_that_no_memory_has_is_refused(void **state)
{
	struct sim_dpa_heap other;

	assert_int_equal(sim_dpa_heap_init(&other, 0), -ENOMEM);
	sim_dpa_heap_fini(&other);
	assert_int_equal(sim_dpa_heap_init(&other, UINT64_C(1) << 62), -ENOMEM);
	sim_dpa_heap_fini(&other);
	assert_int_equal(sim_dpa_heap_init(&other, UINT64_MAX), -ENOMEM);
	sim_dpa_heap_fini(&other);
}

static void test_gap_is_behind_each_block(void **state)
{
	uint64_t first = alloc(*state, 10), second = alloc(*state, 64);

	assert_int_equal(second - first, 128);
	assert_true(has(*state, first, 10));
	assert_true(has(*state, first + 9, 1));
	assert_false(has(*state, first + 9, 2));
	assert_false(has(*state, first - 1, 1));
	assert_false(has(*state, first + 10, 1));
	assert_false(has(*state, first + 64, 1));
	assert_true(has(*state, second + 63, 1));
	assert_false(has(*state, second, UINT64_MAX));
}

static void test_freed_room_is_used_again(void **state)
{
	uint64_t first = alloc(*state, 100), second = alloc(*state, 100), third = alloc(*state, 100);

	assert_int_equal(sim_dpa_heap_free(*state, second + 1), -ENOENT);
	assert_int_equal(sim_dpa_heap_free(*state, second), 0);
	assert_int_equal(sim_dpa_heap_free(*state, second), -ENOENT);
	assert_false(has(*state, second, 1));
	assert_int_equal(alloc(*state, 100), second);
	assert_true(has(*state, first, 100) && has(*state, second, 100) && has(*state, third, 100));
}

static void test_full_heap_refuses(void **state)
{
	uint64_t addr;

	assert_int_equal(sim_dpa_heap_alloc(*state, 4097, &addr), -ENOMEM);
	assert_int_equal(sim_dpa_heap_alloc(*state, 0, &addr), -ENOMEM);
	addr = alloc(*state, 4096);
	assert_int_equal(sim_dpa_heap_alloc(*state, 1, &addr), -ENOMEM);
}

static void test_many_blocks_are_found(void **state)
{
	uint64_t blocks[32];

	for (int i = 0; i < 32; i++)
		blocks[i] = alloc(*state, 1);
	for (int i = 0; i < 32; i += 2)
		assert_int_equal(sim_dpa_heap_free(*state, blocks[i]), 0);
	for (int i = 0; i < 32; i++)
		assert_int_equal(has(*state, blocks[i], 1), i % 2 == 1);
}

static void test_handle_ends_with_its_object(void **state)
{
	struct sim_dpa_handles handles = { 0 };
	int objects[40];
	uint64_t numbers[40], again;

	for (int i = 0; i < 40; i++) {
		numbers[i] = sim_dpa_handle_new(&handles, SIM_DPA_EVENT, &objects[i]);
		assert_true(numbers[i] != 0);
	}
	for (int i = 0; i < 40; i++) {
		assert_ptr_equal(sim_dpa_handle_find(&handles, SIM_DPA_EVENT, numbers[i]), &objects[i]);
		assert_null(sim_dpa_handle_find(&handles, SIM_DPA_DEVICE, numbers[i]));
		assert_int_equal(sim_dpa_handle_of(&handles, SIM_DPA_EVENT, &objects[i]), numbers[i]);
	}
	sim_dpa_handle_drop(&handles, numbers[7]);
	sim_dpa_handle_drop(&handles, numbers[7]);
	assert_null(sim_dpa_handle_find(&handles, SIM_DPA_EVENT, numbers[7]));
	again = sim_dpa_handle_new(&handles, SIM_DPA_EVENT, &objects[7]);
	assert_true(again != numbers[7]);
	assert_null(sim_dpa_handle_find(&handles, SIM_DPA_EVENT, numbers[7]));
	assert_null(sim_dpa_handle_find(&handles, SIM_DPA_EVENT, 0));
	assert_null(sim_dpa_handle_find(&handles, SIM_DPA_EVENT, UINT64_MAX));
	assert_int_equal(sim_dpa_handle_of(&handles, SIM_DPA_EVENT, &numbers), 0);
	sim_dpa_handles_fini(&handles);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_size_that_no_memory_has_is_refused),
		TEST(gap_is_behind_each_block),
		TEST(freed_room_is_used_again),
		TEST(full_heap_refuses),
		TEST(many_blocks_are_found),
		cmocka_unit_test(test_handle_ends_with_its_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

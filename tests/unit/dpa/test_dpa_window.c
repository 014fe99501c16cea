/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows to memory maps, as an execution unit uses them. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "cmocka_test.h"
#include "sim/dpa/memory/map_priv.h"
#include "sim/dpa/memory/window.h"

#define NUM_BYTES 8192

/* A map; unless a test says otherwise, its range does not begin at a line. */
struct rig {
	_Alignas(64) uint8_t block[NUM_BYTES + 64];
	struct sim_dpa_map map;
	struct sim_dpa_view view;
	uint64_t window;
};

static void forget(void)
{
}

static void begin_range(struct rig *rig, uint32_t handle, uint64_t first, size_t len)
{
	memset(rig, 0, sizeof(*rig));
	rig->map = (struct sim_dpa_map){ .handle = handle,
					 .addr = (uintptr_t)rig->block + first,
					 .len_bytes = len,
					 .base = rig->block + first,
					 .is_writable = true };
	sim_dpa_map_add(&rig->map);
	assert_int_equal(sim_dpa_window_pointer(handle, rig->map.addr, &rig->window), 0);
}

static void begin(struct rig *rig, uint32_t handle)
{
	begin_range(rig, handle, 8, NUM_BYTES);
}

/* What a kernel's store does: the hook, and then the bytes. */
static void store(struct rig *rig, size_t offset, int value, size_t len)
{
	struct sim_dpa_range range = { 0 };

	assert_int_equal(sim_dpa_window_access(&rig->view, rig->window + offset, len, true, &range), 0);
	memset((void *)(rig->window + offset), value, len);
}

/* Whether the memory has @len bytes of @value at the offset, and zeros besides. */
static bool has_alone(const struct rig *rig, size_t offset, int value, size_t len)
{
	for (size_t i = 0; i < NUM_BYTES; i++)
		if (rig->map.base[i] != (i - offset < len ? value : 0))
			return false;
	return true;
}

static void test_long_stores_reach_the_memory(void **state)
{
	static const struct {
		size_t offset, len;
	} stores[] = {
		{ 0, NUM_BYTES }, { 56, 64 * 40 }, { 3, 64 * 40 + 1 }, { 8191, 1 }, { 60, 2 }, { 50, 100 }, { 56, 64 },
	};
	static struct rig rig;

	for (size_t i = 0; i < sizeof(stores) / sizeof(stores[0]); i++) {
		begin(&rig, 0x100);
		store(&rig, stores[i].offset, 7, stores[i].len);
		assert_true(has_alone(&rig, 0, 0, 0));
		sim_dpa_window_write_back(&rig.view);
		assert_true(has_alone(&rig, stores[i].offset, 7, stores[i].len));
		sim_dpa_map_remove(&rig.map, forget);
	}
}

static void test_stores_reach_the_memory_when_the_view_is_full(void **state)
{
	static struct rig rig;

	for (size_t lines = 0; lines <= SIM_DPA_VIEW_STORED; lines++) {
		begin(&rig, 0x100);
		for (size_t i = 0; i < lines; i++)
			store(&rig, i * 64, 7, 64);
		store(&rig, lines * 64, 7, 200);
		sim_dpa_window_write_back(&rig.view);
		assert_true(has_alone(&rig, 0, 7, lines * 64 + 200));
		sim_dpa_map_remove(&rig.map, forget);
	}
}

static void test_dropped_stores_do_not_reach_the_memory(void **state)
{
	static struct rig rig;
	struct sim_dpa_range range;

	begin(&rig, 0x100);
	store(&rig, 3, 7, 1000);
	sim_dpa_window_drop(&rig.view);
	sim_dpa_window_invalidate(&rig.view);
	sim_dpa_window_write_back(&rig.view);
	assert_true(has_alone(&rig, 0, 0, 0));
	assert_int_equal(sim_dpa_window_access(&rig.view, rig.window + 3, 1000, false, &range), 0);
	assert_int_equal(*(uint8_t *)(rig.window + 100), 0);
	sim_dpa_map_remove(&rig.map, forget);
}

/* Maps that fill their first and last lines, and those that do not. */
static void test_addresses_beside_the_map_are_the_windows(void **state)
{
	static const struct {
		uint64_t first;
		size_t len;
	} maps[] = { { 0, 128 }, { 0, 4096 }, { 0, 8192 }, { 8, 120 }, { 8, 128 }, { 56, 8 } };
	static struct rig rig;
	struct sim_dpa_range range;

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		uint64_t end = maps[i].len;

		begin_range(&rig, 0x100, maps[i].first, end);
		assert_int_equal(sim_dpa_window_access(&rig.view, rig.window, 8, false, &range), 0);
		assert_int_equal(sim_dpa_window_access(&rig.view, rig.window + end - 8, 8, false, &range), 0);
		assert_int_equal(sim_dpa_window_access(&rig.view, rig.window + end, 8, false, &range), -EFAULT);
		assert_int_equal(sim_dpa_window_access(&rig.view, rig.window + end + 2000, 8, false, &range), -EFAULT);
		assert_int_equal(sim_dpa_window_access(&rig.view, rig.window - 8, 8, true, &range), -EFAULT);
		assert_int_equal(sim_dpa_window_access(&rig.view, rig.window - 2000, 8, true, &range), -EFAULT);
		sim_dpa_map_remove(&rig.map, forget);
		assert_true(sim_dpa_window_has_ended(rig.window + end));
		assert_true(sim_dpa_window_has_ended(rig.window - 8));
	}
}

/* A window is often mapped where one was before. Here the view is told so, as an address can't be asked for. */
static void test_stores_to_a_former_window_are_lost(void **state)
{
	static struct rig old, new;
	struct sim_dpa_range range;

	begin(&old, 0x100);
	store(&old, 0, 7, 8);
	assert_int_equal(sim_dpa_window_access(&old.view, old.window + 64, 8, false, &range), 0);
	sim_dpa_map_remove(&old.map, forget);
	begin(&new, 0x200);
	old.view.stored[0].line = new.window - 8;
	for (int i = 0; i < SIM_DPA_VIEW_FETCHED; i++)
		old.view.fetched[i].line = new.window - 8;
	sim_dpa_window_write_back(&old.view);
	assert_true(has_alone(&new, 0, 0, 0));
	new.map.base[0] = 9;
	assert_int_equal(sim_dpa_window_access(&old.view, new.window, 1, false, &range), 0);
	assert_int_equal(*(uint8_t *)new.window, 9);
	sim_dpa_map_remove(&new.map, forget);
}

/* ---- a window that is made while the map is being removed ---- */

static uint64_t late_window;
static bool is_listed;

static void look_for_window(void)
{
	struct sim_dpa_map *map = sim_dpa_map_hold_window(late_window);

	is_listed = map != NULL;
	sim_dpa_map_release(map);
}

static void *remove_map(void *map)
{
	sim_dpa_map_remove(map, look_for_window);
	return NULL;
}

static void test_window_of_a_map_that_is_removed_is_not_found(void **state)
{
	static uint8_t memory[64];
	struct sim_dpa_map map = { .handle = 0x300, .addr = (uintptr_t)memory, .len_bytes = 64, .base = memory }, *held;
	pthread_t thread;

	sim_dpa_map_add(&map);
	assert_ptr_equal(sim_dpa_map_hold(map.handle), &map);
	assert_int_equal(pthread_create(&thread, NULL, remove_map, &map), 0);
	while ((held = sim_dpa_map_hold(map.handle))) {
		sim_dpa_map_release(held);
		sched_yield();
	}
	assert_int_equal(sim_dpa_map_make_window(&map), 0);
	late_window = (uintptr_t)map.window->lines;
	sim_dpa_map_release(&map);
	pthread_join(thread, NULL);
	assert_false(is_listed);
	assert_null(sim_dpa_map_hold_window(late_window));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_stores_reach_the_memory),
		cmocka_unit_test(test_stores_reach_the_memory_when_the_view_is_full),
		cmocka_unit_test(test_dropped_stores_do_not_reach_the_memory),
		cmocka_unit_test(test_addresses_beside_the_map_are_the_windows),
		cmocka_unit_test(test_stores_to_a_former_window_are_lost),
		cmocka_unit_test(test_window_of_a_map_that_is_removed_is_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

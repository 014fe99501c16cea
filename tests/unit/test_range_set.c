/* SPDX-License-Identifier: BSD-3-Clause */
/* The set of ranges in flight, against a list that is searched in full. */
#include <stdlib.h>

#include "cmocka_test.h"
#include "sim/check/range_set.h"

#define NUM_RANGES  300
#define NUM_STEPS   20000
#define NUM_READERS 300000

static struct sim_owned_range range_of(uint64_t begin, uint64_t end, bool is_write, const void *owner)
{
	return (struct sim_owned_range){ .begin = begin, .end = end, .is_write = is_write, .owner = owner };
}

static void test_readers_do_not_conflict_with_readers(void **state)
{
	static struct sim_range_set set;
	struct sim_owned_range reader = range_of(100, 200, false, "a");

	sim_range_set_add(&set, &reader);
	assert_null(sim_range_set_find_conflict(&set, 150, 160, false, "b"));
	assert_ptr_equal(sim_range_set_find_conflict(&set, 150, 160, true, "b"), &reader);
	assert_null(sim_range_set_find_conflict(&set, 150, 160, true, reader.owner));
}

static void test_neighbours_do_not_conflict(void **state)
{
	static struct sim_range_set set;
	struct sim_owned_range writer = range_of(100, 200, true, "a");

	sim_range_set_add(&set, &writer);
	assert_null(sim_range_set_find_conflict(&set, 0, 100, true, "b"));
	assert_null(sim_range_set_find_conflict(&set, 200, 300, true, "b"));
	assert_non_null(sim_range_set_find_conflict(&set, 99, 101, true, "b"));
	assert_non_null(sim_range_set_find_conflict(&set, 199, 201, false, "b"));
	sim_range_set_remove(&set, &writer);
	assert_int_equal(set.writes.used_classes, 0);
}

static bool list_has_conflict(const struct sim_owned_range *ranges, const bool *used, uint64_t begin, uint64_t end,
			      bool is_write, const void *owner)
{
	for (int i = 0; i < NUM_RANGES; i++)
		if (used[i] && ranges[i].begin < end && ranges[i].end > begin && (is_write || ranges[i].is_write) &&
		    ranges[i].owner != owner)
			return true;
	return false;
}

static void test_random_ranges_are_found_as_a_list_finds_them(void **state)
{
	static struct sim_owned_range ranges[NUM_RANGES];
	static bool used[NUM_RANGES];
	static struct sim_range_set set;

	srandom(1);
	for (int step = 0; step < NUM_STEPS; step++) {
		int i = (int)(random() % NUM_RANGES);
		uint64_t begin = (uint64_t)random() % 5000, end = begin + 1 + (uint64_t)random() % (i % 7 ? 40 : 2000);
		const void *owner = &used[random() % 4];
		bool is_write = random() % 3 == 0;

		assert_int_equal(sim_range_set_find_conflict(&set, begin, end, is_write, owner) != NULL,
				 list_has_conflict(ranges, used, begin, end, is_write, owner));
		if (used[i])
			sim_range_set_remove(&set, &ranges[i]);
		else
			ranges[i] = range_of(begin, end, is_write, owner);
		if (!used[i])
			sim_range_set_add(&set, &ranges[i]);
		used[i] = !used[i];
	}
}

/* If each reader looked at all others, this would take minutes. */
static void test_any_number_of_readers_share_a_source(void **state)
{
	static struct sim_owned_range readers[NUM_READERS];
	static struct sim_range_set set;

	for (int i = 0; i < NUM_READERS; i++) {
		readers[i] = range_of(4096, 4160, false, &readers[i]);
		assert_null(sim_range_set_find_conflict(&set, 4096, 4160, false, &readers[i]));
		sim_range_set_add(&set, &readers[i]);
	}
	assert_non_null(sim_range_set_find_conflict(&set, 4100, 4101, true, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readers_do_not_conflict_with_readers),
		cmocka_unit_test(test_neighbours_do_not_conflict),
		cmocka_unit_test(test_any_number_of_readers_share_a_source),
		cmocka_unit_test(test_random_ranges_are_found_as_a_list_finds_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The ledger of ranges in flight that the processes of a session share. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "guarded.h"
#include "sim/base/monotonic.h"
#include "sim/state/shared_ledger.h"

#define A      11 /* processes */
#define B      22
#define C      33
#define WAIT_S 60

struct world {
	struct sim_shared_ledger *ledger;
	struct sim_ledger_lane *a, *b;
};

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	world->ledger = guarded_new(sizeof(*world->ledger)); /* what is behind the lanes is not there */
	world->a = sim_shared_ledger_join(world->ledger, A);
	world->b = sim_shared_ledger_join(world->ledger, B);
	*state = world;
	return world->a && world->b ? 0 : -1;
}

static int teardown(void **state)
{
	struct world *world = *state;

	guarded_free(world->ledger, sizeof(*world->ledger));
	free(world);
	return 0;
}

static struct sim_shared_range range(uint64_t owner, uint64_t begin, uint64_t end, bool is_write)
{
	return (struct sim_shared_range){ .owner = owner,
					  .begin = begin,
					  .end = end,
					  .task = begin * 1000 + end,
					  .is_write = is_write,
					  .site = "copy (app.c:1)" };
}

static bool conflicts(const struct world *world, struct sim_shared_range mine)
{
	struct sim_shared_range other;

	return sim_shared_ledger_find_conflict(world->ledger, world->a, &mine, &other);
}

static void test_writer_conflicts_with_readers_of_the_same_memory(void **state)
{
	struct world *world = *state;
	struct sim_shared_range reads = range(C, 100, 200, false), other;
	struct sim_shared_range writes = range(C, 199, 300, true);
	uint32_t slot = sim_ledger_lane_add(world->b, &reads);

	assert_int_equal(slot, 0);
	assert_true(sim_shared_ledger_find_conflict(world->ledger, world->a, &writes, &other));
	assert_memory_equal(&other, &reads, sizeof(other));
	assert_false(conflicts(world, range(C, 199, 300, false)));
	assert_false(conflicts(world, range(C, 200, 300, true)));
	assert_false(conflicts(world, range(C, 0, 100, true)));
	assert_false(conflicts(world, range(A, 100, 200, true)));
	sim_ledger_lane_remove(world->b, slot);
	assert_false(conflicts(world, writes));
}

static void test_atomics_do_not_conflict_with_each_other(void **state)
{
	struct world *world = *state;
	struct sim_shared_range adds = range(C, 96, 104, true);

	adds.is_atomic = true;
	sim_ledger_lane_add(world->b, &adds);
	assert_false(conflicts(world, adds));
	adds.is_atomic = false;
	assert_true(conflicts(world, adds));
}

/* The process's own ledger knows tasks between addresses of its own. */
static void test_own_ranges_conflict_through_an_import(void **state)
{
	struct world *world = *state;
	struct sim_shared_range imported = range(A, 100, 200, true), own = range(A, 150, 160, false);

	own.is_own = true;
	sim_ledger_lane_add(world->a, &imported);
	assert_true(conflicts(world, own));
	assert_false(conflicts(world, imported)); /* the task itself */
	sim_ledger_lane_remove(world->a, 0);
	imported.is_own = true;
	sim_ledger_lane_add(world->a, &imported);
	assert_false(conflicts(world, own));
}

static void test_full_lane_takes_no_more(void **state)
{
	struct world *world = *state;
	struct sim_shared_range one = range(C, 0, 8, true);

	for (uint32_t i = 0; i < SIM_LEDGER_SLOTS; i++)
		assert_int_equal(sim_ledger_lane_add(world->b, &one), i);
	assert_int_equal(sim_ledger_lane_add(world->b, &one), SIM_LEDGER_NO_SLOT);
	sim_ledger_lane_remove(world->b, 77);
	assert_int_equal(sim_ledger_lane_add(world->b, &one), 77);
}

static void test_process_that_left_has_nothing_in_flight(void **state)
{
	struct world *world = *state;
	struct sim_shared_range one = range(C, 0, 8, true);

	sim_ledger_lane_add(world->b, &one);
	sim_shared_ledger_leave(world->ledger, B);
	assert_false(conflicts(world, one));
	for (uint32_t i = 0; i < SIM_LEDGER_LANES; i++) /* the lane is free again */
		assert_int_equal(!!sim_shared_ledger_join(world->ledger, 100 + i), i < SIM_LEDGER_LANES - 1);
}

/* The version of a slot grows, so that a reader of the slot's last range can tell. */
static void test_versions_of_slots_outlive_their_process(void **state)
{
	struct world *world = *state;
	struct sim_shared_range one = range(C, 0, 8, true);

	sim_ledger_lane_add(world->b, &one);
	assert_int_equal(atomic_load(&world->b->slots[0].version), 1);
	sim_shared_ledger_leave(world->ledger, B);
	assert_int_equal(atomic_load(&world->b->slots[0].version), 2);
	assert_ptr_equal(sim_shared_ledger_join(world->ledger, C), world->b);
	assert_int_equal(atomic_load(&world->b->slots[0].version), 2);
}

/* The last word of slots in use has the slots of the ledger's end behind it. */
static void test_last_lane_is_searched_to_its_end(void **state)
{
	struct world *world = *state;
	struct sim_shared_range one = range(C, 0, 8, true);
	struct sim_ledger_lane *last = NULL;

	for (uint32_t i = 2; i < SIM_LEDGER_LANES; i++)
		last = sim_shared_ledger_join(world->ledger, 100 + i);
	assert_ptr_equal(last, &world->ledger->lanes[SIM_LEDGER_LANES - 1]);
	for (uint32_t i = 0; i < SIM_LEDGER_SLOTS; i++)
		sim_ledger_lane_add(last, &one);
	assert_true(conflicts(world, one));
	assert_false(conflicts(world, range(C, 8, 16, true)));
}

/* A slot between the two steps of a removal. */
static void test_range_that_is_being_removed_is_not_in_flight(void **state)
{
	struct world *world = *state;
	struct sim_shared_range one = range(C, 0, 8, true);
	uint32_t slot = sim_ledger_lane_add(world->b, &one);

	atomic_fetch_add(&world->b->slots[slot].version, 1);
	assert_false(conflicts(world, one));
}

/* ---- an owner that listens ---- */

struct seen {
	uint32_t lane, slot, count;
};

static bool see(void *arg, uint32_t lane, uint32_t slot, uint32_t version, const struct sim_shared_range *one)
{
	struct seen *seen = arg;

	assert_int_equal(version % 2, 1);
	assert_int_equal(one->owner, A);
	*seen = (struct seen){ lane, slot, seen->count + 1 };
	return true;
}

/* Answers two requests: to arm and to disarm. */
static void *listen_twice(void *arg)
{
	struct world *world = arg;
	uint32_t rings = 0, answered = 0;

	while (answered < 2) {
		struct seen seen = { 0 };
		uint32_t asked;

		rings = sim_ledger_lane_wait(world->a, rings, WAIT_S * 1000);
		sim_shared_ledger_each(world->ledger, world->a, see, &seen);
		if (seen.count == 0)
			continue;
		asked = sim_shared_ledger_asked(world->ledger, seen.lane, seen.slot);
		if (asked <= answered)
			continue;
		assert_int_equal(asked, ++answered);
		sim_shared_ledger_reply(world->ledger, seen.lane, seen.slot, asked);
	}
	return NULL;
}

static void test_owner_answers_requests(void **state)
{
	struct world *world = *state;
	struct sim_shared_range one = range(A, 0, 8, true);
	pthread_t thread;
	uint32_t slot = sim_ledger_lane_add(world->b, &one);

	assert_true(sim_shared_ledger_request(world->ledger, world->b, slot, true, 0)); /* it does not listen */
	sim_ledger_lane_listen(world->a);
	assert_int_equal(pthread_create(&thread, NULL, listen_twice, world), 0);
	assert_true(sim_shared_ledger_request(world->ledger, world->b, slot, true, WAIT_S * 1000));
	assert_true(sim_shared_ledger_request(world->ledger, world->b, slot, false, WAIT_S * 1000));
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static bool count_all(void *arg, uint32_t lane, uint32_t slot, uint32_t version, const struct sim_shared_range *one)
{
	++*(uint32_t *)arg;
	return true;
}

/* What is the owner's own, empty, or of nobody is not. */
static void test_owner_is_told_of_ranges_of_others(void **state)
{
	struct world *world = *state;
	struct sim_shared_range one = range(A, 0, 8, true), empty = range(A, 8, 8, true);
	uint32_t count = 0;

	sim_ledger_lane_add(world->a, &one);
	sim_ledger_lane_add(world->b, &empty);
	sim_shared_ledger_each(world->ledger, world->a, count_all, &count);
	assert_int_equal(count, 0);
	sim_ledger_lane_add(world->b, &one);
	sim_shared_ledger_each(world->ledger, world->a, count_all, &count);
	assert_int_equal(count, 1);
	atomic_store(&world->b->process, 0);
	sim_shared_ledger_each(world->ledger, world->a, count_all, &count);
	assert_int_equal(count, 1);
}

static void test_owner_alone_is_asked(void **state)
{
	struct world *world = *state;
	struct sim_shared_range of_a = range(A, 0, 8, true), of_b = range(B, 0, 8, true);
	struct sim_ledger_lane *c = sim_shared_ledger_join(world->ledger, C);

	sim_ledger_lane_listen(world->a);
	/* B does not listen, and A need not tell itself: no wait. */
	assert_true(sim_shared_ledger_request(world->ledger, c, sim_ledger_lane_add(c, &of_b), true, 1));
	assert_true(sim_shared_ledger_request(world->ledger, world->a, sim_ledger_lane_add(world->a, &of_a), true, 1));
	assert_int_equal(atomic_load(&world->a->rings), 0);
}

static void *wait_for_ring(void *arg)
{
	struct world *world = arg;

	assert_int_equal(sim_ledger_lane_wait(world->b, 0, WAIT_S * 1000), 1);
	return NULL;
}

/* Long enough for the thread to sleep; if it does not yet, the test passes all the same. */
static void test_ring_wakes_the_sleeper(void **state)
{
	struct world *world = *state;
	uint64_t begin = sim_monotonic_ns();
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, wait_for_ring, world), 0);
	nanosleep(&(struct timespec){ .tv_nsec = 100 * 1000 * 1000 }, NULL);
	sim_ledger_lane_ring(world->b);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(sim_monotonic_ns() - begin < WAIT_S * SIM_NS_PER_S);
}

static void test_silent_owner_is_given_up(void **state)
{
	struct world *world = *state;
	struct sim_shared_range one = range(A, 0, 8, true);
	uint32_t slot = sim_ledger_lane_add(world->b, &one);

	sim_ledger_lane_listen(world->a);
	assert_false(sim_shared_ledger_request(world->ledger, world->b, slot, true, 20));
	assert_false(sim_shared_ledger_request(world->ledger, world->b, slot, false, 0));
}

static void test_owner_sleeps_until_it_is_asked(void **state)
{
	struct world *world = *state;
	uint64_t begin = sim_monotonic_ns();

	assert_int_equal(sim_ledger_lane_wait(world->a, 0, 30), 0);
	assert_true(sim_monotonic_ns() - begin >= 30 * SIM_NS_PER_MS);
	assert_int_equal(sim_ledger_lane_wait(world->a, 1, WAIT_S * 1000), 0); /* it was asked since */
}

/* ---- corrupt contents ---- */

static bool count_one(void *arg, uint32_t lane, uint32_t slot, uint32_t version, const struct sim_shared_range *one)
{
	uint32_t *count = arg;

	assert_true(lane < SIM_LEDGER_LANES && slot < SIM_LEDGER_SLOTS);
	assert_true(one->begin < one->end && one->owner == A);
	assert_true(memchr(one->program, 0, sizeof(one->program)) && memchr(one->site, 0, sizeof(one->site)));
	++*count;
	return true;
}

/* All ends, and texts have an end. */
static void test_corrupt_ledger_does_no_harm(void **state)
{
	struct world *world = *state;
	struct sim_shared_range mine = range(0x5a5a5a5a5a5a5a5a, 0, UINT64_MAX, true), other;
	uint32_t count = 0;

	memset(world->ledger, 0x5b, sizeof(*world->ledger));
	mine.owner = 0x5b5b5b5b5b5b5b5b;
	assert_null(sim_shared_ledger_join(world->ledger, C));
	sim_shared_ledger_find_conflict(world->ledger, world->a, &mine, &other);
	memset(world->ledger, 0xff, sizeof(*world->ledger));
	atomic_store(&world->a->process, A);
	for (uint32_t i = 0; i < SIM_LEDGER_SLOTS; i++) {
		world->b->slots[i].range.owner = A;
		world->b->slots[i].range.begin = i % 2 ? 8 : 16;
		world->b->slots[i].range.end = 12;
	}
	sim_shared_ledger_each(world->ledger, world->a, count_one, &count);
	assert_int_equal(count, SIM_LEDGER_SLOTS / 2);
	assert_int_equal(sim_ledger_lane_add(world->b, &mine), SIM_LEDGER_NO_SLOT);
	assert_false(sim_shared_ledger_request(world->ledger, world->b, 1, true, 20));
	sim_shared_ledger_leave(world->ledger, UINT64_MAX);
	sim_shared_ledger_leave(world->ledger, A);
	assert_non_null(sim_shared_ledger_join(world->ledger, C));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(test_writer_conflicts_with_readers_of_the_same_memory),
		TEST(test_atomics_do_not_conflict_with_each_other),
		TEST(test_own_ranges_conflict_through_an_import),
		TEST(test_full_lane_takes_no_more),
		TEST(test_process_that_left_has_nothing_in_flight),
		TEST(test_versions_of_slots_outlive_their_process),
		TEST(test_last_lane_is_searched_to_its_end),
		TEST(test_range_that_is_being_removed_is_not_in_flight),
		TEST(test_owner_is_told_of_ranges_of_others),
		TEST(test_owner_alone_is_asked),
		TEST(test_ring_wakes_the_sleeper),
		TEST(test_owner_answers_requests),
		TEST(test_silent_owner_is_given_up),
		TEST(test_owner_sleeps_until_it_is_asked),
		TEST(test_corrupt_ledger_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/participant.h: every edge between two states, and every pair of states without one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <sys/mman.h>

#include "sim/clock/stall_watch.h"

#define FREE     SIM_PARTICIPANT_FREE
#define BUSY     SIM_PARTICIPANT_BUSY
#define WAITING  SIM_PARTICIPANT_WAITING
#define DETACHED SIM_PARTICIPANT_DETACHED
#define CORRUPT  4u

struct fixture {
	struct sim_clock_page *page;
	struct sim_participant participant;
};

static int setup(void **state)
{
	static struct fixture fixture;

	fixture.page = mmap(NULL, sizeof(*fixture.page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fixture.page == MAP_FAILED)
		return -1;
	sim_clock_page_init(fixture.page, SIM_CLOCK_VIRTUAL);
	*state = &fixture;
	return sim_participant_join(&fixture.participant, fixture.page, false);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	return munmap(fixture->page, sizeof(*fixture->page));
}

static uint32_t state_of(const struct fixture *fixture)
{
	return atomic_load(&fixture->page->participants[0].state);
}

/* The operations that lead to each state. */
static void go_free(struct sim_participant *participant)
{
	sim_participant_leave(participant);
}

static void go_busy(struct sim_participant *participant)
{
	sim_participant_mark_busy(participant);
}

static void go_waiting(struct sim_participant *participant)
{
	assert_false(sim_participant_wait(participant, SIM_CLOCK_NEVER_NS, 0));
}

static void go_detached(struct sim_participant *participant)
{
	sim_participant_detach(participant);
}

/* Only a free slot lacks edges: it becomes busy when a participant joins. A corrupt state heals. */
static void test_each_state_has_its_edges_and_no_others(void **state)
{
	static void (*const go[])(struct sim_participant * participant) = {
		[FREE] = go_free, [BUSY] = go_busy, [WAITING] = go_waiting, [DETACHED] = go_detached
	};
	static const uint32_t expected[][4] = {
		[FREE] = { FREE, BUSY, FREE, FREE },           [BUSY] = { FREE, BUSY, WAITING, DETACHED },
		[WAITING] = { FREE, BUSY, WAITING, DETACHED }, [DETACHED] = { FREE, BUSY, WAITING, DETACHED },
		[CORRUPT] = { FREE, BUSY, WAITING, DETACHED },
	};
	struct fixture *fixture = *state;

	for (uint32_t from = FREE; from <= CORRUPT; from++) {
		for (uint32_t to = FREE; to <= DETACHED; to++) {
			struct sim_clock_participant *shared = &fixture->page->participants[0];
			struct sim_participant participant = fixture->participant;

			atomic_store(&shared->owner, participant.owner);
			atomic_store(&shared->state, from);
			go[to](&participant);
			assert_int_equal(state_of(fixture), expected[from][to]);
		}
	}
}

static void test_slot_of_another_owner_is_left_alone(void **state)
{
	static void (*const go[])(struct sim_participant * participant) = { go_free, go_busy, go_waiting, go_detached };
	struct fixture *fixture = *state;

	atomic_fetch_add(&fixture->page->participants[0].owner, 1);
	for (size_t i = 0; i < sizeof(go) / sizeof(go[0]); i++) {
		struct sim_participant participant = fixture->participant;

		for (uint32_t from = FREE; from <= DETACHED; from++) {
			atomic_store(&fixture->page->participants[0].state, from);
			go[i](&participant);
			assert_int_equal(state_of(fixture), from);
			participant = fixture->participant;
		}
	}
}

static void test_waiting_participant_becomes_busy_only_if_none_is(void **state)
{
	struct fixture *fixture = *state;
	struct sim_participant other;

	assert_int_equal(sim_participant_join(&other, fixture->page, false), 0);
	assert_false(sim_participant_wait(&fixture->participant, 100, 0));
	assert_false(sim_participant_try_mark_busy(&fixture->participant));
	assert_int_equal(state_of(fixture), WAITING);
	assert_false(sim_participant_wait(&other, 200, 0)); /* the first one runs next, at 100 */
	assert_int_equal(state_of(fixture), BUSY);
	assert_int_equal(atomic_load(&fixture->page->now_ns), 100);
	assert_true(sim_participant_wait(&fixture->participant, 150, 0));
	sim_participant_leave(&fixture->participant);
	assert_int_equal(sim_participant_state(&other), BUSY);
	assert_int_equal(atomic_load(&fixture->page->now_ns), 200);
}

static void test_join_takes_a_detached_slot_when_none_is_free(void **state)
{
	struct fixture *fixture = *state;
	struct sim_participant other;

	for (unsigned int i = 1; i < SIM_CLOCK_MAX_PARTICIPANTS; i++)
		assert_int_equal(sim_participant_join(&other, fixture->page, false), 0);
	assert_int_equal(sim_participant_join(&other, fixture->page, false), -ENOSPC);
	sim_participant_detach(&fixture->participant);
	assert_int_equal(sim_participant_join(&other, fixture->page, false), 0);
	assert_false(sim_participant_is_ours(&fixture->participant));
	assert_true(sim_participant_is_ours(&other));
	assert_int_equal(state_of(fixture), BUSY);
}

static void test_detach_busy_spares_a_participant_that_waits_or_has_a_new_owner(void **state)
{
	struct fixture *fixture = *state;
	const struct sim_clock_participant *busy = sim_clock_page_find_busy(fixture->page);
	uint64_t owner = fixture->participant.owner;

	assert_ptr_equal(busy, &fixture->page->participants[0]);
	assert_false(sim_clock_page_detach_busy(fixture->page, busy, owner + 1));
	assert_false(sim_participant_wait(&fixture->participant, SIM_CLOCK_NEVER_NS, 0));
	assert_false(sim_clock_page_detach_busy(fixture->page, busy, owner));
	assert_int_equal(state_of(fixture), WAITING);
	sim_participant_mark_busy(&fixture->participant);
	assert_true(sim_clock_page_detach_busy(fixture->page, busy, owner));
	assert_int_equal(state_of(fixture), DETACHED);
	assert_null(sim_clock_page_find_busy(fixture->page));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(each_state_has_its_edges_and_no_others),
		TEST(slot_of_another_owner_is_left_alone),
		TEST(waiting_participant_becomes_busy_only_if_none_is),
		TEST(join_takes_a_detached_slot_when_none_is_free),
		TEST(detach_busy_spares_a_participant_that_waits_or_has_a_new_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/participant.h: every edge between two states, and every pair of states without one. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asleep.h"
#include "cmocka_test.h"
#include "sim/base/monotonic.h"
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
	return sim_participant_join(&fixture.participant, fixture.page, 1);
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
	assert_false(sim_participant_wait(participant, SIM_CLOCK_NEVER_NS, false));
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
	struct sim_participant other = { 0 };

	assert_int_equal(sim_participant_join(&other, fixture->page, 1), 0);
	assert_false(sim_participant_wait(&fixture->participant, 100, false));
	assert_false(sim_participant_try_mark_busy(&fixture->participant));
	assert_int_equal(state_of(fixture), WAITING);
	assert_false(sim_participant_wait(&other, 200, false)); /* the first one runs next, at 100 */
	assert_int_equal(state_of(fixture), BUSY);
	assert_int_equal(atomic_load(&fixture->page->now_ns), 100);
	assert_true(sim_participant_wait(&fixture->participant, 150, false));
	sim_participant_leave(&fixture->participant);
	assert_int_equal(sim_participant_state(&other), BUSY);
	assert_int_equal(atomic_load(&fixture->page->now_ns), 200);
}

static void test_join_takes_a_detached_slot_when_none_is_free(void **state)
{
	struct fixture *fixture = *state;
	struct sim_participant other = { 0 };

	for (unsigned int i = 1; i < SIM_CLOCK_MAX_PARTICIPANTS; i++)
		assert_int_equal(sim_participant_join(&other, fixture->page, 1), 0);
	assert_int_equal(sim_participant_join(&other, fixture->page, 1), -ENOSPC);
	sim_participant_detach(&fixture->participant);
	assert_int_equal(sim_participant_join(&other, fixture->page, 1), 0);
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
	assert_false(sim_participant_wait(&fixture->participant, SIM_CLOCK_NEVER_NS, false));
	assert_false(sim_clock_page_detach_busy(fixture->page, busy, owner));
	assert_int_equal(state_of(fixture), WAITING);
	sim_participant_mark_busy(&fixture->participant);
	assert_true(sim_clock_page_detach_busy(fixture->page, busy, owner));
	assert_int_equal(state_of(fixture), DETACHED);
	assert_null(sim_clock_page_find_busy(fixture->page));
}

/* ---- messages ---- */

/* Two participants, of which the first waits for messages to its engine. */
struct pair {
	struct sim_participant receiver, sender;
	uint32_t engine;
};

static void setup_pair(struct fixture *fixture, struct pair *pair)
{
	pair->receiver = fixture->participant;
	pair->engine = sim_clock_page_add_engine(fixture->page);
	assert_int_not_equal(pair->engine, 0);
	sim_clock_page_drive_engine(fixture->page, pair->engine, &pair->receiver);
	assert_int_equal(sim_participant_join(&pair->sender, fixture->page, 1), 0);
	assert_false(sim_participant_wait(&pair->receiver, SIM_CLOCK_NEVER_NS, false));
}

static void test_message_makes_its_engine_ready_when_it_arrives(void **state)
{
	struct fixture *fixture = *state;
	struct pair pair = { 0 };

	setup_pair(fixture, &pair);
	sim_clock_page_post(fixture->page, pair.engine, 70);
	sim_clock_page_post(fixture->page, pair.engine, 90);
	assert_false(sim_participant_wait(&pair.sender, 80, false));
	assert_int_equal(state_of(fixture), BUSY);
	assert_int_equal(atomic_load(&fixture->page->now_ns), 70);
	assert_true(sim_participant_take_messages(&pair.receiver));
	assert_false(sim_participant_take_messages(&pair.receiver));
	assert_false(sim_participant_wait(&pair.receiver, SIM_CLOCK_NEVER_NS, false));
	assert_int_equal(sim_participant_state(&pair.sender), BUSY);
	assert_int_equal(atomic_load(&fixture->page->now_ns), 80);
}

static void test_message_to_another_engine_makes_none_ready(void **state)
{
	struct fixture *fixture = *state;
	struct pair pair = { 0 };

	setup_pair(fixture, &pair);
	sim_clock_page_post(fixture->page, sim_clock_page_add_engine(fixture->page), 0);
	sim_clock_page_post_sync(fixture->page);
	sim_clock_page_post_credit(fixture->page, pair.engine);
	assert_true(sim_participant_wait(&pair.sender, 80, false));
	assert_int_equal(state_of(fixture), WAITING);
}

static void test_message_without_an_engine_is_for_all(void **state)
{
	struct fixture *fixture = *state;
	struct pair pair = { 0 };

	setup_pair(fixture, &pair);
	sim_clock_page_post(fixture->page, 0, 0);
	sim_participant_take_messages(&pair.sender);
	assert_false(sim_participant_wait(&pair.sender, 80, false));
	assert_int_equal(state_of(fixture), BUSY);
	assert_int_equal(atomic_load(&fixture->page->now_ns), 0);
}

static void test_message_from_outside_wakes_a_participant_while_all_wait(void **state)
{
	struct fixture *fixture = *state;
	struct pair pair = { 0 };

	setup_pair(fixture, &pair);
	assert_false(sim_participant_wait(&pair.sender, SIM_CLOCK_NEVER_NS, false));
	sim_clock_page_post(fixture->page, pair.engine, 0);
	assert_int_equal(state_of(fixture), BUSY);
	assert_int_equal(sim_participant_state(&pair.sender), WAITING);
}

static void test_sync_changes_and_credits_reach_those_that_hear_them(void **state)
{
	struct fixture *fixture = *state;
	struct pair pair = { 0 };

	setup_pair(fixture, &pair);
	sim_participant_hear_sync(&pair.receiver, true);
	sim_clock_page_post_sync(fixture->page);
	assert_false(sim_participant_wait(&pair.sender, SIM_CLOCK_NEVER_NS, false));
	assert_int_equal(state_of(fixture), BUSY);
	sim_participant_take_messages(&pair.receiver);
	sim_participant_hear_credit(&pair.receiver, 77);
	assert_false(sim_participant_wait(&pair.receiver, SIM_CLOCK_NEVER_NS, false));
	sim_clock_page_post_credit(fixture->page, 78);
	assert_int_equal(state_of(fixture), WAITING);
	sim_clock_page_post_credit(fixture->page, 77);
	assert_int_equal(state_of(fixture), BUSY);
}

static void test_message_between_the_poll_and_the_wait_is_not_lost(void **state)
{
	struct fixture *fixture = *state;
	struct pair pair = { 0 };

	setup_pair(fixture, &pair);
	sim_participant_mark_busy(&pair.receiver);
	sim_participant_take_messages(&pair.receiver);
	sim_clock_page_post(fixture->page, pair.engine, 0);
	sim_participant_leave(&pair.sender);
	assert_true(sim_participant_wait(&pair.receiver, SIM_CLOCK_NEVER_NS, false));
}

/* The entries of a process that has died are used again when no other is free. */
static void test_engines_of_a_dead_process_are_taken_over(void **state)
{
	struct fixture *fixture = *state;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		while (sim_clock_page_add_engine(fixture->page) != 0)
			;
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_not_equal(sim_clock_page_add_engine(fixture->page), 0);
}

/* As a process that died under the lock, or a hostile one, may leave the page. */
static void test_busy_mark_without_a_busy_participant_is_removed(void **state)
{
	struct fixture *fixture = *state;
	const struct sim_clock_participant *busy;

	atomic_fetch_or(&fixture->page->busy[0], 2);
	assert_false(sim_participant_wait(&fixture->participant, 10, false));
	busy = sim_clock_page_find_busy(fixture->page);
	assert_ptr_equal(busy, &fixture->page->participants[1]);
	sim_clock_page_detach_busy(fixture->page, busy, 0);
	assert_int_equal(state_of(fixture), BUSY);
	assert_int_equal(atomic_load(&fixture->page->now_ns), 10);
}

/* ---- the turn ---- */

struct sleeper {
	struct sim_participant participant;
	atomic_uint num_sleeps; /* that ended before the turn */
	bool was_early;         /* the first of them */
	pthread_t thread;
	atomic_int tid;
};

static void *sleep_until_turn(void *arg)
{
	struct sleeper *sleeper = arg;

	atomic_store(&sleeper->tid, gettid());
	while (sim_participant_sleep(&sleeper->participant, 60 * SIM_NS_PER_S)) {
		if (atomic_load(&sleeper->num_sleeps) == 0)
			sleeper->was_early = sleeper->participant.was_early;
		atomic_fetch_add(&sleeper->num_sleeps, 1);
	}
	return NULL;
}

/* A wake-up before its turn is a hint: one that comes just before the sleep is lost. */
static void await_sleep(const struct sleeper *sleeper)
{
	while (atomic_load(&sleeper->participant.shared->asleep) == 0 || !is_asleep(atomic_load(&sleeper->tid)))
		sched_yield();
}

/* A participant that has spun in vain is left asleep until its turn. */
static void test_participant_is_woken_before_its_turn_only_to_spin(void **state)
{
	struct fixture *fixture = *state;
	struct sim_participant *first = &fixture->participant, next;
	struct sleeper sleeper = { .num_sleeps = 0 };

	assert_int_equal(sim_participant_join(&next, fixture->page, 1), 0);
	assert_int_equal(sim_participant_join(&sleeper.participant, fixture->page, 1), 0);
	first->spins = next.spins = sleeper.participant.spins = true;
	first->num_vain_spins = next.num_vain_spins = 0;
	sleeper.participant.num_vain_spins = sleeper.participant.num_unspun = 0;
	assert_false(sim_participant_wait(&sleeper.participant, 20, false));
	assert_false(sim_participant_wait(&next, 10, false));
	pthread_create(&sleeper.thread, NULL, sleep_until_turn, &sleeper);
	await_sleep(&sleeper);
	assert_int_equal(atomic_load(&sleeper.participant.shared->wants_deck), 1);

	assert_false(sim_participant_wait(first, 30, false)); /* the second one's turn, and the sleeper's after it */
	while (atomic_load(&sleeper.num_sleeps) == 0)
		sched_yield();
	assert_true(sleeper.was_early);
	await_sleep(&sleeper);
	assert_int_equal(atomic_load(&sleeper.participant.shared->wants_deck), 0);

	assert_false(sim_participant_wait(&next, 40, false));
	pthread_join(sleeper.thread, NULL);
	assert_int_equal(sim_participant_state(&sleeper.participant), BUSY);
	assert_int_equal(atomic_load(&fixture->page->now_ns), 20);
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
		TEST(message_makes_its_engine_ready_when_it_arrives),
		TEST(message_to_another_engine_makes_none_ready),
		TEST(message_without_an_engine_is_for_all),
		TEST(message_from_outside_wakes_a_participant_while_all_wait),
		TEST(sync_changes_and_credits_reach_those_that_hear_them),
		TEST(message_between_the_poll_and_the_wait_is_not_lost),
		TEST(engines_of_a_dead_process_are_taken_over),
		TEST(busy_mark_without_a_busy_participant_is_removed),
		TEST(participant_is_woken_before_its_turn_only_to_spin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

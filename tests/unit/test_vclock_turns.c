/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock: turns at one moment, behind the launch of all processes; and tries behind a refusal. */
#include <sched.h>

#include "sim/base/monotonic.h"
#include "sim/clock/participant.h"
#include "vclock_rig.h"

static bool is_busy(const struct sim_participant *participant)
{
	return sim_participant_state(participant) == SIM_PARTICIPANT_BUSY;
}

/* The one that came later has the lower rank; neither has its turn before the third process participates. */
static void test_turns_wait_for_the_launch_and_go_by_rank(void **state)
{
	struct fixture *fixture = *state;
	struct sim_participant first = { 0 }, second = { 0 };
	struct sim_clock_launch launch;

	sim_clock_launch_begin(fixture->page, 3, &launch);
	assert_int_equal(sim_participant_join(&first, fixture->page, 2), 0);
	assert_int_equal(sim_participant_join(&second, fixture->page, 1), 0);
	assert_false(sim_participant_wait_turn(&first));
	assert_false(sim_participant_wait_turn(&second));
	assert_false(is_busy(&first) || is_busy(&second));
	sim_clock_launch_end(fixture->page, &launch);
	assert_true(is_busy(&second) && !is_busy(&first));
	assert_false(sim_participant_wait(&second, NEVER, false));
	assert_true(is_busy(&first));
	assert_int_equal(sim_clock_now_ns(fixture->clock), 0);
	sim_participant_leave(&first);
	sim_participant_leave(&second);
}

static void test_turn_of_the_only_participant_comes_at_once(void **state)
{
	struct fixture *fixture = *state;
	struct sim_participant only = { 0 };

	assert_int_equal(sim_participant_join(&only, fixture->page, 1), 0);
	assert_true(sim_participant_wait_turn(&only));
	assert_true(is_busy(&only));
	sim_participant_leave(&only);
}

/* A process that is being launched, and that never participates, is still found as the one that holds time. */
static void test_launch_that_turns_wait_for_is_found_as_a_holder(void **state)
{
	struct fixture *fixture = *state;
	struct sim_participant waiter = { 0 };
	struct sim_clock_launch launch;

	sim_clock_launch_begin(fixture->page, 3, &launch);
	assert_int_equal(sim_participant_join(&waiter, fixture->page, 1), 0);
	assert_false(sim_participant_wait_turn(&waiter));
	assert_ptr_equal(sim_clock_page_find_holder(fixture->page), &fixture->page->participants[launch.slot]);
	sim_clock_page_end_hold(fixture->page, &fixture->page->participants[launch.slot], launch.owner);
	assert_true(is_busy(&waiter));
	sim_participant_leave(&waiter);
	sim_clock_launch_end(fixture->page, &launch);
}

/* The poll that takes the turn finds nothing. It leaves the thread busy, as the next call may be the try. */
static void test_try_after_a_refusal_is_at_the_time_of_the_message(void **state)
{
	const struct sim_vclock_source_cfg cfg = { 0 };
	struct fixture *fixture = *state;
	struct sim_vclock_source *source;
	struct sim_participant other = { 0 };

	assert_int_equal(sim_vclock_source_create(fixture->sched, &cfg, &source), 0);
	sim_vclock_source_wait_credit(source, 7, NEVER);
	assert_int_equal(sim_participant_join(&other, fixture->page, 9), 0);
	sim_vclock_sched_post_credit(fixture->sched, 7);
	assert_false(sim_participant_wait(&other, 50, false)); /* the source runs at 0 */
	assert_true(sim_vclock_source_may_poll(source));
	assert_false(sim_vclock_source_wait_until(source, NEVER));
	assert_int_equal(sim_clock_now_ns(fixture->clock), 0);
	assert_int_equal(sim_vclock_source_may_retry(source), SIM_VCLOCK_RETRY);
	assert_false(sim_vclock_source_wait_until(source, NEVER)); /* no retry is due: time goes on */
	assert_int_equal(sim_clock_now_ns(fixture->clock), 50);
	sim_participant_leave(&other);
	sim_vclock_source_destroy(source);
}

/* The program polls before it tries again; another participant runs meanwhile, and never waits for a message. */
static void test_poll_after_a_refusal_does_not_miss_the_receive(void **state)
{
	const struct sim_vclock_source_cfg cfg = { 0 };
	struct fixture *fixture = *state;
	struct sim_vclock_source *source;
	struct sim_participant other = { 0 };

	assert_int_equal(sim_vclock_source_create(fixture->sched, &cfg, &source), 0);
	assert_int_equal(sim_participant_join(&other, fixture->page, 9), 0);
	sim_vclock_source_wait_credit(source, 7, 10);
	assert_false(sim_participant_wait(&other, 20, false)); /* the source runs at 10 */
	assert_true(sim_vclock_source_may_poll(source));
	assert_false(sim_vclock_source_wait_until(source, NEVER)); /* the other one at 20 */
	sim_vclock_sched_post_credit(fixture->sched, 7);
	assert_false(sim_participant_wait(&other, 30, false)); /* and the source again, at 20 */
	assert_true(sim_vclock_source_may_poll(source));
	assert_int_equal(sim_clock_now_ns(fixture->clock), 20);
	sim_participant_leave(&other);
	sim_vclock_source_destroy(source);
}

/* The turn comes in a poll, in a try, or between two calls, as the machine has it: what polls find comes first in all cases. */
static void test_try_with_a_new_turn_is_behind_a_poll(void **state)
{
	const struct sim_vclock_source_cfg cfg = { 0 };
	struct fixture *fixture = *state;
	struct sim_vclock_source *source;
	struct sim_participant other = { 0 };

	assert_int_equal(sim_vclock_source_create(fixture->sched, &cfg, &source), 0);
	assert_int_equal(sim_participant_join(&other, fixture->page, 9), 0);
	sim_vclock_source_wait_credit(source, 7, NEVER);
	assert_int_equal(sim_vclock_source_may_retry(source), SIM_VCLOCK_NO_TURN);
	sim_vclock_sched_post_credit(fixture->sched, 7);
	assert_false(sim_participant_wait(&other, 50, false)); /* the source has its turn */
	assert_int_equal(sim_vclock_source_may_retry(source), SIM_VCLOCK_POLL_FIRST);
	assert_int_equal(sim_vclock_source_may_retry(source), SIM_VCLOCK_RETRY);
	sim_participant_leave(&other);
	sim_vclock_source_destroy(source);
}

/* Nobody else has anything to do, and no message tells of the receive: each poll waits, and the program tries again. */
static void test_try_is_put_off_once(void **state)
{
	const struct sim_vclock_source_cfg cfg = { 0 };
	struct fixture *fixture = *state;
	struct sim_vclock_source *source;

	assert_int_equal(sim_vclock_source_create(fixture->sched, &cfg, &source), 0);
	sim_vclock_source_wait_credit(source, 7, NEVER);
	assert_int_equal(sim_vclock_source_may_retry(source), SIM_VCLOCK_POLL_FIRST);
	assert_true(sim_vclock_source_may_poll(source));
	assert_false(sim_vclock_source_wait_until(source, NEVER));
	assert_int_equal(sim_vclock_source_may_retry(source), SIM_VCLOCK_RETRY);
	sim_vclock_source_destroy(source);
}

/* What others can see is done by a busy participant. */
static void test_call_of_a_waiting_thread_makes_it_busy(void **state)
{
	const struct sim_vclock_source_cfg cfg = { 0 };
	struct fixture *fixture = *state;
	struct sim_vclock_source *source;

	assert_int_equal(sim_vclock_source_create(fixture->sched, &cfg, &source), 0);
	assert_false(sim_vclock_source_wait_until(source, NEVER));
	assert_null(sim_clock_page_find_busy(fixture->page));
	sim_vclock_sched_begin_call(fixture->sched);
	assert_non_null(sim_clock_page_find_busy(fixture->page));
	sim_vclock_source_destroy(source);
}

#define LONG_TURN_NS SIM_NS_PER_S

/* A participant of another process, whose account can't be read. */
static void make_foreign(struct sim_participant *participant)
{
	participant->owner ^= UINT64_C(1) << 32;
	atomic_store(&participant->shared->owner, participant->owner);
	atomic_store(&participant->shared->pid_namespace, 0);
}

static void *be_slow(void *arg)
{
	uint64_t end_ns = sim_monotonic_ns() + LONG_TURN_NS;

	while (sim_monotonic_ns() < end_ns)
		sched_yield();
	assert_false(sim_participant_wait(arg, NEVER, false));
	return NULL;
}

/* The other process has its turn first, and the machine gives it no CPU for a while. */
static void test_poll_waits_for_its_turn_however_long_another_process_takes(void **state)
{
	const struct sim_vclock_source_cfg cfg = { 0 };
	struct fixture *fixture = *state;
	struct sim_vclock_source *source;
	struct sim_participant other = { 0 };
	pthread_t thread;

	assert_int_equal(sim_vclock_source_create(fixture->sched, &cfg, &source), 0);
	assert_int_equal(sim_participant_join(&other, fixture->page, 9), 0);
	make_foreign(&other);
	assert_false(sim_vclock_source_wait_until(source, 50));
	assert_true(is_busy(&other));
	assert_int_equal(pthread_create(&thread, NULL, be_slow, &other), 0);
	assert_true(sim_vclock_source_may_poll(source));
	assert_int_equal(sim_clock_now_ns(fixture->clock), 50);
	assert_int_equal(pthread_join(thread, NULL), 0);
	sim_participant_leave(&other);
	sim_vclock_source_destroy(source);
}

static int setup_patient(void **state)
{
	int rc;

	setenv("BFSIM_CLOCK_PATIENCE", "3600s", true);
	rc = setup(state);
	unsetenv("BFSIM_CLOCK_PATIENCE");
	return rc;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(turns_wait_for_the_launch_and_go_by_rank),
		TEST(turn_of_the_only_participant_comes_at_once),
		TEST(launch_that_turns_wait_for_is_found_as_a_holder),
		TEST(try_after_a_refusal_is_at_the_time_of_the_message),
		TEST(poll_after_a_refusal_does_not_miss_the_receive),
		TEST(try_with_a_new_turn_is_behind_a_poll),
		TEST(try_is_put_off_once),
		TEST(call_of_a_waiting_thread_makes_it_busy),
		cmocka_unit_test_setup_teardown(test_poll_waits_for_its_turn_however_long_another_process_takes,
						setup_patient, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

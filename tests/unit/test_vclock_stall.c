/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/stall_watch.h and launches: participants that do not call, that have ended, or that have not come yet. */
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulated.h"
#include "under_valgrind.h"
#include "vclock_rig.h"
#include "sim/base/monotonic.h"
#include "sim/clock/call_mark.h"
#include "sim/clock/stall_watch.h"

/* The kernel's account of a thread that has no CPU, instead of the thread's own. */
static _Atomic bool has_no_cpu;

void __real_sim_thread_account_read(uint32_t pid, uint32_t thread_id, struct sim_thread_account *ret_account);
void __wrap_sim_thread_account_read(uint32_t pid, uint32_t thread_id, struct sim_thread_account *ret_account);

void __wrap_sim_thread_account_read(uint32_t pid, uint32_t thread_id, struct sim_thread_account *ret_account)
{
	if (has_no_cpu)
		*ret_account = (struct sim_thread_account){
			.state = SIM_THREAD_RUNS, .is_ready = true, .ran_ns = 5, .active_ns = 9
		};
	else
		__real_sim_thread_account_read(pid, thread_id, ret_account);
}

#define DEADLINE_S 60 /* only a hang reaches it */

/* A thread of this process with a participant that never calls again, doing @work. */
static const struct sim_clock_participant *make_busy(struct fixture *fixture, void *(*work)(void *), void *arg,
						     pthread_t *thread)
{
	const struct sim_clock_participant *busy;

	pthread_create(thread, NULL, work, arg);
	while (!(busy = sim_clock_page_find_busy(fixture->page)))
		sched_yield();
	return busy;
}

struct idler {
	struct fixture *fixture;
	sem_t end;
	_Atomic bool end_flag;
	int end_pipe[2]; /* closed at the end */
};

static void *sleep_outside(void *arg)
{
	struct idler *idler = arg;
	struct sim_participant participant = { 0 };

	sim_participant_join(&participant, idler->fixture->page, 1);
	while (sem_wait(&idler->end) < 0)
		;
	return NULL;
}

static void *sleep_in_call(void *arg)
{
	struct idler *idler = arg;
	struct sim_vclock_source *source = begin(idler->fixture);

	bool marked = sim_clock_begin_wait();

	while (sem_wait(&idler->end) < 0)
		;
	sim_clock_end_wait(marked);
	sim_vclock_source_destroy(source);
	return NULL;
}

static void *run_outside(void *arg)
{
	struct idler *idler = arg;
	struct sim_participant participant = { 0 };

	sim_participant_join(&participant, idler->fixture->page, 1);
	while (!atomic_load(&idler->end_flag))
		;
	return NULL;
}

/* In the kernel, as a thread is that waits for a disk: until its child has ended. */
static void *wait_uninterruptibly(void *arg)
{
	struct idler *idler = arg;
	struct sim_participant participant = { 0 };
	char byte;

	sim_participant_join(&participant, idler->fixture->page, 1);
	if (syscall(SYS_clone, CLONE_VFORK | SIGCHLD, NULL, NULL, NULL, NULL) == 0) {
		syscall(SYS_close, idler->end_pipe[1]);
		syscall(SYS_read, idler->end_pipe[0], &byte, 1);
		syscall(SYS_exit_group, 0);
	}
	return NULL;
}

static void *end_at_once(void *arg)
{
	struct idler *idler = arg;
	struct sim_participant participant = { 0 };

	sim_participant_join(&participant, idler->fixture->page, 1);
	return NULL;
}

/* Check until the busy participant is detached. */
static struct sim_stalled stall_of(struct fixture *fixture, void *(*work)(void *),
				   const struct sim_stall_patience *patience)
{
	struct sim_participant self = { 0 };
	struct sim_stall_watch watch = { 0 };
	struct sim_stalled stalled;
	struct idler idler = { .fixture = fixture };
	pthread_t thread;

	sem_init(&idler.end, 0, 0);
	assert_int_equal(pipe(idler.end_pipe), 0);
	make_busy(fixture, work, &idler, &thread);
	assert_int_equal(sim_participant_join(&self, fixture->page, 1), 0);
	sim_participant_wait(&self, 100, false);
	do
		sim_participant_sleep(&self, 1000000);
	while (sim_stall_watch_check(&watch, &self, patience, &stalled) && stalled.reason == SIM_STALL_NONE);
	sem_post(&idler.end);
	atomic_store(&idler.end_flag, true);
	close(idler.end_pipe[1]);
	pthread_join(thread, NULL);
	close(idler.end_pipe[0]);
	sem_destroy(&idler.end);
	assert_int_equal(now(fixture), 100);
	return stalled;
}

#define LONG_NS (DEADLINE_S * SIM_NS_PER_S)

static void test_thread_that_sleeps_outside_is_detached_soon(void **state)
{
	const struct sim_stall_patience patience = { .running_ns = LONG_NS,
						     .sleeping_ns = 20 * SIM_NS_PER_MS,
						     .num_cpus = UINT32_MAX };

	struct sim_stalled stalled = stall_of(*state, sleep_outside, &patience);

	assert_int_equal(stalled.reason, SIM_STALL_SLEEPS);
	if (stalled.system_call != -1 && !is_emulated()) /* a sandbox may hide it */
		assert_int_equal(stalled.system_call, SYS_futex);
}

static void *run_until_end(void *arg)
{
	while (!atomic_load((atomic_bool *)arg))
		;
	return NULL;
}

/* The thread may wait for a lock of another one that has no CPU. */
static void test_sleep_on_a_busy_machine_has_the_long_patience(void **state)
{
	const struct sim_stall_patience patience = { .running_ns = 200 * SIM_NS_PER_MS,
						     .sleeping_ns = SIM_NS_PER_MS,
						     .num_cpus = 0 };
	atomic_bool end = false;
	struct sim_stalled stalled;
	pthread_t thread;

	pthread_create(&thread, NULL, run_until_end, &end);
	stalled = stall_of(*state, sleep_outside, &patience);
	atomic_store(&end, true);
	pthread_join(thread, NULL);
	assert_int_equal(stalled.reason, SIM_STALL_SLEEPS);
	assert_true(stalled.for_ns >= patience.running_ns);
}

static void *wait_for_turn(void *arg)
{
	struct idler *idler = arg;
	struct sim_participant participant = { 0 };

	sim_participant_join(&participant, idler->fixture->page, 1);
	sim_participant_wait(&participant, 50, false);
	while (sim_participant_sleep(&participant, LONG_NS))
		;
	sim_participant_leave(&participant);
	atomic_store(&idler->end_flag, true);
	return NULL;
}

static struct sim_clock_participant *find_sleeper(struct fixture *fixture, const struct sim_participant *but)
{
	for (uint32_t i = 0; i < SIM_CLOCK_MAX_PARTICIPANTS; i++) {
		struct sim_clock_participant *shared = &fixture->page->participants[i];

		if (shared != but->shared && atomic_load(&shared->asleep) > 0)
			return shared;
	}
	return NULL;
}

/* The participant whose turn it is has not been woken yet, as the one before it has lost the CPU. */
static void test_thread_that_was_not_woken_is_woken(void **state)
{
	const struct sim_stall_patience patience = { .running_ns = LONG_NS, .sleeping_ns = 400 * SIM_NS_PER_MS };
	struct fixture *fixture = *state;
	struct idler idler = { .fixture = fixture };
	struct sim_participant self = { 0 };
	struct sim_stall_watch watch = { 0 };
	struct sim_clock_participant *sleeper;
	struct sim_stalled stalled;
	pthread_t thread;

	assert_int_equal(sim_participant_join(&self, fixture->page, 1), 0);
	pthread_create(&thread, NULL, wait_for_turn, &idler);
	while (!(sleeper = find_sleeper(fixture, &self)))
		sched_yield();
	atomic_store(&sleeper->asleep, 0); /* no wake-up */
	sim_participant_wait(&self, 100, false);
	atomic_store(&sleeper->asleep, 1);
	do {
		sim_stall_watch_check(&watch, &self, &patience, &stalled);
		assert_int_equal(stalled.reason, SIM_STALL_NONE);
		sched_yield();
	} while (!atomic_load(&idler.end_flag));
	pthread_join(thread, NULL);
}

static void test_thread_that_sleeps_in_a_call_has_the_long_patience(void **state)
{
	const struct sim_stall_patience patience = { .running_ns = 200 * SIM_NS_PER_MS, .sleeping_ns = SIM_NS_PER_MS };
	struct sim_stalled stalled = stall_of(*state, sleep_in_call, &patience);

	assert_int_equal(stalled.reason, SIM_STALL_RUNS);
	assert_true(stalled.for_ns >= patience.running_ns);
}

static void test_thread_that_runs_has_the_long_patience(void **state)
{
	const struct sim_stall_patience patience = { .running_ns = 200 * SIM_NS_PER_MS, .sleeping_ns = SIM_NS_PER_MS };
	struct sim_stalled stalled = stall_of(*state, run_outside, &patience);

	assert_int_equal(stalled.reason, SIM_STALL_RUNS);
	assert_true(stalled.for_ns >= patience.running_ns);
}

static void test_thread_that_has_no_cpu_is_waited_for_ten_times_as_long(void **state)
{
	const struct sim_stall_patience patience = { .running_ns = 20 * SIM_NS_PER_MS, .sleeping_ns = SIM_NS_PER_MS };
	struct sim_stalled stalled;

	has_no_cpu = true;
	stalled = stall_of(*state, sleep_outside, &patience);
	has_no_cpu = false;
	assert_int_equal(stalled.reason, SIM_STALL_RUNS);
	assert_true(stalled.for_ns > 10 * patience.running_ns);
}

static void test_thread_that_waits_in_the_kernel_has_the_long_patience(void **state)
{
	const struct sim_stall_patience patience = { .running_ns = 200 * SIM_NS_PER_MS, .sleeping_ns = SIM_NS_PER_MS };

	if (is_emulated() || RUNNING_ON_VALGRIND)
		skip();
	assert_int_equal(stall_of(*state, wait_uninterruptibly, &patience).reason, SIM_STALL_RUNS);
	while (wait(NULL) > 0)
		;
}

static void test_thread_that_has_ended_is_detached_at_once(void **state)
{
	const struct sim_stall_patience patience = { .running_ns = LONG_NS, .sleeping_ns = LONG_NS };

	assert_int_equal(stall_of(*state, end_at_once, &patience).reason, SIM_STALL_ENDED);
}

static void test_stopped_process_is_detached_soon(void **state)
{
	const struct sim_stall_patience patience = { .running_ns = LONG_NS, .sleeping_ns = 20 * SIM_NS_PER_MS };
	struct fixture *fixture = *state;
	struct sim_participant self = { 0 };
	struct sim_stall_watch watch = { 0 };
	struct sim_stalled stalled;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct sim_participant participant = { 0 };

		sim_participant_join(&participant, fixture->page, 1);
		raise(SIGSTOP);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_int_equal(sim_participant_join(&self, fixture->page, 1), 0);
	sim_participant_wait(&self, 100, false);
	do
		sim_participant_sleep(&self, 1000000);
	while (sim_stall_watch_check(&watch, &self, &patience, &stalled) && stalled.reason == SIM_STALL_NONE);
	assert_int_equal(stalled.reason, SIM_STALL_STOPPED);
	assert_int_equal(stalled.owner >> 32, pid);
	assert_int_equal(now(fixture), 100);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

/* ---- time that is held ---- */

static void test_time_stays_while_a_waiting_source_holds_it(void **state)
{
	struct fixture *fixture = *state;
	struct sim_vclock_source *source = begin(fixture);
	struct sim_participant other = { 0 };

	assert_int_equal(sim_participant_join(&other, fixture->page, 1), 0);
	sim_vclock_source_hold(source, true);
	assert_false(sim_vclock_source_wait_until(source, NEVER));
	assert_false(sim_participant_wait(&other, 50, false));
	assert_int_equal(now(fixture), 0);
	assert_true(sim_vclock_source_may_poll(source));
	sim_vclock_source_hold(source, false);
	assert_false(sim_vclock_source_wait_until(source, NEVER));
	assert_int_equal(now(fixture), 50);
	assert_int_equal(sim_participant_state(&other), SIM_PARTICIPANT_BUSY);
	sim_vclock_source_destroy(source);
}

static void test_time_is_not_held_for_ever(void **state)
{
	const struct sim_stall_patience patience = { .running_ns = 100 * SIM_NS_PER_MS, .sleeping_ns = LONG_NS };
	struct fixture *fixture = *state;
	struct sim_vclock_source *source = begin(fixture);
	struct sim_participant self = { 0 };
	struct sim_stall_watch watch = { 0 };
	struct sim_stalled stalled;

	assert_int_equal(sim_participant_join(&self, fixture->page, 1), 0);
	sim_vclock_source_hold(source, true);
	assert_false(sim_vclock_source_wait_until(source, NEVER));
	assert_false(sim_participant_wait(&self, 50, false));
	do
		sim_participant_sleep(&self, 1000000);
	while (sim_stall_watch_check(&watch, &self, &patience, &stalled) && stalled.reason == SIM_STALL_NONE);
	assert_int_equal(stalled.reason, SIM_STALL_HOLDS);
	assert_int_equal(now(fixture), 50);
	assert_false(sim_vclock_source_wait_until(source, NEVER)); /* it does not begin anew */
	assert_true(sim_participant_wait(&self, 60, false));
	sim_vclock_source_destroy(source);
}

/* The parent's entry keeps time until the process participates. */
static void test_time_begins_when_the_started_processes_participate(void **state)
{
	struct fixture *fixture = *state;
	struct sim_clock_launch launch, read;
	struct sim_vclock_sched *sched;
	struct sim_vclock_source *source, *started;
	char text[SIM_CLOCK_LAUNCH_TEXT_SIZE];

	sim_clock_launch_begin(fixture->page, 7, &launch);
	sim_clock_launch_write(&launch, text);
	sim_clock_launch_read(text, &read);
	assert_memory_equal(&read, &launch, sizeof(launch));
	source = begin(fixture);
	assert_false(sim_vclock_source_wait_until(source, 50));
	assert_int_equal(now(fixture), 0);
	sim_clock_launch_attached(fixture->page, &read);
	assert_int_equal(sim_vclock_sched_create(fixture->clock, 1, &read, &sched), 0);
	assert_int_equal(sim_vclock_source_create(sched, &anything, &started), 0);
	sim_vclock_source_destroy(started);
	assert_int_equal(now(fixture), 50);
	sim_clock_launch_end(fixture->page, &launch); /* the parent's, when the process has ended */
	sim_vclock_sched_destroy(sched);
	sim_vclock_source_destroy(source);
}

static void test_process_that_ends_without_participating_is_not_waited_for(void **state)
{
	struct fixture *fixture = *state;
	struct sim_clock_launch launch;
	struct sim_vclock_source *source = begin(fixture);

	sim_clock_launch_begin(fixture->page, 1, &launch);
	assert_false(sim_vclock_source_wait_until(source, 50));
	assert_int_equal(now(fixture), 0);
	sim_clock_launch_end(fixture->page, &launch);
	assert_int_equal(now(fixture), 50);
	sim_vclock_source_destroy(source);
}

static void test_launch_text_that_is_none_is_no_launch(void **state)
{
	static const char *const texts[] = { NULL, "", "1", "1:2", "x:1:2", "1:2:3:4", "1:2:3x" };
	struct sim_clock_launch launch;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		sim_clock_launch_read(texts[i], &launch);
		assert_int_equal(launch.number, 0);
	}
	sim_clock_launch_read("1:4000000000:99", &launch); /* a slot out of range does no harm */
	sim_clock_launch_attached(((struct fixture *)*state)->page, &launch);
	sim_clock_launch_end(((struct fixture *)*state)->page, &launch);
}

static void test_participant_that_does_not_call_is_not_waited_for_forever(void **state)
{
	struct fixture *fixture = *state;
	struct sim_vclock_source *source;
	struct idler idler = { .fixture = fixture };
	pthread_t thread;

	sem_init(&idler.end, 0, 0);
	make_busy(fixture, sleep_outside, &idler, &thread);
	source = begin(fixture);
	poll_until(source, 100, fixture);
	assert_int_equal(now(fixture), 100);
	assert_int_equal(fixture->warnings, 1);
	assert_int_equal(atomic_load(&fixture->page->participants[0].state), SIM_PARTICIPANT_DETACHED);
	sim_vclock_source_destroy(source);
	sem_post(&idler.end);
	pthread_join(thread, NULL);
	sem_destroy(&idler.end);
}

/* An hour passes between two checks: the busy participant may not have run either. */
static void test_machine_that_stood_still_is_no_reason_to_give_up(void **state)
{
	const struct sim_stall_patience patience = { .running_ns = SIM_NS_PER_S, .sleeping_ns = SIM_NS_PER_S };
	struct fixture *fixture = *state;
	struct sim_participant busy = { 0 }, self = { 0 };
	struct sim_stall_watch watch;
	struct sim_stalled stalled;

	assert_int_equal(sim_participant_join(&busy, fixture->page, 1), 0);
	assert_int_equal(sim_participant_join(&self, fixture->page, 1), 0);
	sim_participant_wait(&self, 100, false);
	watch = (struct sim_stall_watch){ .shared = busy.shared, .owner = busy.owner, .checks = 1 };
	assert_true(sim_stall_watch_check(&watch, &self, &patience, &stalled));
	assert_int_equal(stalled.reason, SIM_STALL_NONE);
	assert_int_equal(sim_participant_state(&busy), SIM_PARTICIPANT_BUSY);
	for (int i = 0; i < 100 && stalled.reason == SIM_STALL_NONE; i++)
		sim_stall_watch_check(&watch, &self, &patience, &stalled);
	assert_int_equal(stalled.reason, SIM_STALL_RUNS);
	assert_int_equal(stalled.owner, busy.owner);
	assert_int_equal(sim_participant_state(&busy), SIM_PARTICIPANT_DETACHED);
}

static void test_dead_process_is_dropped_without_a_warning(void **state)
{
	struct fixture *fixture = *state;
	struct sim_vclock_source *source;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct sim_vclock_sched *sched;

		sim_vclock_sched_create(fixture->clock, 1, NULL, &sched);
		sim_vclock_source_create(sched, &anything, &source);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	source = begin(fixture);
	poll_until(source, 100, fixture);
	assert_int_equal(fixture->warnings, 0);
	sim_vclock_source_destroy(source);
}

static void test_left_one_that_calls_again_is_waited_for_again(void **state)
{
	struct fixture *fixture = *state;
	struct sim_vclock_source *source = begin(fixture);

	atomic_store(&fixture->page->participants[0].state, SIM_PARTICIPANT_DETACHED);
	assert_true(sim_vclock_source_may_poll(source));
	assert_int_equal(atomic_load(&fixture->page->participants[0].state), SIM_PARTICIPANT_BUSY);
	assert_true(sim_vclock_source_wait_until(source, 5));
	sim_vclock_source_destroy(source);
}

static void test_corrupt_page_hangs_no_thread(void **state)
{
	struct fixture *fixture = *state;
	struct sim_vclock_source *source;

	memset(fixture->page, 0xff, sizeof(*fixture->page));
	source = begin(fixture); /* without a participant: all slots are taken */
	assert_true(sim_vclock_source_may_poll(source));
	assert_true(sim_vclock_source_wait_until(source, NEVER - 1)); /* it continues, if out of order */
	assert_false(sim_vclock_source_wait_until(source, NEVER));
	sim_vclock_source_mark_busy(source);
	sim_vclock_source_destroy(source);
}

/* Of many that wait, so that their checks do not take the CPU from the one that runs. */
static void test_one_participant_checks_often(void **state)
{
	const uint64_t hour_ns = 3600 * SIM_NS_PER_S;
	struct fixture *fixture = *state;
	struct sim_participant first = { 0 }, second = { 0 };

	assert_int_equal(sim_participant_join(&first, fixture->page, 1), 0);
	assert_int_equal(sim_participant_join(&second, fixture->page, 1), 0);
	assert_int_equal(sim_stall_check_interval_ns(&first, hour_ns), hour_ns);
	assert_int_equal(sim_stall_check_interval_ns(&second, hour_ns), 2 * hour_ns);
	assert_int_equal(sim_stall_check_interval_ns(&first, 1), 1);
	while (sim_stall_check_interval_ns(&second, 1) != 1) /* the first no longer checks */
		;
	sim_participant_leave(&second);
	sim_participant_leave(&first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(participant_that_does_not_call_is_not_waited_for_forever),
		TEST(thread_that_sleeps_outside_is_detached_soon),
		TEST(sleep_on_a_busy_machine_has_the_long_patience),
		TEST(thread_that_was_not_woken_is_woken),
		TEST(thread_that_sleeps_in_a_call_has_the_long_patience),
		TEST(thread_that_runs_has_the_long_patience),
		TEST(thread_that_has_no_cpu_is_waited_for_ten_times_as_long),
		TEST(thread_that_waits_in_the_kernel_has_the_long_patience),
		TEST(thread_that_has_ended_is_detached_at_once),
		TEST(stopped_process_is_detached_soon),
		TEST(time_stays_while_a_waiting_source_holds_it),
		TEST(time_is_not_held_for_ever),
		TEST(time_begins_when_the_started_processes_participate),
		TEST(process_that_ends_without_participating_is_not_waited_for),
		TEST(launch_text_that_is_none_is_no_launch),
		TEST(machine_that_stood_still_is_no_reason_to_give_up),
		TEST(dead_process_is_dropped_without_a_warning),
		TEST(left_one_that_calls_again_is_waited_for_again),
		TEST(corrupt_page_hangs_no_thread),
		TEST(one_participant_checks_often),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

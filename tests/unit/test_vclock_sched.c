/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/vclock_sched.h: threads stand for processes, each with a handle of its own on one page. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "emulated.h"
#include "under_valgrind.h"
#include "sim/clock/call_mark.h"
#include "sim/clock/stall_watch.h"
#include "sim/clock/vclock_sched.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"

#define TOPOLOGY   "cards: [{profile: bluefield-3, functions: [{side: host, type: pf, pci: 'b1:00.0'}]}]\n"
#define NEVER      SIM_CLOCK_NEVER_NS
#define DEADLINE_S 60 /* only a hang reaches it */

/* The events, in order. */
struct trace {
	pthread_mutex_t lock;
	char text[4096];
};

struct fixture {
	struct sim_clock_page *page;
	struct pcie_topology *topology;
	struct sim_clock *clock;
	struct sim_vclock_sched *sched;
	struct trace trace;
	unsigned int warnings;
};

static struct fixture *current;

static void count_warnings(int level, const char *file, int line, const char *func, const char *format, va_list args)
{
	if (level == SIM_LOG_WARNING)
		__atomic_fetch_add(&current->warnings, 1, __ATOMIC_RELAXED);
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	char error[PCIE_ERROR_SIZE];

	fixture->page = mmap(NULL, sizeof(*fixture->page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fixture->page == MAP_FAILED ||
	    pcie_topology_parse("test", TOPOLOGY, strlen(TOPOLOGY), &fixture->topology, error) < 0)
		return -1;
	sim_clock_page_init(fixture->page, SIM_CLOCK_VIRTUAL);
	pthread_mutex_init(&fixture->trace.lock, NULL);
	current = fixture;
	sim_log_set_sink(count_warnings);
	*state = fixture;
	return sim_clock_create(fixture->page, fixture->topology, &fixture->clock) < 0 ||
	       sim_vclock_sched_create(fixture->clock, 1, NULL, &fixture->sched) < 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	sim_vclock_sched_destroy(fixture->sched);
	sim_clock_destroy(fixture->clock);
	pcie_topology_destroy(fixture->topology);
	munmap(fixture->page, sizeof(*fixture->page));
	pthread_mutex_destroy(&fixture->trace.lock);
	sim_log_set_sink(NULL);
	free(fixture);
	return 0;
}

static const struct sim_vclock_source_cfg anything = { 0 };

static struct sim_vclock_source *begin(struct fixture *fixture)
{
	struct sim_vclock_source *source;

	assert_int_equal(sim_vclock_source_create(fixture->sched, &anything, &source), 0);
	return source;
}

static uint64_t now(const struct fixture *fixture)
{
	return sim_clock_now_ns(fixture->clock);
}

/* ---- one thread ---- */

static void test_time_jumps_to_where_the_only_one_waits_for(void **state)
{
	struct fixture *fixture = *state;
	struct sim_vclock_source *source = begin(fixture);

	assert_true(sim_vclock_source_wait_until(source, 100));
	assert_int_equal(now(fixture), 100);
	assert_true(sim_vclock_source_wait_until(source, 250));
	assert_int_equal(now(fixture), 250);
	sim_vclock_source_destroy(source);
}

static void test_time_never_goes_back(void **state)
{
	struct fixture *fixture = *state;
	struct sim_vclock_source *source = begin(fixture);

	assert_true(sim_vclock_source_wait_until(source, 100));
	assert_true(sim_vclock_source_wait_until(source, 7));
	assert_int_equal(now(fixture), 100);
	sim_vclock_source_destroy(source);
}

static void test_participant_that_waits_for_a_message_may_poll_and_time_stands_still(void **state)
{
	struct fixture *fixture = *state;
	struct sim_vclock_source *source = begin(fixture);

	assert_false(sim_vclock_source_wait_until(source, NEVER));
	assert_true(sim_vclock_source_may_poll(source));
	assert_false(sim_vclock_source_wait_until(source, NEVER));
	assert_int_equal(now(fixture), 0);
	sim_vclock_source_destroy(source);
}

/* Engine b has a job at 50: a thread that waits in a for 100 gets to poll b then, once. */
static void test_thread_is_offered_its_other_engine_once(void **state)
{
	struct fixture *fixture = *state;
	struct sim_vclock_source *a = begin(fixture), *b = begin(fixture);

	assert_false(sim_vclock_source_wait_until(b, 50));  /* a, which is new, has not polled yet */
	assert_false(sim_vclock_source_wait_until(a, 100)); /* nor has b, since */
	assert_false(sim_vclock_source_wait_until(a, 100)); /* time has reached the time that b waits for */
	assert_int_equal(now(fixture), 50);
	assert_true(sim_vclock_source_wait_until(a, 100));
	assert_int_equal(now(fixture), 100);
	sim_vclock_source_destroy(a);
	sim_vclock_source_destroy(b);
}

static void test_thread_that_ignores_its_other_engine_goes_on(void **state)
{
	struct fixture *fixture = *state;
	struct sim_vclock_source *a = begin(fixture), *b = begin(fixture);

	sim_vclock_source_mark_busy(b);
	assert_false(sim_vclock_source_wait_until(a, 100)); /* b has submitted jobs: poll it first */
	assert_int_equal(now(fixture), 0);
	assert_true(sim_vclock_source_wait_until(a, 100)); /* not polled */
	assert_int_equal(now(fixture), 100);
	sim_vclock_source_destroy(a);
	sim_vclock_source_destroy(b);
}

static void test_participant_leaves_with_the_last_source(void **state)
{
	struct fixture *fixture = *state;
	struct sim_vclock_source *a = begin(fixture), *b = begin(fixture);

	sim_vclock_source_destroy(a);
	assert_int_equal(atomic_load(&fixture->page->participants[0].state), SIM_PARTICIPANT_BUSY);
	sim_vclock_source_destroy(b);
	assert_int_equal(atomic_load(&fixture->page->participants[0].state), SIM_PARTICIPANT_FREE);
}

/* ---- several ---- */

struct actor {
	struct fixture *fixture;
	const char *name;
	bool first;         /* of low rank */
	uint64_t period_ns; /* period of wake-ups, rounds times; 0 = waits for messages */
	unsigned int rounds;
	bool sends; /* sends a message each round */
	_Atomic unsigned int *mail;
	sem_t *joined, *go;
	pthread_t thread;
};

static void note(struct actor *actor, const char *what)
{
	struct trace *trace = &actor->fixture->trace;
	size_t len;

	pthread_mutex_lock(&trace->lock);
	len = strlen(trace->text);
	snprintf(trace->text + len, sizeof(trace->text) - len, "[%3u] %s %s\n", (unsigned int)now(actor->fixture),
		 actor->name, what);
	pthread_mutex_unlock(&trace->lock);
}

/* A polling program: poll, then wait until the next time. */
static void poll_until(struct sim_vclock_source *source, uint64_t ns, const struct fixture *fixture)
{
	for (;;) {
		if (!sim_vclock_source_may_poll(source))
			continue;
		if (now(fixture) >= ns)
			return;
		sim_vclock_source_wait_until(source, ns);
	}
}

static void poll_for_mail(struct sim_vclock_source *source, _Atomic unsigned int *mail)
{
	for (;;) {
		unsigned int some = 0;

		if (!sim_vclock_source_may_poll(source))
			continue;
		some = atomic_load(mail);
		if (some > 0) {
			atomic_fetch_sub(mail, 1);
			return;
		}
		sim_vclock_source_wait_until(source, NEVER);
	}
}

static void *act(void *arg)
{
	struct actor *actor = arg;
	struct sim_vclock_sched *sched;
	struct sim_vclock_source *source;

	sim_vclock_sched_create(actor->fixture->clock, !actor->first, NULL, &sched);
	sim_vclock_source_create(sched, &anything, &source);
	sem_post(actor->joined);
	while (sem_wait(actor->go) < 0)
		;
	for (unsigned int round = 1; round <= actor->rounds; round++) {
		if (actor->period_ns) {
			poll_until(source, round * actor->period_ns, actor->fixture);
			note(actor, "wakes");
		} else {
			poll_for_mail(source, actor->mail);
			note(actor, "gets mail");
		}
		if (actor->sends) {
			atomic_fetch_add(actor->mail, 1);
			sim_vclock_sched_post(sched, 0, 0);
		}
	}
	sim_vclock_source_destroy(source);
	sim_vclock_sched_destroy(sched);
	return NULL;
}

/* They join in order; then all start at once. */
static void run_actors(struct fixture *fixture, struct actor *actors, size_t count)
{
	sem_t joined, go;
	_Atomic unsigned int mail = 0;

	sem_init(&joined, 0, 0);
	sem_init(&go, 0, 0);
	fixture->trace.text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		actors[i].fixture = fixture;
		actors[i].mail = &mail;
		actors[i].joined = &joined;
		actors[i].go = &go;
		pthread_create(&actors[i].thread, NULL, act, &actors[i]);
		while (sem_wait(&joined) < 0)
			;
	}
	for (size_t i = 0; i < count; i++)
		sem_post(&go);
	for (size_t i = 0; i < count; i++)
		pthread_join(actors[i].thread, NULL);
	sem_destroy(&joined);
	sem_destroy(&go);
}

/* 30, 60, 90 and 20, 40, 60, 80: at 60 the one of lower rank is first, though it arrived later. */
static void test_turns_go_by_time_then_by_rank(void **state)
{
	struct actor actors[] = { { .name = "host", .period_ns = 30, .rounds = 3 },
				  { .name = "dpu", .first = true, .period_ns = 20, .rounds = 4 } };

	run_actors(*state, actors, 2);
	assert_string_equal(((struct fixture *)*state)->trace.text, "[ 20] dpu wakes\n"
								    "[ 30] host wakes\n"
								    "[ 40] dpu wakes\n"
								    "[ 60] dpu wakes\n"
								    "[ 60] host wakes\n"
								    "[ 80] dpu wakes\n"
								    "[ 90] host wakes\n");
}

/* Each of a's rounds is followed by b's, before time advances for c. */
static void test_message_arrives_before_time_goes_on(void **state)
{
	struct actor actors[] = { { .name = "a", .period_ns = 10, .rounds = 3, .sends = true },
				  { .name = "b", .rounds = 3 },
				  { .name = "c", .period_ns = 11, .rounds = 2 } };

	run_actors(*state, actors, 3);
	assert_string_equal(((struct fixture *)*state)->trace.text, "[ 10] a wakes\n"
								    "[ 10] b gets mail\n"
								    "[ 11] c wakes\n"
								    "[ 20] a wakes\n"
								    "[ 20] b gets mail\n"
								    "[ 22] c wakes\n"
								    "[ 30] a wakes\n"
								    "[ 30] b gets mail\n");
}

static void test_order_is_the_same_each_time(void **state)
{
	struct fixture *fixture = *state;
	char first[sizeof(fixture->trace.text)] = "";

	for (int i = 0; i < 20; i++) {
		struct actor actors[] = { { .name = "a", .period_ns = 3, .rounds = 10, .sends = true },
					  { .name = "b", .rounds = 10 },
					  { .name = "c", .period_ns = 3, .rounds = 10 },
					  { .name = "d", .first = true, .period_ns = 2, .rounds = 15 } };

		atomic_store(&fixture->page->now_ns, 0);
		run_actors(fixture, actors, 4);
		if (i == 0)
			strcpy(first, fixture->trace.text);
		assert_string_equal(fixture->trace.text, first);
	}
	assert_int_equal(fixture->warnings, 0);
}

/* ---- participants that do not call ---- */

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

/* ---- sleepers ---- */

static void post(void *arg)
{
	sem_post(arg);
}

static bool woken(sem_t *sem)
{
	struct timespec until;
	int rc;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += DEADLINE_S;
	do
		rc = sem_timedwait(sem, &until);
	while (rc < 0 && errno == EINTR);
	return rc == 0;
}

static void test_sleeper_is_woken_when_its_time_has_come(void **state)
{
	struct fixture *fixture = *state;
	struct sim_vclock_source *sleeper;
	sem_t sem;
	pthread_t thread;
	struct actor actor = { .fixture = fixture, .name = "other", .period_ns = 60, .rounds = 1 };
	const struct sim_vclock_source_cfg cfg = { .wake = post, .arg = &sem };
	sem_t joined, go;

	sem_init(&sem, 0, 0);
	sem_init(&joined, 0, 0);
	sem_init(&go, 0, 0);
	assert_int_equal(sim_vclock_source_create(fixture->sched, &cfg, &sleeper), 0);
	actor.joined = &joined;
	actor.go = &go;
	pthread_create(&thread, NULL, act, &actor);
	while (sem_wait(&joined) < 0)
		;
	assert_false(sim_vclock_source_wait_until(sleeper, 40)); /* the other is busy */
	sim_vclock_source_begin_sleep(sleeper, false);
	sem_post(&go);
	assert_true(woken(&sem));
	assert_int_equal(now(fixture), 40);
	assert_true(sim_vclock_source_may_poll(sleeper));
	sim_vclock_source_wait_until(sleeper, NEVER);
	pthread_join(thread, NULL);
	assert_int_equal(now(fixture), 60);
	sim_vclock_source_destroy(sleeper);
	sem_destroy(&sem);
	sem_destroy(&joined);
	sem_destroy(&go);
}

/* ---- a program's mistake ---- */

struct crowd {
	struct fixture *fixture;
	struct sim_vclock_source *source;
	atomic_bool is_over;
};

static void *use_source(void *arg)
{
	struct crowd *crowd = arg;

	while (!atomic_load(&crowd->is_over)) {
		if (sim_vclock_source_may_poll(crowd->source))
			sim_vclock_source_mark_busy(crowd->source);
		sim_vclock_source_wait_until(crowd->source, now(crowd->fixture) + 10);
		sim_vclock_source_wait_message(crowd->source);
		sim_vclock_source_has_message(crowd->source);
	}
	return NULL;
}

/* One thread at a time may use a source; here three do, while another participant is busy and lets them sleep. */
static void test_source_that_threads_use_at_the_same_time_harms_none(void **state)
{
	struct crowd crowd = { .fixture = *state };
	struct sim_vclock_source *busy;
	const struct timespec moment = { .tv_nsec = 300 * 1000 * 1000 };
	pthread_t threads[3];

#ifdef __SANITIZE_THREAD__
	skip(); /* it reports the mistake that is made here */
#endif
	busy = begin(crowd.fixture);
	crowd.source = begin(crowd.fixture);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use_source, &crowd), 0);
	nanosleep(&moment, NULL);
	atomic_store(&crowd.is_over, true);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	sim_vclock_source_destroy(crowd.source);
	sim_vclock_source_destroy(busy);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(time_jumps_to_where_the_only_one_waits_for),
		TEST(time_never_goes_back),
		TEST(participant_that_waits_for_a_message_may_poll_and_time_stands_still),
		TEST(thread_is_offered_its_other_engine_once),
		TEST(thread_that_ignores_its_other_engine_goes_on),
		TEST(participant_leaves_with_the_last_source),
		TEST(turns_go_by_time_then_by_rank),
		TEST(message_arrives_before_time_goes_on),
		TEST(order_is_the_same_each_time),
		TEST(participant_that_does_not_call_is_not_waited_for_forever),
		TEST(thread_that_sleeps_outside_is_detached_soon),
		TEST(sleep_on_a_busy_machine_has_the_long_patience),
		TEST(thread_that_was_not_woken_is_woken),
		TEST(thread_that_sleeps_in_a_call_has_the_long_patience),
		TEST(thread_that_runs_has_the_long_patience),
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
		TEST(sleeper_is_woken_when_its_time_has_come),
		TEST(source_that_threads_use_at_the_same_time_harms_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

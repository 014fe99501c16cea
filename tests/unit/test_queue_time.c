/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/engine/queue.h with a clock: jobs that take the time of a card's model. Virtual time, so that each is exact. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cmocka_test.h"
#include "sim/base/monotonic.h"
#include "sim/clock/participant.h"
#include "sim/clock/vclock_sched.h"
#include "sim/engine/engine_priv.h"
#include "sim/engine/queue.h"

#define TOPOLOGY "cards: [{profile: bluefield-3, functions: [{side: dpu, type: pf, pci: '03:00.0'}]}]\n"
#define MAX_JOBS 64

/* A member of the engine. */
struct tick_counter {
	struct sim_engine_member member; /* first */
	atomic_uint num_ticks;
	bool is_idle; /* it has no work for ticks */
};

struct fixture {
	struct sim_clock_page *page;
	struct pcie_topology *topology;
	struct sim_clock *clock;
	struct sim_vclock_sched *sched;
	struct sim_vclock_source *source;
	struct sim_engine *engine;
	struct sim_queue *queues[2];
	struct tick_counter counter;
};

struct test_job {
	struct sim_job job; /* first */
	uint64_t bytes;     /* 0 = takes no time */
	uint64_t delay_ns;
	struct sim_queue *queue;
	void (*act)(struct test_job *job); /* when it runs; NULL = nothing */
	unsigned int ran_in_tick;          /* of the engine, which begins with the first job; valid once @ran is true */
	atomic_bool ran;
};

static struct fixture *current;

static int run(struct sim_job *job)
{
	struct test_job *test = (struct test_job *)job;

	if (test->act)
		test->act(test);
	test->ran_in_tick = atomic_load(&current->counter.num_ticks);
	test->ran = true;
	job->held = test->delay_ns > 0;
	job->due_ns = test->delay_ns == SIM_JOB_NEVER_DUE ? SIM_JOB_NEVER_DUE :
							    sim_queue_now_ns(test->queue) + test->delay_ns;
	return 0;
}

static bool work(const struct sim_job *job, struct pcie_job *ret_work)
{
	const struct test_job *test = (const struct test_job *)job;

	ret_work->direction = PCIE_READ;
	ret_work->bytes = test->bytes;
	ret_work->segments = 1;
	return test->bytes > 0;
}

static _Thread_local bool is_other_thread; /* the source is the main thread's */

static void mark_busy(void *arg)
{
	if (!is_other_thread)
		sim_vclock_source_mark_busy(current->source);
}

static bool is_own(void *arg)
{
	return sim_vclock_source_is_own(current->source);
}

static uint64_t patience_ns(void *arg)
{
	return sim_vclock_source_patience_ns(current->source);
}

static void notify(void *arg)
{
}

static uint64_t late_ns; /* of the last job that was */

static void is_late(void *arg, uint64_t ns)
{
	assert_ptr_equal(arg, current);
	late_ns = ns;
}

static int open_queue(struct fixture *fixture, struct sim_queue **ret_queue)
{
	const struct sim_queue_time time = {
		.clock = fixture->clock,
		.work = work,
		.mark_busy = mark_busy,
		.is_own = is_own,
		.patience_ns = patience_ns,
		.is_late = is_late,
	};
	int rc = sim_queue_create(fixture->engine, MAX_JOBS, notify, fixture, ret_queue);

	return rc < 0 ? rc : sim_queue_set_clock(*ret_queue, &time);
}

static const struct sim_vclock_source_cfg source_cfg = { .wake = notify };

static bool count_tick(struct sim_engine_member *member, uint64_t *next_ns)
{
	struct tick_counter *counter = (struct tick_counter *)member;

	atomic_fetch_add(&counter->num_ticks, 1);
	return !counter->is_idle; /* so that the engine goes on, whether jobs are queued or not */
}

static uint64_t advance_own(void *engine)
{
	return sim_engine_advance_own(engine);
}

static int open_with(void **state, enum sim_clock_mode mode)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	char error[PCIE_ERROR_SIZE];

	current = fixture;
	*state = fixture;
	fixture->page = mmap(NULL, sizeof(*fixture->page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fixture->page == MAP_FAILED ||
	    pcie_topology_parse("test", TOPOLOGY, strlen(TOPOLOGY), &fixture->topology, error) < 0)
		return -1;
	sim_clock_page_init(fixture->page, mode);
	if (sim_clock_create(fixture->page, fixture->topology, &fixture->clock) < 0 ||
	    sim_vclock_sched_create(fixture->clock, 0, NULL, &fixture->sched) < 0 ||
	    sim_vclock_source_create(fixture->sched, &source_cfg, &fixture->source) < 0 ||
	    sim_engine_create(&fixture->engine) < 0)
		return -1;
	if (open_queue(fixture, &fixture->queues[0]) < 0 || open_queue(fixture, &fixture->queues[1]) < 0)
		return -1;
	sim_vclock_sched_set_advance(fixture->sched, advance_own, fixture->engine);
	fixture->counter.member.tick = count_tick;
	sim_engine_add(fixture->engine, &fixture->counter.member); /* before the queues */
	return 0;
}

static int setup(void **state)
{
	return open_with(state, SIM_CLOCK_VIRTUAL);
}

static int setup_with_patience(void **state, const char *patience)
{
	int rc;

	setenv("BFSIM_CLOCK_PATIENCE", patience, true);
	rc = setup(state);
	unsetenv("BFSIM_CLOCK_PATIENCE");
	return rc;
}

/* Longer than any test takes: what happens does not happen by the end of patience. */
static int setup_patient(void **state)
{
	return setup_with_patience(state, "3600s");
}

static int setup_impatient(void **state)
{
	return setup_with_patience(state, "10ms");
}

static int setup_timed(void **state)
{
	return open_with(state, SIM_CLOCK_TIMED);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	sim_engine_remove(fixture->engine, &fixture->counter.member);
	sim_queue_destroy(fixture->queues[0]);
	sim_queue_destroy(fixture->queues[1]);
	sim_engine_destroy(fixture->engine);
	sim_vclock_source_destroy(fixture->source);
	sim_vclock_sched_destroy(fixture->sched);
	sim_clock_destroy(fixture->clock);
	pcie_topology_destroy(fixture->topology);
	munmap(fixture->page, sizeof(*fixture->page));
	free(fixture);
	return 0;
}

static void submit(struct sim_queue *queue, struct test_job *jobs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		jobs[i].job.run = run;
		jobs[i].queue = queue;
		assert_int_equal(sim_queue_submit(queue, &jobs[i].job), 0);
	}
	sim_queue_doorbell(queue);
}

/* Let time pass until a job of the queue has completed; returns the time. */
static uint64_t expect_done(struct fixture *fixture, struct sim_queue *queue, const struct test_job *job, int status)
{
	struct sim_job *done;

	while (!(done = sim_queue_poll(queue))) {
		uint64_t next_ns = sim_queue_advance(fixture->queues[0]),
			 other_ns = sim_queue_advance(fixture->queues[1]);

		next_ns = other_ns < next_ns ? other_ns : next_ns;
		if (!sim_queue_has_done(queue))
			assert_true(sim_vclock_source_wait_until(fixture->source, next_ns));
	}
	assert_ptr_equal(done, &job->job);
	assert_int_equal(done->status, status);
	return sim_clock_now_ns(fixture->clock);
}

/* The model's times of jobs that are submitted at once, one after the other. */
static void predict(const struct fixture *fixture, const struct test_job *jobs, size_t count, uint64_t *ret_ns)
{
	const struct pcie_card *card = &fixture->topology->cards[0];
	struct pcie_queue_state queue = { 0 };
	struct pcie_engine_state engine = { 0 };
	struct pcie_link_state link = { 0 };
	struct pcie_times times;

	for (size_t i = 0; i < count; i++) {
		struct pcie_job job = { 0 };
		uint64_t arrival_ps;

		work(&jobs[i].job, &job);
		arrival_ps = pcie_queue_submit(&card->profile->engine, &job, 0, &queue);
		pcie_engine_run(&card->profile->engine, &card->link, &job, arrival_ps, &engine, &link, &times);
		ret_ns[i] = sim_clock_ns(times.done_ps);
	}
}

static void test_ends_are_those_of_the_model_to_the_nanosecond(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = { { .bytes = 64 }, { .bytes = 65536 }, { .bytes = 1 << 20 }, { .bytes = 4096 } };
	uint64_t expected[4], latest = 0;

	predict(fixture, jobs, 4, expected);
	submit(fixture->queues[0], jobs, 4);
	for (int i = 0; i < 4; i++) {
		if (expected[i] > latest)
			latest = expected[i]; /* completions are in the order of the queue */
		assert_int_equal(expect_done(fixture, fixture->queues[0], &jobs[i], 0), latest);
	}
}

static void test_bytes_move_before_the_end(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = { .bytes = 65536 };

	submit(fixture->queues[0], &job, 1);
	assert_null(sim_queue_poll(fixture->queues[0]));
	assert_true(job.ran);
	assert_true(expect_done(fixture, fixture->queues[0], &job, 0) > 0);
}

static void test_delay_of_the_job_comes_on_top(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = { .bytes = 4096, .delay_ns = 10000 };
	uint64_t expected;

	predict(fixture, &job, 1, &expected);
	submit(fixture->queues[0], &job, 1);
	assert_int_equal(expect_done(fixture, fixture->queues[0], &job, 0), expected + 10000);
}

static void test_job_that_asks_nothing_of_the_card_takes_no_time(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = { .bytes = 0 };

	submit(fixture->queues[0], &job, 1);
	assert_int_equal(expect_done(fixture, fixture->queues[0], &job, 0), 0);
}

struct submission {
	struct sim_queue *queue;
	struct test_job *job;
};

/* The source is this thread's from here on. */
static void *submit_and_end(void *arg)
{
	const struct submission *submission = arg;

	submit(submission->queue, submission->job, 1);
	return NULL;
}

static void *submit_in_thread(void *arg)
{
	const struct submission *submission = arg;

	is_other_thread = true;
	submit(submission->queue, submission->job, 1);
	return NULL;
}

/* A thread submits 64 small jobs to queue 0, whose arrivals take it 17 us; another thread's first one arrives among them, not
 * behind them. */
static void test_queues_are_served_by_arrival(void **state)
{
	struct fixture *fixture = *state;
	struct test_job many[MAX_JOBS], one = { .bytes = 64 };
	struct submission submission = { fixture->queues[1], &one };
	uint64_t expected[MAX_JOBS];
	pthread_t thread;

	for (int i = 0; i < MAX_JOBS; i++)
		many[i] = (struct test_job){ .bytes = 64 };
	predict(fixture, many, MAX_JOBS, expected);
	submit(fixture->queues[0], many, MAX_JOBS);
	assert_int_equal(pthread_create(&thread, NULL, submit_in_thread, &submission), 0);
	pthread_join(thread, NULL);
	assert_true(expect_done(fixture, fixture->queues[1], &one, 0) < expected[2]);
}

/* One thread has two queues: it spends its time on one job after the other, and rings one doorbell after the other. */
static void test_jobs_of_one_thread_arrive_in_the_order_of_its_doorbells(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = { { .bytes = 8 }, { .bytes = 256 }, { .bytes = 8 } };
	uint64_t expected[3];

	predict(fixture, jobs, 3, expected);
	submit(fixture->queues[0], &jobs[0], 1);
	submit(fixture->queues[1], &jobs[1], 1);
	submit(fixture->queues[0], &jobs[2], 1);
	assert_true(expected[0] < expected[1] && expected[1] < expected[2]);
	assert_int_equal(expect_done(fixture, fixture->queues[0], &jobs[0], 0), expected[0]);
	assert_int_equal(expect_done(fixture, fixture->queues[1], &jobs[1], 0), expected[1]);
	assert_int_equal(expect_done(fixture, fixture->queues[0], &jobs[2], 0), expected[2]);
}

static void test_doorbell_of_the_second_queue_may_be_first(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = { { .bytes = 8 }, { .bytes = 256 } };
	uint64_t expected[2];

	predict(fixture, jobs, 2, expected);
	submit(fixture->queues[1], &jobs[0], 1);
	submit(fixture->queues[0], &jobs[1], 1);
	assert_int_equal(expect_done(fixture, fixture->queues[1], &jobs[0], 0), expected[0]);
	assert_int_equal(expect_done(fixture, fixture->queues[0], &jobs[1], 0), expected[1]);
}

/* A queue that grows while its ring is full has the times of one that was large at once. */
static void test_growth_keeps_the_times_of_jobs_in_flight(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[3 * MAX_JOBS];
	uint64_t expected[3 * MAX_JOBS];

	for (int i = 0; i < 3 * MAX_JOBS; i++)
		jobs[i] = (struct test_job){ .bytes = 64 + (uint64_t)i };
	predict(fixture, jobs, 3 * MAX_JOBS, expected);
	submit(fixture->queues[0], jobs, MAX_JOBS);
	assert_int_equal(sim_queue_submit(fixture->queues[0], &jobs[MAX_JOBS].job), -EAGAIN);
	sim_queue_advance(fixture->queues[0]); /* the jobs have run, and some have reached the model */
	assert_int_equal(sim_queue_grow(fixture->queues[0], 3 * MAX_JOBS), 0);
	submit(fixture->queues[0], jobs + MAX_JOBS, 2 * MAX_JOBS);
	for (int i = 0; i < 3 * MAX_JOBS; i++)
		assert_int_equal(expect_done(fixture, fixture->queues[0], &jobs[i], 0), expected[i]);
}

static void test_flush_ends_all_at_once(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = { { .bytes = 1 << 20 }, { .bytes = 64, .delay_ns = SIM_JOB_NEVER_DUE } };

	submit(fixture->queues[0], jobs, 2);
	sim_queue_advance(fixture->queues[0]);
	sim_queue_flush(fixture->queues[0]);
	assert_int_equal(expect_done(fixture, fixture->queues[0], &jobs[0], 0), 0);
	assert_int_equal(expect_done(fixture, fixture->queues[0], &jobs[1], -ECANCELED), 0);
}

/* ---- jobs that the owner does not poll ---- */

#define MANY_TICKS 200

static void wait_for_ticks(struct fixture *fixture, unsigned int count)
{
	while (atomic_load(&fixture->counter.num_ticks) < count)
		sched_yield();
}

/* Until the engine's thread has run the job, and has left it: it is on the caller's stack. */
static void wait_until_ran(const struct test_job *job)
{
	while (!atomic_load(&job->ran))
		sched_yield();
	sim_queue_drain(job->queue);
}

/* The machine gives the owner no CPU between its submission and its poll. */
static void test_busy_owner_runs_its_job_however_late_it_polls(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = { .bytes = 64 };

	submit(fixture->queues[0], &job, 1);
	wait_for_ticks(fixture, MANY_TICKS);
	assert_false(job.ran);
	assert_null(sim_queue_poll(fixture->queues[0]));
	assert_true(job.ran);
}

static void test_engine_runs_the_job_of_an_owner_that_is_not_waited_for(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = { .bytes = 64 };

	submit(fixture->queues[0], &job, 1);
	sim_vclock_sched_detach_thread(fixture->sched);
	wait_until_ran(&job);
}

static void test_engine_runs_the_job_of_a_thread_that_has_ended(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = { .bytes = 64 };
	struct submission submission = { fixture->queues[0], &job };
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, submit_and_end, &submission), 0);
	pthread_join(thread, NULL);
	wait_until_ran(&job);
}

/* The owner waits elsewhere, and its call does not run its jobs. */
static void test_engine_runs_the_job_when_all_wait(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = { .bytes = 64 };

	submit(fixture->queues[0], &job, 1);
	assert_false(sim_vclock_source_wait_until(fixture->source, SIM_CLOCK_NEVER_NS));
	wait_until_ran(&job);
}

/* Another participant is busy: it may be about to send that message. */
static void test_engine_leaves_the_job_while_another_participant_runs(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = { .bytes = 64 };
	struct sim_participant other = { 0 };

	assert_int_equal(sim_participant_join(&other, fixture->page, 1), 0);
	submit(fixture->queues[0], &job, 1);
	assert_false(sim_vclock_source_wait_until(fixture->source, SIM_CLOCK_NEVER_NS));
	wait_for_ticks(fixture, MANY_TICKS);
	assert_false(job.ran);
	assert_false(sim_participant_wait(&other, SIM_CLOCK_NEVER_NS, false));
	wait_until_ran(&job);
	sim_participant_leave(&other);
}

/* It spins on memory that the job writes, and no other participant waits for it. */
static void test_engine_runs_the_job_of_an_owner_that_never_polls(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = { .bytes = 64 };
	uint64_t begin_ns = sim_monotonic_ns();

	submit(fixture->queues[0], &job, 1);
	wait_until_ran(&job);
	assert_in_range(sim_monotonic_ns() - begin_ns, 20 * SIM_NS_PER_MS,
			UINT64_MAX); /* twice the patience of 10 ms */
	assert_in_range(job.ran_in_tick, 2, 22);
}

/* The ticks of many processes would leave the one that runs no CPU. */
static void expect_rare_ticks(struct fixture *fixture)
{
	uint64_t begin_ns = sim_monotonic_ns();

	wait_for_ticks(fixture, 3); /* the first one comes at once */
	assert_in_range(sim_monotonic_ns() - begin_ns, 2 * SIM_ENGINE_RARE_TICK_NS, UINT64_MAX);
}

static void test_engine_ticks_rarely_while_a_job_is_left_to_its_owner(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = { .bytes = 64 };

	fixture->counter.is_idle = true;
	sim_engine_set_virtual(fixture->engine);
	submit(fixture->queues[0], &job, 1);
	expect_rare_ticks(fixture);
	assert_false(job.ran);
	sim_queue_flush(fixture->queues[0]);
	sim_queue_drain(fixture->queues[0]);
}

static void test_engine_without_jobs_ticks_rarely_in_virtual_time(void **state)
{
	struct fixture *fixture = *state;

	fixture->counter.is_idle = true;
	sim_engine_set_virtual(fixture->engine);
	sim_engine_keep_awake(fixture->engine);
	expect_rare_ticks(fixture);
}

/* ---- an owner that blocks ---- */

static void block_for_message(struct sim_vclock_source *elsewhere)
{
	sim_vclock_source_wait_message(elsewhere);
}

static void block_for_turn(struct sim_vclock_source *elsewhere)
{
	sim_vclock_source_wait_turn(elsewhere, SIM_CLOCK_NEVER_NS);
}

static void block_for_good(struct sim_vclock_source *elsewhere)
{
	sim_vclock_sched_detach_thread(current->sched);
}

static void block_for_launch(struct sim_vclock_source *elsewhere)
{
	sim_vclock_sched_take_turn(current->sched);
}

static void expect_run_by(void (*block)(struct sim_vclock_source *elsewhere), bool other_is_busy)
{
	struct test_job job = { .bytes = 64 };
	struct sim_participant other = { 0 };
	struct sim_vclock_source *elsewhere;

	assert_int_equal(sim_participant_join(&other, current->page, 1), 0);
	assert_int_equal(sim_vclock_source_create(current->sched, &source_cfg, &elsewhere), 0);
	submit(current->queues[0], &job, 1);
	if (!other_is_busy)
		assert_false(sim_participant_wait(&other, SIM_CLOCK_NEVER_NS, false));
	block(elsewhere);
	assert_true(job.ran);
	sim_vclock_source_destroy(elsewhere);
	sim_participant_leave(&other);
	wait_until_ran(&job);
}

/* Another participant has work without end: the engine's thread would run the job by the machine's time. */
static void test_owner_that_blocks_runs_its_job_first(void **state)
{
	expect_run_by(block_for_message, true);
	expect_run_by(block_for_turn, true);
	expect_run_by(block_for_launch, false); /* its turn comes */
	expect_run_by(block_for_good, true);
}

/* The jobs behind it begin at their arrival, and the completions come when they are due. */
static void test_jobs_of_an_owner_that_blocks_end_in_time(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = { { .bytes = 64 }, { .bytes = 4096 } };
	struct sim_vclock_source *elsewhere;
	uint64_t expected[2];

	predict(fixture, jobs, 2, expected);
	assert_int_equal(sim_vclock_source_create(fixture->sched, &source_cfg, &elsewhere), 0);
	submit(fixture->queues[0], jobs, 2);
	for (int i = 0; i < 2; i++) {
		while (sim_clock_now_ns(fixture->clock) < expected[i])
			block_for_message(elsewhere);
		assert_int_equal(sim_clock_now_ns(fixture->clock), expected[i]);
		block_for_message(elsewhere);
		assert_ptr_equal(sim_queue_poll(fixture->queues[0]), &jobs[i].job);
	}
	sim_vclock_source_destroy(elsewhere);
}

/* While it blocks without a turn, other participants run: its jobs wait for the turn. */
static void test_owner_that_blocks_runs_no_job_out_of_turn(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = { .bytes = 64 };
	struct sim_participant other = { 0 };
	struct sim_vclock_source *elsewhere;

	assert_int_equal(sim_participant_join(&other, fixture->page, 1), 0);
	assert_int_equal(sim_vclock_source_create(fixture->sched, &source_cfg, &elsewhere), 0);
	assert_false(sim_vclock_source_wait_turn(elsewhere, SIM_CLOCK_NEVER_NS));
	is_other_thread = true; /* not marked as busy */
	submit(fixture->queues[0], &job, 1);
	is_other_thread = false;
	assert_false(sim_vclock_source_wait_turn(elsewhere, SIM_CLOCK_NEVER_NS));
	assert_false(job.ran);
	assert_false(sim_participant_wait(&other, SIM_CLOCK_NEVER_NS, false));
	wait_until_ran(&job);
	sim_vclock_source_destroy(elsewhere);
	sim_participant_leave(&other);
}

/* It has polled, and waits for the time of its next work. */
static void test_owner_that_waits_and_then_blocks_keeps_its_time(void **state)
{
	struct fixture *fixture = *state;
	struct sim_participant other = { 0 };
	struct sim_vclock_source *elsewhere;

	assert_int_equal(sim_participant_join(&other, fixture->page, 1), 0);
	assert_int_equal(sim_vclock_source_create(fixture->sched, &source_cfg, &elsewhere), 0);
	assert_false(sim_vclock_source_wait_until(elsewhere, 5000)); /* the other source is new */
	assert_false(sim_vclock_source_wait_until(fixture->source, 100));
	assert_false(sim_vclock_source_wait_until(fixture->source, 100));
	assert_false(sim_vclock_source_wait_turn(elsewhere, SIM_CLOCK_NEVER_NS));
	assert_int_equal(sim_clock_now_ns(fixture->clock), 0);
	sim_participant_leave(&other);
	while (sim_clock_now_ns(fixture->clock) < 100)
		sim_vclock_source_wait_turn(elsewhere, SIM_CLOCK_NEVER_NS);
	assert_int_equal(sim_clock_now_ns(fixture->clock), 100);
	sim_vclock_source_destroy(elsewhere);
}

static void *block_in_thread(void *arg)
{
	struct fixture *fixture = arg;
	struct sim_vclock_source *sources[2];

	for (int i = 0; i < 2; i++)
		sim_vclock_source_create(fixture->sched, &source_cfg, &sources[i]);
	block_for_message(sources[0]);
	for (int i = 0; i < 2; i++)
		sim_vclock_source_destroy(sources[i]);
	return NULL;
}

static void test_thread_that_blocks_leaves_the_jobs_of_others(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = { .bytes = 64 };
	pthread_t thread;

	submit(fixture->queues[0], &job, 1);
	assert_int_equal(pthread_create(&thread, NULL, block_in_thread, fixture), 0);
	pthread_join(thread, NULL);
	assert_false(job.ran);
	assert_null(sim_queue_poll(fixture->queues[0]));
}

static pthread_t destroyer;
static atomic_bool is_destroyed;
static bool was_destroyed; /* at the end of the job */

static void *destroy_queue(void *queue)
{
	sim_queue_destroy(queue);
	atomic_store(&is_destroyed, true);
	return NULL;
}

static void destroy_meanwhile(struct test_job *job)
{
	pthread_create(&destroyer, NULL, destroy_queue, job->queue);
	for (int i = 0; i < 10000 && !is_destroyed; i++)
		sched_yield();
	was_destroyed = is_destroyed;
}

/* The engine's thread comes and goes meanwhile. */
static void destroy_for_ticks(struct test_job *job)
{
	pthread_create(&destroyer, NULL, destroy_queue, job->queue);
	wait_for_ticks(current, atomic_load(&current->counter.num_ticks) + 10);
	was_destroyed = is_destroyed;
}

static void test_queue_stays_while_the_engine_runs_the_job_of_a_thread_that_has_ended(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = { .bytes = 64, .act = destroy_meanwhile };
	struct submission submission = { fixture->queues[0], &job };
	pthread_t thread;

	is_destroyed = false;
	assert_int_equal(pthread_create(&thread, NULL, submit_and_end, &submission), 0);
	pthread_join(thread, NULL);
	while (!is_destroyed)
		sched_yield();
	pthread_join(destroyer, NULL);
	fixture->queues[0] = NULL;
	assert_true(job.ran);
	assert_false(was_destroyed);
}

/* Another thread that ends the queue waits for the owner's thread, as it does for the engine's. */
static void test_queue_stays_while_its_owner_that_blocks_runs_a_job(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = { .bytes = 64, .act = destroy_for_ticks };
	struct sim_vclock_source *elsewhere;

	is_destroyed = false;
	assert_int_equal(sim_vclock_source_create(fixture->sched, &source_cfg, &elsewhere), 0);
	submit(fixture->queues[0], &job, 1);
	block_for_message(elsewhere);
	pthread_join(destroyer, NULL);
	fixture->queues[0] = NULL;
	assert_true(job.ran);
	assert_false(was_destroyed);
	sim_vclock_source_destroy(elsewhere);
}

static void test_timed_end_is_not_seen_before_the_model_says(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = { .bytes = 2 << 20 };
	uint64_t before_ns = sim_clock_now_ns(fixture->clock), expected;

	predict(fixture, &job, 1, &expected);
	submit(fixture->queues[0], &job, 1);
	while (!sim_queue_poll(fixture->queues[0]))
		;
	assert_true(sim_clock_now_ns(fixture->clock) - before_ns >= expected);
}

static void test_timed_end_that_comes_late_is_told(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = { .bytes = 2 << 20 };
	uint64_t before_ns = sim_clock_now_ns(fixture->clock), expected;

	predict(fixture, &job, 1, &expected);
	submit(fixture->queues[0], &job, 1);
	late_ns = 0;
	while (sim_clock_now_ns(fixture->clock) - before_ns < 3 * expected)
		;
	while (!sim_queue_poll(fixture->queues[0]))
		;
	assert_true(late_ns >= expected);
	assert_true(late_ns <= sim_clock_now_ns(fixture->clock) - before_ns - expected);
}

#define TEST(name)    cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
#define PATIENT(name) cmocka_unit_test_setup_teardown(test_##name, setup_patient, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ends_are_those_of_the_model_to_the_nanosecond),
		TEST(bytes_move_before_the_end),
		TEST(delay_of_the_job_comes_on_top),
		TEST(job_that_asks_nothing_of_the_card_takes_no_time),
		TEST(queues_are_served_by_arrival),
		TEST(jobs_of_one_thread_arrive_in_the_order_of_its_doorbells),
		TEST(doorbell_of_the_second_queue_may_be_first),
		TEST(growth_keeps_the_times_of_jobs_in_flight),
		TEST(flush_ends_all_at_once),
		PATIENT(busy_owner_runs_its_job_however_late_it_polls),
		PATIENT(engine_runs_the_job_of_an_owner_that_is_not_waited_for),
		PATIENT(engine_runs_the_job_of_a_thread_that_has_ended),
		PATIENT(engine_runs_the_job_when_all_wait),
		PATIENT(engine_leaves_the_job_while_another_participant_runs),
		PATIENT(owner_that_blocks_runs_its_job_first),
		PATIENT(jobs_of_an_owner_that_blocks_end_in_time),
		PATIENT(owner_that_blocks_runs_no_job_out_of_turn),
		PATIENT(owner_that_waits_and_then_blocks_keeps_its_time),
		PATIENT(thread_that_blocks_leaves_the_jobs_of_others),
		PATIENT(queue_stays_while_the_engine_runs_the_job_of_a_thread_that_has_ended),
		PATIENT(queue_stays_while_its_owner_that_blocks_runs_a_job),
		cmocka_unit_test_setup_teardown(test_engine_runs_the_job_of_an_owner_that_never_polls, setup_impatient,
						teardown),
		PATIENT(engine_ticks_rarely_while_a_job_is_left_to_its_owner),
		PATIENT(engine_without_jobs_ticks_rarely_in_virtual_time),
		cmocka_unit_test_setup_teardown(test_timed_end_is_not_seen_before_the_model_says, setup_timed,
						teardown),
		cmocka_unit_test_setup_teardown(test_timed_end_that_comes_late_is_told, setup_timed, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/engine/queue.h with a clock: jobs that take the time of a card's model. Virtual time, so that each is exact. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cmocka_test.h"
#include "sim/clock/vclock_sched.h"
#include "sim/engine/engine.h"
#include "sim/engine/queue.h"

#define TOPOLOGY "cards: [{profile: bluefield-3, functions: [{side: dpu, type: pf, pci: '03:00.0'}]}]\n"
#define MAX_JOBS 64

struct fixture {
	struct sim_clock_page *page;
	struct pcie_topology *topology;
	struct sim_clock *clock;
	struct sim_vclock_sched *sched;
	struct sim_vclock_source *source;
	struct sim_engine *engine;
	struct sim_queue *queues[2];
};

struct test_job {
	struct sim_job job; /* first */
	uint64_t bytes;     /* 0 = takes no time */
	uint64_t delay_ns;
	struct sim_queue *queue;
	bool ran;
};

static int run(struct sim_job *job)
{
	struct test_job *test = (struct test_job *)job;

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

static struct fixture *current;

static _Thread_local bool is_other_thread; /* the source is the main thread's */

static void mark_busy(void *arg)
{
	if (!is_other_thread)
		sim_vclock_source_mark_busy(current->source);
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
		.clock = fixture->clock, .work = work, .mark_busy = mark_busy, .is_late = is_late
	};
	int rc = sim_queue_create(fixture->engine, MAX_JOBS, notify, fixture, ret_queue);

	return rc < 0 ? rc : sim_queue_set_clock(*ret_queue, &time);
}

static const struct sim_vclock_source_cfg source_cfg = { .wake = notify };

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
	return open_queue(fixture, &fixture->queues[0]) < 0 || open_queue(fixture, &fixture->queues[1]) < 0;
}

static int setup(void **state)
{
	return open_with(state, SIM_CLOCK_VIRTUAL);
}

static int setup_timed(void **state)
{
	return open_with(state, SIM_CLOCK_TIMED);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

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

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

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
		cmocka_unit_test_setup_teardown(test_timed_end_is_not_seen_before_the_model_says, setup_timed,
						teardown),
		cmocka_unit_test_setup_teardown(test_timed_end_that_comes_late_is_told, setup_timed, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

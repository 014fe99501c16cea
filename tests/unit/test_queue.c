/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/engine/queue.h with its owner polling: order, errors, flush, unsignaled jobs. test_engine.c tests the
 * engine's own thread; where that thread could be first here, both orders have one outcome. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "cmocka_test.h"
#include "sim/engine/engine.h"
#include "sim/engine/queue.h"

#define MAX_JOBS 5 /* no power of two: the ring is larger than what may be in it */

struct fixture {
	struct sim_engine *engine;
	struct sim_queue *queue;
	int notified;
	char trace[1024];
};

struct test_job {
	struct sim_job job; /* first */
	struct fixture *fixture;
	int number;
	int result; /* what it returns */
};

static void note(struct fixture *fixture, const char *event, int number)
{
	size_t used = strlen(fixture->trace);

	snprintf(fixture->trace + used, sizeof(fixture->trace) - used, "%s%d ", event, number);
}

static int run(struct sim_job *job)
{
	struct test_job *test = (struct test_job *)job;

	note(test->fixture, "run", test->number);
	return test->result;
}

/* Called in this thread only while no job waits for the engine's thread. */
static void notify(void *arg)
{
	((struct fixture *)arg)->notified++;
}

static int setup(void **state)
{
	static struct fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	if (sim_engine_create(&fixture.engine) < 0)
		return -1;
	*state = &fixture;
	return sim_queue_create(fixture.engine, MAX_JOBS, notify, &fixture, &fixture.queue);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	sim_queue_destroy(fixture->queue);
	sim_engine_destroy(fixture->engine);
	return 0;
}

static struct test_job make(struct fixture *fixture, int number)
{
	return (struct test_job){ .job.run = run, .fixture = fixture, .number = number };
}

#define make_three(fixture)                                                \
	{                                                                  \
		make((fixture), 0), make((fixture), 1), make((fixture), 2) \
	}

static void submit(struct fixture *fixture, struct test_job *jobs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_int_equal(sim_queue_submit(fixture->queue, &jobs[i].job), 0);
}

/* Poll until a job completes; @status is its status. */
static void expect_done(struct fixture *fixture, const struct test_job *job, int status)
{
	struct sim_job *done;

	do
		done = sim_queue_poll(fixture->queue);
	while (!done);
	assert_ptr_equal(done, &job->job);
	assert_int_equal(done->status, status);
}

static void expect_nothing(struct fixture *fixture)
{
	sim_queue_drain(fixture->queue);
	assert_false(sim_queue_has_done(fixture->queue));
	assert_null(sim_queue_poll(fixture->queue));
}

#define expect_trace(fixture, expected) assert_string_equal((fixture)->trace, (expected))

/* ---- order ---- */

/* A poll finds nothing while the engine's thread runs the job: seldom. In a shuffled queue a quarter of the polls does. */
static void test_queue_without_a_seed_finds_jobs_at_the_first_poll(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = make(fixture, 0);
	int num_late = 0;

	sim_queue_set_shuffle(fixture->queue, 0);
	for (int i = 0; i < 400; i++) {
		fixture->trace[0] = '\0';
		submit(fixture, &job, 1);
		sim_queue_doorbell(fixture->queue);
		if (sim_queue_poll(fixture->queue))
			continue;
		num_late++;
		while (!sim_queue_poll(fixture->queue))
			sched_yield();
	}
	assert_in_range(num_late, 0, 40);
}

static void test_jobs_run_and_complete_in_order(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = make_three(fixture);

	submit(fixture, jobs, 3);
	sim_queue_doorbell(fixture->queue);
	for (size_t i = 0; i < 3; i++)
		expect_done(fixture, &jobs[i], 0);
	expect_nothing(fixture);
	expect_trace(fixture, "run0 run1 run2 ");
}

/* A ring of 8 slots and 5 jobs at most, 20 times around. */
static void test_ring_is_used_again_and_again(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[MAX_JOBS];

	for (int i = 0; i < MAX_JOBS; i++)
		jobs[i] = make(fixture, i);
	for (int round = 0; round < 32; round++) {
		submit(fixture, jobs, MAX_JOBS);
		sim_queue_doorbell(fixture->queue);
		for (int i = 0; i < MAX_JOBS; i++)
			expect_done(fixture, &jobs[i], 0);
		expect_trace(fixture, "run0 run1 run2 run3 run4 ");
		fixture->trace[0] = '\0';
	}
}

/* ---- how many ---- */

static void test_full_queue_takes_no_more(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[MAX_JOBS + 1];

	for (int i = 0; i <= MAX_JOBS; i++)
		jobs[i] = make(fixture, i);
	submit(fixture, jobs, MAX_JOBS);
	assert_int_equal(sim_queue_submit(fixture->queue, &jobs[MAX_JOBS].job), -EAGAIN);
	sim_queue_doorbell(fixture->queue);
	sim_queue_drain(fixture->queue); /* done, but not reaped: still in flight */
	assert_int_equal(sim_queue_submit(fixture->queue, &jobs[MAX_JOBS].job), -EAGAIN);
	expect_done(fixture, &jobs[0], 0);
	assert_int_equal(sim_queue_submit(fixture->queue, &jobs[MAX_JOBS].job), 0);
	assert_int_equal(sim_queue_in_flight(fixture->queue), MAX_JOBS);
}

/* The first job was staged before; the doorbell is for both. A queue that is full rings none. */
static void test_submit_now_queues_what_is_staged(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[MAX_JOBS + 1];

	for (int i = 0; i <= MAX_JOBS; i++)
		jobs[i] = make(fixture, i);
	submit(fixture, jobs, 1);
	assert_int_equal(sim_queue_submit_now(fixture->queue, &jobs[1].job), 0);
	assert_int_equal(sim_queue_num_staged(fixture->queue), 0);
	submit(fixture, jobs + 2, MAX_JOBS - 2);
	assert_int_equal(sim_queue_submit_now(fixture->queue, &jobs[MAX_JOBS].job), -EAGAIN);
	assert_int_equal(sim_queue_num_staged(fixture->queue), MAX_JOBS - 2);
	for (int i = 0; i < 2; i++)
		expect_done(fixture, &jobs[i], 0);
	expect_nothing(fixture);
}

/* Jobs are staged, done and in flight when the queue grows past its ring of 8 slots. */
static void test_queue_grows_with_jobs_in_flight(void **state)
{
	enum { MANY = 40 };
	struct fixture *fixture = *state;
	struct test_job jobs[MANY];

	for (int i = 0; i < MANY; i++)
		jobs[i] = make(fixture, i % 10);
	submit(fixture, jobs, 3);
	sim_queue_doorbell(fixture->queue);
	expect_done(fixture, &jobs[0], 0);
	submit(fixture, jobs + 3, 3);
	assert_int_equal(sim_queue_submit(fixture->queue, &jobs[6].job), -EAGAIN);
	assert_int_equal(sim_queue_grow(fixture->queue, MAX_JOBS + 2), 0); /* in the same ring */
	submit(fixture, jobs + 6, 2);
	assert_int_equal(sim_queue_submit(fixture->queue, &jobs[8].job), -EAGAIN);
	assert_int_equal(sim_queue_grow(fixture->queue, MANY), 0);
	submit(fixture, jobs + 8, MANY - 8);
	sim_queue_doorbell(fixture->queue);
	for (int i = 1; i < MANY; i++)
		expect_done(fixture, &jobs[i], 0);
	expect_nothing(fixture);
}

static void test_in_flight_counts_from_submit_to_reap(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = make_three(fixture);

	assert_int_equal(sim_queue_in_flight(fixture->queue), 0);
	submit(fixture, jobs, 3);
	assert_int_equal(sim_queue_in_flight(fixture->queue), 3);
	sim_queue_doorbell(fixture->queue);
	sim_queue_drain(fixture->queue);
	assert_int_equal(sim_queue_in_flight(fixture->queue), 3);
	for (uint32_t left = 3; left > 0; left--) {
		expect_done(fixture, &jobs[3 - left], 0);
		assert_int_equal(sim_queue_in_flight(fixture->queue), left - 1);
	}
}

/* More than counters can tell apart; the size of the ring would wrap around to 0. */
static void test_queue_of_billions_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct sim_queue *queue = NULL;

	assert_int_equal(sim_queue_create(fixture->engine, UINT32_MAX, notify, NULL, &queue), -ENOMEM);
	assert_int_equal(sim_queue_create(fixture->engine, (UINT32_C(1) << 31) + 1, notify, NULL, &queue), -ENOMEM);
	assert_null(queue);
}

static void test_queue_for_one_job_works(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = make(fixture, 7);
	struct sim_queue *queue;

	assert_int_equal(sim_queue_create(fixture->engine, 1, notify, fixture, &queue), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(sim_queue_submit(queue, &job.job), 0);
		assert_int_equal(sim_queue_submit(queue, &job.job), -EAGAIN);
		sim_queue_doorbell(queue);
		sim_queue_drain(queue);
		assert_ptr_equal(sim_queue_poll(queue), &job.job);
	}
	sim_queue_destroy(queue);
}

/* ---- the doorbell ---- */

static void test_staged_jobs_wait_for_the_doorbell(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = make_three(fixture);

	submit(fixture, jobs, 2);
	expect_nothing(fixture);
	expect_trace(fixture, "");
	sim_queue_doorbell(fixture->queue);
	submit(fixture, &jobs[2], 1);
	expect_done(fixture, &jobs[0], 0);
	expect_done(fixture, &jobs[1], 0);
	expect_nothing(fixture);
	expect_trace(fixture, "run0 run1 ");
	assert_int_equal(sim_queue_in_flight(fixture->queue), 1);
}

/* ---- errors and flush ---- */

static void test_failed_job_cancels_those_behind(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = make_three(fixture);

	jobs[1].result = -EIO;
	submit(fixture, jobs, 3);
	sim_queue_doorbell(fixture->queue);
	expect_done(fixture, &jobs[0], 0);
	expect_done(fixture, &jobs[1], -EIO);
	expect_done(fixture, &jobs[2], -ECANCELED);
	expect_trace(fixture, "run0 run1 ");
}

static void test_queue_in_error_takes_jobs_and_cancels_them(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = make_three(fixture);

	jobs[0].result = -EIO;
	submit(fixture, jobs, 1);
	sim_queue_doorbell(fixture->queue);
	expect_done(fixture, &jobs[0], -EIO);
	submit(fixture, &jobs[1], 2);
	sim_queue_doorbell(fixture->queue);
	expect_done(fixture, &jobs[1], -ECANCELED);
	expect_done(fixture, &jobs[2], -ECANCELED);
	expect_trace(fixture, "run0 ");
}

/* Of three, one has run; the others are staged, and never will. */
static void test_flush_cancels_what_has_not_started(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = make_three(fixture);

	submit(fixture, jobs, 1);
	sim_queue_doorbell(fixture->queue);
	sim_queue_drain(fixture->queue);
	submit(fixture, &jobs[1], 2);
	sim_queue_flush(fixture->queue);
	expect_done(fixture, &jobs[0], 0);
	expect_done(fixture, &jobs[1], -ECANCELED);
	expect_done(fixture, &jobs[2], -ECANCELED);
	expect_nothing(fixture);
	expect_trace(fixture, "run0 ");
}

static void test_flush_of_empty_queue_cancels_what_comes(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = make(fixture, 0);

	sim_queue_flush(fixture->queue);
	expect_nothing(fixture);
	submit(fixture, &job, 1);
	sim_queue_doorbell(fixture->queue);
	expect_done(fixture, &job, -ECANCELED);
	expect_trace(fixture, "");
}

/* ---- unsignaled jobs ---- */

static void test_unsignaled_jobs_are_reported_with_the_next_one_that_is_not(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = make_three(fixture);

	jobs[0].job.unsignaled = jobs[1].job.unsignaled = true;
	submit(fixture, jobs, 2);
	sim_queue_doorbell(fixture->queue);
	expect_nothing(fixture);
	expect_trace(fixture, "run0 run1 ");
	submit(fixture, &jobs[2], 1);
	sim_queue_doorbell(fixture->queue);
	for (size_t i = 0; i < 3; i++)
		expect_done(fixture, &jobs[i], 0);
}

static void test_job_before_a_unsignaled_one_is_reported_alone(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = make_three(fixture);

	jobs[1].job.unsignaled = true;
	submit(fixture, jobs, 2);
	sim_queue_doorbell(fixture->queue);
	expect_done(fixture, &jobs[0], 0);
	expect_nothing(fixture);
}

static void test_unsignaled_job_that_fails_is_reported(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = make_three(fixture);

	jobs[0].job.unsignaled = jobs[1].job.unsignaled = jobs[2].job.unsignaled = true;
	jobs[1].result = -EIO;
	submit(fixture, jobs, 3);
	sim_queue_doorbell(fixture->queue);
	expect_done(fixture, &jobs[0], 0);
	expect_done(fixture, &jobs[1], -EIO);
	expect_done(fixture, &jobs[2], -ECANCELED);
}

static void test_flush_reports_the_unsignaled_jobs(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = make_three(fixture);

	jobs[0].job.unsignaled = jobs[1].job.unsignaled = true;
	submit(fixture, jobs, 1);
	sim_queue_doorbell(fixture->queue);
	expect_nothing(fixture);
	submit(fixture, &jobs[1], 1);
	sim_queue_flush(fixture->queue);
	expect_done(fixture, &jobs[0], 0);
	expect_done(fixture, &jobs[1], -ECANCELED);
	expect_nothing(fixture);
}

/* ---- notify, as far as the owner's own calls cause it ---- */

static void test_notify_is_called_once_a_wish(void **state)
{
	struct fixture *fixture = *state;

	sim_queue_notify(fixture->queue);
	assert_int_equal(fixture->notified, 0);
	sim_queue_set_notify(fixture->queue, true);
	sim_queue_notify(fixture->queue);
	sim_queue_notify(fixture->queue);
	assert_int_equal(fixture->notified, 1);
	sim_queue_set_notify(fixture->queue, true);
	sim_queue_set_notify(fixture->queue, false);
	sim_queue_notify(fixture->queue);
	assert_int_equal(fixture->notified, 1);
}

static void test_flush_notifies_if_something_is_in_flight(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = make(fixture, 0);

	sim_queue_set_notify(fixture->queue, true);
	sim_queue_flush(fixture->queue);
	assert_int_equal(fixture->notified, 0);
	submit(fixture, &job, 1);
	sim_queue_flush(fixture->queue);
	assert_int_equal(fixture->notified, 1);
	expect_done(fixture, &job, -ECANCELED);
}

/* ---- the end ---- */

static void test_null_is_destroyed_without_harm(void **state)
{
	sim_queue_destroy(NULL);
	sim_engine_destroy(NULL);
}

static void test_queue_with_jobs_is_destroyed(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = make_three(fixture);

	submit(fixture, jobs, 3);
	sim_queue_destroy(fixture->queue);
	fixture->queue = NULL;
	expect_trace(fixture, "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_queue_without_a_seed_finds_jobs_at_the_first_poll),
		TEST(test_jobs_run_and_complete_in_order),
		TEST(test_ring_is_used_again_and_again),
		TEST(test_full_queue_takes_no_more),
		TEST(test_submit_now_queues_what_is_staged),
		TEST(test_queue_grows_with_jobs_in_flight),
		TEST(test_in_flight_counts_from_submit_to_reap),
		TEST(test_queue_of_billions_is_refused),
		TEST(test_queue_for_one_job_works),
		TEST(test_staged_jobs_wait_for_the_doorbell),
		TEST(test_failed_job_cancels_those_behind),
		TEST(test_queue_in_error_takes_jobs_and_cancels_them),
		TEST(test_flush_cancels_what_has_not_started),
		TEST(test_flush_of_empty_queue_cancels_what_comes),
		TEST(test_unsignaled_jobs_are_reported_with_the_next_one_that_is_not),
		TEST(test_job_before_a_unsignaled_one_is_reported_alone),
		TEST(test_unsignaled_job_that_fails_is_reported),
		TEST(test_flush_reports_the_unsignaled_jobs),
		TEST(test_notify_is_called_once_a_wish),
		TEST(test_flush_notifies_if_something_is_in_flight),
		TEST(test_null_is_destroyed_without_harm),
		TEST(test_queue_with_jobs_is_destroyed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

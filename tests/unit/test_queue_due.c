/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/engine/queue.h: jobs whose completions are deferred until they are due. */
#include <errno.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

#include "cmocka_test.h"
#include "sim/base/monotonic.h"
#include "sim/engine/engine_priv.h"
#include "sim/engine/queue.h"

#define MAX_JOBS   8
#define MS         1000000u
#define DEADLINE_S 60 /* only a lost job reaches it */

struct fixture {
	struct sim_engine *engine;
	struct sim_queue *queue;
	sem_t notified;
};

struct test_job {
	struct sim_job job; /* first */
	uint64_t delay_ns;  /* 0 = not deferred, SIM_JOB_NEVER_DUE */
	int result;
	bool ran;
};

static int run(struct sim_job *job)
{
	struct test_job *test = (struct test_job *)job;

	test->ran = true;
	job->held = test->delay_ns > 0;
	job->due_ns = test->delay_ns == SIM_JOB_NEVER_DUE ? SIM_JOB_NEVER_DUE : sim_monotonic_ns() + test->delay_ns;
	return test->result;
}

static void notify(void *arg)
{
	sem_post(&((struct fixture *)arg)->notified);
}

static int setup(void **state)
{
	static struct fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	sem_init(&fixture.notified, 0, 0);
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
	sem_destroy(&fixture->notified);
	return 0;
}

static void submit(struct fixture *fixture, struct test_job *jobs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		jobs[i].job.run = run;
		assert_int_equal(sim_queue_submit(fixture->queue, &jobs[i].job), 0);
	}
	sim_queue_doorbell(fixture->queue);
}

static void expect_done(struct fixture *fixture, const struct test_job *job, int status)
{
	struct sim_job *done;

	do
		done = sim_queue_poll(fixture->queue);
	while (!done);
	assert_ptr_equal(done, &job->job);
	assert_int_equal(done->status, status);
}

static void expect_notified(struct fixture *fixture)
{
	struct timespec until;
	int rc;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += DEADLINE_S;
	do
		rc = sem_timedwait(&fixture->notified, &until);
	while (rc < 0 && errno == EINTR);
	assert_int_equal(rc, 0);
}

static void test_end_is_not_seen_before_it_is_due(void **state)
{
	struct test_job job = { .delay_ns = 5 * MS };

	submit(*state, &job, 1);
	expect_done(*state, &job, 0);
	assert_true(sim_monotonic_ns() >= job.job.due_ns);
}

static void test_jobs_behind_run_at_once_and_end_in_turn(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = { { .delay_ns = 20 * MS }, { .delay_ns = 0 }, { .delay_ns = MS } };

	submit(fixture, jobs, 3);
	sim_queue_drain(fixture->queue);
	assert_true(jobs[1].ran && jobs[2].ran);
	assert_int_equal(sim_queue_in_flight(fixture->queue), 3);
	expect_done(fixture, &jobs[0], 0);
	assert_true(sim_monotonic_ns() >= jobs[0].job.due_ns);
	expect_done(fixture, &jobs[1], 0);
	expect_done(fixture, &jobs[2], 0);
	assert_true(sim_monotonic_ns() >= jobs[2].job.due_ns);
}

static void test_end_that_is_never_due_is_canceled_by_a_flush(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = { { .delay_ns = SIM_JOB_NEVER_DUE },
				   { .delay_ns = 0 },
				   { .delay_ns = 3600000ull * MS } };

	submit(fixture, jobs, 3);
	sim_queue_drain(fixture->queue);
	assert_null(sim_queue_poll(fixture->queue));
	sim_queue_flush(fixture->queue);
	expect_done(fixture, &jobs[0], -ECANCELED);
	expect_done(fixture, &jobs[1], 0); /* the job has run */
	expect_done(fixture, &jobs[2], 0); /* and the flush does not wait an hour for this one */
}

static void test_failure_that_is_held_back_comes_in_turn(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = { { .delay_ns = MS }, { .delay_ns = 2 * MS, .result = -EIO }, { .delay_ns = 0 } };

	submit(fixture, jobs, 3);
	expect_done(fixture, &jobs[0], 0);
	assert_true(sim_monotonic_ns() >= jobs[0].job.due_ns);
	expect_done(fixture, &jobs[1], -EIO);
	assert_true(sim_monotonic_ns() >= jobs[1].job.due_ns);
	expect_done(fixture, &jobs[2], -ECANCELED);
	assert_false(jobs[2].ran);
}

static void test_unsignaled_jobs_that_are_held_back_are_reported_with_the_next(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = { { .delay_ns = MS, .job.unsignaled = true }, { .delay_ns = MS } };

	submit(fixture, jobs, 2);
	expect_done(fixture, &jobs[0], 0);
	expect_done(fixture, &jobs[1], 0);
}

static void test_sleeping_owner_is_notified_when_it_is_due(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = { .delay_ns = 20 * MS };

	submit(fixture, &job, 1);
	sim_queue_set_notify(fixture->queue, true);
	sim_queue_drain(fixture->queue);
	sim_queue_arm_timer(fixture->queue);
	expect_notified(fixture);
	assert_true(sim_monotonic_ns() >= job.job.due_ns);
	expect_done(fixture, &job, 0);
}

/* The engine has been asleep for long when the owner polls. */
static void test_owner_of_a_late_end_is_notified_however_long_it_takes(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = { { .delay_ns = 100 * MS }, { .delay_ns = 0 } };

	submit(fixture, jobs, 2);
	sim_queue_drain(fixture->queue);
	sim_queue_set_notify(fixture->queue, true);
	sim_queue_arm_timer(fixture->queue);
	expect_notified(fixture);
	expect_done(fixture, &jobs[0], 0);
	expect_done(fixture, &jobs[1], 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(end_is_not_seen_before_it_is_due),
		TEST(jobs_behind_run_at_once_and_end_in_turn),
		TEST(end_that_is_never_due_is_canceled_by_a_flush),
		TEST(failure_that_is_held_back_comes_in_turn),
		TEST(unsignaled_jobs_that_are_held_back_are_reported_with_the_next),
		TEST(sleeping_owner_is_notified_when_it_is_due),
		TEST(owner_of_a_late_end_is_notified_however_long_it_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

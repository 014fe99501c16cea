/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/engine/engine.h: the thread that runs jobs without a polling owner. Waiting is for a condition, with a
 * deadline that only a lost job reaches. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

#include "cmocka_test.h"
#include "proc.h"
#include "sim/base/monotonic.h"
#include "sim/engine/engine_priv.h"
#include "sim/engine/queue.h"

#define DEADLINE_S 60
#define MAX_JOBS   8

struct fixture {
	struct sim_engine *engine;
	struct sim_queue *queue;
	sem_t ran, notified;
};

struct test_job {
	struct sim_job job; /* first */
	sem_t *ran;         /* posted when it runs; may be NULL */
	pthread_t thread;   /* the thread that it ran in */
	sem_t *gate;        /* the job waits for this; may be NULL */
	int result;
	int data; /* written by the job with a plain store: the owner that reaps it may read it */
};

static struct timespec deadline(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += DEADLINE_S;
	return until;
}

/* Wait for a post; false at the deadline. */
static bool comes(sem_t *sem)
{
	struct timespec until = deadline();
	int rc;

	do
		rc = sem_timedwait(sem, &until);
	while (rc < 0 && errno == EINTR);
	return rc == 0;
}

static int run(struct sim_job *job)
{
	struct test_job *test = (struct test_job *)job;

	test->thread = pthread_self();
	test->data++;
	if (test->ran)
		sem_post(test->ran);
	if (test->gate && !comes(test->gate))
		return -ETIMEDOUT;
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
	sem_init(&fixture.ran, 0, 0);
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
	sem_destroy(&fixture->ran);
	sem_destroy(&fixture->notified);
	return 0;
}

static struct test_job make(struct fixture *fixture)
{
	return (struct test_job){ .job.run = run, .ran = &fixture->ran };
}

static void ring(struct sim_queue *queue, struct test_job *job)
{
	assert_int_equal(sim_queue_submit(queue, &job->job), 0);
	sim_queue_doorbell(queue);
}

static void expect_done(struct sim_queue *queue, const struct test_job *job, int status)
{
	struct sim_job *done;

	sim_queue_drain(queue);
	done = sim_queue_poll(queue);
	assert_ptr_equal(done, &job->job);
	assert_int_equal(done->status, status);
}

/* ---- jobs without a polling owner ---- */

static void test_job_without_a_polling_owner_runs_in_the_engines_thread(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = make(fixture);

	ring(fixture->queue, &job);
	assert_true(comes(&fixture->ran));
	expect_done(fixture->queue, &job, 0);
	assert_false(pthread_equal(job.thread, pthread_self()));
	assert_int_equal(job.data, 1);
}

static void test_jobs_without_a_polling_owner_run_in_order_and_once(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[MAX_JOBS];

	for (size_t i = 0; i < MAX_JOBS; i++) {
		jobs[i] = make(fixture);
		ring(fixture->queue, &jobs[i]);
	}
	for (size_t i = 0; i < MAX_JOBS; i++)
		assert_true(comes(&fixture->ran));
	for (size_t i = 0; i < MAX_JOBS; i++) {
		expect_done(fixture->queue, &jobs[i], 0);
		assert_int_equal(jobs[i].data, 1);
	}
}

/* The unsignaled job fails, in the engine's thread; what comes behind it is cancelled there. */
static void test_jobs_without_a_polling_owner_behind_a_failed_one_are_cancelled(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = { make(fixture), make(fixture) };

	jobs[0].result = -EIO;
	sim_queue_set_notify(fixture->queue, true);
	assert_int_equal(sim_queue_submit(fixture->queue, &jobs[0].job), 0);
	ring(fixture->queue, &jobs[1]);
	assert_true(comes(&fixture->notified));
	expect_done(fixture->queue, &jobs[0], -EIO);
	expect_done(fixture->queue, &jobs[1], -ECANCELED);
	assert_int_equal(jobs[1].data, 0);
}

/* Two owners that do not poll: neither job waits for the other owner's next call. */
static void test_jobs_without_a_polling_owner_of_all_queues_run(void **state)
{
	struct fixture *fixture = *state;
	struct sim_queue *queues[3];
	struct test_job jobs[3];

	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(sim_queue_create(fixture->engine, 1, notify, fixture, &queues[i]), 0);
		jobs[i] = make(fixture);
		ring(queues[i], &jobs[i]);
	}
	for (size_t i = 0; i < 3; i++)
		assert_true(comes(&fixture->ran));
	for (size_t i = 0; i < 3; i++) {
		expect_done(queues[i], &jobs[i], 0);
		sim_queue_destroy(queues[i]);
	}
}

/* While the engine's thread is in a job, the owner's poll does not start another, and does not wait. */
static void test_poll_beside_a_running_job_finds_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = { make(fixture), make(fixture) };
	sem_t gate;

	sem_init(&gate, 0, 0);
	jobs[0].gate = &gate;
	ring(fixture->queue, &jobs[0]);
	assert_true(comes(&fixture->ran));
	ring(fixture->queue, &jobs[1]);
	assert_null(sim_queue_poll(fixture->queue));
	assert_int_equal(jobs[1].data, 0);
	sem_post(&gate);
	expect_done(fixture->queue, &jobs[0], 0);
	expect_done(fixture->queue, &jobs[1], 0);
	sem_destroy(&gate);
}

/* A job that runs at the flush ends as usual; later jobs are cancelled. */
static void test_flush_beside_a_running_job_spares_it(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[] = { make(fixture), make(fixture) };
	sem_t gate;

	sem_init(&gate, 0, 0);
	jobs[0].gate = &gate;
	jobs[0].job.unsignaled = true;
	ring(fixture->queue, &jobs[0]);
	assert_true(comes(&fixture->ran));
	assert_int_equal(sim_queue_submit(fixture->queue, &jobs[1].job), 0);
	sim_queue_set_notify(fixture->queue, true);
	sim_queue_flush(fixture->queue);
	assert_true(comes(&fixture->notified));
	sem_post(&gate);
	expect_done(fixture->queue, &jobs[0], 0);
	expect_done(fixture->queue, &jobs[1], -ECANCELED);
	sem_destroy(&gate);
}

/* ---- notify ---- */

static void test_job_that_the_engines_thread_finishes_notifies(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = make(fixture);

	for (int i = 0; i < 20; i++) {
		sim_queue_set_notify(fixture->queue, true);
		ring(fixture->queue, &job);
		assert_true(comes(&fixture->notified));
		assert_true(sim_queue_has_done(fixture->queue));
		expect_done(fixture->queue, &job, 0);
	}
}

/* The order makes waiting unnecessary: when a second queue's job has run, in a later turn of the one thread, the
 * thread has handled the first queue's. */
static void test_notify_is_not_called_without_a_wish_nor_for_unsignaled_jobs(void **state)
{
	struct fixture *fixture = *state;
	struct test_job unsignaled = make(fixture), signaled = make(fixture), other_job = make(fixture);
	struct sim_queue *other;

	assert_int_equal(sim_queue_create(fixture->engine, 1, notify, fixture, &other), 0);
	ring(fixture->queue, &signaled);
	assert_true(comes(&fixture->ran));
	ring(other, &other_job);
	assert_true(comes(&fixture->ran));
	expect_done(other, &other_job, 0);
	expect_done(fixture->queue, &signaled, 0);

	unsignaled.job.unsignaled = true;
	sim_queue_set_notify(fixture->queue, true);
	ring(fixture->queue, &unsignaled);
	assert_true(comes(&fixture->ran));
	ring(other, &other_job);
	assert_true(comes(&fixture->ran));
	assert_int_equal(sem_trywait(&fixture->notified), -1);

	ring(fixture->queue, &signaled);
	assert_true(comes(&fixture->notified));
	expect_done(fixture->queue, &unsignaled, 0);
	expect_done(fixture->queue, &signaled, 0);
	sim_queue_destroy(other);
}

/* ---- sleep and wake ---- */

static void wait_until_asleep(const struct fixture *fixture, bool closely)
{
	struct timespec until = deadline(), now;

	while (atomic_load(&fixture->engine->awake)) {
		if (closely)
			sched_yield();
		else
			poll(NULL, 0, 1);
		clock_gettime(CLOCK_REALTIME, &now);
		assert_true(now.tv_sec < until.tv_sec);
	}
}

/* The thread gives up after a while without jobs and announces its sleep. A doorbell right after that must not be
 * lost, nor a later one. */
static void test_doorbell_wakes_the_sleeping_thread(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = make(fixture);

	for (int i = 0; i < 200; i++) {
		ring(fixture->queue, &job);
		assert_true(comes(&fixture->ran));
		expect_done(fixture->queue, &job, 0);
		wait_until_asleep(fixture, i % 4);
	}
	assert_int_equal(job.data, 200);
}

#define IDLE_QUEUES (PROC_IS_SLOW ? 2500 : 20000)

/* Watch the thread make @looks turns, by the lock that it holds meanwhile, and return inside the last turn; or
 * when it has given up before. */
static void wait_inside_look(struct sim_engine *engine, int looks)
{
	while (looks > 0 && atomic_load(&engine->awake)) {
		if (pthread_mutex_trylock(&engine->lock) == 0) {
			pthread_mutex_unlock(&engine->lock);
			continue;
		}
		if (--looks == 0)
			return;
		pthread_mutex_lock(&engine->lock); /* until this turn is over */
		pthread_mutex_unlock(&engine->lock);
	}
}

/* The critical window: the thread has polled our queue for the last time, and has not announced its sleep, so that
 * the doorbell wakes no thread; its second poll must find the job. Idle queues behind ours make that turn long, so
 * that the doorbell falls into it. */
static void test_doorbell_while_the_thread_gives_up_is_not_lost(void **state)
{
	static struct sim_queue *idle[IDLE_QUEUES];
	struct fixture *fixture = *state;
	struct test_job job = make(fixture);
	struct sim_queue *ours;

	for (size_t i = 0; i < IDLE_QUEUES; i++)
		assert_int_equal(sim_queue_create(fixture->engine, 1, notify, fixture, &idle[i]), 0);
	assert_int_equal(sim_queue_create(fixture->engine, 1, notify, fixture, &ours), 0);
	for (int round = 0; round < 40; round++) {
		ring(ours, &job);
		assert_true(comes(&fixture->ran));
		expect_done(ours, &job, 0);
		wait_inside_look(fixture->engine, 19 + round % 4); /* it gives up after 20 or so */
	}
	sim_queue_destroy(ours);
	for (size_t i = 0; i < IDLE_QUEUES; i++)
		sim_queue_destroy(idle[i]);
}

/* An owner that polls runs its own jobs, and the thread goes to sleep. */
static void test_thread_sleeps_though_a_polled_queue_exists(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = make(fixture);

	job.ran = NULL;
	ring(fixture->queue, &job);
	expect_done(fixture->queue, &job, 0);
	wait_until_asleep(fixture, false);
	assert_null(sim_queue_poll(fixture->queue));
}

/* ---- both at once ---- */

#define CROWD 3000

/* The owner polls now and then: jobs run in both threads, each once, all in order. */
static void test_owner_and_thread_share_the_work(void **state)
{
	struct fixture *fixture = *state;
	struct test_job jobs[MAX_JOBS];
	uint32_t submitted = 0, reaped = 0;

	for (size_t i = 0; i < MAX_JOBS; i++) {
		jobs[i] = make(fixture);
		jobs[i].ran = NULL;
	}
	while (reaped < CROWD) {
		struct sim_job *done;

		while (submitted < CROWD && sim_queue_in_flight(fixture->queue) < MAX_JOBS)
			ring(fixture->queue, &jobs[submitted++ % MAX_JOBS]);
		if (reaped % 512 == 511) { /* leave the next ones to the thread */
			sim_queue_set_notify(fixture->queue, true);
			if (!sim_queue_has_done(fixture->queue))
				assert_true(comes(&fixture->notified));
		}
		done = sim_queue_poll(fixture->queue);
		if (!done)
			continue;
		assert_ptr_equal(done, &jobs[reaped % MAX_JOBS].job);
		assert_int_equal(jobs[reaped % MAX_JOBS].data, (int)(reaped / MAX_JOBS) + 1);
		reaped++;
	}
}

/* Queues are created and destroyed while the thread is busy with another's. */
static void test_queues_come_and_go_beside_the_thread(void **state)
{
	struct fixture *fixture = *state;
	struct test_job stale[100], own = make(fixture);

	own.ran = NULL;
	for (size_t i = 0; i < 100; i++) {
		struct sim_queue *queue;

		stale[i] = make(fixture);
		assert_int_equal(sim_queue_create(fixture->engine, 2, notify, fixture, &queue), 0);
		ring(queue, &stale[i]);
		ring(queue, &own);
		assert_true(comes(&fixture->ran)); /* the thread has begun */
		sim_queue_drain(queue);
		sim_queue_destroy(queue);
	}
}

static void test_engine_is_destroyed_asleep_and_awake(void **state)
{
	struct fixture *fixture = *state;
	struct test_job job = make(fixture);
	struct sim_engine *engine;
	struct sim_queue *queue;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(sim_engine_create(&engine), 0);
		assert_int_equal(sim_queue_create(engine, 1, notify, fixture, &queue), 0);
		ring(queue, &job);
		assert_true(comes(&fixture->ran));
		expect_done(queue, &job, 0);
		if (i == 0)
			wait_until_asleep(&(struct fixture){ .engine = engine }, false);
		sim_queue_destroy(queue);
		sim_engine_destroy(engine);
	}
}

/* ---- alarms ---- */

static atomic_uint num_signals;

int __real_pthread_cond_signal(pthread_cond_t *cond);
int __wrap_pthread_cond_signal(pthread_cond_t *cond);

int __wrap_pthread_cond_signal(pthread_cond_t *cond)
{
	atomic_fetch_add(&num_signals, 1);
	return __real_pthread_cond_signal(cond);
}

/* An owner sets the same alarm at each request for a notification. The thread forgets it at each tick, a millisecond after the last
 * one, and is woken once for each time that it is set anew. */
static void test_an_alarm_that_is_set_already_wakes_nobody(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t begin_ns = sim_monotonic_ns(), when_ns = begin_ns + 3600 * SIM_NS_PER_S;
	uint64_t num_ticks;

	atomic_store(&num_signals, 0);
	for (int i = 0; i < 10000; i++)
		sim_engine_wake_at(fixture->engine, when_ns);
	num_ticks = (sim_monotonic_ns() - begin_ns) / SIM_ENGINE_TICK_NS + 1;
	assert_true(atomic_load(&num_signals) >= 1);
	assert_true(atomic_load(&num_signals) <= num_ticks + 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_job_without_a_polling_owner_runs_in_the_engines_thread),
		TEST(test_jobs_without_a_polling_owner_run_in_order_and_once),
		TEST(test_jobs_without_a_polling_owner_behind_a_failed_one_are_cancelled),
		TEST(test_jobs_without_a_polling_owner_of_all_queues_run),
		TEST(test_poll_beside_a_running_job_finds_nothing),
		TEST(test_flush_beside_a_running_job_spares_it),
		TEST(test_job_that_the_engines_thread_finishes_notifies),
		TEST(test_notify_is_not_called_without_a_wish_nor_for_unsignaled_jobs),
		TEST(test_doorbell_wakes_the_sleeping_thread),
		TEST(test_doorbell_while_the_thread_gives_up_is_not_lost),
		TEST(test_thread_sleeps_though_a_polled_queue_exists),
		TEST(test_owner_and_thread_share_the_work),
		TEST(test_queues_come_and_go_beside_the_thread),
		TEST(test_engine_is_destroyed_asleep_and_awake),
		TEST(test_an_alarm_that_is_set_already_wakes_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

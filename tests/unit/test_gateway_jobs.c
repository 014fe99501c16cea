/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs: workers run them, the main thread ends them; slow ones do not hold up the others. */
#include <poll.h>
#include <semaphore.h>

#include "cmocka_test.h"
#include "sim/gateway/jobs.h"

#define NUM_SLOW    (2 * JOBS_MAX_WORKERS)
#define DEADLINE_MS 20000

struct test_job {
	struct job job;
	unsigned int num_done;
};

static struct jobs jobs;
static sem_t may_end; /* slow jobs */

static void run_quickly(struct job *job)
{
}

static void run_slowly(struct job *job)
{
	sem_wait(&may_end);
}

static void count(struct job *job)
{
	((struct test_job *)job)->num_done++;
}

static void finish_until_done(const struct test_job *job)
{
	struct pollfd finished = { .fd = jobs.wake_fd, .events = POLLIN };

	while (job->num_done == 0) {
		assert_int_equal(poll(&finished, 1, DEADLINE_MS), 1);
		jobs_finish(&jobs);
	}
	assert_int_equal(job->num_done, 1);
}

static void test_slow_jobs_do_not_hold_up_others(void **state)
{
	static struct test_job slow[NUM_SLOW], quick[NUM_SLOW];

	assert_int_equal(jobs_open(&jobs), 0);
	sem_init(&may_end, 0, 0);
	for (int i = 0; i < NUM_SLOW; i++) {
		slow[i].job = (struct job){ .run = run_slowly, .done = count, .is_slow = true };
		jobs_add(&jobs, &slow[i].job);
	}
	for (int i = 0; i < NUM_SLOW; i++) {
		quick[i].job = (struct job){ .run = run_quickly, .done = count };
		jobs_add(&jobs, &quick[i].job);
	}
	for (int i = 0; i < NUM_SLOW; i++)
		finish_until_done(&quick[i]);
	for (int i = 0; i < NUM_SLOW; i++)
		assert_int_equal(slow[i].num_done, 0);
	for (int i = 0; i < NUM_SLOW; i++)
		sem_post(&may_end);
	for (int i = 0; i < NUM_SLOW; i++)
		finish_until_done(&slow[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_slow_jobs_do_not_hold_up_others) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs: workers run them, the main thread ends them; slow ones do not hold up the others. */
#include <poll.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <unistd.h>

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

/* In place of libc's. The main thread may look at the jobs just before the descriptor is written. */
static bool looks_before;

int eventfd_write(int fd, eventfd_t value)
{
	if (looks_before)
		jobs_finish(&jobs);
	return write(fd, &value, sizeof(value)) == sizeof(value) ? 0 : -1;
}

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

/* Else the main thread, which sleeps on it, would be woken again and again. */
static void test_the_descriptor_is_readable_no_longer_than_there_is_news(void **state)
{
	struct pollfd readable = { .events = POLLIN };

	assert_int_equal(jobs_open(&jobs), 0);
	readable.fd = jobs.wake_fd;
	looks_before = true;
	jobs_wake(&jobs);
	looks_before = false;
	assert_int_equal(poll(&readable, 1, 0), 1);
	assert_true(jobs_finish(&jobs));
	assert_int_equal(poll(&readable, 1, 0), 0);
	close(jobs.wake_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_descriptor_is_readable_no_longer_than_there_is_news),
		cmocka_unit_test(test_slow_jobs_do_not_hold_up_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

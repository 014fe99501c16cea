/* SPDX-License-Identifier: BSD-3-Clause */
/* Internal threads: what holds when sim_thread_start() returns. Link with -Wl,--wrap=pthread_create: threads of this
 * program take long before they come to their body, as under a sanitizer on a busy machine. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "cmocka_test.h"
#include "sim/base/thread.h"

#define START_NS 20000000

static struct {
	void *(*body)(void *arg);
	void *arg;
	int error; /* what pthread_create() returns instead of a thread */
	atomic_bool is_past_start;
} created;

typedef void *thread_body(void *arg);

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, thread_body *body, void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, thread_body *body, void *arg);

static void *start_slowly(void *unused)
{
	nanosleep(&(const struct timespec){ .tv_nsec = START_NS }, unused);
	created.is_past_start = true;
	return created.body(created.arg);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, thread_body *body, void *arg)
{
	created.body = body;
	created.arg = arg;
	created.is_past_start = false;
	return created.error ? created.error : __real_pthread_create(thread, attr, start_slowly, NULL);
}

static void *return_arg(void *arg)
{
	return arg;
}

/* A fork() after the call can't meet the thread in its start, where a sanitizer holds locks. */
static void test_thread_has_begun_when_the_call_returns(void **state)
{
	pthread_t thread;
	void *result;

	assert_int_equal(sim_thread_start(&thread, "test", return_arg, state), 0);
	assert_true(created.is_past_start);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, state);
}

static void *read_mask(void *arg)
{
	pthread_sigmask(SIG_BLOCK, NULL, arg);
	return NULL;
}

static void test_thread_blocks_signals_and_the_caller_does_not(void **state)
{
	sigset_t before, after, in_thread;
	pthread_t thread;

	pthread_sigmask(SIG_BLOCK, NULL, &before);
	assert_int_equal(sim_thread_start(&thread, "test", read_mask, &in_thread), 0);
	pthread_join(thread, NULL);
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	assert_true(sigismember(&in_thread, SIGTERM) && sigismember(&in_thread, SIGALRM));
	assert_false(sigismember(&in_thread, SIGBUS));
	for (int number = 1; number < SIGRTMAX; number++)
		assert_int_equal(sigismember(&before, number), sigismember(&after, number));
}

static void test_failure_is_the_systems(void **state)
{
	pthread_t thread;

	created.error = EAGAIN;
	assert_int_equal(sim_thread_start(&thread, "test", return_arg, *state), -EAGAIN);
	created.error = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thread_has_begun_when_the_call_returns),
		cmocka_unit_test(test_thread_blocks_signals_and_the_caller_does_not),
		cmocka_unit_test(test_failure_is_the_systems),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels on threads that would wait for them: the caller's of an RPC, the one of launches. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "dpa_util.h"

#define RANKS 8

static struct doca_dev *dev;
doca_dpa_func_t wait_for_next_rank;

static int count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	int count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void test_rpc_needs_no_other_thread(void **state)
{
	int before = count_threads();
	uint64_t value;

	for (uint64_t i = 0; i < 10; i++) {
		assert_ok(doca_dpa_rpc(*state, add, &value, i, (uint32_t)1));
		assert_int_equal(value, i + 1);
	}
	assert_int_equal(count_threads(), before);
}

/* Short ranks run one after the other on the thread of launches. */
static void test_launch_needs_one_thread(void **state)
{
	struct doca_sync_event *done = dpa_event_new(*state, NULL);
	int before = count_threads();
	doca_dpa_dev_uintptr_t ranks;

	assert_ok(doca_dpa_mem_alloc(*state, RANKS * sizeof(uint64_t), &ranks));
	assert_ok(doca_dpa_kernel_launch_update_set(*state, NULL, 0, done, 1, RANKS, record_rank, ranks, UINT64_C(1)));
	dpa_event_wait(done, 0);
#ifndef __SANITIZE_THREAD__ /* there, more threads were counted; why is not known */
	assert_int_equal(count_threads(), before + 1);
#endif
	assert_ok(doca_sync_event_destroy(done));
}

/* Each rank polls memory until the one behind it has run: all must run at the same time. */
static void test_ranks_that_wait_for_later_ones_end(void **state)
{
	struct doca_sync_event *done = dpa_event_new(*state, NULL);
	doca_dpa_dev_uintptr_t words;

	assert_ok(doca_dpa_mem_alloc(*state, RANKS * sizeof(uint64_t), &words));
	assert_ok(doca_dpa_memset(*state, words, 0, RANKS * sizeof(uint64_t)));
	assert_ok(doca_dpa_kernel_launch_update_set(*state, NULL, 0, done, 1, RANKS, wait_for_next_rank, words));
	dpa_event_wait(done, 0);
	assert_ok(doca_sync_event_destroy(done));
}

/* Ranks that wait for an event need units of their own, and one is left for an RPC. */
static void test_rpc_passes_ranks_that_wait(void **state)
{
	doca_dpa_dev_sync_event_t heard, said;
	struct doca_sync_event *to = dpa_event_new(*state, &heard), *from = dpa_event_new(*state, &said);
	struct doca_sync_event *done = dpa_event_new(*state, NULL);
	uint64_t value;

	assert_ok(doca_dpa_kernel_launch_update_set(*state, NULL, 0, done, 1, RANKS, follow_event, heard, said));
	assert_ok(doca_dpa_rpc(*state, add, &value, UINT64_C(1), (uint32_t)1));
	assert_ok(doca_sync_event_update_set(to, 7));
	dpa_event_wait(done, 0);
	assert_ok(doca_sync_event_destroy(to));
	assert_ok(doca_sync_event_destroy(from));
	assert_ok(doca_sync_event_destroy(done));
}

static void *call_with_little_stack(void *dpa)
{
	uint64_t value = 0;

	return doca_dpa_rpc(dpa, add, &value, UINT64_C(1), (uint32_t)2) == DOCA_SUCCESS && value == 3 ? NULL : dpa;
}

/* There is no room for a kernel: a unit's own thread runs it. */
static void test_rpc_of_a_thread_with_little_stack(void **state)
{
	pthread_attr_t attr;
	pthread_t thread;
	void *failed;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 * 1024);
	assert_int_equal(pthread_create(&thread, &attr, call_with_little_stack, *state), 0);
	pthread_attr_destroy(&attr);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
}

/* A division by zero is a signal, which the caller blocks. */
static void test_caller_keeps_its_signals(void **state)
{
	stack_t stack_before, stack_after;
	sigset_t blocked, before, after;
	uint64_t value;

#if defined(__aarch64__)
	skip();
#endif
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGFPE);
	sigaddset(&blocked, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &blocked, &before);
	sigaltstack(NULL, &stack_before);
	assert_int_equal(doca_dpa_rpc(*state, divide, &value, UINT64_C(1), UINT64_C(0)), DOCA_ERROR_DRIVER);
	dpa_remove_crash_file(NULL);
	sigaltstack(NULL, &stack_after);
	pthread_sigmask(SIG_SETMASK, &before, &after);
	assert_int_equal(stack_after.ss_flags, stack_before.ss_flags);
	if (stack_after.ss_flags != SS_DISABLE) /* else valgrind names the last stack that there was */
		assert_ptr_equal(stack_after.ss_sp, stack_before.ss_sp);
	assert_int_equal(sigismember(&after, SIGFPE), 1);
	assert_int_equal(sigismember(&after, SIGUSR1), 1);
	assert_int_equal(sigismember(&after, SIGSEGV), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, dpa_setup, dpa_teardown)

static const struct CMUnitTest on_card[] = {
	TEST(rpc_needs_no_other_thread),          TEST(launch_needs_one_thread),
	TEST(ranks_that_wait_for_later_ones_end), TEST(rpc_passes_ranks_that_wait),
	TEST(rpc_of_a_thread_with_little_stack),  TEST(caller_keeps_its_signals),
};

int main(void)
{
	return API_RUN({ .name = "dpu", .side = "dpu", .dev = &dev, API_WITH(on_card) });
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry of fork handlers: the order of the ranks, and locks in the child. */
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/base/fork.h"

static char calls[32]; /* a letter for each call: lower case of the first rank, upper case of the last */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void note(char letter)
{
	calls[strlen(calls)] = letter;
}

#define DEFINE_HANDLER(name, letter, rank_, lock_)                       \
	static void name##_before(void)                                  \
	{                                                                \
		note((letter) + 0);                                      \
	}                                                                \
	static void name##_parent(void)                                  \
	{                                                                \
		note((letter) + 1);                                      \
	}                                                                \
	static void name##_child(void)                                   \
	{                                                                \
		note((letter) + 2);                                      \
	}                                                                \
	static struct sim_fork_handler name = { .rank = (rank_),         \
						.lock = (lock_),         \
						.before = name##_before, \
						.parent = name##_parent, \
						.child = name##_child }

DEFINE_HANDLER(last, 'A', SIM_FORK_CHECKER, NULL);
DEFINE_HANDLER(first, 'a', SIM_FORK_LOCKS, &lock);

static int fork_and_wait(bool (*holds)(void))
{
	pid_t child;
	int status;

	memset(calls, 0, sizeof(calls));
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(holds() ? 0 : 1);
	assert_true(waitpid(child, &status, 0) == child && WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool child_called_in_order(void)
{
	return strcmp(calls, "AacC") == 0;
}

/* "A" and "a" before the fork, the highest rank first; then "b" and "B" in the parent, "c" and "C" in the child. */
static void test_ranks_give_the_order(void **state)
{
	assert_int_equal(fork_and_wait(child_called_in_order), 0);
	assert_string_equal(calls, "AabB");
}

static bool can_lock(void)
{
	return pthread_mutex_trylock(&lock) == 0;
}

static void test_child_gets_a_free_lock(void **state)
{
	pthread_mutex_lock(&lock);
	assert_int_equal(fork_and_wait(can_lock), 0);
	assert_false(can_lock());
	pthread_mutex_unlock(&lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranks_give_the_order),
		cmocka_unit_test(test_child_gets_a_free_lock),
	};

	sim_fork_add(&last);
	sim_fork_add(&first);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

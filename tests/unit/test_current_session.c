/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/current_session.h: the record of the session that this process is in. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/session/current_session.h"
#include "unordered.h"

#define DEADLINE_S 30

static struct sim_shared_state shared, other; /* nothing reads them here */

static struct sim_current_session get(void)
{
	struct sim_current_session current;

	assert_int_equal(sim_current_session_lock(&current), 0);
	sim_current_session_unlock();
	return current;
}

static int tear_down(void **state)
{
	sim_current_session_clear(&shared);
	sim_current_session_clear(&other);
	assert_int_equal(sim_current_session_set(NULL, NULL, NULL, NULL), 0);
	return 0;
}

/* The program may go to another directory. */
static void test_directory_of_the_session_is_absolute(void **state)
{
	char before[4096];

	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir("/proc"), 0);
	assert_int_equal(sim_current_session_set("sys/../sys", "dpu", NULL, &shared), 0);
	assert_int_equal(chdir(before), 0);
	assert_string_equal(get().dir, "/proc/sys");
	assert_string_equal(get().side, "dpu");
	assert_true(get().attached);
}

static void test_directory_that_is_gone_keeps_its_name(void **state)
{
	assert_int_equal(sim_current_session_set("/proc/there-is-none", "dpu", NULL, &shared), 0);
	assert_string_equal(get().dir, "/proc/there-is-none");
}

/* Its session may have ended after the next one began. */
static void test_end_of_another_session_changes_nothing(void **state)
{
	assert_int_equal(sim_current_session_set("/proc", "host", NULL, &shared), 0);
	sim_current_session_clear(&other);
	assert_ptr_equal(get().shared, &shared);
	sim_current_session_clear(&shared);
	setenv("BFSIM_SESSION", "/proc/of-the-environment", 1);
	assert_false(get().attached);
	assert_string_equal(get().dir, "/proc/of-the-environment");
	unsetenv("BFSIM_SESSION");
}

static void *set_other(void *arg)
{
	atomic_bool *is_set = arg;

	if (sim_current_session_set(NULL, NULL, NULL, &other) != 0)
		abort();
	atomic_store(is_set, true);
	return NULL;
}

static void test_nobody_changes_the_session_while_it_is_locked(void **state)
{
	struct sim_current_session current;
	atomic_bool is_set = false;
	pthread_t thread;

	alarm(DEADLINE_S);
	assert_int_equal(sim_current_session_set("/proc", "host", NULL, &shared), 0);
	assert_int_equal(sim_current_session_lock(&current), 0);
	assert_int_equal(pthread_create(&thread, NULL, set_other, &is_set), 0);
	usleep(10000); /* a change that does not wait is made meanwhile */
	assert_false(atomic_load(&is_set));
	sim_current_session_unlock();
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_ptr_equal(get().shared, &other);
	alarm(0);
}

/* ---- the shared state without the lock ---- */

static void *end_session(void *arg)
{
	atomic_bool *has_ended = arg;

	sim_current_session_clear(&shared);
	atomic_store(has_ended, true);
	return NULL;
}

/* A later session, if there is one, is what the next borrower gets. */
static void check_end_waits_for_borrower(struct sim_shared_state *later)
{
	atomic_bool has_ended = false;
	pthread_t thread;

	alarm(DEADLINE_S);
	assert_int_equal(sim_current_session_set("/proc", "host", NULL, &shared), 0);
	assert_ptr_equal(sim_current_session_borrow(), &shared);
	if (later)
		assert_int_equal(sim_current_session_set("/proc", "host", NULL, later), 0);
	assert_int_equal(pthread_create(&thread, NULL, end_session, &has_ended), 0);
	usleep(10000); /* an end that does not wait comes meanwhile */
	assert_false(atomic_load(&has_ended));
	sim_current_session_give_back();
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_ptr_equal(sim_current_session_borrow(), later);
	if (later)
		sim_current_session_give_back();
	alarm(0);
}

static void test_an_end_waits_for_who_has_borrowed_the_state(void **state)
{
	check_end_waits_for_borrower(NULL);
}

static void test_an_end_behind_a_later_session_waits_as_well(void **state)
{
	check_end_waits_for_borrower(&other);
}

static void *fork_beside_borrower(void *arg)
{
	pid_t pid = fork();

	if (pid == 0) {
		alarm(DEADLINE_S);
		sim_current_session_clear(&shared);
		_exit(0);
	}
	*(pid_t *)arg = pid;
	return NULL;
}

/* The child does not have the thread. */
static void test_a_forked_child_waits_for_no_borrower(void **state)
{
	pthread_t thread;
	int status;
	pid_t pid;

	assert_int_equal(sim_current_session_set("/proc", "host", NULL, &shared), 0);
	assert_ptr_equal(sim_current_session_borrow(), &shared);
	assert_int_equal(pthread_create(&thread, NULL, fork_beside_borrower, &pid), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	sim_current_session_give_back();
}

/* ---- locks, at which the thread sanitizer looks ---- */

static void set_directory(void *arg)
{
	if (sim_current_session_set("/proc", "dpu", NULL, &shared) != 0)
		abort();
}

static void read_record(void *arg)
{
	get();
}

static void clear(void *arg)
{
	sim_current_session_clear(&shared);
}

static void test_each_call_takes_the_lock_of_the_record(void **state)
{
	static struct unordered calls;

	alarm(DEADLINE_S);
	unordered_run(&calls, set_directory, NULL);
	unordered_run(&calls, read_record, NULL);
	unordered_run(&calls, clear, NULL);
	unordered_run(&calls, set_directory, NULL);
	unordered_end(&calls);
	alarm(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_directory_of_the_session_is_absolute, tear_down),
		cmocka_unit_test_teardown(test_directory_that_is_gone_keeps_its_name, tear_down),
		cmocka_unit_test_teardown(test_end_of_another_session_changes_nothing, tear_down),
		cmocka_unit_test_teardown(test_nobody_changes_the_session_while_it_is_locked, tear_down),
		cmocka_unit_test_teardown(test_an_end_waits_for_who_has_borrowed_the_state, tear_down),
		cmocka_unit_test_teardown(test_an_end_behind_a_later_session_waits_as_well, tear_down),
		cmocka_unit_test_teardown(test_a_forked_child_waits_for_no_borrower, tear_down),
		cmocka_unit_test_teardown(test_each_call_takes_the_lock_of_the_record, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

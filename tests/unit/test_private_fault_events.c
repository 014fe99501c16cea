/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/private_fault_events.h: the thread for rules that begin later on a private card. The process is the DPU. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "open_fds.h"
#include "sim/api/bfsim.h"
#include "sim/base/log.h"
#include "sim/base/thread.h"
#include "sim/session/current_session.h"
#include "sim/session/private_fault_events.h"
#include "sim/session/session.h"

#define DEADLINE_S 30
#define NS_PER_MS  UINT64_C(1000000)
#define NS_PER_H   (3600 * 1000 * NS_PER_MS)

static struct sim_session *session;
static unsigned int num_errors;

static void count_error(int level, const char *file, int line, const char *func, const char *format, va_list args)
{
	num_errors += level <= SIM_LOG_ERROR;
}

static bool has_no_threads;
static unsigned int num_starts;

int __real_sim_thread_start(pthread_t *ret_thread, const char *name, void *(*body)(void *arg), void *arg);
int __wrap_sim_thread_start(pthread_t *ret_thread, const char *name, void *(*body)(void *arg), void *arg);

int __wrap_sim_thread_start(pthread_t *ret_thread, const char *name, void *(*body)(void *arg), void *arg)
{
	num_starts++;
	return has_no_threads ? -EAGAIN : __real_sim_thread_start(ret_thread, name, body, arg);
}

static int attach(void)
{
	const struct sim_session_cfg cfg = { .side = "dpu" };

	return sim_session_attach(&cfg, &session);
}

static int set_up(void **state)
{
	alarm(DEADLINE_S);
	num_errors = 0;
	has_no_threads = false;
	sim_log_set_sink(count_error);
	return attach();
}

static int tear_down(void **state)
{
	assert_int_equal(bfsim_fault_clear(), 0);
	sim_session_detach(session);
	sim_log_set_sink(NULL);
	alarm(0);
	return 0;
}

static uint32_t add_from(uint64_t from_ns)
{
	char rule[128];
	uint32_t id;

	snprintf(rule, sizeof(rule), "function side=dpu device=03:00.0 from=%" PRIu64 "ns reset", from_ns);
	assert_int_equal(bfsim_fault_add(rule, &id), 0);
	return id;
}

static uint64_t times_fired(uint32_t id)
{
	struct bfsim_fault fault;

	assert_int_equal(bfsim_fault_get(id, &fault), 0);
	return fault.fired;
}

static void test_thread_that_waits_hears_of_a_rule_that_begins_before(void **state)
{
	uint32_t last = add_from(bfsim_now_ns() + NS_PER_H);
	uint32_t first = add_from(bfsim_now_ns() + NS_PER_MS);

	while (times_fired(first) == 0)
		sched_yield();
	assert_int_equal(times_fired(first), 1);
	assert_int_equal(times_fired(last), 0);
}

static void test_thread_ends_with_its_card_and_leaves_no_descriptor(void **state)
{
	unsigned int num_fds = count_open_fds();

	add_from(bfsim_now_ns() + NS_PER_H);
	assert_true(count_open_fds() > num_fds);
	sim_session_detach(session);
	assert_int_equal(attach(), 0);
	assert_int_equal(bfsim_fault_clear(), 0);
	sim_session_detach(session);
	assert_int_equal(attach(), 0);
	assert_int_equal(count_open_fds(), num_fds);
}

static void test_without_a_thread_rules_begin_with_the_next_change_and_the_log_says_so_once(void **state)
{
	uint64_t from_ns = bfsim_now_ns() + NS_PER_MS;
	unsigned int num_fds = count_open_fds();
	uint32_t id;

	has_no_threads = true;
	id = add_from(from_ns);
	while (bfsim_now_ns() < from_ns)
		sched_yield();
	add_from(bfsim_now_ns() + NS_PER_H);
	assert_int_equal(times_fired(id), 1);
	assert_int_equal(num_errors, 1);
	assert_int_equal(count_open_fds(), num_fds);
}

/* It starts a thread of its own, or would: the thread sanitizer allows none here. */
static void test_forked_child_has_events_of_its_own(void **state)
{
	unsigned int num_fds;
	int status;
	pid_t pid;

	sim_session_detach(session);
	num_fds = count_open_fds();
	assert_int_equal(attach(), 0);
	add_from(bfsim_now_ns() + NS_PER_H);
	num_fds = count_open_fds() - num_fds; /* of the session and of the thread */
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		num_fds = count_open_fds() - num_fds;
		sim_session_abandon(session);
		has_no_threads = true;
		num_starts = 0;
		if (count_open_fds() != num_fds || attach() != 0 || times_fired(add_from(0)) != 1)
			_exit(1);
		sim_session_detach(session);
		_exit(num_starts > 0 ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void *stop_those_of_another(void *arg)
{
	sim_private_fault_events_stop(arg);
	atomic_store((atomic_bool *)arg, true);
	return NULL;
}

static void test_nobody_stops_while_the_session_is_locked(void **state)
{
	struct sim_current_session current;
	atomic_bool has_stopped = false;
	pthread_t thread;

	assert_int_equal(sim_current_session_lock(&current), 0);
	assert_int_equal(pthread_create(&thread, NULL, stop_those_of_another, &has_stopped), 0);
	usleep(10000); /* one that does not wait has stopped meanwhile */
	assert_false(atomic_load(&has_stopped));
	sim_current_session_unlock();
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(times_fired(add_from(0)), 1); /* the events go on */
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(thread_that_waits_hears_of_a_rule_that_begins_before),
		TEST(thread_ends_with_its_card_and_leaves_no_descriptor),
		TEST(without_a_thread_rules_begin_with_the_next_change_and_the_log_says_so_once),
		TEST(forked_child_has_events_of_its_own),
		TEST(nobody_stops_while_the_session_is_locked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel begins to wait, and what ends the wait comes at the same time: between the last look and the sleep on an event, and between the
 * request for a notification and the reschedule. The kernel's calls of the front are these moments, so that nothing depends on the machine. */
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmocka_test.h"
#include "sim/dpa/exec/process_priv.h"
#include "sim/dpa/image/image.h"
#include "sim/dpa/queue/completion.h"
#include "sim/dpa/queue/port.h"

extern const void *test_app;
void rest(void), wait_for_event(void);

/* What the front's event is. */
struct event {
	_Atomic uint64_t value;
	atomic_bool is_stopped;
	_Atomic unsigned int num_sleeps;
};

static struct {
	struct sim_dpa_process *process;
	struct sim_dpa_completion completion;
	struct event event;
	uint64_t event_handle;
	char said[256]; /* the kernel's lines */
	char reason[256];
	void (*at_taken)(void), (*at_armed)(void); /* calls of the kernel's thread, once each */
	void (*at_look)(void), (*at_sleep)(void);
	sem_t has_come;
} rig;

static void act(void (**at)(void))
{
	void (*function)(void) = *at;

	*at = NULL;
	if (function)
		function();
}

/* ---- the front ---- */

static void take_log(void *arg, unsigned int level, const char *text)
{
	(void)arg;
	(void)level;
	strncat(rig.said, text, sizeof(rig.said) - strlen(rig.said) - 2);
	strcat(rig.said, ";");
	act(strcmp(text, "armed") == 0 ? &rig.at_armed : &rig.at_taken);
}

static void take_failure(void *arg, const struct sim_dpa_failure *failure)
{
	(void)arg;
	snprintf(rig.reason, sizeof(rig.reason), "%s", failure->crash->reason);
}

/* A change behind the look. The process's lock is held. */
static int get_event(void *event, uint64_t *ret_value)
{
	struct event *of = event;

	*ret_value = of->value;
	act(&rig.at_look);
	return of->is_stopped ? -ENOTCONN : 0;
}

static int sleep_on_event(void *event, uint64_t value, uint64_t mask, uint64_t ns)
{
	(void)value;
	(void)mask;
	(void)ns;
	((struct event *)event)->num_sleeps++;
	act(&rig.at_sleep);
	return 0;
}

static const struct sim_dpa_process_ops ops = {
	.log = take_log, .fatal = take_failure, .event_get = get_event, .event_sleep = sleep_on_event
};

static int open_process(void **state)
{
	const struct sim_dpa_process_cfg cfg = {
		.app = test_app, .port = &sim_dpa_port, .ops = &ops, .num_eus = 1, .heap_bytes = 4096
	};

	memset(&rig, 0, sizeof(rig));
	sem_init(&rig.has_come, 0, 0);
	if (sim_dpa_process_create(&cfg, &rig.process) < 0)
		return -1;
	rig.event_handle = sim_dpa_process_export(rig.process, SIM_DPA_EVENT, &rig.event);
	return rig.event_handle ? 0 : -1;
}

static int close_process(void **state)
{
	sim_dpa_process_destroy(rig.process);
	sem_destroy(&rig.has_come);
	return 0;
}

/* ---- helpers ---- */

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0)
		assert_int_equal(errno, EINTR);
}

static void push(void)
{
	const struct sim_dpa_element element = { .type = 2 };

	assert_int_equal(sim_dpa_completion_push(&rig.completion, &element), 0);
}

static void push_two(void)
{
	push();
	push();
}

static struct sim_dpa_activity *start_thread(const void *stub, uint64_t arg)
{
	const struct sim_dpa_activity_cfg cfg = { .kernel = sim_dpa_image_find_kernel(
							  sim_dpa_process_image(rig.process), stub),
						  .eu = SIM_DPA_RELAXED,
						  .arg = arg };
	struct sim_dpa_activity *activity;

	assert_non_null(cfg.kernel);
	assert_int_equal(sim_dpa_activity_start(rig.process, &cfg, &activity), 0);
	assert_int_equal(sim_dpa_activity_run(activity), 0);
	return activity;
}

/* The one EU runs what is queued, and idles then. */
static void wait_until_idle(void)
{
	bool is_idle = false;

	while (!is_idle) {
		pthread_mutex_lock(&rig.process->lock);
		is_idle = rig.process->eus[0].is_idle && TAILQ_EMPTY(&rig.process->queue);
		pthread_mutex_unlock(&rig.process->lock);
		sched_yield();
	}
}

/* The kernel's thread: stay here until the kernel is told to end. */
static void come_and_stay(void)
{
	sem_post(&rig.has_come);
	while (!sim_dpa_thread_is_stopped(&rig.process->eus[0].guarded))
		sched_yield();
}

/* ---- a thread comes to rest ---- */

static struct sim_dpa_activity *open_rest(void)
{
	struct sim_dpa_activity *activity;

	assert_int_equal(sim_dpa_completion_start(rig.process, NULL, SIM_DPA_COMPLETION, 8, &rig.completion), 0);
	activity = start_thread(rest, rig.completion.handle);
	rig.completion.activity = activity;
	return activity;
}

static void expect_runs(const char *said)
{
	struct sim_dpa_activity *activity = open_rest();

	push();
	wait_until_idle();
	assert_string_equal(rig.said, said);
	sim_dpa_completion_stop(&rig.completion);
	sim_dpa_activity_stop(activity);
}

static void test_a_completion_behind_the_last_look_runs_the_thread_again(void **state)
{
	rig.at_taken = push;
	expect_runs("took 1;armed;took 1;armed;");
}

static void test_a_completion_behind_the_request_runs_the_thread_again(void **state)
{
	rig.at_armed = push;
	expect_runs("took 1;armed;took 1;armed;");
}

static void test_two_completions_behind_the_request_are_one_run(void **state)
{
	rig.at_armed = push_two;
	expect_runs("took 1;armed;took 2;armed;");
}

static void test_completions_on_both_sides_of_the_request_are_one_run(void **state)
{
	rig.at_taken = rig.at_armed = push;
	expect_runs("took 1;armed;took 2;armed;");
}

static void end_completion(void)
{
	sim_dpa_completion_stop(&rig.completion);
}

static void test_the_context_ends_while_its_thread_comes_to_rest(void **state)
{
	struct sim_dpa_activity *activity = open_rest();

	rig.at_armed = end_completion;
	push();
	wait_until_idle();
	assert_string_equal(rig.said, "took 1;armed;");
	pthread_mutex_lock(&rig.process->lock);
	assert_true(sim_dpa_activity_sleeps(activity));
	pthread_mutex_unlock(&rig.process->lock);
	sim_dpa_activity_stop(activity);
}

static void test_a_thread_is_stopped_while_it_comes_to_rest(void **state)
{
	struct sim_dpa_activity *activity = open_rest();

	rig.at_armed = come_and_stay;
	push();
	wait_for(&rig.has_come);
	sim_dpa_completion_stop(&rig.completion);
	sim_dpa_activity_stop(activity);
	wait_until_idle();
	assert_string_equal(rig.said, "took 1;armed;");
	assert_string_equal(rig.reason, "");
}

/* One more run is due, and does not come. */
static void push_and_stay(void)
{
	push();
	come_and_stay();
}

static void test_a_thread_with_an_event_is_stopped_while_it_comes_to_rest(void **state)
{
	struct sim_dpa_activity *activity = open_rest();

	rig.at_armed = push_and_stay;
	push();
	wait_for(&rig.has_come);
	sim_dpa_completion_stop(&rig.completion);
	sim_dpa_activity_stop(activity);
	wait_until_idle();
	assert_string_equal(rig.said, "took 1;armed;");
}

/* ---- a kernel waits for an event ---- */

static int call_wait(void)
{
	const struct sim_dpa_kernel *kernel =
		sim_dpa_image_find_kernel(sim_dpa_process_image(rig.process), wait_for_event);
	uint64_t value;

	return sim_dpa_process_call(rig.process, kernel, &rig.event_handle, &value);
}

static void set_event(void)
{
	rig.event.value = 1;
}

static void test_an_update_behind_the_look_ends_the_wait(void **state)
{
	rig.at_look = set_event;
	assert_int_equal(call_wait(), 0);
	assert_int_equal(rig.event.num_sleeps, 0);
}

static void test_an_update_before_the_sleep_ends_the_wait(void **state)
{
	rig.at_sleep = set_event;
	assert_int_equal(call_wait(), 0);
	assert_int_equal(rig.event.num_sleeps, 1);
}

static void withdraw_event(void)
{
	sim_dpa_process_withdraw(rig.process, SIM_DPA_EVENT, &rig.event);
}

static void test_an_event_that_ends_before_the_sleep_is_fatal(void **state)
{
	rig.at_sleep = withdraw_event;
	assert_int_equal(call_wait(), -EIO);
	assert_non_null(strstr(rig.reason, "is no sync event"));
	assert_int_equal(rig.event.num_sleeps, 1);
}

static void stop_event(void)
{
	rig.event.is_stopped = true;
}

static void test_an_event_that_stops_behind_the_look_is_fatal(void **state)
{
	rig.at_look = stop_event;
	assert_int_equal(call_wait(), -EIO);
	assert_non_null(strstr(rig.reason, "is stopped"));
}

/* The thread sleeps when the stop comes; nothing sets the event. */
static void test_a_thread_is_stopped_while_it_waits(void **state)
{
	struct sim_dpa_activity *activity;

	rig.at_sleep = come_and_stay;
	assert_int_equal(sim_dpa_completion_start(rig.process, NULL, SIM_DPA_COMPLETION, 8, &rig.completion), 0);
	activity = start_thread(wait_for_event, rig.event_handle);
	rig.completion.activity = activity;
	push();
	wait_for(&rig.has_come);
	sim_dpa_completion_stop(&rig.completion);
	sim_dpa_activity_stop(activity);
	assert_string_equal(rig.reason, "");
	set_event();
	assert_int_equal(call_wait(), 0); /* the unit is free, and not told to end any more */
}

static int wait_for_nothing(void *arg, const atomic_bool *is_over)
{
	(void)arg;
	(void)is_over;
	return 0;
}

static void end_launch(void *arg, bool has_run)
{
	*(int *)arg = has_run ? 1 : 0;
}

static void test_a_process_is_destroyed_while_a_launched_kernel_waits(void **state)
{
	static const struct sim_dpa_launch_ops launch_ops = { .wait = wait_for_nothing, .end = end_launch };
	int has_run = -1;

	rig.at_sleep = come_and_stay;
	assert_int_equal(
		sim_dpa_process_launch(rig.process,
				       sim_dpa_image_find_kernel(sim_dpa_process_image(rig.process), wait_for_event),
				       &rig.event_handle, 1, &launch_ops, &has_run),
		0);
	wait_for(&rig.has_come);
	sim_dpa_process_destroy(rig.process);
	rig.process = NULL;
	assert_int_equal(has_run, 0);
	assert_string_equal(rig.reason, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, open_process, close_process)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_completion_behind_the_last_look_runs_the_thread_again),
		TEST(a_completion_behind_the_request_runs_the_thread_again),
		TEST(two_completions_behind_the_request_are_one_run),
		TEST(completions_on_both_sides_of_the_request_are_one_run),
		TEST(the_context_ends_while_its_thread_comes_to_rest),
		TEST(a_thread_is_stopped_while_it_comes_to_rest),
		TEST(a_thread_with_an_event_is_stopped_while_it_comes_to_rest),
		TEST(an_update_behind_the_look_ends_the_wait),
		TEST(an_update_before_the_sleep_ends_the_wait),
		TEST(an_event_that_ends_before_the_sleep_is_fatal),
		TEST(an_event_that_stops_behind_the_look_is_fatal),
		TEST(a_thread_is_stopped_while_it_waits),
		TEST(a_process_is_destroyed_while_a_launched_kernel_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

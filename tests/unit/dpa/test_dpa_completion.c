/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings of completions: what the host's side pushes, kernels take; and what wakes a DPA thread: pushes, notifications. */
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#include "cmocka_test.h"
#include "sim/base/monotonic.h"
#include "sim/dpa/exec/process_priv.h"
#include "sim/dpa/image/image.h"
#include "sim/dpa/queue/completion.h"
#include "sim/dpa/queue/notification.h"
#include "sim/dpa/queue/port.h"

extern const void *test_app, *bare_app;
void count(void), loop(void), take(void), give_back(void), use_after_ack(void), arm(void), wake(void),
	overflow_and_log(void);
void bare_thread(void), bare_runs(void), bare_notify(void);

static struct sim_dpa_process *process;
static struct sim_dpa_completion completion;
static char reason[256];
static char logged[64];
static sem_t has_logged;
static unsigned int num_entered, num_left; /* calls of take_log_deeply() */

/* ---- the front ---- */

static void take_log(void *arg, unsigned int level, const char *text)
{
	(void)arg;
	(void)level;
	snprintf(logged, sizeof(logged), "%s", text);
	sem_post(&has_logged);
}

static void take_failure(void *arg, const struct sim_dpa_failure *failure)
{
	(void)arg;
	snprintf(reason, sizeof(reason), "%s", failure->crash->reason);
}

static const struct sim_dpa_process_ops ops = { .log = take_log, .fatal = take_failure };

static int open_app(const void *app, const struct sim_dpa_process_ops *app_ops, uint32_t num_eus)
{
	const struct sim_dpa_process_cfg cfg = {
		.app = app, .port = &sim_dpa_port, .ops = app_ops, .num_eus = num_eus, .heap_bytes = 4096
	};

	sem_init(&has_logged, 0, 0);
	return sim_dpa_process_create(&cfg, &process);
}

static int open_process(void **state)
{
	return open_app(test_app, &ops, 1);
}

static int open_two_units(void **state)
{
	return open_app(test_app, &ops, 2);
}

static int open_bare(void **state)
{
	return open_app(bare_app, &ops, 1);
}

static int close_process(void **state)
{
	sim_dpa_process_destroy(process);
	sem_destroy(&has_logged);
	return 0;
}

/* ---- helpers ---- */

static const struct sim_dpa_kernel *kernel_of(const void *stub)
{
	const struct sim_dpa_kernel *kernel = sim_dpa_image_find_kernel(sim_dpa_process_image(process), stub);

	assert_non_null(kernel);
	return kernel;
}

/* An RPC. */
static int call(const void *stub, uint64_t *ret_value, ...)
{
	const struct sim_dpa_kernel *kernel = kernel_of(stub);
	char args[64] = { 0 };
	va_list list;

	va_start(list, ret_value);
	kernel->pack(args, &list);
	va_end(list);
	return sim_dpa_process_call(process, kernel, args, ret_value);
}

static int push(uint32_t user_data, uint32_t immediate)
{
	const struct sim_dpa_element element = { .type = 2, .user_data = user_data, .immediate = immediate };

	return sim_dpa_completion_push(&completion, &element);
}

static void wait_for_log(const char *text)
{
	while (sem_wait(&has_logged) != 0)
		assert_int_equal(errno, EINTR);
	assert_string_equal(logged, text);
}

/* ---- tests ---- */

static void test_kernels_take_what_was_pushed_in_order(void **state)
{
	uint64_t value;

	assert_int_equal(sim_dpa_completion_start(process, NULL, SIM_DPA_COMPLETION, 4, &completion), 0);
	assert_int_equal(call(take, &value, completion.handle), 0);
	assert_int_equal(value, 0);
	assert_int_equal(push(1, 5), 0);
	assert_int_equal(push(2, 3), 0);
	assert_int_equal(call(take, &value, completion.handle), 0);
	assert_int_equal(value, 1725);
	sim_dpa_completion_stop(&completion);
}

static void test_a_full_ring_has_room_behind_an_ack(void **state)
{
	uint64_t value;

	assert_int_equal(sim_dpa_completion_start(process, NULL, SIM_DPA_COMPLETION, 3, &completion), 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(push(i, 0), 0);
	assert_int_equal(push(9, 0), -ENOBUFS);
	assert_int_equal(call(take, &value, completion.handle), 0);
	assert_int_equal(value, 2122232);
	assert_int_equal(push(9, 0), -ENOBUFS);
	assert_int_equal(call(give_back, &value, completion.handle, 1u), 0);
	assert_int_equal(push(7, 0), 0);
	assert_int_equal(push(9, 0), -ENOBUFS);
	assert_int_equal(call(take, &value, completion.handle), 0);
	assert_int_equal(value, 72);
	sim_dpa_completion_stop(&completion);
}

static void test_an_element_is_gone_behind_its_ack(void **state)
{
	uint64_t value;

	assert_int_equal(sim_dpa_completion_start(process, NULL, SIM_DPA_COMPLETION, 4, &completion), 0);
	assert_int_equal(push(1, 0), 0);
	assert_int_equal(call(use_after_ack, &value, completion.handle), -EIO);
	assert_non_null(strstr(reason, "acknowledged already"));
	sim_dpa_completion_stop(&completion);
}

/* What a kernel may have made up: numbers of no ring, of a ring of another kind, of elements that are not taken. */
static void test_a_number_that_is_no_elements_finds_none(void **state)
{
	static const uint64_t none[] = { UINT64_MAX, UINT64_C(0xffffff) << 32, UINT64_C(1) << 32, UINT64_C(16) << 32 };
	struct sim_dpa_completion consumer, *found;
	uint64_t number, others;

	assert_int_equal(sim_dpa_completion_start(process, NULL, SIM_DPA_COMPLETION, 4, &completion), 0);
	assert_int_equal(sim_dpa_completion_start(process, NULL, SIM_DPA_CONSUMER_COMPLETION, 4, &consumer), 0);
	number = (completion.handle & 0xffffff) << 32;
	others = (consumer.handle & 0xffffff) << 32;
	completion.taken = consumer.taken = 2;
	completion.acked = consumer.acked = 1;
	assert_ptr_equal(sim_dpa_completion_find(process, SIM_DPA_COMPLETION, number + 1, &found), &completion.ring[1]);
	assert_ptr_equal(found, &completion);
	assert_null(sim_dpa_completion_find(process, SIM_DPA_COMPLETION, number, &found));
	assert_null(sim_dpa_completion_find(process, SIM_DPA_COMPLETION, number + 2, &found));
	assert_null(sim_dpa_completion_find(process, SIM_DPA_COMPLETION, others + 1, &found));
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_null(sim_dpa_completion_find(process, SIM_DPA_COMPLETION, none[i], &found));
	sim_dpa_completion_stop(&consumer);
	sim_dpa_completion_stop(&completion);
}

static void test_more_acks_than_elements_are_fatal(void **state)
{
	uint64_t value;

	assert_int_equal(sim_dpa_completion_start(process, NULL, SIM_DPA_COMPLETION, 4, &completion), 0);
	assert_int_equal(push(1, 0), 0);
	assert_int_equal(call(take, &value, completion.handle), 0);
	assert_int_equal(call(give_back, &value, completion.handle, 2u), -EIO);
	assert_string_equal(reason, "the kernel acknowledges 2 completions and has taken 1");
	sim_dpa_completion_stop(&completion);
}

static void test_an_armed_ring_wakes_its_thread_once(void **state)
{
	struct sim_dpa_activity_cfg cfg = { .kernel = kernel_of(wake), .eu = SIM_DPA_RELAXED };
	struct sim_dpa_activity *activity;
	uint64_t value;

	assert_int_equal(sim_dpa_completion_start(process, NULL, SIM_DPA_COMPLETION, 4, &completion), 0);
	cfg.arg = completion.handle;
	assert_int_equal(sim_dpa_activity_start(process, &cfg, &activity), 0);
	completion.activity = activity;
	assert_int_equal(sim_dpa_activity_run(activity), 0);
	assert_int_equal(push(1, 0), 0); /* armed by its start */
	wait_for_log("run 1 took 1");
	assert_int_equal(push(2, 0), 0); /* not armed */
	assert_int_equal(call(arm, &value, completion.handle), 0);
	wait_for_log("run 2 took 1"); /* at once, as an element waited */
	assert_int_equal(call(arm, &value, completion.handle), 0);
	assert_int_equal(push(3, 0), 0);
	wait_for_log("run 3 took 1");
	sim_dpa_completion_stop(&completion);
	sim_dpa_activity_stop(activity);
}

/* ---- a delay of a fault ---- */

#define DELAY_NS UINT64_C(20000000)

static struct sim_dpa_activity *delayed; /* NULL = none */

/* Called when a kernel is about to run: it is the next run that is delayed. */
static bool delay_next_run(void *arg, enum sim_op op, struct sim_fault_hit *ret_hit)
{
	(void)arg;
	(void)op;
	(void)ret_hit;
	pthread_mutex_lock(&process->lock);
	if (delayed)
		sim_dpa_activity_delay(delayed, DELAY_NS);
	delayed = NULL;
	pthread_mutex_unlock(&process->lock);
	return false;
}

static int open_delayed(void **state)
{
	static const struct sim_dpa_process_ops delaying_ops = { .log = take_log,
								 .fatal = take_failure,
								 .find_fault = delay_next_run };

	return open_app(test_app, &delaying_ops, 1);
}

static void test_a_delay_that_comes_while_a_run_begins_is_of_the_next(void **state)
{
	struct sim_dpa_activity_cfg cfg = { .kernel = kernel_of(wake), .eu = SIM_DPA_RELAXED };
	struct sim_dpa_activity *activity;
	uint64_t value, begin_ns;

	assert_int_equal(sim_dpa_completion_start(process, NULL, SIM_DPA_COMPLETION, 4, &completion), 0);
	cfg.arg = completion.handle;
	assert_int_equal(sim_dpa_activity_start(process, &cfg, &activity), 0);
	completion.activity = delayed = activity;
	assert_int_equal(sim_dpa_activity_run(activity), 0);
	assert_int_equal(push(1, 0), 0);
	wait_for_log("run 1 took 1");
	begin_ns = sim_monotonic_ns();
	assert_int_equal(call(arm, &value, completion.handle), 0);
	assert_int_equal(push(2, 0), 0);
	wait_for_log("run 2 took 1");
	assert_true(sim_monotonic_ns() - begin_ns >= DELAY_NS);
	sim_dpa_completion_stop(&completion);
	sim_dpa_activity_stop(activity);
}

/* The one EU runs what is queued in order: behind the call, a thread that was woken has run. */
static uint64_t count_runs(void)
{
	uint64_t runs;

	assert_int_equal(call(bare_runs, &runs), 0);
	return runs;
}

static void test_a_notification_has_no_effect_without_the_attribute(void **state)
{
	const struct sim_dpa_activity_cfg cfg = { .kernel = kernel_of(bare_thread), .eu = SIM_DPA_RELAXED };
	struct sim_dpa_notification notification;
	struct sim_dpa_activity *activity;
	uint64_t value;

	assert_int_equal(sim_dpa_activity_start(process, &cfg, &activity), 0);
	assert_int_equal(sim_dpa_notification_start(process, activity, &notification), 0);
	assert_int_equal(sim_dpa_completion_start(process, activity, SIM_DPA_COMPLETION, 4, &completion), 0);
	assert_int_equal(sim_dpa_activity_run(activity), 0);
	assert_int_equal(call(bare_notify, &value, notification.handle), 0);
	assert_int_equal(count_runs(), 0);
	assert_int_equal(push(1, 0), 0); /* a completion needs no attribute */
	assert_int_equal(count_runs(), 1);
	sim_dpa_notification_stop(&notification);
	sim_dpa_completion_stop(&completion);
	sim_dpa_activity_stop(activity);
}

/* ---- the stack ---- */

/* As a copy between two other processes does, with its buffer. */
static void take_log_deeply(void *arg, unsigned int level, const char *text)
{
	volatile char room[40 * 1024];

	num_entered++;
	for (size_t i = sizeof(room); i > 0; i -= 1024)
		room[i - 1] = text[0];
	num_left++;
	(void)arg;
	(void)level;
}

static int open_deep(void **state)
{
	static const struct sim_dpa_process_ops deep_ops = { .log = take_log_deeply, .fatal = take_failure };

	return open_app(test_app, &deep_ops, 1);
}

/* A function of the port that has no room would end in its middle, with what it holds. */
static void test_the_port_has_room_where_the_kernels_stack_ends(void **state)
{
	uint64_t value;

	assert_int_equal(call(overflow_and_log, &value), -EIO);
	assert_string_equal(reason, "stack overflow");
	assert_true(num_entered > 100);
	assert_int_equal(num_left, num_entered);
}

/* ---- units ---- */

static sem_t has_ended;

static void end_work(struct sim_dpa_work *work, enum sim_dpa_end end)
{
	(void)work;
	if (end == SIM_DPA_RETURNED)
		sem_post(&has_ended);
}

static void wait_until_idle(const struct sim_dpa_eu *eu)
{
	bool is_idle = false;

	while (!is_idle) {
		pthread_mutex_lock(&process->lock);
		is_idle = eu->is_idle;
		pthread_mutex_unlock(&process->lock);
	}
}

/* A unit is woken for a kernel that any could run; before it takes that, one comes that is the unit's own, and runs for ever. */
static void test_other_units_take_what_a_busy_one_was_woken_for(void **state)
{
	static uint64_t no_args;
	struct sim_dpa_work any = { .kernel = kernel_of(count), .args = &no_args, .ended = end_work, .num_ranks = 1 };
	struct sim_dpa_work own = { .kernel = kernel_of(loop), .args = &no_args, .ended = end_work, .num_ranks = 1 };
	uint64_t value;

	sem_init(&has_ended, 0, 0);
	any.fixed_eu = SIM_DPA_ANY_EU;
	assert_int_equal(call(count, &value), 0);
	wait_until_idle(&process->eus[0]);
	pthread_mutex_lock(&process->lock);
	sim_dpa_submit(process, &any);
	sim_dpa_submit(process, &own);
	pthread_mutex_unlock(&process->lock);
	while (sem_wait(&has_ended) != 0)
		assert_int_equal(errno, EINTR);
	sim_dpa_process_destroy(process); /* before the works, which are of this function */
	process = NULL;
	sem_destroy(&has_ended);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, open_process, close_process)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(kernels_take_what_was_pushed_in_order),
		TEST(a_full_ring_has_room_behind_an_ack),
		TEST(an_element_is_gone_behind_its_ack),
		TEST(a_number_that_is_no_elements_finds_none),
		TEST(more_acks_than_elements_are_fatal),
		TEST(an_armed_ring_wakes_its_thread_once),
		cmocka_unit_test_setup_teardown(test_a_notification_has_no_effect_without_the_attribute, open_bare,
						close_process),
		cmocka_unit_test_setup_teardown(test_a_delay_that_comes_while_a_run_begins_is_of_the_next, open_delayed,
						close_process),
		cmocka_unit_test_setup_teardown(test_the_port_has_room_where_the_kernels_stack_ends, open_deep,
						close_process),
		cmocka_unit_test_setup_teardown(test_other_units_take_what_a_busy_one_was_woken_for, open_two_units,
						close_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

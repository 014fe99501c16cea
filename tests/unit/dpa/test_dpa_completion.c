/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings of completions: what the host's side pushes, kernels take; and what wakes a DPA thread: pushes, notifications. */
#include <errno.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/dpa/image/image.h"
#include "sim/dpa/queue/completion.h"
#include "sim/dpa/queue/notification.h"
#include "sim/dpa/queue/port.h"

extern const void *test_app, *bare_app;
void take(void), give_back(void), use_after_ack(void), arm(void), wake(void);
void bare_thread(void), bare_runs(void), bare_notify(void);

static struct sim_dpa_process *process;
static struct sim_dpa_completion completion;
static char reason[256];
static char logged[64];
static sem_t has_logged;

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

static int open_app(const void *app)
{
	const struct sim_dpa_process_cfg cfg = {
		.app = app, .port = &sim_dpa_port, .ops = &ops, .num_eus = 1, .heap_bytes = 4096
	};

	sem_init(&has_logged, 0, 0);
	return sim_dpa_process_create(&cfg, &process);
}

static int open_process(void **state)
{
	(void)state;
	return open_app(test_app);
}

static int open_bare(void **state)
{
	(void)state;
	return open_app(bare_app);
}

static int close_process(void **state)
{
	(void)state;
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

	(void)state;
	assert_int_equal(sim_dpa_completion_start(process, NULL, 4, &completion), 0);
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

	(void)state;
	assert_int_equal(sim_dpa_completion_start(process, NULL, 3, &completion), 0);
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

	(void)state;
	assert_int_equal(sim_dpa_completion_start(process, NULL, 4, &completion), 0);
	assert_int_equal(push(1, 0), 0);
	assert_int_equal(call(use_after_ack, &value, completion.handle), -EIO);
	assert_non_null(strstr(reason, "acknowledged already"));
	sim_dpa_completion_stop(&completion);
}

static void test_more_acks_than_elements_are_fatal(void **state)
{
	uint64_t value;

	(void)state;
	assert_int_equal(sim_dpa_completion_start(process, NULL, 4, &completion), 0);
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

	(void)state;
	assert_int_equal(sim_dpa_completion_start(process, NULL, 4, &completion), 0);
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

	(void)state;
	assert_int_equal(sim_dpa_activity_start(process, &cfg, &activity), 0);
	assert_int_equal(sim_dpa_notification_start(process, activity, &notification), 0);
	assert_int_equal(sim_dpa_completion_start(process, activity, 4, &completion), 0);
	assert_int_equal(sim_dpa_activity_run(activity), 0);
	assert_int_equal(call(bare_notify, &value, notification.handle), 0);
	assert_int_equal(count_runs(), 0);
	assert_int_equal(push(1, 0), 0); /* a completion needs no attribute */
	assert_int_equal(count_runs(), 1);
	sim_dpa_notification_stop(&notification);
	sim_dpa_completion_stop(&completion);
	sim_dpa_activity_stop(activity);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, open_process, close_process)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(kernels_take_what_was_pushed_in_order),
		TEST(a_full_ring_has_room_behind_an_ack),
		TEST(an_element_is_gone_behind_its_ack),
		TEST(more_acks_than_elements_are_fatal),
		TEST(an_armed_ring_wakes_its_thread_once),
		cmocka_unit_test_setup_teardown(test_a_notification_has_no_effect_without_the_attribute, open_bare,
						close_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

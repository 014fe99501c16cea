/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress engines: connecting contexts, the order of contexts, counting, two engines at once. */
#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "dma_util.h"

/* unreachable: doca_pe_connect_ctx DOCA_ERROR_NO_MEMORY: connecting links two objects and allocates nothing */

/* ---- life ---- */

static void test_engine_is_created_and_destroyed(void **state)
{
	struct doca_pe *pe = NULL;

	assert_ok(doca_pe_create(&pe));
	assert_non_null(pe);
	assert_int_equal(doca_pe_progress(pe), 0);
	assert_ok(doca_pe_destroy(pe));
}

/* An engine has a descriptor; a process that may open no more gets no engine. */
static void test_engine_without_a_descriptor_is_refused(void **state)
{
	struct rlimit before, none;
	struct doca_pe *pe = NULL;
	doca_error_t result;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	result = doca_pe_create(&pe);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	/* provokes: doca_pe_create DOCA_ERROR_NO_MEMORY */
	assert_doca(result, DOCA_ERROR_NO_MEMORY);
	assert_null(pe);
}

static void test_engine_with_contexts_is_not_destroyed(void **state)
{
	struct rig *rig = *state;

	/* provokes: doca_pe_destroy DOCA_ERROR_IN_USE */
	assert_doca(doca_pe_destroy(rig->pe), DOCA_ERROR_IN_USE);
	MUST(doca_ctx_start(rig->ctx));
	assert_doca(doca_pe_destroy(rig->pe), DOCA_ERROR_IN_USE);
}

/* ---- connecting ---- */

static void test_context_connects_once(void **state)
{
	struct rig *rig = *state;
	struct doca_pe *other;

	MUST(doca_pe_create(&other));
	/* provokes: doca_pe_connect_ctx DOCA_ERROR_NOT_PERMITTED */
	assert_doca(doca_pe_connect_ctx(rig->pe, rig->ctx), DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_pe_connect_ctx(other, rig->ctx), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_pe_destroy(other));
}

static void test_context_that_is_not_idle_does_not_connect(void **state)
{
	struct rig *rig = *state;

	/* provokes: doca_pe_connect_ctx DOCA_ERROR_BAD_STATE */
	assert_doca(doca_pe_connect_ctx(rig->pe, rig->ctx), DOCA_ERROR_BAD_STATE);
}

/* Three contexts; the middle one of the engine's list goes first, then the ends. */
static void test_contexts_leave_in_any_order(void **state)
{
	struct rig *rig = *state;
	struct doca_dma *dma[3];

	for (size_t i = 0; i < 3; i++) {
		MUST(doca_dma_create(rig->dev, &dma[i]));
		MUST(doca_pe_connect_ctx(rig->pe, doca_dma_as_ctx(dma[i])));
	}
	for (size_t i = 0; i < 3; i++) {
		MUST(doca_dma_destroy(dma[(i + 1) % 3]));
		assert_int_equal(doca_pe_progress(rig->pe), 0);
	}
	rig_start(rig);
	rig_submit_small(rig, 0);
	rig_drain(rig);
	assert_trace(rig, "task 0 done\n");
}

/* ---- order ---- */

static void submit_three_each(struct rig *first, struct rig *second)
{
	for (uint64_t i = 0; i < 3; i++) {
		rig_submit_small(first, 10 + i);
		rig_submit_small(second, 20 + i);
	}
}

/* Six tasks on two contexts: six calls, one completion each, then nothing. */
static void test_selective_mode_completes_one_task_a_call(void **state)
{
	struct rig *rig = *state;
	struct rig *second = rig_start(rig_open(&(struct rig_cfg){ .beside = rig }));

	submit_three_each(rig, second);
	for (size_t left = 6; left > 0; left--) {
		assert_int_equal(rig_pe_in_flight(rig), left);
		while (!doca_pe_progress(rig->pe))
			;
		assert_int_equal(rig_pe_in_flight(rig), left - 1);
	}
	assert_int_equal(doca_pe_progress(rig->pe), 0);
	rig_close(second);
}

/* When all tasks are done, the two contexts alternate, each in its own order; either may be first. */
static void test_contexts_take_turns(void **state)
{
	struct rig *rig = *state;
	struct rig *second = rig_start(rig_open(&(struct rig_cfg){ .beside = rig }));

	submit_three_each(rig, second);
	MUST(doca_pe_request_notification(rig->pe)); /* runs what is queued */
	rig_drain(rig);
	if (rig->trace->text[strlen("task ")] == '1')
		assert_trace(rig, "task 10 done\ntask 20 done\ntask 11 done\ntask 21 done\n"
				  "task 12 done\ntask 22 done\n");
	else
		assert_trace(rig, "task 20 done\ntask 10 done\ntask 21 done\ntask 11 done\n"
				  "task 22 done\ntask 12 done\n");
	rig_close(second);
}

static void resubmit(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	MUST(doca_buf_reset_data_len(doca_dma_task_memcpy_get_dst(task)));
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
}

/* A context whose task is resubmitted again and again does not keep another's from completing. */
static void test_busy_context_does_not_starve_another(void **state)
{
	struct rig *rig = *state;
	struct rig *second = rig_start(rig_open(&(struct rig_cfg){ .beside = rig }));

	rig->on_task = resubmit;
	rig_submit_small(rig, 1);
	for (int i = 0; i < 10; i++)
		while (!doca_pe_progress(rig->pe))
			;
	rig->trace->text[0] = '\0';
	rig_submit_small(second, 2);
	MUST(doca_pe_request_notification(rig->pe)); /* runs what is queued */
	for (int i = 0; i < 2; i++)
		assert_int_equal(doca_pe_progress(rig->pe), 1);
	assert_non_null(strstr(rig->trace->text, "task 2 done\n"));
	rig->on_task = NULL;
	rig_drain(rig);
	rig_close(second);
}

static void test_all_mode_completes_everything_in_one_call(void **state)
{
	struct rig *rig = *state;
	struct rig *second = rig_start(rig_open(&(struct rig_cfg){ .beside = rig }));

	assert_ok(doca_pe_set_event_mode(rig->pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
	submit_three_each(rig, second);
	MUST(doca_pe_request_notification(rig->pe)); /* runs what is queued */
	assert_int_equal(doca_pe_progress(rig->pe), 1);
	assert_int_equal(rig_pe_in_flight(rig), 0);
	assert_int_equal(doca_pe_progress(rig->pe), 0);
	assert_ok(doca_pe_set_event_mode(rig->pe, DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE));
	rig_close(second);
}

/* The call does not process tasks that callbacks submit: it ends. */
static void test_all_mode_ends_though_callbacks_resubmit(void **state)
{
	struct rig *rig = *state;

	MUST(doca_pe_set_event_mode(rig->pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
	rig->on_task = resubmit;
	rig_submit_small(rig, 1);
	rig_submit_small(rig, 2);
	while (!doca_pe_progress(rig->pe))
		;
	assert_int_equal(rig_in_flight(rig), 2);
	rig->on_task = NULL;
	rig_drain(rig);
}

static void destroy_when_idle(struct rig *rig, enum doca_ctx_states next)
{
	if (next == DOCA_CTX_STATE_IDLE) {
		MUST(doca_dma_destroy(rig->dma));
		rig->dma = NULL;
	}
}

/* A callback destroys the context that is the next one. */
static void stop_the_other(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	struct rig *other = rig->arg;

	doca_task_free(doca_dma_task_memcpy_as_task(task));
	other->on_state = destroy_when_idle;
	MUST(doca_ctx_stop(other->ctx));
}

static void test_callback_may_destroy_the_context_whose_turn_is_next(void **state)
{
	const enum doca_pe_event_mode modes[] = { DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE,
						  DOCA_PE_EVENT_MODE_PROGRESS_ALL };
	struct rig *rig = *state;

	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		struct rig *other = rig_start(rig_open(&(struct rig_cfg){ .beside = rig }));

		MUST(doca_pe_set_event_mode(rig->pe, modes[i]));
		rig->on_task = stop_the_other;
		rig->arg = other;
		rig_submit_small(rig, i);
		rig_drain(rig);
		assert_null(other->dma);
		rig_close(other);
		rig->on_task = NULL;
		rig_submit_small(rig, 10 + i);
		rig_drain(rig);
	}
}

/* ---- counting ---- */

/* Staged tasks count too: they were submitted and not completed. */
static void test_tasks_in_flight_are_counted_by_context_and_engine(void **state)
{
	struct rig *rig = *state;
	struct rig *second = rig_start(rig_open(&(struct rig_cfg){ .beside = rig }));

	rig_submit_small(rig, 0);
	rig_submit_small(rig, 1);
	MUST(doca_task_submit_ex(rig_small_task(second, 0), DOCA_TASK_SUBMIT_FLAG_NONE));
	assert_int_equal(rig_in_flight(rig), 2);
	assert_int_equal(rig_in_flight(second), 1);
	assert_int_equal(rig_pe_in_flight(rig), 3);
	doca_ctx_flush_tasks(second->ctx);
	rig_drain(rig);
	assert_int_equal(rig_in_flight(rig), 0);
	assert_int_equal(rig_in_flight(second), 0);
	rig_close(second);
}

static void count_in_callback(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	rig_note(rig, "in flight: %zu\n", rig_in_flight(rig));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void test_task_in_its_callback_is_not_counted(void **state)
{
	struct rig *rig = *state;

	rig->on_task = count_in_callback;
	rig_submit_small(rig, 0);
	rig_submit_small(rig, 1);
	rig_drain(rig);
	assert_trace(rig, "task 0 done\nin flight: 1\ntask 1 done\nin flight: 0\n");
}

/* ---- two engines ---- */

#define COPIES 400

/* A program with its own engine, context and memory; the device is shared. */
static void *copy_many(void *arg)
{
	struct rig *rig = rig_start(rig_open(NULL));

	rig->on_task = resubmit;
	for (uint64_t i = 0; i < 4; i++)
		rig_submit_small(rig, i);
	for (int left = COPIES; left > 0;) {
		left -= doca_pe_progress(rig->pe);
		rig->trace->text[0] = '\0';
	}
	rig->on_task = NULL;
	rig_drain(rig);
	for (uint64_t i = 0; i < 4; i++)
		CHECK(rig_small_is_done(rig, i));
	rig_close(rig);
	return arg;
}

static void test_two_engines_run_in_two_threads(void **state)
{
	pthread_t other;

	assert_int_equal(pthread_create(&other, NULL, copy_many, NULL), 0);
	copy_many(NULL);
	assert_int_equal(pthread_join(other, NULL), 0);
}

/* ---- handles that are none ---- */

static void refuse_all(struct rig *rig, struct doca_pe *pe)
{
	doca_notification_handle_t handle;
	size_t count;

	/* provokes: doca_pe_destroy DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_pe_destroy(pe));
	/* provokes: doca_pe_connect_ctx DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_pe_connect_ctx(pe, rig->ctx));
	assert_int_equal(doca_pe_progress(pe), 0);
	/* provokes: doca_pe_get_num_inflight_tasks DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_pe_get_num_inflight_tasks(pe, &count));
	/* provokes: doca_pe_set_event_mode DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_pe_set_event_mode(pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
	assert_invalid(doca_pe_get_notification_handle(pe, &handle));
	assert_invalid(doca_pe_request_notification(pe));
	assert_invalid(doca_pe_clear_notification(pe, 0));
}

static void test_handle_that_is_no_engine_is_refused(void **state)
{
	struct rig *rig = *state;
	struct doca_pe *dead;

	MUST(doca_pe_create(&dead));
	MUST(doca_pe_destroy(dead));
	refuse_all(rig, NULL);
	refuse_all(rig, (struct doca_pe *)rig->ctx);
	refuse_all(rig, dead);
}

static void test_null_and_unknown_values_are_refused(void **state)
{
	struct rig *rig = *state;

	/* provokes: doca_pe_create DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_pe_create(NULL));
	assert_invalid(doca_pe_get_num_inflight_tasks(rig->pe, NULL));
	assert_invalid(doca_pe_get_notification_handle(rig->pe, NULL));
	assert_invalid(doca_pe_connect_ctx(rig->pe, NULL));
	assert_invalid(doca_pe_set_event_mode(rig->pe, (enum doca_pe_event_mode)2));
	assert_invalid(doca_pe_set_event_mode(rig->pe, (enum doca_pe_event_mode) - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_engine_is_created_and_destroyed),
		cmocka_unit_test(test_engine_without_a_descriptor_is_refused),
		RIG_IDLE(test_engine_with_contexts_is_not_destroyed),
		RIG_IDLE(test_context_connects_once),
		RIG_RUNNING(test_context_that_is_not_idle_does_not_connect),
		RIG_IDLE(test_contexts_leave_in_any_order),
		RIG_RUNNING(test_selective_mode_completes_one_task_a_call),
		RIG_RUNNING(test_contexts_take_turns),
		RIG_RUNNING(test_busy_context_does_not_starve_another),
		RIG_RUNNING(test_all_mode_completes_everything_in_one_call),
		RIG_RUNNING(test_all_mode_ends_though_callbacks_resubmit),
		RIG_RUNNING(test_callback_may_destroy_the_context_whose_turn_is_next),
		RIG_RUNNING(test_tasks_in_flight_are_counted_by_context_and_engine),
		RIG_RUNNING(test_task_in_its_callback_is_not_counted),
		cmocka_unit_test(test_two_engines_run_in_two_threads),
		RIG_IDLE(test_handle_that_is_no_engine_is_refused),
		RIG_IDLE(test_null_and_unknown_values_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

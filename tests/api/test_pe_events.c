/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeping on an engine's handle: request, wait, clear; and jobs that no thread polls for. */
#include <sys/epoll.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "dma_util.h"

static int handle_of(struct rig *rig)
{
	doca_notification_handle_t handle;

	MUST(doca_pe_get_notification_handle(rig->pe, &handle));
	return handle;
}

/* The steps of a program that wakes. */
static void clear_and_progress(struct rig *rig)
{
	MUST(doca_pe_clear_notification(rig->pe, handle_of(rig)));
	while (doca_pe_progress(rig->pe))
		;
}

/* ---- the handle ---- */

static void test_handle_is_the_same_each_time_and_not_readable_at_first(void **state)
{
	struct rig *rig = *state;

	assert_true(handle_of(rig) >= 0);
	assert_int_equal(handle_of(rig), handle_of(rig));
	assert_false(rig_is_readable(handle_of(rig)));
}

static void test_request_with_nothing_in_flight_is_no_event(void **state)
{
	struct rig *rig = *state;

	assert_ok(doca_pe_request_notification(rig->pe));
	assert_false(rig_is_readable(handle_of(rig)));
}

/* A task that waits for a flush does not run, so there is no event. */
static void test_request_with_a_staged_task_is_no_event(void **state)
{
	struct rig *rig = *state;

	MUST(doca_task_submit_ex(rig_small_task(rig, 0), DOCA_TASK_SUBMIT_FLAG_NONE));
	assert_ok(doca_pe_request_notification(rig->pe));
	assert_false(rig_is_readable(handle_of(rig)));
}

/* ---- completion before, between or after ---- */

static void test_task_submitted_before_the_request_wakes(void **state)
{
	struct rig *rig = *state;

	rig_submit_small(rig, 0);
	assert_ok(doca_pe_request_notification(rig->pe));
	assert_true(rig_wait_readable(handle_of(rig)));
	clear_and_progress(rig);
	assert_trace(rig, "task 0 done\n");
}

static void test_task_finished_before_the_request_wakes(void **state)
{
	struct rig *rig = *state;

	rig_submit_small(rig, 0);
	assert_true(rig_wait_in_memory(rig, 0));
	assert_false(rig_is_readable(handle_of(rig)));
	assert_ok(doca_pe_request_notification(rig->pe));
	assert_true(rig_wait_readable(handle_of(rig)));
	clear_and_progress(rig);
	assert_trace(rig, "task 0 done\n");
}

/* Armed first: the engine's own thread must run the task and wake the sleeper. */
static void test_task_submitted_after_the_request_wakes(void **state)
{
	struct rig *rig = *state;

	assert_ok(doca_pe_request_notification(rig->pe));
	rig_submit_small(rig, 0);
	assert_true(rig_wait_readable(handle_of(rig)));
	clear_and_progress(rig);
	assert_trace(rig, "task 0 done\n");
	assert_true(rig_small_is_done(rig, 0));
}

static void test_task_without_request_wakes_no_thread(void **state)
{
	struct rig *rig = *state;

	rig_submit_small(rig, 0);
	assert_true(rig_wait_in_memory(rig, 0));
	rig_drain(rig);
	assert_false(rig_is_readable(handle_of(rig)));
}

static void test_flush_after_the_request_wakes(void **state)
{
	struct rig *rig = *state;

	MUST(doca_task_submit_ex(rig_small_task(rig, 0), DOCA_TASK_SUBMIT_FLAG_NONE));
	assert_ok(doca_pe_request_notification(rig->pe));
	doca_ctx_flush_tasks(rig->ctx);
	assert_true(rig_wait_readable(handle_of(rig)));
	clear_and_progress(rig);
	assert_trace(rig, "task 0 done\n");
}

static void test_failed_task_wakes(void **state)
{
	struct rig *rig = *state;

	assert_ok(doca_pe_request_notification(rig->pe));
	MUST(doca_task_submit(rig_task(rig, 1, rig_src(rig, 0, 64), rig_dst(rig, 64, 63))));
	assert_true(rig_wait_readable(handle_of(rig)));
	clear_and_progress(rig);
	assert_trace(rig, "running -> stopping\ntask 1 failed: DOCA_ERROR_IO_FAILED\nstopping -> idle\n");
}

/* ---- clear and request again ---- */

static void test_clear_takes_the_event_back(void **state)
{
	struct rig *rig = *state;

	rig_submit_small(rig, 0);
	MUST(doca_pe_request_notification(rig->pe));
	assert_true(rig_wait_readable(handle_of(rig)));
	assert_ok(doca_pe_clear_notification(rig->pe, handle_of(rig)));
	assert_false(rig_is_readable(handle_of(rig)));
	assert_ok(doca_pe_clear_notification(rig->pe, handle_of(rig)));
}

/* Cleared, but not progressed: the completion is an event for the next request. */
static void test_completion_left_behind_wakes_again(void **state)
{
	struct rig *rig = *state;

	rig_submit_small(rig, 0);
	for (int i = 0; i < 3; i++) {
		MUST(doca_pe_request_notification(rig->pe));
		assert_true(rig_wait_readable(handle_of(rig)));
		MUST(doca_pe_clear_notification(rig->pe, handle_of(rig)));
	}
	clear_and_progress(rig);
	assert_trace(rig, "task 0 done\n");
	MUST(doca_pe_request_notification(rig->pe));
	assert_false(rig_is_readable(handle_of(rig)));
}

/* In this mode a request clears earlier events. */
static void test_request_in_all_mode_clears(void **state)
{
	struct rig *rig = *state;

	MUST(doca_pe_set_event_mode(rig->pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
	rig_submit_small(rig, 0);
	MUST(doca_pe_request_notification(rig->pe));
	assert_true(rig_wait_readable(handle_of(rig)));
	rig_drain(rig);
	MUST(doca_pe_request_notification(rig->pe));
	assert_false(rig_is_readable(handle_of(rig)));
	rig_submit_small(rig, 1);
	assert_true(rig_wait_readable(handle_of(rig)));
	rig_drain(rig);
}

/* The program closed the engine's descriptor, which belongs to the library. */
static void test_clear_reports_a_closed_handle(void **state)
{
	struct rig *rig = *state;
	int handle = handle_of(rig), kept = dup(handle);

	assert_true(kept >= 0);
	close(handle);
	/* provokes: doca_pe_clear_notification DOCA_ERROR_OPERATING_SYSTEM */
	assert_doca(doca_pe_clear_notification(rig->pe, handle), DOCA_ERROR_OPERATING_SYSTEM);
	assert_int_equal(dup2(kept, handle), handle);
	close(kept);
	assert_ok(doca_pe_clear_notification(rig->pe, handle));
}

/* ---- event modes: what an armed engine progresses ---- */

static void arm_idle_then_submit(struct rig *rig, uint64_t i)
{
	MUST(doca_pe_request_notification(rig->pe));
	rig_submit_small(rig, i);
	assert_true(rig_wait_readable(handle_of(rig)));
}

/* Returns whether the engine finds anything in some calls. */
static bool progress_finds(struct rig *rig)
{
	for (int i = 0; i < 100; i++)
		if (doca_pe_progress(rig->pe))
			return true;
	return false;
}

static void test_armed_engine_delivers_later_events_behind_the_clear(void **state)
{
	struct rig *rig = *state;

	arm_idle_then_submit(rig, 0);
	assert_false(progress_finds(rig));
	assert_trace(rig, "");
	clear_and_progress(rig);
	assert_trace(rig, "task 0 done\n");
}

static void test_armed_engine_in_all_mode_needs_no_clear(void **state)
{
	struct rig *rig = *state;

	MUST(doca_pe_set_event_mode(rig->pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
	for (uint64_t i = 0; i < 3; i++) {
		arm_idle_then_submit(rig, i);
		assert_true(progress_finds(rig));
	}
	assert_trace(rig, "task 0 done\ntask 1 done\ntask 2 done\n");
}

static void test_changing_to_all_mode_lets_an_armed_engine_go_on(void **state)
{
	struct rig *rig = *state;

	arm_idle_then_submit(rig, 0);
	MUST(doca_pe_set_event_mode(rig->pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
	assert_true(progress_finds(rig));
	MUST(doca_pe_set_event_mode(rig->pe, DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE));
	rig_submit_small(rig, 1);
	rig_drain(rig);
	assert_trace(rig, "task 0 done\ntask 1 done\n");
}

/* What there was when the engine was armed is progressed: of that context, also what comes later. */
static void test_armed_engine_progresses_contexts_that_had_tasks(void **state)
{
	struct rig *rig = *state;
	struct rig *second = rig_start(rig_open(&(struct rig_cfg){ .beside = rig }));

	rig_submit_small(rig, 0);
	MUST(doca_pe_request_notification(rig->pe));
	rig_submit_small(rig, 1);
	rig_submit_small(second, 2);
	assert_true(rig_wait_in_memory(second, 2));
	while (rig_in_flight(rig) > 0)
		doca_pe_progress(rig->pe);
	assert_false(progress_finds(rig));
	assert_trace(rig, "task 0 done\ntask 1 done\n");
	clear_and_progress(rig);
	assert_trace(rig, "task 2 done\n");
	rig_close(second);
}

/* An event that was not cleared is work that is there when the engine is armed again. */
static void test_arming_again_takes_up_what_has_come(void **state)
{
	struct rig *rig = *state;

	arm_idle_then_submit(rig, 0);
	assert_false(progress_finds(rig));
	MUST(doca_pe_request_notification(rig->pe));
	assert_true(rig_is_readable(handle_of(rig)));
	assert_true(progress_finds(rig));
	assert_trace(rig, "task 0 done\n");
}

/* Our choice: a program that ends its loop may stop and poll. */
static void test_armed_engine_progresses_a_context_that_stops(void **state)
{
	struct rig *rig = *state;

	arm_idle_then_submit(rig, 0);
	assert_doca(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "running -> stopping\ntask 0 done\nstopping -> idle\n");
}

/* ---- the whole loop, over epoll ---- */

#define ROUNDS 30

static void resubmit_until_enough(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	int *left = rig->arg;

	rig->trace->text[0] = '\0';
	if (--*left <= 0) {
		doca_task_free(doca_dma_task_memcpy_as_task(task));
		return;
	}
	MUST(doca_buf_reset_data_len(doca_dma_task_memcpy_get_dst(task)));
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
}

/* Tasks submitted in callbacks run while the program sleeps; each sleep ends. */
static void test_epoll_loop_sees_every_completion(void **state)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct rig *rig = *state;
	int left = ROUNDS, epoll = epoll_create1(0);

	assert_true(epoll >= 0);
	assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, handle_of(rig), &event), 0);
	rig->on_task = resubmit_until_enough;
	rig->arg = &left;
	rig_submit_small(rig, 0);
	while (left > 0) {
		MUST(doca_pe_request_notification(rig->pe));
		assert_int_equal(epoll_wait(epoll, &event, 1, RIG_DEADLINE_S * 1000), 1);
		MUST(doca_pe_clear_notification(rig->pe, handle_of(rig)));
		doca_pe_progress(rig->pe);
	}
	assert_int_equal(rig_in_flight(rig), 0);
	close(epoll);
}

/* The same, with each task flushed after the request: the engine's thread has to run them all. */
static void test_sleeper_that_arms_first_misses_nothing(void **state)
{
	struct rig *rig = *state;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		MUST(doca_pe_request_notification(rig->pe));
		rig_submit_small(rig, i);
		assert_true(rig_wait_readable(handle_of(rig)));
		clear_and_progress(rig);
		assert_true(rig_small_is_done(rig, i));
	}
}

static void test_one_handle_tells_of_all_contexts(void **state)
{
	struct rig *rig = *state;
	struct rig *second = rig_start(rig_open(&(struct rig_cfg){ .beside = rig }));

	MUST(doca_pe_request_notification(rig->pe));
	rig_submit_small(second, 2);
	assert_true(rig_wait_readable(handle_of(rig)));
	clear_and_progress(rig);
	MUST(doca_pe_request_notification(rig->pe));
	rig_submit_small(rig, 1);
	assert_true(rig_wait_readable(handle_of(rig)));
	clear_and_progress(rig);
	assert_trace(rig, "task 2 done\ntask 1 done\n");
	rig_close(second);
}

/* ---- stopping ---- */

/* The task waits for a flush; the stop ends it, which is an event. This test is the first, so the engine's thread
 * does not run yet: the stop itself must wake it. */
static void test_stop_after_the_request_wakes(void **state)
{
	struct rig *rig = *state;

	MUST(doca_task_submit_ex(rig_small_task(rig, 0), DOCA_TASK_SUBMIT_FLAG_NONE));
	MUST(doca_pe_request_notification(rig->pe));
	assert_doca(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_true(rig_wait_readable(handle_of(rig)));
	clear_and_progress(rig);
	assert_trace(rig, "running -> stopping\ntask 0 failed: DOCA_ERROR_IO_FAILED\nstopping -> idle\n");
}

static void test_stopping_context_whose_tasks_are_freed_is_an_event(void **state)
{
	struct rig *rig = *state;
	struct doca_task *task = rig_small_task(rig, 0);

	assert_doca(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	MUST(doca_pe_request_notification(rig->pe));
	assert_false(rig_is_readable(handle_of(rig)));
	doca_task_free(task);
	assert_true(rig_wait_readable(handle_of(rig)));
	clear_and_progress(rig);
	assert_trace(rig, "running -> stopping\nstopping -> idle\n");
}

static void test_request_after_the_last_free_wakes(void **state)
{
	struct rig *rig = *state;
	struct doca_task *task = rig_small_task(rig, 0);

	assert_doca(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	doca_task_free(task);
	MUST(doca_pe_request_notification(rig->pe));
	assert_true(rig_wait_readable(handle_of(rig)));
	clear_and_progress(rig);
	assert_int_equal(rig_state(rig), DOCA_CTX_STATE_IDLE);
}

/* ---- no thread polls ---- */

static void test_submitted_tasks_reach_memory_without_polling(void **state)
{
	struct rig *rig = *state;

	for (uint64_t i = 0; i < RIG_TASKS; i++)
		rig_submit_small(rig, i);
	for (uint64_t i = 0; i < RIG_TASKS; i++)
		assert_true(rig_wait_in_memory(rig, i));
	assert_int_equal(rig_in_flight(rig), RIG_TASKS);
	assert_trace(rig, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_RUNNING(test_stop_after_the_request_wakes), /* first: see the test */
		RIG_RUNNING(test_handle_is_the_same_each_time_and_not_readable_at_first),
		RIG_RUNNING(test_request_with_nothing_in_flight_is_no_event),
		RIG_RUNNING(test_request_with_a_staged_task_is_no_event),
		RIG_RUNNING(test_task_submitted_before_the_request_wakes),
		RIG_RUNNING(test_task_finished_before_the_request_wakes),
		RIG_RUNNING(test_task_submitted_after_the_request_wakes),
		RIG_RUNNING(test_task_without_request_wakes_no_thread),
		RIG_RUNNING(test_flush_after_the_request_wakes),
		RIG_RUNNING(test_failed_task_wakes),
		RIG_RUNNING(test_clear_takes_the_event_back),
		RIG_RUNNING(test_completion_left_behind_wakes_again),
		RIG_RUNNING(test_request_in_all_mode_clears),
		RIG_RUNNING(test_clear_reports_a_closed_handle),
		RIG_RUNNING(test_armed_engine_delivers_later_events_behind_the_clear),
		RIG_RUNNING(test_armed_engine_in_all_mode_needs_no_clear),
		RIG_RUNNING(test_changing_to_all_mode_lets_an_armed_engine_go_on),
		RIG_RUNNING(test_armed_engine_progresses_contexts_that_had_tasks),
		RIG_RUNNING(test_arming_again_takes_up_what_has_come),
		RIG_RUNNING(test_armed_engine_progresses_a_context_that_stops),
		RIG_RUNNING(test_epoll_loop_sees_every_completion),
		RIG_RUNNING(test_sleeper_that_arms_first_misses_nothing),
		RIG_RUNNING(test_one_handle_tells_of_all_contexts),
		RIG_RUNNING(test_stopping_context_whose_tasks_are_freed_is_an_event),
		RIG_RUNNING(test_request_after_the_last_free_wakes),
		RIG_RUNNING(test_submitted_tasks_reach_memory_without_polling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

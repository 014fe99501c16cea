/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_task_submit_ex(): tasks that wait for a flush, and completions that wait for company.
 *
 * "Nothing happens" can't be waited for. These tests rely on order instead: a
 * context's tasks run and complete one after the other, so that what a later
 * task's completion finds is what there was before.
 */
#include "cmocka_test.h"
#include "dma_util.h"

#define NONE  DOCA_TASK_SUBMIT_FLAG_NONE
#define FLUSH DOCA_TASK_SUBMIT_FLAG_FLUSH
#define QUIET DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS

static void submit_ex(struct rig *rig, uint64_t number, uint32_t flags)
{
	assert_ok(doca_task_submit_ex(rig_small_task(rig, number), flags));
}

/* ---- FLUSH ---- */

/* Work on a second context, by polling and by the engine's own thread, does not run the waiting task. */
static void test_task_without_flush_waits(void **state)
{
	struct rig *rig = *state;
	struct rig *second = rig_start(rig_open(&(struct rig_cfg){ .beside = rig }));

	submit_ex(rig, 1, NONE);
	rig_submit_small(second, 2);
	while (!doca_pe_progress(rig->pe))
		;
	rig_submit_small(second, 3);
	assert_true(rig_wait_in_memory(second, 3));
	while (!doca_pe_progress(rig->pe))
		;
	assert_int_equal(doca_pe_progress(rig->pe), 0);
	assert_trace(rig, "task 2 done\ntask 3 done\n");
	assert_true(rig_is_untouched(rig, rig_small_to(rig, 1), 64));
	assert_int_equal(rig_in_flight(rig), 1);
	doca_ctx_flush_tasks(rig->ctx);
	rig_drain(rig);
	assert_trace(rig, "task 1 done\n");
	rig_close(second);
}

static void test_flush_of_a_later_task_sends_off_the_waiting_ones(void **state)
{
	struct rig *rig = *state;

	submit_ex(rig, 1, NONE);
	submit_ex(rig, 2, NONE);
	submit_ex(rig, 3, FLUSH);
	rig_drain(rig);
	assert_trace(rig, "task 1 done\ntask 2 done\ntask 3 done\n");
}

static void test_plain_submit_flushes_too(void **state)
{
	struct rig *rig = *state;

	submit_ex(rig, 1, NONE);
	rig_submit_small(rig, 2);
	rig_drain(rig);
	assert_trace(rig, "task 1 done\ntask 2 done\n");
}

static void test_flush_of_the_context_sends_off_the_waiting_ones(void **state)
{
	struct rig *rig = *state;

	submit_ex(rig, 1, NONE);
	submit_ex(rig, 2, NONE);
	doca_ctx_flush_tasks(rig->ctx);
	assert_true(rig_wait_in_memory(rig, 2));
	rig_drain(rig);
	assert_trace(rig, "task 1 done\ntask 2 done\n");
}

static void test_flush_sends_off_only_what_was_submitted_before(void **state)
{
	struct rig *rig = *state;

	submit_ex(rig, 1, FLUSH);
	submit_ex(rig, 2, NONE);
	while (!doca_pe_progress(rig->pe))
		;
	assert_int_equal(doca_pe_progress(rig->pe), 0);
	assert_trace(rig, "task 1 done\n");
	assert_int_equal(rig_in_flight(rig), 1);
}

/* As many tasks as there are, staged, fill the queue to its end; more than once around. */
static void test_all_tasks_can_wait_for_one_flush(void **state)
{
	struct rig *rig = *state;

	for (int round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < RIG_TASKS; i++)
			submit_ex(rig, i, NONE);
		assert_int_equal(rig_in_flight(rig), RIG_TASKS);
		assert_int_equal(doca_pe_progress(rig->pe), 0);
		doca_ctx_flush_tasks(rig->ctx);
		rig_drain(rig);
	}
	for (uint64_t i = 0; i < RIG_TASKS; i++)
		assert_true(rig_small_is_done(rig, i));
}

static void test_flush_with_nothing_to_send_off_is_fine(void **state)
{
	struct rig *rig = *state;

	doca_ctx_flush_tasks(rig->ctx);
	assert_int_equal(doca_pe_progress(rig->pe), 0);
	MUST(doca_ctx_stop(rig->ctx));
	doca_ctx_flush_tasks(rig->ctx);
	assert_int_equal(rig_state(rig), DOCA_CTX_STATE_IDLE);
}

/* ---- OPTIMIZE_REPORTS ---- */

/* The tasks run, even if no thread polls; their completions come with the next one that is to be reported, before
 * it. */
static void test_optimized_reports_come_with_a_later_one(void **state)
{
	struct rig *rig = *state;

	submit_ex(rig, 1, QUIET | FLUSH);
	submit_ex(rig, 2, QUIET | FLUSH);
	assert_true(rig_wait_in_memory(rig, 1));
	assert_true(rig_wait_in_memory(rig, 2));
	MUST(doca_pe_request_notification(rig->pe)); /* what is queued has run after this */
	for (int i = 0; i < 4; i++)
		assert_int_equal(doca_pe_progress(rig->pe), 0);
	assert_trace(rig, "");
	assert_int_equal(rig_in_flight(rig), 2);
	submit_ex(rig, 3, FLUSH);
	rig_drain(rig);
	assert_trace(rig, "task 1 done\ntask 2 done\ntask 3 done\n");
}

static void test_optimized_report_without_flush_waits_as_well(void **state)
{
	struct rig *rig = *state;

	submit_ex(rig, 1, QUIET);
	MUST(doca_pe_request_notification(rig->pe));
	assert_true(rig_is_untouched(rig, rig_small_to(rig, 1), 64));
	submit_ex(rig, 2, FLUSH);
	rig_drain(rig);
	assert_trace(rig, "task 1 done\ntask 2 done\n");
}

/* Reports before an optimized one do not wait for it. */
static void test_report_before_an_optimized_one_comes_alone(void **state)
{
	struct rig *rig = *state;

	submit_ex(rig, 1, NONE);
	submit_ex(rig, 2, QUIET | FLUSH);
	MUST(doca_pe_request_notification(rig->pe));
	assert_int_equal(doca_pe_progress(rig->pe), 1);
	assert_int_equal(doca_pe_progress(rig->pe), 0);
	assert_trace(rig, "task 1 done\n");
	assert_int_equal(rig_in_flight(rig), 1);
}

/* There is no completion to report, so no sleeper is woken. The second engine's task makes the process's engine
 * thread look again, so that it has handled the first when the test checks. */
static void test_optimized_report_wakes_no_thread(void **state)
{
	struct rig *rig = *state;
	struct rig *other = rig_start(rig_open(NULL));
	doca_notification_handle_t handle;

	MUST(doca_pe_get_notification_handle(rig->pe, &handle));
	MUST(doca_pe_request_notification(rig->pe));
	submit_ex(rig, 1, QUIET | FLUSH);
	assert_true(rig_wait_in_memory(rig, 1));
	rig_submit_small(other, 1);
	assert_true(rig_wait_in_memory(other, 1));
	assert_false(rig_is_readable(handle));
	submit_ex(rig, 2, FLUSH);
	assert_true(rig_wait_readable(handle));
	MUST(doca_pe_clear_notification(rig->pe, handle));
	rig_drain(rig);
	assert_trace(rig, "task 1 done\ntask 2 done\n");
	rig_close(other);
}

/* Unreported completions are events when the context stops. */
static void test_stop_wakes_for_the_optimized_reports(void **state)
{
	struct rig *rig = *state;
	doca_notification_handle_t handle;

	MUST(doca_pe_get_notification_handle(rig->pe, &handle));
	submit_ex(rig, 1, QUIET | FLUSH);
	assert_true(rig_wait_in_memory(rig, 1));
	MUST(doca_pe_request_notification(rig->pe));
	assert_doca(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_true(rig_wait_readable(handle));
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "running -> stopping\ntask 1 done\nstopping -> idle\n");
}

/* The earlier job succeeded and is reported so; a context that stops reports everything. */
static void test_stop_brings_the_optimized_reports(void **state)
{
	struct rig *rig = *state;

	submit_ex(rig, 1, QUIET | FLUSH);
	MUST(doca_pe_request_notification(rig->pe));
	submit_ex(rig, 2, QUIET);
	assert_doca(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "running -> stopping\ntask 1 done\ntask 2 failed: DOCA_ERROR_IO_FAILED\n"
			  "stopping -> idle\n");
}

/* A failure is always reported, after the earlier unreported completions. */
static void test_failed_task_is_reported_though_optimized(void **state)
{
	struct rig *rig = *state;

	submit_ex(rig, 1, QUIET);
	MUST(doca_task_submit_ex(rig_task(rig, 2, rig_src(rig, 0, 64), rig_dst(rig, 64, 63)), QUIET | FLUSH));
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "task 1 done\nrunning -> stopping\ntask 2 failed: DOCA_ERROR_IO_FAILED\n"
			  "stopping -> idle\n");
}

/* The flag belongs to the submission, not to the task. */
static void keep(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	MUST(doca_buf_reset_data_len(doca_dma_task_memcpy_get_dst(task)));
}

static void test_plain_submit_after_an_optimized_one_reports(void **state)
{
	struct rig *rig = *state;
	struct doca_task *first = rig_small_task(rig, 1), *second = rig_small_task(rig, 2);

	rig->on_task = keep;
	MUST(doca_task_submit_ex(first, QUIET));
	MUST(doca_task_submit(second));
	rig_drain(rig);
	MUST(doca_task_submit(first));
	rig_drain(rig);
	assert_trace(rig, "task 1 done\ntask 2 done\ntask 1 done\n");
	doca_task_free(first);
	doca_task_free(second);
}

/* ---- unknown flags ---- */

static void test_unknown_flags_are_refused(void **state)
{
	struct rig *rig = *state;
	struct doca_task *task = rig_small_task(rig, 1);

	assert_invalid(doca_task_submit_ex(task, 1 << 2));
	assert_invalid(doca_task_submit_ex(task, FLUSH | UINT32_C(1) << 31));
	assert_int_equal(rig_in_flight(rig), 0);
	doca_task_free(task);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_RUNNING(test_task_without_flush_waits),
		RIG_RUNNING(test_flush_of_a_later_task_sends_off_the_waiting_ones),
		RIG_RUNNING(test_plain_submit_flushes_too),
		RIG_RUNNING(test_flush_of_the_context_sends_off_the_waiting_ones),
		RIG_RUNNING(test_flush_sends_off_only_what_was_submitted_before),
		RIG_RUNNING(test_all_tasks_can_wait_for_one_flush),
		RIG_RUNNING(test_flush_with_nothing_to_send_off_is_fine),
		RIG_RUNNING(test_optimized_reports_come_with_a_later_one),
		RIG_RUNNING(test_optimized_report_without_flush_waits_as_well),
		RIG_RUNNING(test_report_before_an_optimized_one_comes_alone),
		RIG_RUNNING(test_optimized_report_wakes_no_thread),
		RIG_RUNNING(test_stop_wakes_for_the_optimized_reports),
		RIG_RUNNING(test_stop_brings_the_optimized_reports),
		RIG_RUNNING(test_failed_task_is_reported_though_optimized),
		RIG_RUNNING(test_plain_submit_after_an_optimized_one_reports),
		RIG_RUNNING(test_unknown_flags_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A task's life, on the example of memcpy: allocate, submit, callback, again or free. */
#include "cmocka_test.h"
#include "dma_util.h"

static struct doca_task *as_task(struct doca_dma_task_memcpy *task)
{
	return doca_dma_task_memcpy_as_task(task);
}

/* ---- allocation ---- */

static void test_as_many_tasks_as_configured_are_to_be_had(void **state)
{
	struct rig *rig = *state;
	struct doca_task *tasks[RIG_TASKS];
	struct doca_dma_task_memcpy *more = NULL;

	for (uint64_t i = 0; i < RIG_TASKS; i++)
		tasks[i] = rig_small_task(rig, i);
	/* provokes: doca_dma_task_memcpy_alloc_init DOCA_ERROR_NO_MEMORY */
	assert_doca(doca_dma_task_memcpy_alloc_init(rig->dma, NULL, NULL, (union doca_data){ 0 }, &more),
		    DOCA_ERROR_NO_MEMORY);
	assert_null(more);
	doca_task_free(tasks[5]);
	assert_ok(doca_dma_task_memcpy_alloc_init(rig->dma, NULL, NULL, (union doca_data){ 0 }, &more));
	tasks[5] = as_task(more);
	for (size_t i = 0; i < RIG_TASKS; i++)
		doca_task_free(tasks[i]);
}

/* No two tasks are equal, and each keeps its arguments when others are allocated and freed. */
static void test_tasks_keep_apart(void **state)
{
	struct rig *rig = *state;
	struct doca_task *tasks[RIG_TASKS];

	for (uint64_t i = 0; i < RIG_TASKS; i++)
		tasks[i] = rig_small_task(rig, i);
	for (uint64_t i = 0; i < RIG_TASKS; i += 2) {
		doca_task_free(tasks[i]);
		tasks[i] = rig_small_task(rig, 20 + i);
	}
	for (uint64_t i = 0; i < RIG_TASKS; i++)
		assert_int_equal(doca_task_get_user_data(tasks[i]).u64, i % 2 ? i : 20 + i);
	for (size_t i = 0; i < RIG_TASKS; i++)
		doca_task_free(tasks[i]);
}

static void test_idle_context_gives_no_tasks(void **state)
{
	struct rig *rig = *state;
	struct doca_dma_task_memcpy *task;

	assert_doca(doca_dma_task_memcpy_alloc_init(rig->dma, NULL, NULL, (union doca_data){ 0 }, &task),
		    DOCA_ERROR_BAD_STATE);
}

static void ignore(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
}

/* A new number applies from the next start on, as do new callbacks. */
static void test_number_of_tasks_can_be_changed_between_stop_and_start(void **state)
{
	struct rig *rig = *state;
	struct doca_dma_task_memcpy *more;
	struct doca_task *task;

	MUST(doca_ctx_stop(rig->ctx));
	MUST(doca_dma_task_memcpy_set_conf(rig->dma, ignore, ignore, 1));
	rig_start(rig);
	task = rig_small_task(rig, 1);
	assert_doca(doca_dma_task_memcpy_alloc_init(rig->dma, NULL, NULL, (union doca_data){ 0 }, &more),
		    DOCA_ERROR_NO_MEMORY);
	MUST(doca_task_submit(task));
	rig_drain(rig);
	assert_trace(rig, "");
	assert_true(rig_small_is_done(rig, 1));
	doca_task_free(task);
}

/* ---- attributes of a task ---- */

static void test_task_knows_what_it_was_made_with(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *src = rig_src(rig, 0, 8), *dst = rig_dst(rig, 8, 8);
	struct doca_dma_task_memcpy *task = rig_memcpy(rig, 77, src, dst);

	assert_ptr_equal(doca_dma_task_memcpy_get_src(task), src);
	assert_ptr_equal(doca_dma_task_memcpy_get_dst(task), dst);
	assert_ptr_equal(doca_task_get_ctx(as_task(task)), rig->ctx);
	assert_int_equal(doca_task_get_user_data(as_task(task)).u64, 77);
	assert_ok(doca_task_get_status(as_task(task)));
	doca_task_free(as_task(task));
}

/* The stop frees the context's tasks; a handle of one is still recognised. */
static void test_task_of_a_stopped_context_is_refused(void **state)
{
	struct rig *rig = *state;
	struct doca_dma_task_memcpy *task = rig_memcpy(rig, 1, rig_src(rig, 0, 8), rig_dst(rig, 8, 8));

	doca_task_free(as_task(task));
	assert_ok(doca_ctx_stop(rig->ctx));
	assert_null(doca_dma_task_memcpy_as_task(task));
	assert_invalid(doca_task_submit((struct doca_task *)task));
	doca_task_free((struct doca_task *)task); /* nothing happens */
	assert_ok(doca_ctx_start(rig->ctx));
}

static void test_buffers_and_user_data_can_be_changed(void **state)
{
	struct rig *rig = *state;
	struct doca_dma_task_memcpy *task = rig_memcpy(rig, 77, NULL, NULL);
	struct doca_buf *src = rig_src(rig, 0, 8), *dst = rig_dst(rig, 8, 8);

	doca_dma_task_memcpy_set_src(task, src);
	doca_dma_task_memcpy_set_dst(task, dst);
	doca_task_set_user_data(as_task(task), (union doca_data){ .u64 = 78 });
	assert_ptr_equal(doca_dma_task_memcpy_get_src(task), src);
	assert_ptr_equal(doca_dma_task_memcpy_get_dst(task), dst);
	MUST(doca_task_submit(as_task(task)));
	rig_drain(rig);
	assert_trace(rig, "task 78 done\n");
	assert_true(rig_was_copied(rig, 8, 0, 8));
}

/* Setters do not change a task in flight: the copy goes to its old destination. */
static void test_buffers_in_flight_stay(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *src = rig_src(rig, 0, 8), *dst = rig_dst(rig, 8, 8);
	struct doca_dma_task_memcpy *task = rig_memcpy(rig, 1, src, dst);

	MUST(doca_task_submit_ex(as_task(task), DOCA_TASK_SUBMIT_FLAG_NONE));
	doca_dma_task_memcpy_set_src(task, NULL);
	doca_dma_task_memcpy_set_dst(task, NULL);
	assert_ptr_equal(doca_dma_task_memcpy_get_src(task), src);
	assert_ptr_equal(doca_dma_task_memcpy_get_dst(task), dst);
	doca_ctx_flush_tasks(rig->ctx);
	rig_drain(rig);
	assert_trace(rig, "task 1 done\n");
	assert_true(rig_was_copied(rig, 8, 0, 8));
}

/* ---- callbacks ---- */

static void test_tasks_of_a_context_complete_in_order(void **state)
{
	struct rig *rig = *state;

	for (uint64_t i = 1; i <= 4; i++)
		rig_submit_small(rig, i);
	rig_drain(rig);
	assert_trace(rig, "task 1 done\ntask 2 done\ntask 3 done\ntask 4 done\n");
	for (uint64_t i = 1; i <= 4; i++)
		assert_true(rig_small_is_done(rig, i));
}

static void test_callback_comes_only_from_progress(void **state)
{
	struct rig *rig = *state;

	rig_submit_small(rig, 1);
	assert_true(rig_wait_in_memory(rig, 1));
	assert_trace(rig, "");
	rig_drain(rig);
	assert_trace(rig, "task 1 done\n");
}

static void keep(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	rig->arg = task;
}

static void test_task_kept_after_its_callback_can_be_submitted_again(void **state)
{
	struct rig *rig = *state;
	struct doca_task *task = rig_small_task(rig, 3);

	rig->on_task = keep;
	for (int i = 0; i < 3; i++) {
		MUST(doca_task_submit(task));
		rig_drain(rig);
		assert_ptr_equal(as_task(rig->arg), task);
		assert_ok(doca_task_get_status(task));
		MUST(doca_buf_reset_data_len(doca_dma_task_memcpy_get_dst(rig->arg)));
	}
	assert_trace(rig, "task 3 done\ntask 3 done\ntask 3 done\n");
	doca_task_free(task);
}

static void resubmit_while_counting_down(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	uint64_t left = doca_task_get_user_data(as_task(task)).u64;

	if (left == 0) {
		doca_task_free(as_task(task));
		return;
	}
	doca_task_set_user_data(as_task(task), (union doca_data){ .u64 = left - 1 });
	MUST(doca_buf_reset_data_len(doca_dma_task_memcpy_get_dst(task)));
	rig_note(rig, "submit: %s\n", doca_error_get_name(doca_task_submit(as_task(task))));
}

static void test_task_can_be_submitted_again_inside_its_callback(void **state)
{
	struct rig *rig = *state;

	rig->on_task = resubmit_while_counting_down;
	rig_submit_small(rig, 2);
	rig_drain(rig);
	assert_trace(rig, "task 2 done\nsubmit: DOCA_SUCCESS\ntask 1 done\nsubmit: DOCA_SUCCESS\ntask 0 done\n");
}

/* With every task allocated, the callback frees its task and allocates a new one. */
static void replace(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	uint64_t number = doca_task_get_user_data(as_task(task)).u64;

	doca_task_free(as_task(task));
	if (number < 100)
		rig_submit_small(rig, number + 100);
}

static void test_task_freed_inside_its_callback_can_be_had_again(void **state)
{
	struct rig *rig = *state;

	rig->on_task = replace;
	for (uint64_t i = 0; i < RIG_TASKS; i++)
		rig_submit_small(rig, i);
	rig_drain(rig);
	for (uint64_t i = 0; i < RIG_TASKS; i++) {
		assert_true(rig_small_is_done(rig, i));
		assert_true(rig_small_is_done(rig, 100 + i));
	}
}

/* ---- a failed task ---- */

/* One byte too many for the destination: accepted, then an I/O error; the context stops, and later tasks fail too. */
static void test_failed_task_stops_its_context(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *dst = rig_dst(rig, 64, 63);

	MUST(doca_task_submit_ex(rig_task(rig, 1, rig_src(rig, 0, 64), dst), DOCA_TASK_SUBMIT_FLAG_NONE));
	MUST(doca_task_submit_ex(rig_small_task(rig, 2), DOCA_TASK_SUBMIT_FLAG_FLUSH));
	MUST(doca_task_submit_ex(rig_small_task(rig, 3), DOCA_TASK_SUBMIT_FLAG_NONE));
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "running -> stopping\n"
			  "task 1 failed: DOCA_ERROR_IO_FAILED\n"
			  "task 2 failed: DOCA_ERROR_IO_FAILED\n"
			  "task 3 failed: DOCA_ERROR_IO_FAILED\n"
			  "stopping -> idle\n");
	assert_true(rig_is_untouched(rig, 0, rig->arena_bytes));
	assert_int_equal(rig_data_len(dst), 0);
}

static void test_tasks_before_a_failed_one_succeed(void **state)
{
	struct rig *rig = *state;

	rig_submit_small(rig, 1);
	MUST(doca_task_submit(rig_task(rig, 2, rig_src(rig, 0, 64), rig_dst(rig, 64, 63))));
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "task 1 done\nrunning -> stopping\ntask 2 failed: DOCA_ERROR_IO_FAILED\n"
			  "stopping -> idle\n");
	assert_true(rig_small_is_done(rig, 1));
}

static void test_context_works_again_after_a_failed_task(void **state)
{
	struct rig *rig = *state;

	MUST(doca_task_submit(rig_task(rig, 1, rig_src(rig, 0, 64), rig_dst(rig, 64, 63))));
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	rig_start(rig);
	rig_submit_small(rig, 2);
	rig_drain(rig);
	assert_trace(rig, "task 2 done\n");
	assert_true(rig_small_is_done(rig, 2));
}

static void test_failed_task_can_not_be_submitted_again_inside_its_callback(void **state)
{
	struct rig *rig = *state;

	rig->on_task = keep;
	MUST(doca_task_submit(rig_task(rig, 1, rig_src(rig, 0, 64), rig_dst(rig, 64, 63))));
	rig_drain(rig);
	assert_doca(doca_task_get_status(as_task(rig->arg)), DOCA_ERROR_IO_FAILED);
	assert_doca(doca_task_submit(as_task(rig->arg)), DOCA_ERROR_BAD_STATE);
	doca_task_free(as_task(rig->arg));
}

/* A program frees all its tasks when its context stops, and then stops the context itself: the failed task's
 * callback is still to come, and the task is in flight until then. */
static void free_all_at_once(struct rig *rig, enum doca_ctx_states next)
{
	struct doca_task **task = rig->arg;

	if (next != DOCA_CTX_STATE_STOPPING)
		return;
	for (; *task; task++)
		doca_task_free(*task);
	rig_note(rig, "stop: %s\n", doca_error_get_name(doca_ctx_stop(rig->ctx)));
}

static void test_failed_task_is_in_flight_until_its_callback(void **state)
{
	struct rig *rig = *state;
	struct doca_task *all[] = { rig_task(rig, 1, rig_src(rig, 0, 64), rig_dst(rig, 64, 63)), rig_small_task(rig, 2),
				    NULL };

	rig->on_state = free_all_at_once;
	rig->arg = all;
	MUST(doca_task_submit(all[0]));
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "running -> stopping\nstop: DOCA_ERROR_IN_PROGRESS\n"
			  "task 1 failed: DOCA_ERROR_IO_FAILED\nstopping -> idle\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_RUNNING(test_as_many_tasks_as_configured_are_to_be_had),
		RIG_RUNNING(test_tasks_keep_apart),
		RIG_IDLE(test_idle_context_gives_no_tasks),
		RIG_RUNNING(test_number_of_tasks_can_be_changed_between_stop_and_start),
		RIG_RUNNING(test_task_knows_what_it_was_made_with),
		RIG_RUNNING(test_task_of_a_stopped_context_is_refused),
		RIG_RUNNING(test_buffers_and_user_data_can_be_changed),
		RIG_RUNNING(test_buffers_in_flight_stay),
		RIG_RUNNING(test_tasks_of_a_context_complete_in_order),
		RIG_RUNNING(test_callback_comes_only_from_progress),
		RIG_RUNNING(test_task_kept_after_its_callback_can_be_submitted_again),
		RIG_RUNNING(test_task_can_be_submitted_again_inside_its_callback),
		RIG_RUNNING(test_task_freed_inside_its_callback_can_be_had_again),
		RIG_RUNNING(test_failed_task_stops_its_context),
		RIG_RUNNING(test_tasks_before_a_failed_one_succeed),
		RIG_RUNNING(test_context_works_again_after_a_failed_task),
		RIG_RUNNING(test_failed_task_can_not_be_submitted_again_inside_its_callback),
		RIG_RUNNING(test_failed_task_is_in_flight_until_its_callback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Refusals of submitting and freeing: wrong tasks, wrong times, wrong handles; task batches. */
#include "cmocka_test.h"
#include "dma_util.h"

/* ---- the wrong time ---- */

static void test_task_in_flight_is_not_submitted_again(void **state)
{
	struct rig *rig = *state;
	struct doca_task *task = rig_small_task(rig, 0);

	MUST(doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_NONE));
	assert_doca(doca_task_submit(task), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_task_try_submit(task), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_FLUSH), DOCA_ERROR_BAD_STATE);
	assert_int_equal(rig_in_flight(rig), 1);
	doca_ctx_flush_tasks(rig->ctx);
	rig_drain(rig);
	assert_trace(rig, "task 0 done\n");
}

/* A task that is freed too early is in flight until its callback: a second allocation fails. */
static void test_task_freed_in_flight_goes_behind_its_callback(void **state)
{
	struct rig *rig = rig_start(rig_open(&(struct rig_cfg){ .num_tasks = 1 }));
	struct doca_dma_task_memcpy *more;
	struct doca_task *task = rig_small_task(rig, 0);

	MUST(doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_NONE));
	doca_task_free(task);
	doca_task_free(task); /* nothing happens */
	assert_int_equal(rig_in_flight(rig), 1);
	assert_doca(doca_task_submit(task), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dma_task_memcpy_alloc_init(rig->dma, NULL, NULL, (union doca_data){ 0 }, &more),
		    DOCA_ERROR_NO_MEMORY);
	doca_ctx_flush_tasks(rig->ctx);
	rig_drain(rig);
	assert_trace(rig, "task 0 done\n"); /* its callback frees it too, without effect */
	assert_true(rig_small_is_done(rig, 0));
	assert_invalid(doca_task_submit(task));
	doca_task_free(rig_small_task(rig, 1));
	rig_close(rig);
}

static void submit_again(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	rig_note(rig, "%s\n", doca_error_get_name(doca_task_submit(doca_dma_task_memcpy_as_task(task))));
}

static void test_task_freed_in_flight_is_not_submitted_by_its_callback(void **state)
{
	struct rig *rig = *state;
	struct doca_task *task = rig_small_task(rig, 0);

	rig->on_task = submit_again;
	MUST(doca_task_submit(task));
	doca_task_free(task);
	rig_drain(rig);
	assert_trace(rig, "task 0 done\nDOCA_ERROR_BAD_STATE\n");
}

static void keep(struct rig *rig, struct doca_dma_task_memcpy *task)
{
}

/* Programs free the tasks that they posted, and then stop: the library frees the tasks. */
static void test_tasks_freed_in_flight_do_not_keep_a_context_from_idling(void **state)
{
	struct rig *rig = *state;
	struct doca_task *tasks[3];

	rig->on_task = keep;
	for (size_t i = 0; i < ARRAY_LEN(tasks); i++) {
		tasks[i] = rig_small_task(rig, i);
		MUST(doca_task_submit_ex(tasks[i], DOCA_TASK_SUBMIT_FLAG_NONE));
	}
	for (size_t i = 0; i < ARRAY_LEN(tasks); i++)
		doca_task_free(tasks[i]);
	assert_doca(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "running -> stopping\n"
			  "task 0 failed: DOCA_ERROR_IO_FAILED\n"
			  "task 1 failed: DOCA_ERROR_IO_FAILED\n"
			  "task 2 failed: DOCA_ERROR_IO_FAILED\n"
			  "stopping -> idle\n");
}

/* A task that is freed twice is still one task: of two allocations, the third is refused. */
static void test_freed_task_is_freed_once(void **state)
{
	struct rig *rig = rig_start(rig_open(&(struct rig_cfg){ .num_tasks = 2 }));
	struct doca_dma_task_memcpy *more;
	struct doca_task *task = rig_small_task(rig, 0), *other;

	doca_task_free(task);
	doca_task_free(task);
	task = rig_small_task(rig, 1);
	other = rig_small_task(rig, 2);
	assert_ptr_not_equal(task, other);
	assert_doca(doca_dma_task_memcpy_alloc_init(rig->dma, NULL, NULL, (union doca_data){ 0 }, &more),
		    DOCA_ERROR_NO_MEMORY);
	doca_task_free(task);
	doca_task_free(other);
	rig_close(rig);
}

/* ---- handles that are none ---- */

static void refuse_all(struct doca_task *task)
{
	assert_invalid(doca_task_submit(task));
	assert_invalid(doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_FLUSH));
	/* provokes: doca_task_try_submit DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_task_try_submit(task));
	assert_invalid(doca_task_get_status(task));
	assert_null(doca_task_get_ctx(task));
	doca_task_set_user_data(task, (union doca_data){ .u64 = 1 });
	assert_int_equal(doca_task_get_user_data(task).u64, 0);
	doca_task_free(task);
}

static void test_handle_that_is_no_task_is_refused(void **state)
{
	struct rig *rig = *state;
	struct doca_task *freed = rig_small_task(rig, 0);

	doca_task_free(freed);
	refuse_all(NULL);
	refuse_all(freed);
	refuse_all((struct doca_task *)rig->dma);
	refuse_all((struct doca_task *)rig_src(rig, 0, 8));
}

static void test_handle_that_is_no_memcpy_task_is_refused(void **state)
{
	struct rig *rig = *state;
	struct doca_dma_task_memcpy *wrong[] = { NULL, (struct doca_dma_task_memcpy *)rig->ctx,
						 rig_memcpy(rig, 0, NULL, NULL) };

	doca_task_free(doca_dma_task_memcpy_as_task(wrong[2]));
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		assert_null(doca_dma_task_memcpy_as_task(wrong[i]));
		assert_null(doca_dma_task_memcpy_get_src(wrong[i]));
		assert_null(doca_dma_task_memcpy_get_dst(wrong[i]));
		doca_dma_task_memcpy_set_src(wrong[i], NULL);
		doca_dma_task_memcpy_set_dst(wrong[i], NULL);
	}
}

/* ---- refusals at submission ---- */

static void refuse_to_send(struct rig *rig, const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_task *task = rig_task(rig, 0, src, dst);

	assert_invalid(doca_task_submit(task));
	assert_invalid(doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_NONE));
	assert_invalid(doca_task_try_submit(task));
	assert_int_equal(rig_in_flight(rig), 0);
	doca_task_free(task);
}

static void test_task_without_live_buffers_is_refused(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *src = rig_src(rig, 0, 8), *dst = rig_dst(rig, 8, 8), *returned = rig_src(rig, 16, 8);

	MUST(doca_buf_dec_refcount(returned, NULL));
	refuse_to_send(rig, NULL, dst);
	refuse_to_send(rig, src, NULL);
	refuse_to_send(rig, returned, dst);
	refuse_to_send(rig, src, returned);
	refuse_to_send(rig, (struct doca_buf *)rig->mmap, dst);
	refuse_to_send(rig, src, (struct doca_buf *)rig->ctx);
	assert_true(rig_is_untouched(rig, 0, rig->arena_bytes));
}

static void test_member_of_a_list_is_no_source_and_no_destination(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *src = rig_src(rig, 0, 8), *dst = rig_dst(rig, 64, 8);
	struct doca_buf *inner_src = rig_src(rig, 8, 8), *inner_dst = rig_dst(rig, 72, 8);

	MUST(doca_buf_chain_list(src, inner_src));
	MUST(doca_buf_chain_list(dst, inner_dst));
	refuse_to_send(rig, inner_src, dst);
	refuse_to_send(rig, src, inner_dst);
}

/* ---- further refusals of try_submit() ---- */

/* submit() accepts these tasks, as a card does, and they fail; try_submit() refuses them at once. */
static void test_try_submit_refuses_what_can_not_succeed(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *read_only =
		rig_make_mmap(rig->dev, rig->arena + 4096, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	struct doca_buf *const src = rig_src(rig, 0, 64);
	struct {
		const struct doca_buf *src;
		struct doca_buf *dst;
	} wrong[] = {
		{ src, rig_dst(rig, 64, 63) },                                 /* too small */
		{ src, rig_buf(rig, rig->mmap, rig->arena + 64, 127, 0, 64) }, /* too full */
		{ rig_dst(rig, 0, 64), rig_dst(rig, 64, 64) },                 /* nothing to copy */
		{ src, rig_buf(rig, read_only, rig->arena + 4096, 64, 0, 0) }, /* not to be written to */
	};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct doca_task *task = rig_task(rig, i, wrong[i].src, wrong[i].dst);

		assert_invalid(doca_task_try_submit(task));
		assert_int_equal(rig_in_flight(rig), 0);
		doca_task_free(task);
	}
	assert_int_equal(rig_state(rig), DOCA_CTX_STATE_RUNNING);
	MUST(doca_buf_dec_refcount(wrong[3].dst, NULL));
	MUST(doca_mmap_destroy(read_only));
}

static void test_try_submit_sends_what_can_succeed(void **state)
{
	struct rig *rig = *state;
	struct doca_task *task = rig_small_task(rig, 3);

	assert_ok(doca_task_try_submit(task));
	assert_true(rig_wait_in_memory(rig, 3));
	rig_drain(rig);
	assert_trace(rig, "task 3 done\n");
}

static void test_task_refused_by_try_submit_can_be_mended(void **state)
{
	struct rig *rig = *state;
	struct doca_dma_task_memcpy *task = rig_memcpy(rig, 1, rig_src(rig, 0, 64), rig_dst(rig, 64, 63));

	assert_invalid(doca_task_try_submit(doca_dma_task_memcpy_as_task(task)));
	doca_dma_task_memcpy_set_dst(task, rig_dst(rig, 64, 64));
	assert_ok(doca_task_try_submit(doca_dma_task_memcpy_as_task(task)));
	rig_drain(rig);
	assert_trace(rig, "task 1 done\n");
	assert_true(rig_was_copied(rig, 64, 0, 64));
}

/* ---- batches: no library here returns one, so that every handle is a wrong one ---- */

static void refuse_batch(struct doca_task_batch *batch)
{
	assert_invalid(doca_task_batch_submit(batch));
	/* provokes: doca_task_batch_try_submit DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_task_batch_try_submit(batch));
	assert_invalid(doca_task_batch_get_status(batch));
	assert_null(doca_task_batch_get_ctx(batch));
	assert_int_equal(doca_task_batch_get_ctx_user_data(batch).u64, 0);
	assert_int_equal(doca_task_batch_get_user_data(batch).u64, 0);
	assert_int_equal(doca_task_batch_get_tasks_num(batch), 0);
	doca_task_batch_set_user_data(batch, (union doca_data){ .u64 = 1 });
	doca_task_batch_free(batch);
}

static void test_no_handle_is_a_batch(void **state)
{
	struct rig *rig = *state;
	struct doca_task *task = rig_small_task(rig, 5);

	refuse_batch(NULL);
	refuse_batch((struct doca_task_batch *)task);
	refuse_batch((struct doca_task_batch *)rig->ctx);
	refuse_batch((struct doca_task_batch *)rig->arena);
	assert_int_equal(doca_task_get_user_data(task).u64, 5);
	assert_true(rig_is_untouched(rig, 0, rig->arena_bytes));
	MUST(doca_task_submit(task));
	rig_drain(rig);
	assert_trace(rig, "task 5 done\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_RUNNING(test_task_in_flight_is_not_submitted_again),
		cmocka_unit_test(test_task_freed_in_flight_goes_behind_its_callback),
		RIG_RUNNING(test_task_freed_in_flight_is_not_submitted_by_its_callback),
		RIG_RUNNING(test_tasks_freed_in_flight_do_not_keep_a_context_from_idling),
		cmocka_unit_test(test_freed_task_is_freed_once),
		RIG_RUNNING(test_handle_that_is_no_task_is_refused),
		RIG_RUNNING(test_handle_that_is_no_memcpy_task_is_refused),
		RIG_RUNNING(test_task_without_live_buffers_is_refused),
		RIG_RUNNING(test_member_of_a_list_is_no_source_and_no_destination),
		RIG_RUNNING(test_try_submit_refuses_what_can_not_succeed),
		RIG_RUNNING(test_try_submit_sends_what_can_succeed),
		RIG_RUNNING(test_task_refused_by_try_submit_can_be_mended),
		RIG_RUNNING(test_no_handle_is_a_batch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

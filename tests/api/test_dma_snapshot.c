/* SPDX-License-Identifier: BSD-3-Clause */
/* A memcpy task is what its buffers were when it was submitted; they have more data when it has succeeded.
 *
 * Tasks are submitted without a flush, so none has run before the buffers are changed.
 */
#include "cmocka_test.h"
#include "dma_util.h"

static void submit(struct rig *rig, uint64_t number, const struct doca_buf *src, struct doca_buf *dst)
{
	MUST(doca_task_submit_ex(rig_task(rig, number, src, dst), DOCA_TASK_SUBMIT_FLAG_NONE));
}

static void flush(struct rig *rig)
{
	doca_ctx_flush_tasks(rig->ctx);
	rig_drain(rig);
}

static void assert_place(struct rig *rig, struct doca_buf *buf, size_t offset, size_t data_len)
{
	void *data;

	MUST(doca_buf_get_data(buf, &data));
	assert_ptr_equal(data, rig->arena + offset);
	assert_int_equal(rig_data_len(buf), data_len);
}

/* ---- what is submitted is copied ---- */

/* Each of four tasks has room for its 64 bytes when it is submitted. The last one's bytes stay. */
static void test_tasks_in_flight_share_a_destination_of_their_size(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *dst = rig_dst(rig, 1000, 64);

	for (uint64_t i = 0; i < 4; i++)
		submit(rig, i, rig_src(rig, 64 * i, 64), dst);
	assert_place(rig, dst, 1000, 0);
	flush(rig);
	assert_trace(rig, "task 0 done\ntask 1 done\ntask 2 done\ntask 3 done\n");
	assert_true(rig_was_copied(rig, 1000, 64 * 3, 64));
	assert_place(rig, dst, 1000, 64);
}

/* Both write behind the same data; the longer one's end is the data's. */
static void test_tasks_in_flight_do_not_append_to_each_other(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *dst = rig_buf(rig, rig->mmap, rig->arena + 1000, 200, 0, 10);

	submit(rig, 0, rig_src(rig, 0, 64), dst);
	submit(rig, 1, rig_src(rig, 100, 30), dst);
	flush(rig);
	assert_trace(rig, "task 0 done\ntask 1 done\n");
	assert_true(rig_was_copied(rig, 1010, 100, 30));
	assert_true(rig_was_copied(rig, 1040, 30, 34));
	assert_true(rig_is_untouched(rig, 1074, 200));
	assert_place(rig, dst, 1000, 74);
}

static void test_source_that_is_moved_in_flight_is_read_at_its_old_place(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *src = rig_buf(rig, rig->mmap, rig->arena, 100, 0, 16);

	for (uint64_t i = 0; i < 4; i++) { /* a window that moves on behind each submission */
		MUST(doca_buf_set_data(src, rig->arena + 20 * i, 16));
		submit(rig, i, src, rig_dst(rig, 1000 + 100 * i, 16));
	}
	MUST(doca_buf_set_data(src, rig->arena, 0));
	flush(rig);
	assert_trace(rig, "task 0 done\ntask 1 done\ntask 2 done\ntask 3 done\n");
	for (size_t i = 0; i < 4; i++)
		assert_true(rig_was_copied(rig, 1000 + 100 * i, 20 * i, 16));
	assert_place(rig, src, 0, 0);
}

/* The buffer describes its last place alone when all tasks are done. */
static void test_destination_that_is_moved_in_flight_is_written_at_its_old_place(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *dst = rig_dst(rig, 1000, 400);

	for (uint64_t i = 0; i < 4; i++) {
		MUST(doca_buf_set_data(dst, rig->arena + 1000 + 100 * i, 0));
		submit(rig, i, rig_src(rig, 20 * i, 16), dst);
	}
	flush(rig);
	assert_trace(rig, "task 0 done\ntask 1 done\ntask 2 done\ntask 3 done\n");
	for (size_t i = 0; i < 4; i++) {
		assert_true(rig_was_copied(rig, 1000 + 100 * i, 20 * i, 16));
		assert_true(rig_is_untouched(rig, 1016 + 100 * i, 84));
	}
	assert_place(rig, dst, 1300, 16);
}

static void test_data_that_is_set_in_flight_is_not_cut(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *dst = rig_dst(rig, 1000, 100);

	submit(rig, 0, rig_src(rig, 0, 16), dst);
	MUST(doca_buf_set_data(dst, rig->arena + 1000, 80));
	flush(rig);
	assert_trace(rig, "task 0 done\n");
	assert_true(rig_was_copied(rig, 1000, 0, 16));
	assert_place(rig, dst, 1000, 80);
}

/* Data in the destination would leave too little room, but it came after the submission; and the reverse. */
static void test_room_is_that_at_the_submission(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *empty = rig_dst(rig, 1000, 64), *full = rig_buf(rig, rig->mmap, rig->arena + 2000, 64, 0, 64);

	submit(rig, 0, rig_src(rig, 0, 64), empty);
	submit(rig, 1, rig_src(rig, 0, 64), full);
	MUST(doca_buf_set_data(empty, rig->arena + 1000, 64));
	MUST(doca_buf_set_data(full, rig->arena + 2000, 0));
	doca_ctx_flush_tasks(rig->ctx);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "task 0 done\nrunning -> stopping\ntask 1 failed: DOCA_ERROR_IO_FAILED\nstopping -> idle\n");
	assert_true(rig_was_copied(rig, 1000, 0, 64));
	assert_true(rig_is_untouched(rig, 2000, 64));
}

/* Two lists of two: one is cut in two and one grows by an element, both in flight. */
static void test_lists_are_those_at_the_submission(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *src = rig_src(rig, 0, 16), *src_rest = rig_src(rig, 100, 16);
	struct doca_buf *dst = rig_dst(rig, 1000, 8), *dst_rest = rig_dst(rig, 2000, 30), *more = rig_dst(rig, 3000, 8);

	MUST(doca_buf_chain_list(src, src_rest));
	MUST(doca_buf_chain_list(dst, dst_rest));
	submit(rig, 0, src, dst);
	MUST(doca_buf_unchain_list(src, src_rest));
	MUST(doca_buf_chain_list(dst, more));
	MUST(doca_buf_set_data(src_rest, rig->arena + 100, 0));
	flush(rig);
	assert_trace(rig, "task 0 done\n");
	assert_true(rig_was_copied(rig, 1000, 0, 8));
	assert_true(rig_was_copied(rig, 2000, 8, 8));
	assert_true(rig_was_copied(rig, 2008, 100, 16));
	assert_true(rig_is_untouched(rig, 3000, 8));
	assert_place(rig, dst, 1000, 8);
	assert_place(rig, dst_rest, 2000, 24);
	assert_place(rig, more, 3000, 0);
}

/* A task that had short lists is submitted again with longer ones, and then with single buffers. */
static void keep(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	rig->arg = task;
}

static struct doca_buf *list_of(struct rig *rig, size_t offset, size_t count, size_t data_len)
{
	struct doca_buf *list = rig_buf(rig, rig->mmap, rig->arena + offset, 4, 0, data_len);

	for (size_t i = 1; i < count; i++)
		MUST(doca_buf_chain_list(list, rig_buf(rig, rig->mmap, rig->arena + offset + 8 * i, 4, 0, data_len)));
	return list;
}

static void test_task_is_submitted_again_with_other_lists(void **state)
{
	const size_t counts[] = { 2, 1, 30, 3, 64, 1 };
	struct rig *rig = *state;
	struct doca_dma_task_memcpy *task = rig_memcpy(rig, 0, NULL, NULL);

	rig->on_task = keep;
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		size_t to = 2048 * (i + 1);

		doca_dma_task_memcpy_set_src(task, list_of(rig, 0, counts[i], 4));
		doca_dma_task_memcpy_set_dst(task, list_of(rig, to, counts[i], 0));
		MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
		rig_drain(rig);
		assert_trace(rig, "task 0 done\n");
		for (size_t j = 0; j < counts[i]; j++) {
			assert_true(rig_was_copied(rig, to + 8 * j, 8 * j, 4));
			assert_true(rig_is_untouched(rig, to + 8 * j + 4, 4));
		}
	}
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

/* ---- the data afterwards ---- */

static void expect_data_before_callback(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	rig_note(rig, "%zu bytes\n", rig_data_len(doca_dma_task_memcpy_get_dst(task)));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

/* Data grows with the completion, not while the engine copies. */
static void test_data_grows_when_its_task_completes(void **state)
{
	struct rig *rig = *state;
	struct doca_dma_task_memcpy *task =
		rig_memcpy(rig, 1, rig_src(rig, 64, 64), rig_dst(rig, rig_small_to(rig, 1), 64));
	struct doca_buf *dst = doca_dma_task_memcpy_get_dst(task);

	rig->on_task = expect_data_before_callback;
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	assert_true(rig_wait_in_memory(rig, 1)); /* the engine's thread has run it */
	assert_int_equal(rig_data_len(dst), 0);
	rig_drain(rig);
	assert_trace(rig, "task 1 done\n64 bytes\n");
}

/* A map of the source is stopped before the task runs. */
static void test_failed_task_leaves_its_buffers_as_they_were(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *dst = rig_buf(rig, rig->mmap, rig->arena + 1000, 100, 10, 20), *src = rig_src(rig, 0, 64);
	struct doca_buf *gone;
	struct doca_mmap *mmap;
	uint8_t other[64] = { 0 };

	MUST(doca_mmap_create(&mmap));
	MUST(doca_mmap_add_dev(mmap, rig->dev));
	MUST(doca_mmap_set_memrange(mmap, other, sizeof(other)));
	MUST(doca_mmap_enable_thread_safety(mmap));
	MUST(doca_mmap_start(mmap));
	gone = rig_buf(rig, mmap, other, 64, 0, 64);
	MUST(doca_buf_chain_list(src, gone));
	MUST(doca_buf_chain_list(dst, rig_dst(rig, 2000, 100)));
	submit(rig, 1, src, dst);
	MUST(doca_mmap_stop(mmap));
	doca_ctx_flush_tasks(rig->ctx);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "running -> stopping\ntask 1 failed: DOCA_ERROR_IO_FAILED\nstopping -> idle\n");
	assert_true(rig_is_untouched(rig, 0, rig->arena_bytes));
	assert_place(rig, dst, 1010, 20);
	assert_place(rig, src, 0, 64);
	MUST(doca_mmap_destroy(mmap));
}

/* The inventory gives the element of the destination to a buffer of other memory. */
static void test_destination_that_becomes_a_buffer_of_other_memory_is_not_written(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *dst = rig_dst(rig, 1000, 64), *reused;
	struct doca_mmap *mmap;
	uint8_t other[64] = { 0 };

	MUST(doca_mmap_create(&mmap));
	MUST(doca_mmap_add_dev(mmap, rig->dev));
	MUST(doca_mmap_set_memrange(mmap, other, sizeof(other)));
	MUST(doca_mmap_start(mmap));
	submit(rig, 1, rig_src(rig, 0, 64), dst);
	MUST(doca_buf_dec_refcount(dst, NULL));
	MUST(doca_buf_inventory_buf_get_by_addr(rig->inventory, mmap, other, sizeof(other), &reused));
	assert_ptr_equal(reused, dst);
	doca_ctx_flush_tasks(rig->ctx);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "running -> stopping\ntask 1 failed: DOCA_ERROR_IO_FAILED\nstopping -> idle\n");
	assert_true(rig_is_untouched(rig, 1000, 64));
	assert_memory_equal(other, (uint8_t[64]){ 0 }, sizeof(other));
	MUST(doca_buf_dec_refcount(reused, NULL));
	MUST(doca_mmap_destroy(mmap));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_RUNNING(test_tasks_in_flight_share_a_destination_of_their_size),
		RIG_RUNNING(test_tasks_in_flight_do_not_append_to_each_other),
		RIG_RUNNING(test_source_that_is_moved_in_flight_is_read_at_its_old_place),
		RIG_RUNNING(test_destination_that_is_moved_in_flight_is_written_at_its_old_place),
		RIG_RUNNING(test_data_that_is_set_in_flight_is_not_cut),
		RIG_RUNNING(test_room_is_that_at_the_submission),
		RIG_RUNNING(test_lists_are_those_at_the_submission),
		RIG_RUNNING(test_task_is_submitted_again_with_other_lists),
		RIG_RUNNING(test_data_grows_when_its_task_completes),
		RIG_RUNNING(test_failed_task_leaves_its_buffers_as_they_were),
		RIG_RUNNING(test_destination_that_becomes_a_buffer_of_other_memory_is_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

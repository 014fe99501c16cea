/* SPDX-License-Identifier: BSD-3-Clause */
/* The memcpy task on single buffers, and the DMA library's own functions. */
#include "cmocka_test.h"
#include "dma_util.h"

/* unreachable: doca_dma_cap_task_memcpy_is_supported DOCA_ERROR_DRIVER: there is no driver that a query could fail in */
/* unreachable: doca_dma_create DOCA_ERROR_INITIALIZATION: a context has no mutex whose initialization could fail */
/* unreachable: doca_dma_task_memcpy_set_conf DOCA_ERROR_NOT_SUPPORTED: work queues are another library's objects */

/* Submit one copy, wait for its completion and compare the status. */
static void copy(struct rig *rig, const struct doca_buf *src, struct doca_buf *dst)
{
	MUST(doca_task_submit(rig_task(rig, 0, src, dst)));
	rig_drain(rig);
	assert_trace(rig, "task 0 done\n");
}

/* ... an I/O error, after which the context is idle; it is started again. */
static void copy_in_vain(struct rig *rig, const struct doca_buf *src, struct doca_buf *dst)
{
	MUST(doca_task_submit(rig_task(rig, 0, src, dst)));
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "running -> stopping\ntask 0 failed: DOCA_ERROR_IO_FAILED\nstopping -> idle\n");
	rig_start(rig);
}

/* ---- destinations ---- */

static void test_copy_moves_the_data_and_nothing_else(void **state)
{
	const size_t lengths[] = { 1, 2, 63, 64, 65, 4095, 4096, 4097, 16384 };
	struct rig *rig = *state;

	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		size_t len = lengths[i], to = 32768 + 7;
		struct doca_buf *dst = rig_dst(rig, to, len);

		copy(rig, rig_src(rig, 13, len), dst);
		assert_true(rig_was_copied(rig, to, 13, len));
		assert_true(rig_is_untouched(rig, 0, to));
		assert_true(rig_is_untouched(rig, to + len, rig->arena_bytes - to - len));
		assert_int_equal(rig_data_len(dst), len);
	}
}

/* Destination of 100 bytes that holds 30 from its 10th on: 20 more go to its 40th. */
static void test_copy_is_appended_to_the_destinations_data(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *dst = rig_buf(rig, rig->mmap, rig->arena + 1000, 100, 10, 30);
	void *data;

	copy(rig, rig_src(rig, 0, 20), dst);
	assert_true(rig_is_untouched(rig, 0, 1040));
	assert_true(rig_was_copied(rig, 1040, 0, 20));
	assert_true(rig_is_untouched(rig, 1060, rig->arena_bytes - 1060));
	assert_int_equal(rig_data_len(dst), 50);
	MUST(doca_buf_get_data(dst, &data));
	assert_ptr_equal(data, rig->arena + 1010);
}

static void test_copies_to_one_destination_follow_each_other(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *dst = rig_dst(rig, 1000, 64), *src = rig_src(rig, 0, 16);

	for (size_t i = 1; i <= 4; i++) {
		copy(rig, src, dst);
		assert_int_equal(rig_data_len(dst), 16 * i);
		assert_true(rig_was_copied(rig, 1000 + 16 * (i - 1), 0, 16));
	}
	assert_int_equal(rig_data_len(src), 16);
	copy_in_vain(rig, src, dst);
}

/* Of the source's 100 bytes only its data segment is read. */
static void test_source_is_its_data_segment(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *src = rig_buf(rig, rig->mmap, rig->arena, 100, 10, 30), *dst = rig_dst(rig, 1000, 100);

	copy(rig, src, dst);
	assert_true(rig_was_copied(rig, 1000, 10, 30));
	assert_true(rig_is_untouched(rig, 1030, 70));
	assert_int_equal(rig_data_len(dst), 30);
}

static void test_source_and_destination_may_be_in_different_maps(void **state)
{
	struct rig *rig = *state;
	uint8_t other[64] = { 0 };
	struct doca_mmap *mmap = rig_make_mmap(rig->dev, other, sizeof(other), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf *dst = rig_buf(rig, mmap, other, 64, 0, 0);

	copy(rig, rig_src(rig, 0, 64), dst);
	assert_memory_equal(other, rig->arena, 64);
	MUST(doca_buf_dec_refcount(dst, NULL));
	MUST(doca_mmap_destroy(mmap));
}

static void test_read_only_map_is_a_fine_source(void **state)
{
	static const uint8_t constant[64] = "nobody writes here";
	struct rig *rig = *state;
	struct doca_mmap *mmap =
		rig_make_mmap(rig->dev, (void *)(uintptr_t)constant, 64, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	struct doca_buf *src = rig_buf(rig, mmap, (void *)(uintptr_t)constant, 64, 0, 64);

	copy(rig, src, rig_dst(rig, 0, 64));
	assert_memory_equal(rig->arena, constant, 64);
	MUST(doca_buf_dec_refcount(src, NULL));
	MUST(doca_mmap_destroy(mmap));
}

/* Source data that lies in the destination's tailroom too is copied as it was before. */
static void test_overlapping_copy_keeps_the_data(void **state)
{
	struct rig *rig = *state;

	copy(rig, rig_src(rig, 100, 64), rig_dst(rig, 110, 64));
	assert_true(rig_was_copied(rig, 110, 100, 64));
	assert_true(rig_is_untouched(rig, 0, 110));
	assert_true(rig_is_untouched(rig, 174, 100));
}

/* One buffer as source and destination: its 16 bytes are doubled once. */
static void test_buffer_can_be_appended_to_itself(void **state)
{
	const size_t rooms[] = { 32, 100 };
	struct rig *rig = *state;

	for (size_t i = 0; i < ARRAY_LEN(rooms); i++) {
		struct doca_buf *buf = rig_buf(rig, rig->mmap, rig->arena + 1000 * i, rooms[i], 0, 16);

		copy(rig, buf, buf);
		assert_int_equal(rig_data_len(buf), 32);
		assert_true(rig_was_copied(rig, 1000 * i + 16, 1000 * i, 16));
		assert_true(rig_is_untouched(rig, 1000 * i + 32, 100));
	}
}

/* ---- errors that a card detects during the copy ---- */

static void test_destination_too_small_fails_and_nothing_is_written(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *small = rig_dst(rig, 1000, 63), *full = rig_buf(rig, rig->mmap, rig->arena + 2000, 100, 0, 37);

	copy_in_vain(rig, rig_src(rig, 0, 64), small);
	copy_in_vain(rig, rig_src(rig, 0, 64), full);
	assert_true(rig_is_untouched(rig, 0, rig->arena_bytes));
	assert_int_equal(rig_data_len(small), 0);
	assert_int_equal(rig_data_len(full), 37);
}

static void test_empty_source_fails(void **state)
{
	struct rig *rig = *state;

	copy_in_vain(rig, rig_dst(rig, 0, 64), rig_dst(rig, 64, 64));
	assert_true(rig_is_untouched(rig, 0, rig->arena_bytes));
}

static void test_read_only_destination_fails(void **state)
{
	struct rig *rig = *state;
	uint8_t other[64] = { 0 };
	struct doca_mmap *mmap = rig_make_mmap(rig->dev, other, sizeof(other), DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	struct doca_buf *dst = rig_buf(rig, mmap, other, 64, 0, 0);

	copy_in_vain(rig, rig_src(rig, 0, 64), dst);
	assert_int_equal(other[0], 0);
	MUST(doca_buf_dec_refcount(dst, NULL));
	MUST(doca_mmap_destroy(mmap));
}

/* The map has the other port's device; the context's device must not access it. */
static void test_device_that_is_not_in_the_map_fails(void **state)
{
	struct rig *rig = *state;
	struct doca_dev *dev = rig_open_dev(1);
	uint8_t other[64] = { 0 };
	struct doca_mmap *mmap = rig_make_mmap(dev, other, sizeof(other), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf *dst = rig_buf(rig, mmap, other, 64, 0, 0), *src = rig_buf(rig, mmap, other, 64, 0, 64);

	copy_in_vain(rig, rig_src(rig, 0, 64), dst);
	copy_in_vain(rig, src, rig_dst(rig, 0, 64));
	assert_int_equal(other[0], 0);
	assert_true(rig_is_untouched(rig, 0, 64));
	MUST(doca_buf_dec_refcount(dst, NULL));
	MUST(doca_buf_dec_refcount(src, NULL));
	MUST(doca_mmap_destroy(mmap));
	MUST(doca_dev_close(dev));
}

/* The buffer is returned while a task that waits for its flush still refers to it: the task fails. */
static void test_buffer_returned_in_flight_fails(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *src = rig_src(rig, 0, 64);

	MUST(doca_task_submit_ex(rig_task(rig, 1, src, rig_dst(rig, 64, 64)), DOCA_TASK_SUBMIT_FLAG_NONE));
	MUST(doca_buf_dec_refcount(src, NULL));
	doca_ctx_flush_tasks(rig->ctx);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "running -> stopping\ntask 1 failed: DOCA_ERROR_IO_FAILED\nstopping -> idle\n");
	assert_true(rig_is_untouched(rig, 0, rig->arena_bytes));
}

/* A map with thread safety does not count its buffers, and may be destroyed before them. */
static void test_buffer_whose_map_is_gone_fails(void **state)
{
	struct rig *rig = *state;
	uint8_t other[64] = { 0 };
	struct doca_mmap *mmap;
	struct doca_buf *dst;

	MUST(doca_mmap_create(&mmap));
	MUST(doca_mmap_add_dev(mmap, rig->dev));
	MUST(doca_mmap_set_memrange(mmap, other, sizeof(other)));
	MUST(doca_mmap_enable_thread_safety(mmap));
	MUST(doca_mmap_start(mmap));
	dst = rig_buf(rig, mmap, other, 64, 0, 0);
	MUST(doca_mmap_stop(mmap));
	copy_in_vain(rig, rig_src(rig, 0, 64), dst);
	MUST(doca_mmap_destroy(mmap));
	copy_in_vain(rig, rig_src(rig, 0, 64), dst);
	assert_int_equal(other[0], 0);
}

/* ---- the library's own functions ---- */

static void ignore(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
}

/* Known limits of a BlueField-3: 2 MiB a task, lists of 64; 65536 tasks is our choice. */
static void test_capabilities_are_the_cards(void **state)
{
	struct rig *rig = *state;
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(rig->dev);
	uint32_t max_list = 0, max_tasks = 0;
	uint64_t max_size = 0;

	assert_ok(doca_dma_cap_task_memcpy_is_supported(devinfo));
	assert_ok(doca_dma_cap_task_memcpy_get_max_buf_size(devinfo, &max_size));
	assert_ok(doca_dma_cap_task_memcpy_get_max_buf_list_len(devinfo, &max_list));
	assert_ok(doca_dma_cap_get_max_num_tasks(rig->dma, &max_tasks));
	assert_int_equal(max_size, 2 << 20);
	assert_int_equal(max_list, 64);
	assert_int_equal(max_tasks, 65536);
}

static void test_number_of_tasks_has_limits(void **state)
{
	struct rig *rig = *state;

	assert_invalid(doca_dma_task_memcpy_set_conf(rig->dma, ignore, ignore, 0));
	assert_invalid(doca_dma_task_memcpy_set_conf(rig->dma, ignore, ignore, 65537));
	assert_ok(doca_dma_task_memcpy_set_conf(rig->dma, ignore, ignore, 65536));
	assert_ok(doca_ctx_start(rig->ctx));
}

static void test_dma_and_context_are_one_object(void **state)
{
	struct rig *rig = *state;

	assert_ptr_equal(doca_dma_as_ctx(rig->dma), rig->ctx);
	assert_null(doca_dma_as_ctx(NULL));
}

static void test_context_on_the_cpu_has_no_gpu_handle(void **state)
{
	struct rig *rig = *state;
	struct doca_gpu_dma *handle;

	/* provokes: doca_dma_get_gpu_handle DOCA_ERROR_BAD_STATE */
	assert_doca(doca_dma_get_gpu_handle(rig->dma, &handle), DOCA_ERROR_BAD_STATE);
	assert_invalid(doca_dma_get_gpu_handle(rig->dma, NULL));
}

static void refuse_all(struct rig *rig, struct doca_dma *dma)
{
	struct doca_dma_task_memcpy *task;
	struct doca_gpu_dma *handle;
	uint32_t count;

	assert_invalid(doca_dma_destroy(dma));
	assert_null(doca_dma_as_ctx(dma));
	/* provokes: doca_dma_cap_get_max_num_tasks DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_dma_cap_get_max_num_tasks(dma, &count));
	/* provokes: doca_dma_get_gpu_handle DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_dma_get_gpu_handle(dma, &handle));
	/* provokes: doca_dma_task_memcpy_set_conf DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_dma_task_memcpy_set_conf(dma, ignore, ignore, 1));
	assert_invalid(doca_dma_task_memcpy_alloc_init(dma, NULL, NULL, (union doca_data){ 0 }, &task));
}

static void test_handle_that_is_no_dma_is_refused(void **state)
{
	struct rig *rig = *state;
	struct doca_dma *dead;

	MUST(doca_dma_create(rig->dev, &dead));
	MUST(doca_dma_destroy(dead));
	refuse_all(rig, NULL);
	refuse_all(rig, (struct doca_dma *)rig->pe);
	refuse_all(rig, dead);
}

static void test_null_and_wrong_devices_are_refused(void **state)
{
	struct rig *rig = *state;
	struct doca_devinfo *wrong[] = { NULL, (struct doca_devinfo *)rig->dev };
	struct doca_dma *dma;
	uint64_t size;
	uint32_t len;

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		/* provokes: doca_dma_cap_task_memcpy_is_supported DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_dma_cap_task_memcpy_is_supported(wrong[i]));
		/* provokes: doca_dma_cap_task_memcpy_get_max_buf_size DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_dma_cap_task_memcpy_get_max_buf_size(wrong[i], &size));
		/* provokes: doca_dma_cap_task_memcpy_get_max_buf_list_len DOCA_ERROR_INVALID_VALUE */
		assert_invalid(doca_dma_cap_task_memcpy_get_max_buf_list_len(wrong[i], &len));
	}
	/* provokes: doca_dma_create DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_dma_create(NULL, &dma));
	assert_invalid(doca_dma_create((struct doca_dev *)rig->mmap, &dma));
	assert_invalid(doca_dma_create(rig->dev, NULL));
}

static void test_null_results_and_callbacks_are_refused(void **state)
{
	struct rig *rig = *state;
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(rig->dev);

	assert_invalid(doca_dma_cap_task_memcpy_get_max_buf_size(devinfo, NULL));
	assert_invalid(doca_dma_cap_task_memcpy_get_max_buf_list_len(devinfo, NULL));
	assert_invalid(doca_dma_cap_get_max_num_tasks(rig->dma, NULL));
	assert_invalid(doca_dma_task_memcpy_set_conf(rig->dma, NULL, ignore, 1));
	assert_invalid(doca_dma_task_memcpy_set_conf(rig->dma, ignore, NULL, 1));
	rig_start(rig);
	assert_invalid(doca_dma_task_memcpy_alloc_init(rig->dma, NULL, NULL, (union doca_data){ 0 }, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_RUNNING(test_copy_moves_the_data_and_nothing_else),
		RIG_RUNNING(test_copy_is_appended_to_the_destinations_data),
		RIG_RUNNING(test_copies_to_one_destination_follow_each_other),
		RIG_RUNNING(test_source_is_its_data_segment),
		RIG_RUNNING(test_source_and_destination_may_be_in_different_maps),
		RIG_RUNNING(test_read_only_map_is_a_fine_source),
		RIG_RUNNING(test_overlapping_copy_keeps_the_data),
		RIG_RUNNING(test_buffer_can_be_appended_to_itself),
		RIG_RUNNING(test_destination_too_small_fails_and_nothing_is_written),
		RIG_RUNNING(test_empty_source_fails),
		RIG_RUNNING(test_read_only_destination_fails),
		RIG_RUNNING(test_device_that_is_not_in_the_map_fails),
		RIG_RUNNING(test_buffer_returned_in_flight_fails),
		RIG_RUNNING(test_buffer_whose_map_is_gone_fails),
		RIG_IDLE(test_capabilities_are_the_cards),
		RIG_IDLE(test_number_of_tasks_has_limits),
		RIG_IDLE(test_dma_and_context_are_one_object),
		RIG_RUNNING(test_context_on_the_cpu_has_no_gpu_handle),
		RIG_IDLE(test_handle_that_is_no_dma_is_refused),
		RIG_IDLE(test_null_and_wrong_devices_are_refused),
		RIG_IDLE(test_null_results_and_callbacks_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

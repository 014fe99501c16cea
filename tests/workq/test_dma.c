/* SPDX-License-Identifier: BSD-3-Clause */
/* DMA jobs on work queues. */
#include <poll.h>
#include <string.h>

#include "rig.h"

static char src[4096], dst[4096];

/* Two maps with a buffer each: @len bytes of data, and a destination of @len bytes. */
struct copy {
	struct doca_mmap *src_map, *dst_map;
	struct doca_buf *from, *to;
};

static struct copy copy_new(struct rig *rig, size_t len)
{
	struct copy copy = {
		.src_map = rig_map(rig, src, sizeof(src), DOCA_ACCESS_LOCAL_READ_ONLY),
		.dst_map = rig_map(rig, dst, sizeof(dst), DOCA_ACCESS_LOCAL_READ_WRITE),
	};

	memset(dst, 0, sizeof(dst));
	for (size_t i = 0; i < sizeof(src); i++)
		src[i] = (char)(i * 7 + 1);
	copy.from = rig_data(rig, copy.src_map, src, len);
	copy.to = rig_room(rig, copy.dst_map, dst, len);
	return copy;
}

static void copy_free(struct copy *copy)
{
	rig_return(copy->from);
	rig_return(copy->to);
	assert_int_equal(doca_mmap_destroy(copy->src_map), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(copy->dst_map), DOCA_SUCCESS);
}

static void test_memcpy_job_copies_and_its_event_has_the_user_data(void **state)
{
	struct rig *rig = *state;
	struct copy copy = copy_new(rig, 1000);
	struct doca_dma_job_memcpy job = rig_job(rig, copy.to, copy.from, 42);
	struct doca_event event;
	size_t len;

	assert_int_equal(rig_do(rig, &job, &event), DOCA_SUCCESS);
	assert_int_equal(event.type, DOCA_DMA_JOB_MEMCPY);
	assert_int_equal(event.user_data.u64, 42);
	assert_int_equal(event.result.u64, DOCA_SUCCESS);
	assert_memory_equal(dst, src, 1000);
	assert_int_equal(dst[1000], 0);
	assert_int_equal(doca_buf_get_data_len(copy.to, &len), DOCA_SUCCESS);
	assert_int_equal(len, 1000);
	copy_free(&copy);
}

static void test_an_idle_queue_returns_again(void **state)
{
	struct rig *rig = *state;
	struct doca_event event;

	assert_int_equal(doca_workq_progress_retrieve(rig->workq, &event, 0), DOCA_ERROR_AGAIN);
}

/* As in programs of 1.5: the job writes to the data segment of the destination. */
static void test_a_destination_that_is_full_of_data_is_overwritten(void **state)
{
	struct rig *rig = *state;
	struct copy copy = copy_new(rig, 500);
	struct doca_dma_job_memcpy job = rig_job(rig, copy.to, copy.from, 1);
	struct doca_event event;

	assert_int_equal(doca_buf_set_data(copy.to, dst, 500), DOCA_SUCCESS);
	assert_int_equal(rig_do(rig, &job, &event), DOCA_SUCCESS);
	assert_memory_equal(dst, src, 500);
	copy_free(&copy);
}

static void test_jobs_have_their_events_in_order(void **state)
{
	struct rig *rig = *state;
	struct copy copy = copy_new(rig, 1);
	struct doca_event event;

	for (uint64_t i = 0; i < RIG_DEPTH; i++) {
		struct doca_dma_job_memcpy job = rig_job(rig, copy.to, copy.from, i);

		assert_int_equal(doca_workq_submit(rig->workq, &job.base), DOCA_SUCCESS);
	}
	for (uint64_t i = 0; i < RIG_DEPTH; i++) {
		while (doca_workq_progress_retrieve(rig->workq, &event, 0) == DOCA_ERROR_AGAIN)
			;
		assert_int_equal(event.user_data.u64, i); /* in order */
		assert_int_equal(doca_buf_reset_data_len(copy.to), DOCA_SUCCESS);
	}
	assert_int_equal(doca_workq_progress_retrieve(rig->workq, &event, 0), DOCA_ERROR_AGAIN);
	copy_free(&copy);
}

static void test_a_job_that_fails_is_an_event_and_the_next_one_is_well(void **state)
{
	struct rig *rig = *state;
	struct copy copy = copy_new(rig, 100);
	struct doca_buf *small = rig_room(rig, copy.dst_map, dst + 200, 10);
	struct doca_dma_job_memcpy bad = rig_job(rig, small, copy.from, 1), good = rig_job(rig, copy.to, copy.from, 2);
	struct doca_event event;

	for (int i = 0; i < 3; i++) {
		assert_int_equal(rig_do(rig, &bad, &event), DOCA_ERROR_IO_FAILED);
		assert_int_equal(event.user_data.u64, 1);
		assert_int_equal(event.result.u64, DOCA_ERROR_IO_FAILED);
		assert_int_equal(rig_do(rig, &good, &event), DOCA_SUCCESS);
		assert_int_equal(event.user_data.u64, 2);
	}
	assert_memory_equal(dst, src, 100);
	rig_return(small);
	copy_free(&copy);
}

static void test_jobs_go_to_contexts_that_the_queue_is_added_to(void **state)
{
	struct rig *rig = *state;
	struct copy copy = copy_new(rig, 1);
	struct doca_dma_job_memcpy job = rig_job(rig, copy.to, copy.from, 1);
	struct doca_workq *other;

	assert_int_equal(doca_workq_create(1, &other), DOCA_SUCCESS);
	assert_int_equal(doca_workq_submit(other, &job.base), DOCA_ERROR_NOT_FOUND);
	job.base.ctx = NULL;
	assert_int_equal(doca_workq_submit(rig->workq, &job.base), DOCA_ERROR_INVALID_VALUE);
	job = rig_job(rig, copy.to, NULL, 1);
	assert_int_equal(doca_workq_submit(rig->workq, &job.base), DOCA_ERROR_INVALID_VALUE);
	job = rig_job(rig, copy.to, copy.from, 1);
	job.base.type = DOCA_DMA_JOB_MEMCPY + 1;
	assert_int_equal(doca_workq_submit(rig->workq, &job.base), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_workq_destroy(other), DOCA_SUCCESS);
	copy_free(&copy);
}

static void test_objects_in_use_are_not_destroyed(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(doca_ctx_workq_add(rig->ctx, rig->workq), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_ctx_stop(rig->ctx), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_workq_destroy(rig->workq), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_dma_destroy(rig->dma), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_ctx_dev_rm(rig->ctx, rig->dev), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_start(rig->ctx), DOCA_ERROR_BAD_STATE);
}

/* Event-driven mode is enabled before the queue is added. A completion makes an armed handle readable. */
static void test_an_event_driven_queue_can_be_slept_on(void **state)
{
	struct rig *rig = *state;
	struct copy copy = copy_new(rig, 64);
	struct doca_dma_job_memcpy job = rig_job(rig, copy.to, copy.from, 3);
	struct pollfd wait = { .events = POLLIN };
	struct doca_event event;
	uint8_t enabled;

	assert_int_equal(doca_workq_set_event_driven_enable(rig->workq, 1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_workq_get_event_handle(rig->workq, &wait.fd), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_workq_rm(rig->ctx, rig->workq), DOCA_SUCCESS);
	assert_int_equal(doca_workq_set_event_driven_enable(rig->workq, 1), DOCA_SUCCESS);
	assert_int_equal(doca_workq_get_event_driven_enable(rig->workq, &enabled), DOCA_SUCCESS);
	assert_int_equal(enabled, 1);
	assert_int_equal(doca_ctx_workq_add(rig->ctx, rig->workq), DOCA_SUCCESS);
	assert_int_equal(doca_workq_get_event_handle(rig->workq, &wait.fd), DOCA_SUCCESS);

	assert_int_equal(doca_workq_submit(rig->workq, &job.base), DOCA_SUCCESS);
	assert_int_equal(doca_workq_event_handle_arm(rig->workq), DOCA_SUCCESS);
	assert_int_equal(poll(&wait, 1, 10000), 1);
	assert_int_equal(doca_workq_event_handle_clear(rig->workq, wait.fd), DOCA_SUCCESS);
	assert_int_equal(doca_workq_progress_retrieve(rig->workq, &event, 0), DOCA_SUCCESS);
	assert_int_equal(event.user_data.u64, 3);
	copy_free(&copy);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, rig_setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_memcpy_job_copies_and_its_event_has_the_user_data),
		TEST(test_an_idle_queue_returns_again),
		TEST(test_a_destination_that_is_full_of_data_is_overwritten),
		TEST(test_jobs_have_their_events_in_order),
		TEST(test_a_job_that_fails_is_an_event_and_the_next_one_is_well),
		TEST(test_jobs_go_to_contexts_that_the_queue_is_added_to),
		TEST(test_objects_in_use_are_not_destroyed),
		TEST(test_an_event_driven_queue_can_be_slept_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

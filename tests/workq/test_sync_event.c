/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events: blocking calls, jobs on work queues, and both together. */
#include <doca_sync_event.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>

#include "rig.h"

static struct doca_sync_event *event_new(struct rig *rig)
{
	struct doca_sync_event *event;

	assert_int_equal(doca_sync_event_create(&event), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_publisher_add_location_cpu(event, rig->dev), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_subscriber_add_location_cpu(event, rig->dev), DOCA_SUCCESS);
	return event;
}

/* An event that is a started context, added to the queue of the rig. */
static struct doca_sync_event *event_on_queue(struct rig *rig)
{
	struct doca_sync_event *event = event_new(rig);

	assert_int_equal(doca_ctx_start(doca_sync_event_as_ctx(event)), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_add(doca_sync_event_as_ctx(event), rig->workq), DOCA_SUCCESS);
	return event;
}

static void event_off_queue(struct rig *rig, struct doca_sync_event *event)
{
	assert_int_equal(doca_ctx_workq_rm(doca_sync_event_as_ctx(event), rig->workq), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(doca_sync_event_as_ctx(event)), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_destroy(event), DOCA_SUCCESS);
}

static struct doca_job base_of(struct doca_sync_event *event, enum doca_sync_event_job_types type)
{
	return (struct doca_job){ .type = type, .ctx = doca_sync_event_as_ctx(event), .user_data.u64 = type };
}

static doca_error_t submit_wait(struct doca_workq *workq, struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	struct doca_sync_event_job_wait job = { base_of(event, DOCA_SYNC_EVENT_JOB_WAIT_GT), value, mask };

	return doca_workq_submit(workq, &job.base);
}

static doca_error_t submit_set(struct doca_workq *workq, struct doca_sync_event *event, uint64_t value)
{
	struct doca_sync_event_job_update_set job = { base_of(event, DOCA_SYNC_EVENT_JOB_UPDATE_SET), value };

	return doca_workq_submit(workq, &job.base);
}

/* The next event of the queue is a successful job of @type. */
static void expect(struct doca_workq *workq, enum doca_sync_event_job_types type)
{
	struct doca_event ev;
	doca_error_t result;

	do
		result = doca_workq_progress_retrieve(workq, &ev, 0);
	while (result == DOCA_ERROR_AGAIN);
	assert_int_equal(result, DOCA_SUCCESS);
	assert_int_equal(ev.type, type);
	assert_int_equal(ev.user_data.u64, type);
	assert_int_equal(ev.result.u64, DOCA_SUCCESS);
}

/* ---- blocking calls ---- */

static void test_the_counter_is_set_added_to_and_read(void **state)
{
	struct doca_sync_event *event = event_new(*state);
	uint64_t value = 9;

	assert_int_equal(doca_sync_event_get(event, &value), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sync_event_start(event), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_get(event, &value), DOCA_SUCCESS);
	assert_int_equal(value, 0);
	assert_int_equal(doca_sync_event_update_set(event, 5), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_update_add(event, 3, &value), DOCA_SUCCESS);
	assert_int_equal(value, 5);
	assert_int_equal(doca_sync_event_get(event, &value), DOCA_SUCCESS);
	assert_int_equal(value, 8);
	assert_int_equal(doca_sync_event_wait_gt(event, 7, UINT64_MAX), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_wait_gt_yield(event, 7, UINT64_MAX), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_stop(event), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_destroy(event), DOCA_SUCCESS);
}

static void *wait_for_two(void *event)
{
	return (void *)(uintptr_t)doca_sync_event_wait_gt_yield(event, 1, UINT64_MAX);
}

static void test_a_thread_that_waits_is_woken_by_a_job(void **state)
{
	struct rig *rig = *state;
	struct doca_sync_event *event = event_on_queue(rig);
	pthread_t thread;
	void *result;

	assert_int_equal(pthread_create(&thread, NULL, wait_for_two, event), 0);
	assert_int_equal(submit_set(rig->workq, event, 1), DOCA_SUCCESS);
	assert_int_equal(submit_set(rig->workq, event, 2), DOCA_SUCCESS);
	pthread_join(thread, &result);
	assert_int_equal((uintptr_t)result, DOCA_SUCCESS);
	expect(rig->workq, DOCA_SYNC_EVENT_JOB_UPDATE_SET);
	expect(rig->workq, DOCA_SYNC_EVENT_JOB_UPDATE_SET);
	event_off_queue(rig, event);
}

static void test_the_counter_may_lie_in_memory_of_the_program(void **state)
{
	struct doca_sync_event *event = event_new(*state);
	uint64_t counter = 0;

	assert_int_equal(doca_sync_event_set_addr(event, &counter), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_start(event), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_set_addr(event, &counter), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sync_event_update_set(event, 77), DOCA_SUCCESS);
	assert_int_equal(counter, 77);
	assert_int_equal(doca_sync_event_destroy(event), DOCA_SUCCESS);
}

/* ---- jobs ---- */

static void test_jobs_set_add_and_get(void **state)
{
	struct rig *rig = *state;
	struct doca_sync_event *event = event_on_queue(rig);
	uint64_t fetched = 0, value = 0;
	struct doca_sync_event_job_update_add add = { base_of(event, DOCA_SYNC_EVENT_JOB_UPDATE_ADD), 4, &fetched };
	struct doca_sync_event_job_get get = { base_of(event, DOCA_SYNC_EVENT_JOB_GET), &value };

	assert_int_equal(submit_set(rig->workq, event, 10), DOCA_SUCCESS);
	expect(rig->workq, DOCA_SYNC_EVENT_JOB_UPDATE_SET);
	assert_int_equal(doca_workq_submit(rig->workq, &add.base), DOCA_SUCCESS);
	expect(rig->workq, DOCA_SYNC_EVENT_JOB_UPDATE_ADD);
	assert_int_equal(fetched, 10);
	assert_int_equal(doca_workq_submit(rig->workq, &get.base), DOCA_SUCCESS);
	expect(rig->workq, DOCA_SYNC_EVENT_JOB_GET);
	assert_int_equal(value, 14);
	event_off_queue(rig, event);
}

/* Greater, not equal: of the masked value. */
static void test_a_wait_ends_when_the_counter_is_greater(void **state)
{
	struct rig *rig = *state;
	struct doca_sync_event *event = event_on_queue(rig);
	struct doca_event ev;

	assert_int_equal(submit_wait(rig->workq, event, 5, UINT64_MAX), DOCA_SUCCESS);
	assert_int_equal(doca_workq_progress_retrieve(rig->workq, &ev, 0), DOCA_ERROR_AGAIN);
	assert_int_equal(doca_sync_event_update_set(event, 5), DOCA_SUCCESS);
	assert_int_equal(doca_workq_progress_retrieve(rig->workq, &ev, 0), DOCA_ERROR_AGAIN);
	assert_int_equal(doca_ctx_workq_rm(doca_sync_event_as_ctx(event), rig->workq), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_sync_event_update_set(event, 6), DOCA_SUCCESS);
	expect(rig->workq, DOCA_SYNC_EVENT_JOB_WAIT_GT);
	assert_int_equal(submit_wait(rig->workq, event, 5, 0xff), DOCA_SUCCESS);
	expect(rig->workq, DOCA_SYNC_EVENT_JOB_WAIT_GT);
	assert_int_equal(doca_sync_event_update_set(event, 0x105), DOCA_SUCCESS);
	assert_int_equal(submit_wait(rig->workq, event, 5, 0xff), DOCA_SUCCESS);
	assert_int_equal(doca_workq_progress_retrieve(rig->workq, &ev, 0), DOCA_ERROR_AGAIN);
	assert_int_equal(doca_sync_event_update_set(event, 0x106), DOCA_SUCCESS);
	expect(rig->workq, DOCA_SYNC_EVENT_JOB_WAIT_GT);
	event_off_queue(rig, event);
}

/* One counter: a job of one queue sets it, a job of another queue waits for it. */
static void test_queues_of_one_event_have_one_counter(void **state)
{
	struct rig *rig = *state;
	struct doca_sync_event *event = event_on_queue(rig);
	struct doca_workq *other;

	assert_int_equal(doca_workq_create(1, &other), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_add(doca_sync_event_as_ctx(event), other), DOCA_SUCCESS);
	assert_int_equal(submit_wait(other, event, 0, UINT64_MAX), DOCA_SUCCESS);
	assert_int_equal(submit_wait(other, event, 0, UINT64_MAX), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(submit_set(rig->workq, event, 1), DOCA_SUCCESS);
	expect(other, DOCA_SYNC_EVENT_JOB_WAIT_GT);
	expect(rig->workq, DOCA_SYNC_EVENT_JOB_UPDATE_SET);
	assert_int_equal(doca_ctx_workq_rm(doca_sync_event_as_ctx(event), other), DOCA_SUCCESS);
	assert_int_equal(doca_workq_destroy(other), DOCA_SUCCESS);
	event_off_queue(rig, event);
}

static void *set_one(void *event)
{
	return (void *)(uintptr_t)doca_sync_event_update_set(event, 1);
}

static void test_a_sleeper_is_woken_by_the_counter(void **state)
{
	struct rig *rig = *state;
	struct pollfd wait = { .events = POLLIN };
	struct doca_sync_event *event = event_new(rig);
	struct doca_ctx *ctx = doca_sync_event_as_ctx(event);
	struct doca_workq *workq;
	pthread_t thread;
	void *result;

	assert_int_equal(doca_workq_create(1, &workq), DOCA_SUCCESS);
	assert_int_equal(doca_workq_set_event_driven_enable(workq, 1), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(ctx), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_add(ctx, workq), DOCA_SUCCESS);
	assert_int_equal(doca_workq_get_event_handle(workq, &wait.fd), DOCA_SUCCESS);
	assert_int_equal(submit_wait(workq, event, 0, UINT64_MAX), DOCA_SUCCESS);
	assert_int_equal(doca_workq_event_handle_arm(workq), DOCA_SUCCESS);
	assert_int_equal(poll(&wait, 1, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, set_one, event), 0);
	assert_int_equal(poll(&wait, 1, 60000), 1);
	assert_int_equal(doca_workq_event_handle_clear(workq, wait.fd), DOCA_SUCCESS);
	expect(workq, DOCA_SYNC_EVENT_JOB_WAIT_GT);
	pthread_join(thread, &result);
	assert_int_equal((uintptr_t)result, DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_rm(ctx, workq), DOCA_SUCCESS);
	assert_int_equal(doca_workq_destroy(workq), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_destroy(event), DOCA_SUCCESS); /* stops it */
}

static void test_jobs_of_dma_and_of_an_event_share_a_queue(void **state)
{
	static char from[64] = "both", to[64];
	struct rig *rig = *state;
	struct doca_sync_event *event = event_on_queue(rig);
	struct doca_mmap *from_map = rig_map(rig, from, sizeof(from), DOCA_ACCESS_LOCAL_READ_WRITE);
	struct doca_mmap *to_map = rig_map(rig, to, sizeof(to), DOCA_ACCESS_LOCAL_READ_WRITE);
	struct doca_buf *src = rig_data(rig, from_map, from, 64), *dst = rig_room(rig, to_map, to, 64);
	struct doca_dma_job_memcpy copy = rig_job(rig, dst, src, 1);
	struct doca_event ev;

	assert_int_equal(submit_wait(rig->workq, event, 0, UINT64_MAX), DOCA_SUCCESS);
	assert_int_equal(rig_do(rig, &copy, &ev), DOCA_SUCCESS);
	assert_int_equal(ev.type, DOCA_DMA_JOB_MEMCPY);
	assert_string_equal(to, "both");
	assert_int_equal(doca_sync_event_update_set(event, 1), DOCA_SUCCESS);
	expect(rig->workq, DOCA_SYNC_EVENT_JOB_WAIT_GT);
	rig_return(src);
	rig_return(dst);
	assert_int_equal(doca_mmap_destroy(from_map), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(to_map), DOCA_SUCCESS);
	event_off_queue(rig, event);
}

/* ---- mistakes ---- */

static void test_jobs_that_make_no_sense_are_refused(void **state)
{
	struct rig *rig = *state;
	struct doca_sync_event *event = event_on_queue(rig);
	struct doca_sync_event_job_get get = { base_of(event, DOCA_SYNC_EVENT_JOB_GET), NULL };
	struct doca_sync_event_job_update_add add = { base_of(event, DOCA_SYNC_EVENT_JOB_UPDATE_ADD), 1, NULL };
	struct doca_job other = base_of(event, DOCA_SYNC_EVENT_JOB_UPDATE_ADD + 1);

	assert_int_equal(doca_workq_submit(rig->workq, &get.base), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_workq_submit(rig->workq, &add.base), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_workq_submit(rig->workq, &other), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(submit_wait(rig->workq, event, 0, 0xf0f), DOCA_ERROR_INVALID_VALUE);
	for (int i = 0; i < RIG_DEPTH; i++) /* refused jobs take no place in the queue */
		assert_int_equal(submit_set(rig->workq, event, 1), DOCA_SUCCESS);
	for (int i = 0; i < RIG_DEPTH; i++)
		expect(rig->workq, DOCA_SYNC_EVENT_JOB_UPDATE_SET);
	event_off_queue(rig, event);
}

static void test_an_event_is_used_alone_or_as_a_context(void **state)
{
	struct rig *rig = *state;
	struct doca_sync_event *alone = event_new(rig), *ctx = event_new(rig), *bare;

	assert_int_equal(doca_sync_event_start(alone), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_start(alone), DOCA_ERROR_BAD_STATE);
	assert_null(doca_sync_event_as_ctx(alone));
	assert_non_null(doca_sync_event_as_ctx(ctx));
	assert_int_equal(doca_sync_event_start(ctx), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sync_event_stop(ctx), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_dev_add(doca_sync_event_as_ctx(ctx), rig->dev), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_ctx_start(doca_sync_event_as_ctx(ctx)), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_publisher_add_location_dpu(ctx), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_workq_add(doca_sync_event_as_ctx(ctx), rig->workq), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_destroy(ctx), DOCA_ERROR_IN_USE);
	event_off_queue(rig, ctx);
	assert_int_equal(doca_sync_event_destroy(alone), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_create(&bare), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_start(bare), DOCA_ERROR_BAD_STATE); /* no publisher */
	assert_int_equal(doca_sync_event_destroy(bare), DOCA_SUCCESS);
}

static void test_arguments_are_looked_at(void **state)
{
	struct rig *rig = *state;
	struct doca_sync_event *event = event_new(rig), *stale = event_new(rig);
	struct doca_sync_event *others[] = { NULL, (struct doca_sync_event *)rig->dma, stale };
	const struct doca_devinfo *info = doca_dev_as_devinfo(rig->dev);
	struct doca_sync_event *imported;
	const uint8_t *data;
	uint64_t value;
	size_t len;

	assert_int_equal(doca_sync_event_destroy(stale), DOCA_SUCCESS);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(doca_sync_event_start(others[i]), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_sync_event_stop(others[i]), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_sync_event_destroy(others[i]), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_sync_event_get(others[i], &value), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_sync_event_update_set(others[i], 1), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_sync_event_update_add(others[i], 1, &value), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_sync_event_wait_gt(others[i], 1, 1), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_sync_event_wait_gt_yield(others[i], 1, 1), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_sync_event_set_addr(others[i], &value), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_sync_event_publisher_add_location_cpu(others[i], rig->dev),
				 DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_sync_event_subscriber_add_location_cpu(others[i], rig->dev),
				 DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_sync_event_publisher_add_location_dpu(others[i]), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_sync_event_subscriber_add_location_dpu(others[i]), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_sync_event_export_to_dpu(others[i], rig->dev, &data, &len),
				 DOCA_ERROR_INVALID_VALUE);
		assert_null(doca_sync_event_as_ctx(others[i]));
	}
	assert_int_equal(doca_sync_event_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_create_from_export(rig->dev, NULL, 1, &imported), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_create_from_export(rig->dev, (uint8_t *)"x", 1, NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_publisher_add_location_cpu(event, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_start(event), DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_get(event, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_update_add(event, 1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_export_to_dpu(event, NULL, &data, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_job_get_supported((struct doca_devinfo *)(uintptr_t)info, 7),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sync_event_job_get_supported(NULL, DOCA_SYNC_EVENT_JOB_GET), DOCA_ERROR_INVALID_VALUE);
	for (int type = DOCA_SYNC_EVENT_JOB_WAIT_GT; type <= DOCA_SYNC_EVENT_JOB_UPDATE_ADD; type++)
		assert_int_equal(doca_sync_event_job_get_supported((struct doca_devinfo *)(uintptr_t)info, type),
				 DOCA_SUCCESS);
	assert_int_equal(doca_sync_event_destroy(event), DOCA_SUCCESS);
}

static void test_dpa_gpu_and_network_are_not_simulated(void **state)
{
	struct rig *rig = *state;
	struct doca_sync_event *event = event_new(rig);
	const struct doca_devinfo *info = doca_dev_as_devinfo(rig->dev);
	doca_sync_event_remote_t remote;
	uint64_t handle, *gpu_handle;
	void *any = rig;

	assert_int_equal(doca_sync_event_get_export_to_dpa_supported(info), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_sync_event_get_export_to_gpu_supported(info), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_sync_event_publisher_add_location_dpa(event, any), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_sync_event_publisher_add_location_gpu(event, any), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_sync_event_subscriber_add_location_dpa(event, any), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_sync_event_subscriber_add_location_gpu(event, any), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_sync_event_export_to_dpa(event, any, &handle), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_sync_event_export_to_gpu(event, any, &gpu_handle), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_sync_event_export_remote(event, &remote), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_sync_event_destroy(event), DOCA_SUCCESS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_counter_is_set_added_to_and_read),
		TEST(test_a_thread_that_waits_is_woken_by_a_job),
		TEST(test_the_counter_may_lie_in_memory_of_the_program),
		TEST(test_jobs_set_add_and_get),
		TEST(test_a_wait_ends_when_the_counter_is_greater),
		TEST(test_queues_of_one_event_have_one_counter),
		TEST(test_a_sleeper_is_woken_by_the_counter),
		TEST(test_jobs_of_dma_and_of_an_event_share_a_queue),
		TEST(test_jobs_that_make_no_sense_are_refused),
		TEST(test_an_event_is_used_alone_or_as_a_context),
		TEST(test_arguments_are_looked_at),
		TEST(test_dpa_gpu_and_network_are_not_simulated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

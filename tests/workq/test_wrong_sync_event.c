/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes with sync events, in calls and jobs: the code and the log line of each call. Card: data/poor.yaml.
 *
 * Errors that can't be provoked here:
 * unreachable: doca_sync_event_export_to_dpa DOCA_ERROR_NO_MEMORY: not simulated, nothing is allocated
 * unreachable: doca_sync_event_export_to_gpu DOCA_ERROR_NO_MEMORY: not simulated, nothing is allocated
 * unreachable: doca_sync_event_job_get_supported DOCA_ERROR_NOT_SUPPORTED: all devices have all jobs
 */
#include <doca_sync_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "refuse.h"
#include "doca_check.h"
#include "rig.h"

static struct doca_sync_event *event_new(struct doca_dev *dev)
{
	struct doca_sync_event *event;

	assert_ok(doca_sync_event_create(&event));
	assert_ok(doca_sync_event_publisher_add_location_cpu(event, dev));
	assert_ok(doca_sync_event_subscriber_add_location_dpu(event));
	return event;
}

static void event_end(struct doca_sync_event *event)
{
	assert_ok(doca_sync_event_destroy(event));
}

/* ---- handles and places ---- */

/* provokes: doca_sync_event_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_export_remote DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_export_to_dpa DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_export_to_dpu DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_export_to_gpu DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_get DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_publisher_add_location_cpu DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_publisher_add_location_dpa DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_publisher_add_location_dpu DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_publisher_add_location_gpu DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_set_addr DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_start DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_stop DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_subscriber_add_location_cpu DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_subscriber_add_location_dpa DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_subscriber_add_location_dpu DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_subscriber_add_location_gpu DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_update_add DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_update_set DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_wait_gt DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_wait_gt_yield DOCA_ERROR_INVALID_VALUE */
static void test_a_handle_of_no_live_event_is_refused_everywhere(void **state)
{
	struct rig *rig = *state;
	struct doca_sync_event *stale = event_new(rig->dev);
	struct doca_sync_event *wrong[] = { NULL, stale, (struct doca_sync_event *)rig->dma };
	doca_sync_event_remote_t remote;
	uint64_t value = 7, handle, *gpu_handle;
	const uint8_t *data = NULL;
	void *any = rig;
	size_t len;

	event_end(stale);
	for (int i = 0; i < 3; i++) {
		assert_refused_invalid(doca_sync_event_destroy(wrong[i]));
		assert_refused_invalid(doca_sync_event_start(wrong[i]));
		assert_refused_invalid(doca_sync_event_stop(wrong[i]));
		assert_refused_invalid(doca_sync_event_set_addr(wrong[i], &value));
		assert_refused_invalid(doca_sync_event_publisher_add_location_cpu(wrong[i], rig->dev));
		assert_refused_invalid(doca_sync_event_publisher_add_location_dpu(wrong[i]));
		assert_refused_invalid(doca_sync_event_publisher_add_location_dpa(wrong[i], any));
		assert_refused_invalid(doca_sync_event_publisher_add_location_gpu(wrong[i], any));
		assert_refused_invalid(doca_sync_event_subscriber_add_location_cpu(wrong[i], rig->dev));
		assert_refused_invalid(doca_sync_event_subscriber_add_location_dpu(wrong[i]));
		assert_refused_invalid(doca_sync_event_subscriber_add_location_dpa(wrong[i], any));
		assert_refused_invalid(doca_sync_event_subscriber_add_location_gpu(wrong[i], any));
		assert_refused_invalid(doca_sync_event_export_to_dpu(wrong[i], rig->dev, &data, &len));
		assert_refused_invalid(doca_sync_event_export_to_dpa(wrong[i], any, &handle));
		assert_refused_invalid(doca_sync_event_export_to_gpu(wrong[i], any, &gpu_handle));
		assert_refused_invalid(doca_sync_event_export_remote(wrong[i], &remote));
		assert_refused_invalid(doca_sync_event_get(wrong[i], &value));
		assert_refused_invalid(doca_sync_event_update_set(wrong[i], 1));
		assert_refused_invalid(doca_sync_event_update_add(wrong[i], 1, &value));
		assert_refused_invalid(doca_sync_event_wait_gt(wrong[i], 1, 1));
		assert_refused_invalid(doca_sync_event_wait_gt_yield(wrong[i], 1, 1));
		assert_null(doca_sync_event_as_ctx(wrong[i]));
	}
	assert_int_equal(value, 7);
	assert_null(data);
}

/* provokes: doca_sync_event_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_create_from_export DOCA_ERROR_INVALID_VALUE */
static void test_null_is_no_place_and_no_device(void **state)
{
	struct rig *rig = *state;
	struct doca_dev *stale = rig_open(2), *wrong[] = { NULL, stale, (struct doca_dev *)rig->workq };
	struct doca_sync_event *event = event_new(rig->dev), *none = NULL;
	const uint8_t bytes[1] = { 0 }, *data;
	uint64_t handle, value;
	void *any = rig;
	size_t len;

	assert_ok(doca_dev_close(stale));
	assert_refused_invalid(doca_sync_event_create(NULL));
	for (int i = 0; i < 3; i++) {
		assert_refused_invalid(doca_sync_event_publisher_add_location_cpu(event, wrong[i]));
		assert_refused_invalid(doca_sync_event_subscriber_add_location_cpu(event, wrong[i]));
		assert_refused_invalid(doca_sync_event_create_from_export(wrong[i], bytes, 1, &none));
		assert_refused_invalid(doca_sync_event_export_to_dpu(event, wrong[i], &data, &len));
	}
	assert_refused_invalid(doca_sync_event_create_from_export(rig->dev, NULL, 1, &none));
	assert_refused_invalid(doca_sync_event_create_from_export(rig->dev, bytes, 1, NULL));
	assert_refused_invalid(doca_sync_event_create_from_export(rig->dev, bytes, 0, &none));
	assert_refused_invalid(doca_sync_event_create_from_export(rig->dev, bytes, 1, &none));
	assert_refused_invalid(doca_sync_event_set_addr(event, NULL));
	assert_refused_invalid(doca_sync_event_set_addr(event, (uint64_t *)((char *)&value + 1)));
	assert_refused_invalid(doca_sync_event_publisher_add_location_dpa(event, NULL));
	assert_refused_invalid(doca_sync_event_publisher_add_location_gpu(event, NULL));
	assert_refused_invalid(doca_sync_event_subscriber_add_location_dpa(event, NULL));
	assert_refused_invalid(doca_sync_event_subscriber_add_location_gpu(event, NULL));
	assert_refused_invalid(doca_sync_event_export_to_dpa(event, NULL, &handle));
	assert_refused_invalid(doca_sync_event_export_to_dpa(event, any, NULL));
	assert_refused_invalid(doca_sync_event_export_to_gpu(event, NULL, any));
	assert_refused_invalid(doca_sync_event_export_to_gpu(event, any, NULL));
	assert_refused_invalid(doca_sync_event_export_remote(event, NULL));
	assert_ok(doca_sync_event_start(event));
	assert_refused_invalid(doca_sync_event_get(event, NULL));
	assert_refused_invalid(doca_sync_event_update_add(event, 1, NULL));
	assert_refused_invalid(doca_sync_event_export_to_dpu(event, rig->dev, NULL, &len));
	assert_refused_invalid(doca_sync_event_export_to_dpu(event, rig->dev, &data, NULL));
	assert_null(none);
	event_end(event);
}

/* provokes: doca_sync_event_get_create_from_export_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_get_create_from_export_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_sync_event_get_export_to_dpa_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_get_export_to_dpa_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_sync_event_get_export_to_dpu_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_get_export_to_dpu_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_sync_event_get_export_to_gpu_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_get_export_to_gpu_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_sync_event_job_get_supported DOCA_ERROR_INVALID_VALUE */
static void test_a_device_reports_its_capabilities(void **state)
{
	struct rig *rig = *state;
	struct doca_dev *poor = rig_open(1);
	struct doca_devinfo *info = doca_dev_as_devinfo(rig->dev), *lacking = doca_dev_as_devinfo(poor);
	struct doca_devinfo *wrong[] = { NULL, (struct doca_devinfo *)rig->workq };

	for (int i = 0; i < 2; i++) {
		assert_refused_invalid(doca_sync_event_get_create_from_export_supported(wrong[i]));
		assert_refused_invalid(doca_sync_event_get_export_to_dpu_supported(wrong[i]));
		assert_refused_invalid(doca_sync_event_get_export_to_dpa_supported(wrong[i]));
		assert_refused_invalid(doca_sync_event_get_export_to_gpu_supported(wrong[i]));
		assert_refused_invalid(doca_sync_event_job_get_supported(wrong[i], DOCA_SYNC_EVENT_JOB_GET));
	}
	assert_refused_invalid(doca_sync_event_job_get_supported(info, DOCA_SYNC_EVENT_JOB_WAIT_GT - 1));
	assert_refused_invalid(doca_sync_event_job_get_supported(info, DOCA_SYNC_EVENT_JOB_UPDATE_ADD + 1));
	assert_ok(doca_sync_event_get_create_from_export_supported(info));
	assert_ok(doca_sync_event_get_export_to_dpu_supported(info));
	assert_doca(doca_sync_event_get_create_from_export_supported(lacking), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_sync_event_get_export_to_dpu_supported(lacking), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_sync_event_get_export_to_dpa_supported(info), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_sync_event_get_export_to_gpu_supported(info), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_dev_close(poor));
}

/* ---- the wrong moment ---- */

/* provokes: doca_sync_event_set_addr DOCA_ERROR_BAD_STATE
 * provokes: doca_sync_event_set_addr DOCA_ERROR_NOT_SUPPORTED */
static void test_an_event_is_configured_before_its_start_and_used_after(void **state)
{
	struct rig *rig = *state;
	struct doca_sync_event *event = event_new(rig->dev), *bare;
	uint64_t *gone = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), value = 7;

	assert_ptr_not_equal(gone, MAP_FAILED);
	assert_refused(doca_sync_event_set_addr(event, gone), DOCA_ERROR_NOT_SUPPORTED); /* it can't be written to */
	munmap(gone, 4096);
	assert_refused(doca_sync_event_get(event, &value), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_sync_event_update_set(event, 1), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_sync_event_update_add(event, 1, &value), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_sync_event_wait_gt(event, 1, 1), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_sync_event_wait_gt_yield(event, 1, 1), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_sync_event_start(event));
	assert_refused(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_sync_event_set_addr(event, &value), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_sync_event_publisher_add_location_cpu(event, rig->dev), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_sync_event_publisher_add_location_dpu(event), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_sync_event_subscriber_add_location_cpu(event, rig->dev), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_sync_event_subscriber_add_location_dpu(event), DOCA_ERROR_BAD_STATE);
	assert_int_equal(value, 7);
	event_end(event);
	assert_ok(doca_sync_event_create(&bare));
	assert_refused(doca_sync_event_start(bare), DOCA_ERROR_BAD_STATE); /* no publisher */
	assert_ok(doca_sync_event_publisher_add_location_dpu(bare));
	assert_refused(doca_sync_event_start(bare), DOCA_ERROR_BAD_STATE); /* no subscriber */
	event_end(bare);
}

static void test_an_event_that_is_a_context_is_started_as_one(void **state)
{
	struct rig *rig = *state;
	struct doca_sync_event *event = event_new(rig->dev);
	struct doca_ctx *ctx = doca_sync_event_as_ctx(event);

	assert_refused(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_sync_event_stop(event), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_ctx_dev_add(ctx, rig->dev), DOCA_ERROR_NOT_SUPPORTED);
	assert_refused(doca_ctx_stop(ctx), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_ctx_start(ctx));
	assert_refused(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_ctx_workq_add(ctx, rig->workq));
	assert_refused(doca_sync_event_destroy(event), DOCA_ERROR_IN_USE);
	assert_ok(doca_ctx_workq_rm(ctx, rig->workq));
	event_end(event);
}

/* ---- exports ---- */

/* provokes: doca_sync_event_create_from_export DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_sync_event_export_to_dpa DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_sync_event_export_to_dpu DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_sync_event_export_to_gpu DOCA_ERROR_NOT_SUPPORTED */
static void test_exports_need_a_started_event_a_device_that_can_and_the_whole_descriptor(void **state)
{
	struct rig *rig = *state;
	struct doca_dev *poor = rig_open(1);
	struct doca_sync_event *event = event_new(rig->dev), *imported = NULL;
	uint64_t handle, *gpu_handle;
	const uint8_t *data = NULL;
	uint8_t bytes[512];
	void *any = rig;
	size_t len;

	assert_refused(doca_sync_event_export_to_dpu(event, rig->dev, &data, &len),
		       DOCA_ERROR_BAD_STATE); /* not started */
	assert_ok(doca_sync_event_start(event));
	assert_refused(doca_sync_event_export_to_dpu(event, poor, &data, &len), DOCA_ERROR_NOT_SUPPORTED);
	assert_null(data);
	assert_doca(doca_sync_event_export_to_dpa(event, any, &handle), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_sync_event_export_to_gpu(event, any, &gpu_handle), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_sync_event_export_to_dpu(event, rig->dev, &data, &len));
	assert_true(len <= sizeof(bytes));
	memcpy(bytes, data, len);
	assert_refused(doca_sync_event_create_from_export(poor, bytes, len, &imported), DOCA_ERROR_NOT_SUPPORTED);
	assert_refused_invalid(doca_sync_event_create_from_export(rig->dev, bytes, len - 1, &imported));
	bytes[len / 2] ^= 1;
	assert_refused_invalid(doca_sync_event_create_from_export(rig->dev, bytes, len, &imported));
	bytes[len / 2] ^= 1;
	assert_null(imported);
	assert_ok(doca_sync_event_create_from_export(rig->dev, bytes, len, &imported));
	assert_refused(doca_sync_event_publisher_add_location_dpu(imported), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_sync_event_set_addr(imported, &handle), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_sync_event_start(imported));
	assert_refused(doca_sync_event_export_to_dpu(imported, rig->dev, &data, &len), DOCA_ERROR_BAD_STATE);
	event_end(imported);
	event_end(event);
	assert_ok(doca_dev_close(poor));
}

/* The descriptor of a map is refused for an event, and the descriptor of an event for a map. */
static void test_descriptors_of_the_other_kind_are_refused(void **state)
{
	static char memory[4096];
	struct rig *rig = *state;
	struct doca_sync_event *event = event_new(rig->dev), *no_event = NULL;
	struct doca_mmap *mmap = rig_map(rig, memory, sizeof(memory), DOCA_ACCESS_DPU_READ_WRITE), *no_map = NULL;
	const uint8_t *of_event;
	const void *of_map;
	size_t event_len, map_len;

	assert_ok(doca_sync_event_start(event));
	assert_ok(doca_sync_event_export_to_dpu(event, rig->dev, &of_event, &event_len));
	assert_ok(doca_mmap_export_dpu(mmap, rig->dev, &of_map, &map_len));
	assert_refused_invalid(doca_sync_event_create_from_export(rig->dev, of_map, map_len, &no_event));
	assert_refused_invalid(doca_mmap_create_from_export(NULL, of_event, event_len, rig->dev, &no_map));
	assert_null(no_event);
	assert_null(no_map);
	assert_ok(doca_mmap_destroy(mmap));
	event_end(event);
}

/* ---- jobs ---- */

static struct doca_job base_of(struct doca_sync_event *event, int type)
{
	return (struct doca_job){ .type = type, .ctx = doca_sync_event_as_ctx(event) };
}

static void test_jobs_that_make_no_sense_are_refused_and_hold_no_place(void **state)
{
	struct rig *rig = *state;
	struct doca_sync_event *event = event_new(rig->dev);
	struct doca_job none = base_of(event, DOCA_SYNC_EVENT_JOB_UPDATE_ADD + 1),
			dma = base_of(event, DOCA_DMA_JOB_MEMCPY);
	struct doca_sync_event_job_get get = { base_of(event, DOCA_SYNC_EVENT_JOB_GET), NULL };
	struct doca_sync_event_job_update_add add = { base_of(event, DOCA_SYNC_EVENT_JOB_UPDATE_ADD), 1, NULL };
	struct doca_sync_event_job_wait wait = { base_of(event, DOCA_SYNC_EVENT_JOB_WAIT_GT), 0, 0xf0f };
	struct doca_sync_event_job_update_set set = { base_of(event, DOCA_SYNC_EVENT_JOB_UPDATE_SET), 1 };
	struct doca_event ev;

	assert_refused(doca_workq_submit(rig->workq, &set.base), DOCA_ERROR_BAD_STATE); /* not started */
	assert_ok(doca_ctx_start(none.ctx));
	assert_refused(doca_workq_submit(rig->workq, &set.base), DOCA_ERROR_NOT_FOUND);
	assert_ok(doca_ctx_workq_add(none.ctx, rig->workq));
	assert_refused_invalid(doca_workq_submit(rig->workq, &none));
	assert_refused_invalid(doca_workq_submit(rig->workq, &dma));
	assert_refused_invalid(doca_workq_submit(rig->workq, &get.base));
	assert_refused_invalid(doca_workq_submit(rig->workq, &add.base));
	assert_refused_invalid(doca_workq_submit(rig->workq, &wait.base));
	for (int i = 0; i < RIG_DEPTH; i++)
		assert_ok(doca_workq_submit(rig->workq, &set.base));
	assert_doca(doca_workq_submit(rig->workq, &set.base), DOCA_ERROR_NO_MEMORY);
	for (int i = 0; i < RIG_DEPTH; i++)
		while (doca_workq_progress_retrieve(rig->workq, &ev, 0) == DOCA_ERROR_AGAIN)
			;
	assert_ok(doca_ctx_workq_rm(none.ctx, rig->workq));
	event_end(event);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_handle_of_no_live_event_is_refused_everywhere),
		TEST(test_null_is_no_place_and_no_device),
		TEST(test_a_device_reports_its_capabilities),
		TEST(test_an_event_is_configured_before_its_start_and_used_after),
		TEST(test_an_event_that_is_a_context_is_started_as_one),
		TEST(test_exports_need_a_started_event_a_device_that_can_and_the_whole_descriptor),
		TEST(test_descriptors_of_the_other_kind_are_refused),
		TEST(test_jobs_that_make_no_sense_are_refused_and_hold_no_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

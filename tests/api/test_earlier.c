/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and functions of releases 2.5 and 2.6 that later ones renamed or dropped. */
#include "sync_event_util.h"

#include <stdio.h>
#include <string.h>

#include <doca_buf_array.h>
#include <doca_log.h>
#include <doca_version.h>

DOCA_LOG_REGISTER(TEST::EARLIER);

static struct doca_dev *dev;

/* ---- sync events: the DPU is the other side ---- */

/* The DPU publishes; both ends are in this process. */
static void test_event_that_is_exported_to_the_dpu_has_the_dpus_value(void **state)
{
	struct doca_sync_event *event, *import;
	const uint8_t *data;
	size_t len;

	assert_ok(doca_sync_event_cap_is_export_to_dpu_supported(doca_dev_as_devinfo(dev)));
	assert_ok(doca_sync_event_create(&event));
	assert_ok(doca_sync_event_add_publisher_location_dpu(event));
	assert_ok(doca_sync_event_add_subscriber_location_cpu(event, dev));
	assert_ok(doca_sync_event_start(event));
	assert_ok(doca_sync_event_export_to_dpu(event, dev, &data, &len));
	assert_ok(doca_sync_event_create_from_export(dev, data, len, &import));
	assert_ok(doca_sync_event_start(import));
	assert_ok(doca_sync_event_update_set(import, 25));
	assert_int_equal(se_value(event), 25);
	se_end(import);
	se_end(event);
}

static void test_dpu_subscribes_to_this_cpu(void **state)
{
	struct doca_sync_event *event;

	assert_ok(doca_sync_event_create(&event));
	assert_ok(doca_sync_event_add_publisher_location_cpu(event, dev));
	assert_ok(doca_sync_event_add_subscriber_location_dpu(event));
	assert_ok(doca_sync_event_start(event));
	se_end(event);
}

static void test_mistakes_are_refused_as_under_the_later_names(void **state)
{
	struct doca_sync_event *event = se_started(dev);
	struct doca_dpa *dpa = (struct doca_dpa *)dev; /* there is none */
	struct doca_gpu *gpu = (struct doca_gpu *)dev;
	struct doca_sync_event_remote_net *remote = (struct doca_sync_event_remote_net *)dev;
	doca_dpa_dev_sync_event_remote_net_t dpa_remote;
	doca_gpu_dev_sync_event_remote_net_t gpu_remote;
	doca_dpa_dev_sync_event_t dpa_handle;
	doca_gpu_dev_sync_event_t *gpu_handle;
	const uint8_t *data;
	size_t len;

	assert_invalid(doca_sync_event_cap_is_export_to_dpu_supported(NULL));
	assert_invalid(doca_sync_event_add_publisher_location_dpu(NULL));
	assert_invalid(doca_sync_event_add_subscriber_location_dpu(NULL));
	assert_doca(doca_sync_event_add_publisher_location_dpu(event), DOCA_ERROR_BAD_STATE);
	assert_invalid(doca_sync_event_export_to_dpu(NULL, dev, &data, &len));
	assert_invalid(doca_sync_event_export_to_dpu(event, NULL, &data, &len));
	assert_invalid(doca_sync_event_export_to_dpu(event, dev, NULL, &len));
	assert_invalid(doca_sync_event_export_to_dpa(event, dpa, &dpa_handle));
	assert_doca(doca_sync_event_export_to_gpu(event, gpu, &gpu_handle), DOCA_ERROR_NOT_SUPPORTED);
	assert_invalid(doca_sync_event_remote_net_export_to_dpa(remote, dpa, &dpa_remote));
	assert_invalid(doca_sync_event_remote_net_export_to_gpu(remote, gpu, &gpu_remote));
	assert_invalid(doca_sync_event_export_to_dpa(event, dpa, NULL));
	assert_invalid(doca_sync_event_export_to_gpu(NULL, gpu, &gpu_handle));
	se_end(event);
}

/* ---- sync events: tasks that wait for a greater value ---- */

static char gt_trace[128];

static void note_gt(struct doca_sync_event_task_wait_gt *task, union doca_data number, union doca_data ctx_data,
		    const char *how)
{
	size_t len = strlen(gt_trace);

	assert_non_null(ctx_data.ptr);
	snprintf(gt_trace + len, sizeof(gt_trace) - len, "%llu %s\n", (unsigned long long)number.u64, how);
	doca_task_free(doca_sync_event_task_wait_gt_as_doca_task(task));
}

static void on_greater(struct doca_sync_event_task_wait_gt *task, union doca_data number, union doca_data ctx_data)
{
	note_gt(task, number, ctx_data, "done");
}

static void on_failed(struct doca_sync_event_task_wait_gt *task, union doca_data number, union doca_data ctx_data)
{
	note_gt(task, number, ctx_data, "failed");
}

static int start_waiter(void **state)
{
	struct se_ctx *se = se_as_ctx(se_new(dev));

	gt_trace[0] = '\0';
	assert_ok(doca_sync_event_task_wait_gt_set_conf(se->event, on_greater, on_failed, 3));
	assert_ok(doca_ctx_start(se->ctx));
	*state = se;
	return 0;
}

static int stop_waiter(void **state)
{
	se_close(*state);
	return 0;
}

static struct doca_sync_event_task_wait_gt *wait_gt(struct se_ctx *se, uint64_t number, uint64_t value, uint64_t mask)
{
	struct doca_sync_event_task_wait_gt *task;
	union doca_data data = { .u64 = number };

	assert_ok(doca_sync_event_task_wait_gt_alloc_init(se->event, value, mask, data, &task));
	return task;
}

static void submit(struct doca_sync_event_task_wait_gt *task)
{
	assert_ok(doca_task_submit(doca_sync_event_task_wait_gt_as_doca_task(task)));
}

static void test_wait_ends_when_the_value_is_greater(void **state)
{
	struct se_ctx *se = *state;

	assert_ok(doca_sync_event_cap_task_wait_gt_is_supported(doca_dev_as_devinfo(dev)));
	submit(wait_gt(se, 1, 4, UINT64_MAX));
	submit(wait_gt(se, 2, 5, UINT64_MAX));
	assert_ok(doca_sync_event_update_set(se->event, 4));
	se_progress(se);
	assert_string_equal(gt_trace, "");
	assert_ok(doca_sync_event_update_set(se->event, 5));
	se_progress(se);
	assert_string_equal(gt_trace, "1 done\n");
	assert_ok(doca_sync_event_update_set(se->event, UINT64_MAX));
	se_progress(se);
	assert_string_equal(gt_trace, "1 done\n2 done\n");
}

/* 0x0200 is greater than 0xff, but its lowest byte is not. */
static void test_wait_compares_the_masked_value(void **state)
{
	struct se_ctx *se = *state;

	submit(wait_gt(se, 1, 0xfe, 0xff));
	submit(wait_gt(se, 2, 0x01ff, 0xffff));
	assert_ok(doca_sync_event_update_set(se->event, 0x0200));
	se_progress(se);
	assert_string_equal(gt_trace, "2 done\n");
	assert_ok(doca_sync_event_update_set(se->event, 0x01ff));
	se_progress(se);
	assert_string_equal(gt_trace, "2 done\n1 done\n");
}

static void test_stop_ends_a_wait_with_an_error(void **state)
{
	struct se_ctx *se = *state;

	submit(wait_gt(se, 1, 9, UINT64_MAX));
	assert_doca(doca_ctx_stop(se->ctx), DOCA_ERROR_IN_PROGRESS);
	se_progress(se);
	assert_string_equal(gt_trace, "1 failed\n");
}

static void test_wait_is_configured_and_changed(void **state)
{
	struct se_ctx *se = *state;
	struct doca_sync_event_task_wait_gt *task = wait_gt(se, 1, 9, 0xff), *more[2], *none;
	union doca_data data = { 0 };

	assert_int_equal(doca_sync_event_task_wait_gt_get_wait_val(task), 9);
	assert_int_equal(doca_sync_event_task_wait_gt_get_mask(task), 0xff);
	doca_sync_event_task_wait_gt_set_wait_val(task, 0);
	doca_sync_event_task_wait_gt_set_mask(task, UINT64_MAX);
	assert_int_equal(doca_sync_event_task_wait_gt_get_wait_val(task), 0);
	assert_int_equal(doca_sync_event_task_wait_gt_get_mask(task), UINT64_MAX);
	more[0] = wait_gt(se, 2, 0, 0xff);
	more[1] = wait_gt(se, 3, 0, 0xff);
	assert_doca(doca_sync_event_task_wait_gt_alloc_init(se->event, 0, 0, data, &none), DOCA_ERROR_NO_MEMORY);
	assert_doca(doca_sync_event_task_wait_gt_set_conf(se->event, on_greater, on_failed, 1),
		    DOCA_ERROR_NOT_PERMITTED);
	doca_sync_event_task_wait_gt_set_mask(more[0], 0x1);
	assert_invalid(doca_task_submit(doca_sync_event_task_wait_gt_as_doca_task(more[0])));
	for (size_t i = 0; i < 2; i++)
		doca_task_free(doca_sync_event_task_wait_gt_as_doca_task(more[i]));
	doca_task_free(doca_sync_event_task_wait_gt_as_doca_task(task));
	assert_null(doca_sync_event_task_wait_gt_as_doca_task(task));
}

static void test_wait_without_event_or_callback_is_refused(void **state)
{
	struct se_ctx *se = *state;
	struct doca_sync_event_task_wait_gt *task;
	union doca_data data = { 0 };

	assert_invalid(doca_sync_event_cap_task_wait_gt_is_supported(NULL));
	assert_invalid(doca_sync_event_task_wait_gt_set_conf(NULL, on_greater, on_failed, 1));
	assert_invalid(doca_sync_event_task_wait_gt_set_conf(se->event, NULL, on_failed, 1));
	assert_invalid(doca_sync_event_task_wait_gt_set_conf(se->event, on_greater, NULL, 1));
	assert_invalid(doca_sync_event_task_wait_gt_alloc_init(NULL, 0, 0, data, &task));
	assert_invalid(doca_sync_event_task_wait_gt_alloc_init(se->event, 0, 0, data, NULL));
	assert_null(doca_sync_event_task_wait_gt_as_doca_task(NULL));
	assert_int_equal(doca_sync_event_task_wait_gt_get_wait_val(NULL), 0);
	assert_int_equal(doca_sync_event_task_wait_gt_get_mask(NULL), 0);
	doca_sync_event_task_wait_gt_set_wait_val(NULL, 1);
	doca_sync_event_task_wait_gt_set_mask(NULL, 1);
}

/* ---- buffer arrays: 2.5 has other parameters ---- */

static void test_memory_map_is_no_number_of_elements(void **state)
{
	static char memory[64];
	struct doca_mmap *map = api_map(dev, memory, sizeof(memory), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf_arr *array;

	if ((size_t)map >> 44) /* valgrind hands out low addresses, which could be numbers */
		assert_invalid(doca_buf_arr_create((size_t)map, &array));
	assert_ok(doca_mmap_destroy(map));
}

/* ---- logs, version ---- */

static char flushed[256];

static void keep(char *text)
{
	snprintf(flushed + strlen(flushed), sizeof(flushed) - strlen(flushed), "%s", text);
}

static void test_buffer_backend_takes_records(void **state)
{
	static char app[256], sdk[256]; /* used until the process ends */
	struct doca_log_backend *backend;

	assert_invalid(doca_log_backend_create_with_buffer(NULL, sizeof(app), keep, &backend));
	assert_invalid(doca_log_backend_create_with_buffer_sdk(sdk, sizeof(sdk), NULL, &backend));
	assert_ok(doca_log_backend_create_with_buffer(app, sizeof(app), keep, &backend));
	assert_ok(doca_log_backend_create_with_buffer_sdk(sdk, sizeof(sdk), keep, &backend));
	DOCA_LOG_WARN("to the buffer");
	assert_non_null(strstr(flushed, "to the buffer"));
	flushed[0] = '\0';
	assert_invalid(doca_mmap_destroy(NULL)); /* a record of the library's */
	assert_non_null(strstr(flushed, "doca_mmap_destroy"));
}

static void test_version_has_its_earlier_names(void **state)
{
	assert_int_equal(DOCA_VER_MAJOR, DOCA_VERSION_MAJOR);
	assert_int_equal(DOCA_VER_MINOR, DOCA_VERSION_MINOR);
	assert_int_equal(DOCA_VER_PATCH, DOCA_VERSION_PATCH);
	assert_string_equal(DOCA_VER_STRING, DOCA_VERSION_STRING);
}

#define WITH_WAITER(test) cmocka_unit_test_setup_teardown(test, start_waiter, stop_waiter)

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_event_that_is_exported_to_the_dpu_has_the_dpus_value),
	cmocka_unit_test(test_dpu_subscribes_to_this_cpu),
	cmocka_unit_test(test_mistakes_are_refused_as_under_the_later_names),
	WITH_WAITER(test_wait_ends_when_the_value_is_greater),
	WITH_WAITER(test_wait_compares_the_masked_value),
	WITH_WAITER(test_stop_ends_a_wait_with_an_error),
	WITH_WAITER(test_wait_is_configured_and_changed),
	WITH_WAITER(test_wait_without_event_or_callback_is_refused),
	cmocka_unit_test(test_memory_map_is_no_number_of_elements),
	cmocka_unit_test(test_buffer_backend_takes_records),
	cmocka_unit_test(test_version_has_its_earlier_names),
};

int main(void)
{
	return API_RUN({ .name = "DPU", .topology = "sync_events.yaml", .side = "dpu", API_WITH(tests), .dev = &dev });
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Each allocation of each call fails: the call fails, leaks nothing, and succeeds when it is repeated.
 * Objects come from pools, so each call is tested with the first object of its kind. Card: the DPU of
 * data/poor.yaml, whose first device has all capabilities. */
#include <doca_buf_inventory.h>
#include <doca_bufpool.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_sync_event.h>

#include <stdlib.h>

#include "api_util.h"
#include "rig.h"

static char memory[4096];
static struct doca_dev *dev;

static int open_first(void **state)
{
	dev = rig_open(0);
	return 0;
}

static int close_first(void **state)
{
	assert_ok(doca_dev_close(dev));
	return 0;
}

/* ---- devices ---- */

static struct doca_devinfo **infos;
static struct doca_devinfo_rep **reps;
static struct doca_dev *second;
static struct doca_dev_rep *rep;
static uint32_t count;

static doca_error_t step_list(void)
{
	return doca_devinfo_list_create(&infos, &count);
}

static doca_error_t step_open(void)
{
	return doca_dev_open(infos[1], &second);
}

static doca_error_t step_rep_list(void)
{
	return doca_devinfo_rep_list_create(dev, DOCA_DEV_REP_FILTER_NET, &reps, &count);
}

static doca_error_t step_rep_open(void)
{
	return doca_dev_rep_open(reps[0], &rep);
}

/* provokes: doca_dev_open DOCA_ERROR_NO_MEMORY
 * provokes: doca_dev_rep_open DOCA_ERROR_NO_MEMORY
 * provokes: doca_devinfo_list_create DOCA_ERROR_NO_MEMORY
 * provokes: doca_devinfo_rep_list_create DOCA_ERROR_NO_MEMORY */
static void test_devices_are_listed_and_opened_once_there_is_memory(void **state)
{
	api_fail_each_allocation(step_list, NULL);
	api_fail_each_allocation(step_open, NULL);
	api_fail_each_allocation(step_rep_list, NULL);
	api_fail_each_allocation(step_rep_open, NULL);
	assert_ok(doca_dev_rep_close(rep));
	assert_ok(doca_devinfo_rep_list_destroy(reps));
	assert_ok(doca_dev_close(second));
	assert_ok(doca_devinfo_list_destroy(infos));
}

/* ---- memory maps and buffers ---- */

static struct doca_mmap *mmap, *imported;
static struct doca_buf_inventory *inventory;
static struct doca_bufpool *pool;
static void *descriptor;
static size_t len;

static doca_error_t step_map(void)
{
	return doca_mmap_create(NULL, &mmap);
}

static doca_error_t step_start_empty(void)
{
	return doca_mmap_start(mmap);
}

static doca_error_t step_add_device(void)
{
	return doca_mmap_dev_add(mmap, dev);
}

static doca_error_t step_export(void)
{
	return doca_mmap_export(mmap, dev, &descriptor, &len);
}

static doca_error_t step_import(void)
{
	return doca_mmap_create_from_export(NULL, descriptor, len, dev, &imported);
}

static doca_error_t step_inventory(void)
{
	return doca_buf_inventory_create(NULL, 100, 0, &inventory);
}

static doca_error_t step_pool(void)
{
	return doca_bufpool_create(NULL, 10, 0, 100, 1, mmap, &pool);
}

/* provokes: doca_bufpool_create DOCA_ERROR_NO_MEMORY
 * provokes: doca_mmap_create DOCA_ERROR_NO_MEMORY
 * provokes: doca_mmap_create_from_export DOCA_ERROR_NO_MEMORY
 * provokes: doca_mmap_export DOCA_ERROR_NO_MEMORY
 * provokes: doca_mmap_start DOCA_ERROR_NO_MEMORY */
static void test_maps_and_buffers_are_made_once_there_is_memory(void **state)
{
	api_fail_each_allocation(step_map, NULL);
	api_fail_each_allocation(step_start_empty, NULL);
	api_fail_each_allocation(step_add_device, NULL);
	assert_ok(doca_mmap_populate(mmap, memory, sizeof(memory), 4096, NULL, NULL));
	api_fail_each_allocation(step_inventory, NULL);
	api_fail_each_allocation(step_pool, NULL);
	api_fail_each_allocation(step_export, NULL);
	api_fail_each_allocation(step_import, NULL);
	assert_ok(doca_mmap_destroy(imported));
	assert_ok(doca_bufpool_destroy(pool));
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_buf_inventory_destroy(inventory));
	free(descriptor);
}

/* A device is added to all chunks of a map or to none: after a failure no chunk has it. */
static void test_a_device_is_added_to_all_chunks_once_there_is_memory(void **state)
{
	static char more[2][4096];

	assert_ok(doca_mmap_create(NULL, &mmap));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_populate(mmap, memory, sizeof(memory), 4096, NULL, NULL));
	for (int i = 0; i < 2; i++)
		assert_ok(doca_mmap_populate(mmap, more[i], sizeof(more[i]), 4096, NULL, NULL));
	api_fail_each_allocation(step_add_device, NULL);
	assert_ok(doca_mmap_dev_rm(mmap, dev));
	assert_invalid(doca_mmap_dev_rm(mmap, dev));
	assert_ok(doca_mmap_destroy(mmap));
}

/* ---- contexts and work queues ---- */

static struct doca_workq *workq;
static struct doca_dma *dma;
static bool not_initialized;

static doca_error_t step_queue(void)
{
	return doca_workq_create(8, &workq);
}

static doca_error_t step_dma(void)
{
	return doca_dma_create(&dma);
}

/* Two codes mean no memory: NO_MEMORY for the queue, INITIALIZATION for the context of the core. */
static doca_error_t step_add_queue(void)
{
	doca_error_t result = doca_ctx_workq_add(doca_dma_as_ctx(dma), workq);

	not_initialized |= result == DOCA_ERROR_INITIALIZATION;
	return result == DOCA_ERROR_INITIALIZATION ? DOCA_ERROR_NO_MEMORY : result;
}

/* provokes: doca_ctx_workq_add DOCA_ERROR_INITIALIZATION
 * provokes: doca_ctx_workq_add DOCA_ERROR_NO_MEMORY
 * provokes: doca_dma_create DOCA_ERROR_NO_MEMORY
 * provokes: doca_workq_create DOCA_ERROR_NO_MEMORY */
static void test_queues_and_contexts_are_made_once_there_is_memory(void **state)
{
	api_fail_each_allocation(step_queue, NULL);
	api_fail_each_allocation(step_dma, NULL);
	assert_ok(doca_ctx_dev_add(doca_dma_as_ctx(dma), dev));
	assert_ok(doca_ctx_start(doca_dma_as_ctx(dma)));
	api_fail_each_allocation(step_add_queue, NULL);
	assert_true(not_initialized);
	assert_ok(doca_ctx_workq_rm(doca_dma_as_ctx(dma), workq));
	assert_ok(doca_workq_destroy(workq));
	assert_ok(doca_dma_destroy(dma));
}

/* ---- sync events ---- */

static struct doca_sync_event *event, *imported_event;
static const uint8_t *event_bytes;

static doca_error_t step_event(void)
{
	return doca_sync_event_create(&event);
}

static doca_error_t step_export_event(void)
{
	return doca_sync_event_export_to_dpu(event, dev, &event_bytes, &len);
}

static doca_error_t step_import_event(void)
{
	return doca_sync_event_create_from_export(dev, event_bytes, len, &imported_event);
}

/* provokes: doca_sync_event_create DOCA_ERROR_NO_MEMORY
 * provokes: doca_sync_event_create_from_export DOCA_ERROR_NO_MEMORY
 * provokes: doca_sync_event_export_to_dpu DOCA_ERROR_NO_MEMORY */
static void test_sync_events_are_made_once_there_is_memory(void **state)
{
	api_fail_each_allocation(step_event, NULL);
	assert_ok(doca_sync_event_publisher_add_location_cpu(event, dev));
	assert_ok(doca_sync_event_subscriber_add_location_dpu(event));
	assert_ok(doca_sync_event_start(event));
	api_fail_each_allocation(step_export_event, NULL);
	api_fail_each_allocation(step_import_event, NULL);
	assert_ok(doca_sync_event_destroy(imported_event));
	assert_ok(doca_sync_event_destroy(event));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_devices_are_listed_and_opened_once_there_is_memory),
		cmocka_unit_test(test_maps_and_buffers_are_made_once_there_is_memory),
		cmocka_unit_test(test_a_device_is_added_to_all_chunks_once_there_is_memory),
		cmocka_unit_test(test_queues_and_contexts_are_made_once_there_is_memory),
		cmocka_unit_test(test_sync_events_are_made_once_there_is_memory),
	};

	return cmocka_run_group_tests(tests, open_first, close_first);
}

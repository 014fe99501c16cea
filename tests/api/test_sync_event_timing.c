/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a sync event take the time that the topology gives them (doc/time.md). They come though their program blocks meanwhile. */
#include "sync_event_util.h"

#include <pthread.h>
#include <stdlib.h>

#include "sim/api/bfsim.h"

#define CHANGE_NS 2500 /* tests/api/data/timing.yaml */

static struct doca_dev *dev;

static void test_call_that_changes_the_value_takes_its_time(void **state)
{
	struct doca_sync_event *event = se_started(dev);
	uint64_t start_ns = bfsim_now_ns(), before;

	assert_ok(doca_sync_event_update_set(event, 7));
	assert_int_equal(bfsim_now_ns(), start_ns + CHANGE_NS);
	assert_ok(doca_sync_event_update_add(event, 1, &before));
	assert_int_equal(before, 7);
	assert_int_equal(bfsim_now_ns(), start_ns + 2 * CHANGE_NS);
	assert_int_equal(se_value(event), 8);
	assert_int_equal(bfsim_now_ns(), start_ns + 2 * CHANGE_NS); /* a look takes none */
	se_end(event);
}

static void test_task_changes_the_value_when_it_is_due(void **state)
{
	struct se_ctx *se = se_run(se_new(dev));
	uint64_t start_ns = bfsim_now_ns();

	assert_ok(doca_task_submit(se_wait_eq(se, 1, 5, UINT64_MAX)));
	assert_ok(doca_task_submit(se_set(se, 2, 5)));
	assert_int_equal(se_value(se->event), 0);
	while (se_in_flight(se) > 0)
		doca_pe_progress(se->pe);
	assert_int_equal(bfsim_now_ns(), start_ns + CHANGE_NS);
	assert_int_equal(se_value(se->event), 5);
	se_close(se);
}

static void test_stop_ends_a_change_that_is_not_due(void **state)
{
	struct se_ctx *se = se_run(se_new(dev));

	assert_ok(doca_task_submit(se_set(se, 1, 5)));
	se_close(se);
}

/* ---- a program blocks for its own change ---- */

static void test_thread_that_blocks_gets_its_own_change_when_it_is_due(void **state)
{
	struct se_ctx *se = se_run(se_new(dev));
	uint64_t start_ns = bfsim_now_ns(), before;

	assert_ok(doca_task_submit(se_add(se, 1, 3, &before)));
	assert_ok(doca_task_submit(se_set(se, 2, 7)));
	assert_ok(doca_sync_event_wait_eq(se->event, 7, UINT64_MAX));
	assert_int_equal(bfsim_now_ns(), start_ns + CHANGE_NS);
	se_progress(se);
	assert_se_trace(se, "notify_add 1 done\nnotify_set 2 done\n");
	assert_int_equal(before, 0);
	assert_int_equal(se_value(se->event), 7); /* a change is made once */
	assert_int_equal(bfsim_now_ns(), start_ns + CHANGE_NS);
	se_close(se);
}

/* The task of a change that was made succeeds, though the context stops before the report. */
static void test_stop_behind_a_change_reports_it(void **state)
{
	struct se_ctx *se = se_run(se_new(dev));

	assert_ok(doca_task_submit(se_set(se, 1, 7)));
	assert_ok(doca_sync_event_wait_eq(se->event, 7, UINT64_MAX));
	assert_ok(doca_task_submit(se_set(se, 2, 9)));
	assert_int_equal(doca_ctx_stop(se->ctx), DOCA_ERROR_IN_PROGRESS);
	se_progress(se);
	assert_se_trace(
		se,
		"running -> stopping\nnotify_set 1 done\nnotify_set 2 failed: DOCA_ERROR_IO_FAILED\nstopping -> idle\n");
	assert_ok(doca_ctx_start(se->ctx));
	assert_int_equal(se_value(se->event), 0);
	assert_ok(doca_task_submit(se_set(se, 3, 5)));
	assert_ok(doca_sync_event_wait_eq(se->event, 5, UINT64_MAX));
	se_close(se);
}

/* In other clock modes time goes on by itself. */
static void test_thread_that_blocks_gets_its_own_change(void **state)
{
	struct se_ctx *se = se_run(se_new(dev));
	uint64_t start_ns = bfsim_now_ns();

	assert_ok(doca_task_submit(se_set(se, 1, 7)));
	assert_ok(doca_sync_event_wait_eq(se->event, 7, UINT64_MAX));
	assert_true(bfsim_now_ns() >= start_ns + CHANGE_NS);
	while (se_in_flight(se) > 0)
		doca_pe_progress(se->pe);
	assert_se_trace(se, "notify_set 1 done\n");
	se_close(se);
}

static void *wait_for_7(void *event)
{
	assert_ok(doca_sync_event_wait_eq(event, 7, UINT64_MAX));
	return NULL;
}

/* The owner sleeps outside of bfsim. In virtual time others wait for it for a while, then no longer. */
static void test_change_of_an_owner_that_sleeps_elsewhere_comes(void **state)
{
	struct se_ctx *se = se_run(se_new(dev));
	uint64_t start_ns = bfsim_now_ns();
	pthread_t thread;

	assert_ok(doca_task_submit(se_set(se, 1, 7)));
	assert_int_equal(pthread_create(&thread, NULL, wait_for_7, se->event), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(bfsim_now_ns() >= start_ns + CHANGE_NS);
	while (se_in_flight(se) > 0)
		doca_pe_progress(se->pe);
	assert_se_trace(se, "notify_set 1 done\n");
	se_close(se);
}

static void test_thread_that_blocks_gets_the_change_that_a_fault_delays(void **state)
{
	struct se_ctx *se = se_run(se_new(dev));
	uint64_t start_ns = bfsim_now_ns();

	assert_int_equal(bfsim_fault_add("sync_event.update delay=3ms", NULL), 0);
	assert_ok(doca_task_submit(se_set(se, 1, 7)));
	assert_int_equal(bfsim_fault_clear(), 0);
	assert_ok(doca_sync_event_wait_eq(se->event, 7, UINT64_MAX));
	assert_true(bfsim_now_ns() >= start_ns + 3000000);
	while (se_in_flight(se) > 0)
		doca_pe_progress(se->pe);
	assert_se_trace(se, "notify_set 1 done\n");
	se_close(se);
}

int main(void)
{
	const struct CMUnitTest in_virtual_time[] = {
		cmocka_unit_test(test_call_that_changes_the_value_takes_its_time),
		cmocka_unit_test(test_task_changes_the_value_when_it_is_due),
		cmocka_unit_test(test_stop_ends_a_change_that_is_not_due),
		cmocka_unit_test(test_thread_that_blocks_gets_its_own_change_when_it_is_due),
		cmocka_unit_test(test_stop_behind_a_change_reports_it),
		cmocka_unit_test(test_thread_that_blocks_gets_the_change_that_a_fault_delays),
		cmocka_unit_test(test_change_of_an_owner_that_sleeps_elsewhere_comes),
	};
	const struct CMUnitTest timed[] = {
		cmocka_unit_test(test_thread_that_blocks_gets_its_own_change),
		cmocka_unit_test(test_change_of_an_owner_that_sleeps_elsewhere_comes),
	};
	const struct CMUnitTest functional[] = {
		cmocka_unit_test(test_thread_that_blocks_gets_the_change_that_a_fault_delays),
	};
	int failures;

	setenv("BFSIM_CLOCK", "virtual", 1);
	failures = API_RUN({ .name = "virtual",
			     .topology = "timing.yaml",
			     .side = "dpu",
			     API_WITH(in_virtual_time),
			     .dev = &dev });
	setenv("BFSIM_CLOCK", "timed", 1);
	failures |=
		API_RUN({ .name = "timed", .topology = "timing.yaml", .side = "dpu", API_WITH(timed), .dev = &dev });
	setenv("BFSIM_CLOCK", "functional", 1);
	failures |= API_RUN(
		{ .name = "functional", .topology = "timing.yaml", .side = "dpu", API_WITH(functional), .dev = &dev });
	return failures;
}

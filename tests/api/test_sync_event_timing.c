/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a sync event take the time that the topology gives them (doc/time.md). */
#include "sync_event_util.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call_that_changes_the_value_takes_its_time),
		cmocka_unit_test(test_task_changes_the_value_when_it_is_due),
		cmocka_unit_test(test_stop_ends_a_change_that_is_not_due),
	};

	setenv("BFSIM_CLOCK", "virtual", 1);
	return API_RUN({ .name = "virtual", .topology = "timing.yaml", .side = "dpu", API_WITH(tests), .dev = &dev });
}

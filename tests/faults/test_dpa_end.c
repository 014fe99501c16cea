/* SPDX-License-Identifier: BSD-3-Clause */
/* A DPA context ends while a launch of it waits for its event, or for the delayed begin of its kernel: by the machine's clock, and in
 * model time. On a private card. */
#include <bfsim.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "dpa_util.h"

static struct doca_dev *dev;

static void test_context_ends_while_its_kernel_is_delayed(void **state)
{
	struct bfsim_fault fault = { 0 };
	struct doca_sync_event *done;
	struct doca_dpa *dpa;
	uint64_t value;
	uint32_t id;

	if (strcmp(getenv("BFSIM_CLOCK"), "virtual") == 0) /* the delay passes at once */
		skip();
	dpa = dpa_open();
	done = dpa_event_new(dpa, NULL);
	assert_int_equal(bfsim_fault_add("dpa.kernel delay=100000s", &id), 0);
	assert_ok(doca_dpa_kernel_launch_update_set(dpa, NULL, 0, done, 1, 1, wait_for_ever, UINT64_C(0)));
	while (fault.fired == 0) {
		assert_int_equal(bfsim_fault_get(id, &fault), 0);
		sched_yield();
	}
	assert_ok(doca_dpa_destroy(dpa));
	assert_ok(doca_sync_event_get(done, &value));
	assert_int_equal(value, 0);
	assert_ok(doca_sync_event_destroy(done));
	assert_int_equal(bfsim_fault_remove(id), 0);
}

static void test_context_ends_while_its_launch_waits(void **state)
{
	struct doca_dpa *dpa = dpa_open();
	struct doca_sync_event *wait = dpa_event_new(dpa, NULL);

	assert_ok(doca_dpa_kernel_launch_update_set(dpa, wait, 1, NULL, 0, 1, wait_for_ever, UINT64_C(0)));
	assert_ok(doca_dpa_destroy(dpa));
	assert_ok(doca_sync_event_destroy(wait));
}

static const struct CMUnitTest on_card[] = {
	cmocka_unit_test(test_context_ends_while_its_launch_waits),
	cmocka_unit_test(test_context_ends_while_its_kernel_is_delayed),
};

int main(void)
{
	return API_RUN({ .name = "dpu", .side = "dpu", .dev = &dev, API_WITH(on_card) });
}

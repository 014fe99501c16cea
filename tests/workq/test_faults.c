/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults in the work-queue generation: they strike the calls that this generation knows. */
#include <bfsim.h>

#include "rig.h"

static void strike(const char *rule)
{
	assert_int_equal(bfsim_fault_add(rule, NULL), 0);
}

static void test_a_struck_start_fails_and_the_next_one_does_well(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(doca_ctx_workq_rm(rig->ctx, rig->workq), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(rig->ctx), DOCA_SUCCESS);
	strike("ctx.start nth=1 fail=TIME_OUT");
	assert_int_equal(doca_ctx_start(rig->ctx), DOCA_ERROR_TIME_OUT);
	assert_int_equal(doca_ctx_workq_add(rig->ctx, rig->workq), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_start(rig->ctx), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_add(rig->ctx, rig->workq), DOCA_SUCCESS);
	assert_int_equal(bfsim_fault_unfired(NULL), 0);
}

/* What stands behind a queue is a context of the library's own, which nobody starts. */
static void test_adding_a_queue_starts_nothing_that_faults_could_strike(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(doca_ctx_workq_rm(rig->ctx, rig->workq), DOCA_SUCCESS);
	strike("ctx.start fail=TIME_OUT");
	assert_int_equal(doca_ctx_workq_add(rig->ctx, rig->workq), DOCA_SUCCESS);
	assert_int_equal(bfsim_fault_unfired(NULL), 1);
}

static int teardown(void **state)
{
	return bfsim_fault_clear() | rig_teardown(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_struck_start_fails_and_the_next_one_does_well, rig_setup, teardown),
		cmocka_unit_test_setup_teardown(test_adding_a_queue_starts_nothing_that_faults_could_strike, rig_setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

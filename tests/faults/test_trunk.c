/* SPDX-License-Identifier: BSD-3-Clause */
/* A link between switches that is down, between contexts of one program on ports behind it. In each of the three clocks. */
#include "net_rig.h"

/* Requests of either side, whichever switch the rule names first; then the rule is over. */
static void test_both_directions_wait_for_the_trunk(void **state)
{
	struct rig rig = open_rig(1);
	const char *const rules[] = { "net.link device=leaf0/leaf1 down=100ms",
				      "net.link device=leaf1/leaf0 down=100ms" };

	for (int i = 0; i < 2; i++) {
		uint64_t begin_ns = bfsim_now_ns();

		rig.a->trace[0] = rig.b->trace[0] = '\0';
		add_rule(rules[i]);
		begin_write(rig.a, rig.b, 1);
		begin_write(rig.b, rig.a, 2);
		progress_to(&rig, rig.a, "write 1 done");
		progress_to(&rig, rig.b, "write 2 done");
		assert_true(bfsim_now_ns() - begin_ns >= 100 * MS);
	}
	close_rig(&rig);
}

static void test_request_fails_when_the_trunk_stays_down(void **state)
{
	struct rig rig = open_rig(1);

	add_rule("net.link device=leaf0/leaf1 down=1000s");
	begin_write(rig.a, rig.b, 1);
	progress_to(&rig, rig.a, "write 1 failed: DOCA_ERROR_IO_FAILED");
	close_rig(&rig);
}

/* They have one port: no packet passes a switch. */
static void test_connection_that_needs_no_trunk_goes_on(void **state)
{
	struct rig rig = open_rig(0);
	uint32_t id;

	id = add_rule("net.link device=leaf0/leaf1 down=1000s");
	begin_write(rig.a, rig.b, 1);
	progress_to(&rig, rig.a, "write 1 done");
	await_fired();
	assert_int_equal(bfsim_fault_remove(id), 0);
	close_rig(&rig);
}

/* The first write passes. */
static void test_removed_rule_ends(void **state)
{
	struct rig rig = open_rig(1);
	uint32_t id;

	id = add_rule("net.link device=leaf0/leaf1 after='rdma.write nth=2' down=1000s");
	begin_write(rig.a, rig.b, 1);
	progress_to(&rig, rig.a, "write 1 done");
	begin_write(rig.a, rig.b, 2);
	await_fired();
	assert_int_equal(bfsim_fault_remove(id), 0);
	progress_to(&rig, rig.a, "write 2 done");
	close_rig(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_directions_wait_for_the_trunk),
		cmocka_unit_test(test_request_fails_when_the_trunk_stays_down),
		cmocka_unit_test(test_connection_that_needs_no_trunk_goes_on),
		cmocka_unit_test(test_removed_rule_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

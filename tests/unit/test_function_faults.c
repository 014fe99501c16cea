/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/state/function_faults.c: the functions and links that an event changes, and those that it leaves alone. */
#include "fault_events_rig.h"

static unsigned int num_warnings;

static void count_warnings(int level, const char *file, int line, const char *func, const char *format, va_list args)
{
	num_warnings += level == SIM_LOG_WARNING;
}

static int setup(void **state)
{
	static struct events_world world;

	num_warnings = 0;
	sim_log_set_sink(count_warnings);
	events_begin(&world, SIM_CLOCK_VIRTUAL, EVENTS_TOPOLOGY);
	*state = &world;
	return 0;
}

static int teardown(void **state)
{
	events_end(*state);
	sim_log_set_sink(NULL);
	return 0;
}

/* ---- functions ---- */

#define ALL_OF_THE_PF "revoke 0\nrevoke 2\nrevoke 4\nrevoke 5\nchanged\n"

static void test_event_of_a_pf_is_one_of_its_vfs_and_sfs(void **state)
{
	static const char *const actions[] = { "reset", "remove" };

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		struct events_world *world = *state;
		char rule[64];

		snprintf(rule, sizeof(rule), "function device=mlx5_0 side=host %s", actions[i]);
		events_add(world, rule);
		events_run_at(world, 100 + i);
		assert_string_equal(world->trace, ALL_OF_THE_PF);
	}
}

static void test_event_of_a_vf_is_its_own(void **state)
{
	struct events_world *world = *state;

	events_add(world, "function device=b1:00.2 reset");
	events_run_at(world, 100);
	assert_string_equal(world->trace, "revoke 2\nchanged\n");
}

static void test_fatal_error_ends_what_is_open(void **state)
{
	struct events_world *world = *state;

	events_add(world, "link device=c1:00.0 fatal");
	events_run_at(world, 100);
	assert_string_equal(world->trace, "revoke 7\nchanged\n");
	assert_int_equal(events_bits(world, EVENTS_SECOND_CARD), SIM_FUNCTION_FATAL);
}

static void test_representor_disappears_alone(void **state)
{
	struct events_world *world = *state;

	events_add(world, "function device=b1:00.2 rep_remove");
	events_run_at(world, 100);
	assert_string_equal(world->trace, "disconnect 2\n");
	assert_int_equal(events_bits(world, EVENTS_VF0), SIM_FUNCTION_REP_REMOVED);
	assert_int_equal(events_bits(world, EVENTS_VF1), 0);
}

/* ---- the number of VFs ---- */

static void assert_there(struct events_world *world, bool vf0, bool vf1)
{
	assert_int_equal(events_bits(world, EVENTS_VF0), vf0 ? 0 : SIM_FUNCTION_REMOVED);
	assert_int_equal(events_bits(world, EVENTS_VF1), vf1 ? 0 : SIM_FUNCTION_REMOVED);
	assert_int_equal(events_bits(world, EVENTS_PF), 0);
	assert_int_equal(events_bits(world, EVENTS_SF), 0);
	assert_int_equal(events_bits(world, EVENTS_OTHER_VF), 0);
}

static void test_number_of_vfs_is_the_pfs_own(void **state)
{
	struct events_world *world = *state;

	events_add(world, "function device=mlx5_0 side=host num_vfs=1");
	events_run_at(world, 100);
	assert_string_equal(world->trace, "revoke 5\nchanged\n");
	assert_there(world, true, false);
	events_add(world, "function device=mlx5_0 side=host num_vfs=0");
	events_run_at(world, 200);
	assert_string_equal(world->trace, "revoke 2\nchanged\n");
	assert_there(world, false, false);
	events_add(world, "function device=mlx5_0 side=host num_vfs=2");
	events_run_at(world, 300);
	assert_there(world, true, true);
	assert_int_equal(num_warnings, 0);
	events_add(world, "function device=mlx5_0 side=host num_vfs=1");
	events_run_at(world, 400);
	events_add(world, "function device=mlx5_0 side=host num_vfs=3");
	events_run_at(world, 500);
	assert_there(world, true, true);
	assert_int_equal(num_warnings, 1);
}

/* ---- links ---- */

static void assert_down(struct events_world *world, bool first_card, bool second_card)
{
	for (uint32_t i = EVENTS_PF; i < EVENTS_SECOND_CARD; i++)
		assert_int_equal(events_bits(world, i), first_card ? SIM_FUNCTION_LINK_DOWN : 0);
	assert_int_equal(events_bits(world, EVENTS_SECOND_CARD), second_card ? SIM_FUNCTION_LINK_DOWN : 0);
}

static void test_link_of_one_card_is_down_for_its_time(void **state)
{
	struct events_world *world = *state;

	events_add(world, "link device=b1:00.2 down=1us");
	events_run_at(world, 100);
	assert_down(world, true, false);
	assert_int_equal(sim_fault_events_deadline_ns(&world->events), 1100);
	events_add(world, "link device=c1:00.0 down=1us");
	events_run_at(world, 500);
	assert_down(world, true, true);
	assert_int_equal(sim_fault_events_deadline_ns(&world->events), 1100);
	events_run_at(world, 1099);
	assert_down(world, true, true);
	events_run_at(world, 1100);
	assert_down(world, false, true);
	events_run_at(world, 1500);
	assert_down(world, false, false);
	assert_int_equal(sim_fault_events_deadline_ns(&world->events), SIM_NEVER_NS);
	assert_int_equal(num_warnings, 0);
}

static void test_removed_rule_ends_at_the_next_run(void **state)
{
	static const char *const devices[] = { "b1:00.0", "c1:00.0" };
	struct events_world *world = *state;
	uint32_t ids[2];

	for (int i = 0; i < 2; i++) {
		char rule[64];

		snprintf(rule, sizeof(rule), "link device=%s side=host down=1s", devices[i]);
		ids[i] = events_add(world, rule);
	}
	events_run_at(world, 100);
	assert_down(world, true, true);
	events_run_at(world, 150);
	assert_down(world, true, true);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sim_plan_remove(&events_shared(world)->plan, ids[i]), 0);
		events_run_at(world, 200);
		assert_down(world, false, i == 0);
	}
	assert_int_equal(sim_fault_events_deadline_ns(&world->events), SIM_NEVER_NS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_event_of_a_pf_is_one_of_its_vfs_and_sfs),
		TEST(test_event_of_a_vf_is_its_own),
		TEST(test_fatal_error_ends_what_is_open),
		TEST(test_representor_disappears_alone),
		TEST(test_number_of_vfs_is_the_pfs_own),
		TEST(test_link_of_one_card_is_down_for_its_time),
		TEST(test_removed_rule_ends_at_the_next_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Events: rules that hit links, functions and processes by the clock. */
#include <errno.h>

#include "plan_world.h"

/* The rules that fired last, each as it is written. */
static char each[256];

static void note_each(void *arg, uint32_t id, const struct sim_rule *rule, uint64_t delay_ns)
{
	size_t len = strlen(each);

	(void)delay_ns;
	snprintf(each + len, sizeof(each) - len, "%u: gen%ux%u %u until %llu\n", id, rule->link_gen, rule->link_lanes,
		 rule->errors_ppb, (unsigned long long)rule->until_ns);
}

static bool event_is_hit(struct world *world, enum sim_op op, uint32_t function, const struct sim_process *process,
			 uint64_t since_ns, uint64_t now_ns)
{
	struct sim_fault_site site = { .op = op,
				       .function = function,
				       .process = process,
				       .since_ns = since_ns,
				       .now_ns = now_ns,
				       .on_fire = note_each };

	each[0] = '\0';
	return sim_injector_evaluate(world->faults, &site, &hit);
}

static void test_events_happen_once_at_their_time(void **state)
{
	struct world *world = *state;

	add(world, "link device=03:00.0 from=1s down=200ms");
	add(world, "link device=03:00.0 from=2s degrade=gen2x4 until=5s");
	assert_int_equal(sim_injector_next_event_ns(world->faults, 0), 1000 * MS);
	assert_false(event_is_hit(world, SIM_OP_LINK, DPU_PF0, NULL, 0, 999 * MS));
	assert_false(event_is_hit(world, SIM_OP_LINK, DPU_PF1, NULL, 999 * MS + 1, 1000 * MS));
	assert_true(event_is_hit(world, SIM_OP_LINK, DPU_PF0, NULL, 999 * MS + 1, 1000 * MS));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_DOWN));
	assert_int_equal(hit.duration_ns, 200 * MS);
	assert_int_equal(sim_injector_next_event_ns(world->faults, 1000 * MS), 2000 * MS);
	assert_true(event_is_hit(world, SIM_OP_LINK, DPU_PF0, NULL, 1000 * MS + 1, 2500 * MS));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_DEGRADE));
	assert_string_equal(each, "2: gen2x4 0 until 5000000000\n");
	assert_false(event_is_hit(world, SIM_OP_LINK, DPU_PF0, NULL, 2500 * MS + 1, 4000 * MS));
	assert_int_equal(sim_injector_next_event_ns(world->faults, 2000 * MS), SIM_NEVER_NS);
}

/* A function that appears after a rule's end is not hit. */
static void test_events_that_are_over_do_not_happen(void **state)
{
	struct world *world = *state;

	add(world, "link degrade=gen1x1 until=5s");
	assert_true(event_is_hit(world, SIM_OP_LINK, DPU_PF0, NULL, 0, 5000 * MS - 1));
	assert_false(event_is_hit(world, SIM_OP_LINK, DPU_PF0, NULL, 0, 5000 * MS));
}

static uint32_t begun[4], num_begun;

static void note_begun(void *arg, uint32_t id)
{
	begun[num_begun++ % 4] = id;
}

/* The injectors of two processes, and that of the owner of the plan. */
static void test_event_begins_at_an_operation_of_any_process(void **state)
{
	struct world *world = *state;
	struct sim_injector_cfg cfg = { .plan = world->plan,
					.topology = world->topology,
					.self = { "host", "program", 7 },
					.on_begin = note_begun };
	const struct sim_fault_site copy = { .op = SIM_OP_DMA_MEMCPY, .function = DPU_PF1, .size = 64 };
	struct sim_injector *processes[2];

	num_begun = 0;
	add(world, "link device=03:00.0 after='dma.memcpy nth=3' down=200ms");
	assert_int_equal(sim_injector_create(&cfg, &processes[0]), 0);
	assert_int_equal(sim_injector_create(&cfg, &processes[1]), 0);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(num_begun, i < 3 ? 0 : 1);
		assert_int_equal(sim_injector_next_event_ns(world->faults, 0), SIM_NEVER_NS);
		assert_false(event_is_hit(world, SIM_OP_LINK, DPU_PF0, NULL, 0, 1000 * MS));
		assert_true(sim_injector_may_hit(processes[i % 2], SIM_OP_DMA_MEMCPY) || i > 2);
		assert_false(sim_injector_evaluate(processes[i % 2], &copy, &hit));
	}
	assert_int_equal(begun[0], 1);
	assert_int_equal(sim_plan_begin(world->plan, 1, 2000 * MS), 0);
	assert_int_equal(sim_plan_begin(world->plan, 1, 3000 * MS), 0); /* has begun */
	assert_int_equal(sim_plan_begin(world->plan, 2, 3000 * MS), -ENOENT);
	add(world, "link device=03:00.0 from=9s down=1ms");
	assert_int_equal(sim_plan_begin(world->plan, 2, 1 * MS), -EINVAL);
	assert_int_equal(sim_injector_next_event_ns(world->faults, 1000 * MS), 2000 * MS);
	assert_false(event_is_hit(world, SIM_OP_LINK, DPU_PF1, NULL, 1000 * MS + 1, 2000 * MS));
	assert_true(event_is_hit(world, SIM_OP_LINK, DPU_PF0, NULL, 1000 * MS + 1, 2000 * MS));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_DOWN));
	assert_false(event_is_hit(world, SIM_OP_LINK, DPU_PF0, NULL, 2000 * MS + 1, 3000 * MS));
	sim_injector_destroy(processes[0]);
	sim_injector_destroy(processes[1]);
}

/* "bfsim link down" of a session that has run for ten seconds. */
static void test_event_added_later_begins_then(void **state)
{
	struct world *world = *state;

	add_at(world, "link down=1ms", 10000 * MS);
	assert_int_equal(sim_injector_next_event_ns(world->faults, 9000 * MS), 10000 * MS);
	assert_true(event_is_hit(world, SIM_OP_LINK, DPU_PF0, NULL, 9000 * MS, 10000 * MS));
	assert_false(event_is_hit(world, SIM_OP_LINK, DPU_PF0, NULL, 10000 * MS + 1, 11000 * MS));
}

static void test_peers_are_known_by_their_names(void **state)
{
	struct world *world = *state;
	struct sim_process victim = { "node0/host", "victim", 7 }, other = { "node0/host", "other", 8 };

	add(world, "peer program=victim side=host from=2s kill");
	assert_true(sim_injector_may_hit(world->faults,
					 SIM_OP_PEER)); /* the rule is about other processes, so it is in every view */
	assert_false(event_is_hit(world, SIM_OP_PEER, SIM_NO_FUNCTION, &other, 0, 2000 * MS));
	assert_false(event_is_hit(world, SIM_OP_PEER, SIM_NO_FUNCTION, NULL, 0, 2000 * MS));
	assert_true(event_is_hit(world, SIM_OP_PEER, SIM_NO_FUNCTION, &victim, 0, 2000 * MS));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_KILL));
	/* A process that attaches later is new, and the rule still holds. */
	assert_true(event_is_hit(world, SIM_OP_PEER, SIM_NO_FUNCTION, &victim, 0, 3000 * MS));
}

/* Each rule ends at its own time; sim/clock/link_state.h combines them. */
static void test_rules_of_a_link_are_reported_one_by_one(void **state)
{
	struct world *world = *state;

	add(world, "link degrade=gen3x1 until=1s");
	add(world, "link degrade=gen1x8 errors=0.4");
	add(world, "link errors=0.7 until=2s");
	add(world, "link down=1ms");
	add(world, "link down=3ms");
	assert_true(event_is_hit(world, SIM_OP_LINK, DPU_PF0, NULL, 0, 0));
	assert_int_equal(hit.duration_ns, 3 * MS);
	assert_string_equal(each, "1: gen3x1 0 until 1000000000\n"
				  "2: gen1x8 400000000 until 18446744073709551615\n"
				  "3: gen0x0 700000000 until 2000000000\n"
				  "4: gen0x0 0 until 18446744073709551615\n"
				  "5: gen0x0 0 until 18446744073709551615\n");
}

static void test_function_events(void **state)
{
	struct world *world = *state;

	add(world, "function device=b1:00.0 num_vfs=4");
	add(world, "function num_vfs=9");
	add(world, "function device=b1:00.0 reset");
	add(world, "function add");
	assert_true(event_is_hit(world, SIM_OP_FUNCTION, HOST_PF0, NULL, 0, 0));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_NUM_VFS) | SIM_ACT_BIT(SIM_ACT_RESET));
	assert_int_equal(hit.num_vfs, 4);
	assert_true(event_is_hit(world, SIM_OP_DAEMON, SIM_NO_FUNCTION, NULL, 0, 0) == false);
}

/* A rule without an effect must not count as fired: a test would pass for the wrong reason. */
static void test_function_without_what_a_rule_removes_is_not_hit(void **state)
{
	struct world *world = *state;
	uint32_t rep = add(world, "function rep_remove"), vfs = add(world, "function num_vfs=0");

	assert_false(event_is_hit(world, SIM_OP_FUNCTION, DPU_PF0, NULL, 0, 0));
	assert_counted(world, rep, 0, 0);
	assert_true(event_is_hit(world, SIM_OP_FUNCTION, HOST_PF1, NULL, 0, 0));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_REP_REMOVE));
	assert_counted(world, vfs, 0, 0);
	assert_true(event_is_hit(world, SIM_OP_FUNCTION, HOST_PF0, NULL, 0, 0));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_REP_REMOVE) | SIM_ACT_BIT(SIM_ACT_NUM_VFS));
	assert_counted(world, rep, 2, 2);
	assert_counted(world, vfs, 1, 1);
}

static bool moot_id_is(void *arg, uint32_t id, const struct sim_rule *rule)
{
	return rule->actions && *(const uint32_t *)arg == id;
}

/* It counts a match, but does not fire; later rules do. */
static void test_rule_that_would_change_nothing_counts_a_match_alone(void **state)
{
	struct world *world = *state;
	uint32_t remove = add(world, "function device=03:00.0 times=1 remove"), reset = add(world, "function reset");
	struct sim_fault_site site = {
		.op = SIM_OP_FUNCTION, .function = DPU_PF0, .is_noop = moot_id_is, .arg = &remove
	};

	assert_true(sim_injector_evaluate(world->faults, &site, &hit));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_RESET));
	assert_counted(world, remove, 1, 0);
	assert_counted(world, reset, 1, 1);
	site.is_noop = NULL;
	assert_true(sim_injector_evaluate(world->faults, &site, &hit));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_REMOVE));
	assert_counted(world, remove, 2, 1);
}

/* A process that is late evaluates one time after the other. */
static void test_events_of_one_time_can_be_asked_for_alone(void **state)
{
	struct world *world = *state;
	struct sim_fault_site site = { .op = SIM_OP_FUNCTION,
				       .function = DPU_PF0,
				       .since_ns = 1000 * MS,
				       .upto_ns = 1000 * MS,
				       .now_ns = 3000 * MS };

	add(world, "function from=2s add");
	assert_false(sim_injector_evaluate(world->faults, &site, &hit));
	add(world, "function from=1s remove");
	assert_true(sim_injector_evaluate(world->faults, &site, &hit));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_REMOVE));
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		test(test_events_happen_once_at_their_time),
		test(test_events_that_are_over_do_not_happen),
		test(test_event_begins_at_an_operation_of_any_process),
		test(test_event_added_later_begins_then),
		test(test_peers_are_known_by_their_names),
		test(test_rules_of_a_link_are_reported_one_by_one),
		test(test_function_events),
		test(test_function_without_what_a_rule_removes_is_not_hit),
		test(test_rule_that_would_change_nothing_counts_a_match_alone),
		test(test_events_of_one_time_can_be_asked_for_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rules fire: by operation, process, device, size and address; by counts, chance and time. */
#include "plan_world.h"

/* Where ---------------------------------------------------------------------------------- */

static void test_no_plan_no_fault(void **state)
{
	struct sim_fault_site site = { .op = SIM_OP_DMA_MEMCPY };

	assert_false(sim_injector_may_hit(NULL, SIM_OP_DMA_MEMCPY));
	assert_false(sim_injector_needs_time(NULL, SIM_OP_DMA_MEMCPY));
	assert_false(sim_injector_evaluate(NULL, &site, &hit));
	assert_int_equal(sim_injector_next_event_ns(NULL, 0), SIM_NEVER_NS);
	assert_false(copy_is_hit(*state, 64));
	assert_false(sim_injector_may_hit(((struct world *)*state)->faults, SIM_OP_DMA_MEMCPY));
}

static void test_only_the_named_operation_is_hit(void **state)
{
	struct world *world = *state;

	add(world, "dma.memcpy fail=IO_FAILED");
	assert_true(sim_injector_may_hit(world->faults, SIM_OP_COMCH_SEND)); /* the plan is new: evaluate */
	assert_false(op_is_hit(world, SIM_OP_COMCH_SEND));
	assert_false(sim_injector_may_hit(world->faults, SIM_OP_COMCH_SEND));
	assert_true(sim_injector_may_hit(world->faults, SIM_OP_DMA_MEMCPY));
	assert_true(copy_is_hit(world, 64));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_FAIL));
	assert_int_equal(hit.status, 17);
	assert_int_equal(hit.num_rules, 1);
	assert_int_equal(hit.rules[0], 1);
}

static void test_pattern_hits_operations_that_its_actions_fit(void **state)
{
	struct world *world = *state;

	add(world, "* drop");
	assert_true(op_is_hit(world, SIM_OP_COMCH_SEND));
	assert_true(op_is_hit(world, SIM_OP_COMM_CHANNEL_RECV));
	assert_false(copy_is_hit(world, 64));
	assert_false(sim_injector_may_hit(world->faults, SIM_OP_DMA_MEMCPY));
}

static void test_rules_for_other_processes_do_not_fire(void **state)
{
	struct world *world = *state;
	static const struct {
		const char *text;
		bool fires;
	} cases[] = {
		{ "dma.memcpy side=dpu tear", true },
		{ "dma.memcpy side=node0/dpu tear", true },
		{ "dma.memcpy side=node?/* tear", true },
		{ "dma.memcpy side=host tear", false },
		{ "dma.memcpy side=node1/dpu tear", false },
		{ "dma.memcpy program=app tear", true },
		{ "dma.memcpy program=a* tear", true },
		{ "dma.memcpy program=application tear", false },
		{ "dma.memcpy pid=100 tear", true },
		{ "dma.memcpy pid=101 tear", false },
		{ "dma.memcpy pid=100 side=host tear", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t id = add(world, cases[i].text);

		if (copy_is_hit(world, 64) != cases[i].fires)
			fail_msg("%s: should%s fire", cases[i].text, cases[i].fires ? "" : " not");
		assert_int_equal(sim_injector_may_hit(world->faults, SIM_OP_DMA_MEMCPY), cases[i].fires);
		assert_counted(world, id, cases[i].fires, cases[i].fires);
		sim_plan_clear(world->plan);
	}
}

static bool is_hit_at(struct world *world, uint32_t function)
{
	struct sim_fault_site site = { .op = SIM_OP_DEV_OPEN, .function = function };

	return sim_injector_evaluate(world->faults, &site, &hit);
}

static void assert_hits_at(struct world *world, const char *text, const char *functions)
{
	uint32_t ids[] = { DPU_PF0, DPU_PF1, HOST_PF0, HOST_PF1, SIM_NO_FUNCTION };

	add(world, text);
	for (size_t i = 0; i < 5; i++)
		if (is_hit_at(world, ids[i]) != (functions[i] == 'x'))
			fail_msg("%s: function %zu should%s be hit", text, i, functions[i] == 'x' ? "" : " not");
	sim_plan_clear(world->plan);
}

static void test_device_is_an_address_or_a_name(void **state)
{
	assert_hits_at(*state, "dev.open fail=DRIVER", "xxxxx");
	assert_hits_at(*state, "dev.open device=03:00.0 fail=DRIVER", "x....");
	assert_hits_at(*state, "dev.open device=0000:03:00.1 fail=DRIVER", ".x...");
	assert_hits_at(*state, "dev.open device=03:00.* fail=DRIVER", "xx...");
	assert_hits_at(*state, "dev.open device=mlx5_4 fail=DRIVER", "..x..");
	assert_hits_at(*state, "dev.open device=b1:00.1 fail=DRIVER", ".....");
	assert_hits_at(*state, "dev.open device=0001:* fail=DRIVER", "...x.");
	assert_hits_at(*state, "dev.open device=ff:00.0 fail=DRIVER", ".....");
}

static void test_without_a_topology_no_device_is_met(void **state)
{
	struct world *world = *state;
	const struct sim_injector_cfg cfg = { .plan = world->plan, .self = { "node0/dpu", "app", 100 } };
	struct sim_fault_site site = { .op = SIM_OP_DEV_OPEN, .function = DPU_PF1 };
	struct sim_injector *faults;

	add(world, "dev.open device=03:00.1 fail=DRIVER");
	assert_true(is_hit_at(world, DPU_PF1));
	assert_int_equal(sim_injector_create(&cfg, &faults), 0);
	assert_false(sim_injector_evaluate(faults, &site, &hit));
	sim_injector_destroy(faults);
}

/* Around each bound, and in each class of sizes. */
static void test_size_is_compared_exactly(void **state)
{
	struct world *world = *state;
	static const struct {
		const char *text;
		uint64_t size;
		bool fires;
	} cases[] = {
		{ "dma.memcpy size=4096 tear", 4095, false },
		{ "dma.memcpy size=4096 tear", 4096, true },
		{ "dma.memcpy size=4096 tear", 4097, false },
		{ "dma.memcpy size>=4096 tear", 4095, false },
		{ "dma.memcpy size>=4096 tear", UINT64_MAX, true },
		{ "dma.memcpy size<4096 tear", 0, true },
		{ "dma.memcpy size<4096 tear", 4096, false },
		{ "dma.memcpy size=1k..64k tear", 1023, false },
		{ "dma.memcpy size=1k..64k tear", 1024, true },
		{ "dma.memcpy size=1k..64k tear", 65536, true },
		{ "dma.memcpy size=1k..64k tear", 65537, false },
		{ "dma.memcpy size=0 tear", 0, true },
		{ "dma.memcpy size=0 tear", 1, false },
		{ "dma.memcpy size=1 tear", 0, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		add(world, cases[i].text);
		if (copy_is_hit(world, cases[i].size) != cases[i].fires)
			fail_msg("%s: should%s hit %zu bytes", cases[i].text, cases[i].fires ? "" : " not",
				 (size_t)cases[i].size);
		sim_plan_clear(world->plan);
	}
}

/* The rule's range is 0x1000..0x1fff; a copy that touches a byte of it is hit. */
static void test_address_ranges_overlap_or_not(void **state)
{
	struct world *world = *state;
	struct sim_fault_site site = { .op = SIM_OP_DMA_MEMCPY, .size = 16 };

	add(world, "dma.memcpy addr=0x1000..0x1fff tear");
	site.addr = 0xff0;
	assert_false(sim_injector_evaluate(world->faults, &site, &hit));
	site.addr = 0xff1;
	assert_true(sim_injector_evaluate(world->faults, &site, &hit));
	site.addr = 0x1fff;
	assert_true(sim_injector_evaluate(world->faults, &site, &hit));
	site.addr = 0x2000;
	assert_false(sim_injector_evaluate(world->faults, &site, &hit));
	site.addr = UINT64_MAX - 3; /* wraps: ends at the end */
	assert_false(sim_injector_evaluate(world->faults, &site, &hit));
}

/* Rules for address ranges beside one for all addresses: outside of the ranges only the latter fires. */
static void test_rules_for_addresses_leave_others_alone(void **state)
{
	struct world *world = *state;
	struct sim_fault_site site = { .op = SIM_OP_DMA_MEMCPY, .size = 16, .addr = 0x5000 };

	add(world, "dma.memcpy addr=0x1000..0x1fff tear");
	add(world, "dma.memcpy flip=1");
	add(world, "dma.memcpy addr=0x9000..0x9fff delay=1us");
	assert_true(sim_injector_evaluate(world->faults, &site, &hit)); /* in between */
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_FLIP));
	site.addr = 0xa000; /* beyond */
	assert_true(sim_injector_evaluate(world->faults, &site, &hit));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_FLIP));
	site.addr = 0x9ff8;
	assert_true(sim_injector_evaluate(world->faults, &site, &hit));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_FLIP) | SIM_ACT_BIT(SIM_ACT_DELAY));
	sim_plan_remove(world->plan, 3);
	assert_true(sim_injector_evaluate(world->faults, &site, &hit));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_FLIP));
}

/* When ------------------------------------------------------------------------------------- */

static void assert_pattern(struct world *world, const char *text, const char *expected)
{
	add(world, text);
	assert_string_equal(pattern(world, (int)strlen(expected)), expected);
	sim_plan_clear(world->plan);
}

static void test_matches_are_counted_out(void **state)
{
	assert_pattern(*state, "dma.memcpy tear", "xxxxxxxxxx");
	assert_pattern(*state, "dma.memcpy nth=1 tear", "x.........");
	assert_pattern(*state, "dma.memcpy nth=3 tear", "..x.......");
	assert_pattern(*state, "dma.memcpy every=3 tear", "..x..x..x.");
	assert_pattern(*state, "dma.memcpy skip=4 tear", "....xxxxxx");
	assert_pattern(*state, "dma.memcpy times=2 tear", "xx........");
	assert_pattern(*state, "dma.memcpy skip=1 nth=3 tear", "...x......");
	assert_pattern(*state, "dma.memcpy skip=1 every=3 times=2 tear", "...x..x...");
	assert_pattern(*state, "dma.memcpy p=1 tear", "xxxxxxxxxx");
}

static void test_counts_tell_matches_from_faults(void **state)
{
	struct world *world = *state;
	uint32_t every = add(world, "dma.memcpy every=3 tear"), nth = add(world, "dma.memcpy nth=4 delay=1us");
	uint32_t never = add(world, "dma.memcpy size>1M tear");

	pattern(world, 10);
	assert_counted(world, every, 10, 3);
	assert_counted(world, nth, 4, 1); /* from then on it can't fire */
	assert_counted(world, never, 0, 0);
}

/* A spent rule costs nothing more: no evaluation is needed. */
static void test_spent_rules_leave(void **state)
{
	struct world *world = *state;

	add(world, "dma.memcpy times=1 tear");
	assert_string_equal(pattern(world, 3), "x..");
	assert_false(sim_injector_may_hit(world->faults, SIM_OP_DMA_MEMCPY));
}

/* 10000 matches at one in twenty: 500, with a deviation of 22. */
static void test_chance_is_as_said_and_the_same_each_time(void **state)
{
	struct world *world = *state;
	char first[65];
	int hits = 0;

	add(world, "dma.memcpy seed=5 p=0.05 tear");
	for (int i = 0; i < 10000; i++)
		hits += copy_is_hit(world, 64);
	assert_in_range(hits, 435, 565);

	sim_plan_destroy(world->plan);
	sim_injector_destroy(world->faults);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(sim_plan_create(7, &world->plan), 0);
		world->faults = view_of(world, "dpu", "app", 100);
		add(world, "dma.memcpy p=0.5 tear");
		if (round == 0)
			strcpy(first, pattern(world, 64));
		else
			assert_string_equal(pattern(world, 64), first);
		if (round == 0) {
			sim_plan_destroy(world->plan);
			sim_injector_destroy(world->faults);
		}
	}
	sim_plan_clear(world->plan);
	add(world, "dma.memcpy p=0.5 tear"); /* another rule: another id, other draws */
	assert_string_not_equal(pattern(world, 64), first);
}

static void test_the_plans_seed_is_for_rules_without_their_own(void **state)
{
	struct world *world = *state;
	char with[65], without[65];

	for (int round = 0; round < 2; round++) {
		sim_plan_clear(world->plan);
		sim_plan_set_seed(world->plan, 100 + (uint64_t)round);
		atomic_store(&world->plan->last_id, 50); /* the same ids again */
		add(world, "dma.memcpy p=0.5 seed=1 tear");
		add(world, "comch.send p=0.5 delay=1us");
		for (int i = 0; i < 64; i++) {
			char a = copy_is_hit(world, 64) ? 'x' : '.',
			     b = op_is_hit(world, SIM_OP_COMCH_SEND) ? 'x' : '.';

			if (round == 1)
				assert_int_equal(a, with[i]);
			with[i] = a;
			if (round == 0)
				without[i] = b;
			else if (without[i] != b)
				without[0] = '!';
		}
	}
	assert_int_equal(without[0], '!');
}

static bool copy_is_hit_at(struct world *world, uint64_t now_ns)
{
	struct sim_fault_site site = { .op = SIM_OP_DMA_MEMCPY, .size = 64, .now_ns = now_ns };

	return sim_injector_evaluate(world->faults, &site, &hit);
}

static void test_rules_fire_in_their_window_of_time(void **state)
{
	struct world *world = *state;
	uint32_t id;

	add(world, "comch.send drop");
	assert_false(copy_is_hit_at(world, 0));
	assert_false(sim_injector_needs_time(world->faults, SIM_OP_COMCH_SEND));
	id = add(world, "dma.memcpy from=10ms until=20ms tear");
	assert_false(copy_is_hit_at(world, 10 * MS - 1));
	assert_true(sim_injector_needs_time(world->faults, SIM_OP_DMA_MEMCPY));
	assert_false(sim_injector_needs_time(world->faults, SIM_OP_COMCH_SEND));
	assert_true(copy_is_hit_at(world, 10 * MS));
	assert_true(copy_is_hit_at(world, 20 * MS - 1));
	assert_false(copy_is_hit_at(world, 20 * MS));
	assert_counted(world, id, 2, 2);
}

/* Rules of the future, of the present and of the past, added and removed in between. */
static void test_windows_open_and_close_one_by_one(void **state)
{
	struct world *world = *state;
	uint32_t taken_out;

	add(world, "dma.memcpy until=15ms flip=1");
	add(world, "dma.memcpy from=10ms until=30ms delay=1us");
	add(world, "dma.memcpy from=20ms tear");
	taken_out = add(world, "dma.memcpy from=20ms hang");
	assert_true(copy_is_hit_at(world, 5 * MS));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_FLIP));
	sim_plan_remove(world->plan, taken_out);
	assert_true(copy_is_hit_at(world, 10 * MS));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_FLIP) | SIM_ACT_BIT(SIM_ACT_DELAY));
	assert_true(copy_is_hit_at(world, 15 * MS));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_DELAY));
	assert_true(copy_is_hit_at(world, 25 * MS));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_DELAY) | SIM_ACT_BIT(SIM_ACT_TEAR));
	assert_true(copy_is_hit_at(world, 31 * MS));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_TEAR));
	add(world, "dma.memcpy from=1ms flip=2"); /* its time began long ago */
	assert_true(copy_is_hit_at(world, 32 * MS));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_TEAR) | SIM_ACT_BIT(SIM_ACT_FLIP));
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		test(test_no_plan_no_fault),
		test(test_only_the_named_operation_is_hit),
		test(test_pattern_hits_operations_that_its_actions_fit),
		test(test_rules_for_other_processes_do_not_fire),
		test(test_device_is_an_address_or_a_name),
		test(test_without_a_topology_no_device_is_met),
		test(test_size_is_compared_exactly),
		test(test_address_ranges_overlap_or_not),
		test(test_rules_for_addresses_leave_others_alone),
		test(test_matches_are_counted_out),
		test(test_counts_tell_matches_from_faults),
		test(test_spent_rules_leave),
		test(test_chance_is_as_said_and_the_same_each_time),
		test(test_the_plans_seed_is_for_rules_without_their_own),
		test(test_rules_fire_in_their_window_of_time),
		test(test_windows_open_and_close_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

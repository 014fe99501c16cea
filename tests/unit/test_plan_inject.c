/* SPDX-License-Identifier: BSD-3-Clause */
/* The combination of several rules, and when changes of the plan take effect. */
#include "plan_world.h"

/* What ------------------------------------------------------------------------------------ */

static void test_part_that_was_moved_is_reckoned(void **state)
{
	struct world *world = *state;

	add(world, "dma.memcpy nth=1 fail=IO_FAILED moved=25%");
	add(world, "dma.memcpy nth=2 fail=IO_FAILED moved=100");
	add(world, "dma.memcpy nth=3 fail=IO_FAILED moved=1G");
	add(world, "dma.memcpy skip=3 fail=IO_FAILED");
	assert_true(copy_is_hit(world, 4096));
	assert_int_equal(hit.moved_bytes, 1024);
	assert_true(copy_is_hit(world, 4096));
	assert_int_equal(hit.moved_bytes, 100);
	assert_true(copy_is_hit(world, 4096));
	assert_int_equal(hit.moved_bytes, 4096);
	assert_true(copy_is_hit(world, 4096));
	assert_int_equal(hit.moved_bytes, 0);
}

/* Rules are evaluated in order; the first that ends the copy is the last that fires. */
static void test_first_failure_wins(void **state)
{
	struct world *world = *state;
	uint32_t delay = add(world, "dma.memcpy delay=10us"), first = add(world, "dma.memcpy every=2 fail=DRIVER");
	uint32_t second = add(world, "dma.memcpy fail=IO_FAILED"), late = add(world, "dma.memcpy delay=5us");

	assert_true(copy_is_hit(world, 64));
	assert_int_equal(hit.status, 17);
	assert_int_equal(hit.delay_ns, 10000);
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_FAIL) | SIM_ACT_BIT(SIM_ACT_DELAY));
	assert_int_equal(hit.num_rules, 2);
	assert_true(copy_is_hit(world, 64));
	assert_int_equal(hit.status, 21);
	assert_int_equal(hit.rules[0], delay);
	assert_int_equal(hit.rules[1], first);
	assert_counted(world, delay, 2, 2);
	assert_counted(world, first, 2, 1);
	assert_counted(world, second, 2, 1);
	assert_counted(world, late, 2, 0);
}

static void test_nothing_is_left_of_what_hangs_or_is_refused(void **state)
{
	struct world *world = *state;

	add(world, "dma.memcpy delay=10us flip=3");
	add(world, "dma.memcpy nth=1 hang");
	add(world, "dma.memcpy nth=1 refuse");
	add(world, "dma.memcpy nth=2 refuse=NO_MEMORY");
	assert_true(copy_is_hit(world, 64));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_HANG));
	assert_true(copy_is_hit(world, 64));
	assert_int_equal(hit.actions, SIM_ACT_BIT(SIM_ACT_REFUSE));
	assert_int_equal(hit.refuse_status, SIM_STATUS_NO_MEMORY);
}

static void test_refused_submissions_say_again_and_connections_nothing(void **state)
{
	struct world *world = *state;

	add(world, "comch.* refuse");
	assert_true(op_is_hit(world, SIM_OP_COMCH_SEND));
	assert_int_equal(hit.refuse_status, SIM_STATUS_AGAIN);
	assert_true(op_is_hit(world, SIM_OP_COMCH_CONNECT));
	assert_int_equal(hit.refuse_status, 0);
}

static void test_delays_and_flips_add(void **state)
{
	struct world *world = *state;

	add(world, "dma.memcpy delay=10us flip=2");
	add(world, "dma.memcpy delay=uniform(1us,1us) flip=3");
	assert_true(copy_is_hit(world, 64));
	assert_int_equal(hit.delay_ns, 11000);
	assert_int_equal(hit.flip_bits, 5);
	add(world, "dma.memcpy delay=1000000000s");
	add(world, "dma.memcpy delay=1000000000s");
	assert_true(copy_is_hit(world, 64));
	assert_int_equal(hit.delay_ns, SIM_RULE_MAX_NS);
}

static void test_messages_get_the_worst_of_their_rules(void **state)
{
	struct world *world = *state;

	add(world, "comch.send truncate=16 reorder=2");
	add(world, "comch.send truncate=8 duplicate");
	add(world, "comch.send truncate=32 reorder=5");
	for (int i = 0; i < 50; i++) {
		assert_true(op_is_hit(world, SIM_OP_COMCH_SEND));
		assert_int_equal(hit.truncate_bytes, 8);
		assert_int_equal(hit.window, 5);
		assert_in_range(hit.reorder_by, 1, 5);
		assert_true(hit.actions & SIM_ACT_BIT(SIM_ACT_DUPLICATE));
	}
}

/* Five bits of 512: five different ones, the same for the same match. */
static void test_flipped_bits_are_all_different(void **state)
{
	struct world *world = *state;
	uint8_t data[64] = { 0 }, again[64] = { 0 };
	int bits = 0;

	add(world, "dma.memcpy flip=5");
	assert_true(copy_is_hit(world, sizeof(data)));
	sim_fault_hit_flip(&hit, data, sizeof(data));
	sim_fault_hit_flip(&hit, again, sizeof(again));
	assert_memory_equal(data, again, sizeof(data));
	for (size_t i = 0; i < sizeof(data); i++)
		bits += __builtin_popcount(data[i]);
	assert_int_equal(bits, 5);
	assert_true(copy_is_hit(world, sizeof(data)));
	sim_fault_hit_flip(&hit, again, sizeof(again));
	assert_memory_not_equal(data, again, sizeof(data));
}

static void test_no_more_bits_are_flipped_than_there_are(void **state)
{
	struct world *world = *state;
	uint8_t data[2] = { 0, 0x5a };

	add(world, "dma.memcpy flip=1000");
	assert_true(copy_is_hit(world, 1));
	assert_int_equal(hit.flip_bits, 8);
	sim_fault_hit_flip(&hit, data, 1);
	assert_int_equal(data[0], 0xff);
	assert_int_equal(data[1], 0x5a);
	assert_true(copy_is_hit(world, 0));
	assert_int_equal(hit.flip_bits, 0);
	sim_fault_hit_flip(&hit, data, 0);
}

static void test_delays_of_a_file_come_in_turn(void **state)
{
	static const char text[] = "1us\n2us\n3us\n";
	struct world *world = *state;
	char file[SIM_DELAYS_FILE_SIZE], error[SIM_RULE_ERROR_SIZE];
	struct sim_rule_error rule_error;
	struct sim_delays *delays;
	struct sim_rule rule;
	uint32_t id;

	assert_int_equal(sim_rule_parse("dma.memcpy delay=trace(a)", &rule, file, &rule_error), 0);
	assert_int_equal(sim_delays_parse(file, text, strlen(text), &delays, error), 0);
	assert_int_equal(sim_plan_add(world->plan, &rule, delays, 0, &id), 0);
	free(delays);
	for (uint64_t i = 0; i < 7; i++) {
		assert_true(copy_is_hit(world, 64));
		assert_int_equal(hit.delay_ns, 1000 * (1 + i % 3));
	}
}

/* Changes ---------------------------------------------------------------------------------- */

static void test_changes_are_seen_by_the_next_ask(void **state)
{
	struct world *world = *state;
	uint32_t id;

	assert_false(copy_is_hit(world, 64));
	id = add(world, "dma.memcpy tear");
	assert_true(copy_is_hit(world, 64));
	assert_int_equal(sim_plan_remove(world->plan, id), 0);
	assert_false(copy_is_hit(world, 64));
	assert_false(sim_injector_may_hit(world->faults, SIM_OP_DMA_MEMCPY));
	add(world, "dma.memcpy hang");
	add(world, "dma.memcpy size>=1M tear");
	assert_true(copy_is_hit(world, 64));
	sim_plan_clear(world->plan);
	assert_false(copy_is_hit(world, 1 << 20));
}

/* Slots are reused: 20000 rules, three at a time. */
static void test_rules_come_and_go_for_long(void **state)
{
	struct world *world = *state;
	uint32_t ids[3] = { 0 };

	for (uint32_t i = 0; i < 20000; i++) {
		if (ids[i % 3])
			assert_int_equal(sim_plan_remove(world->plan, ids[i % 3]), 0);
		ids[i % 3] = add(world, i & 1 ? "dma.memcpy size=64 delay=1us" : "dma.memcpy size=4096 delay=1us");
		if (i > 3 && i % 16 == 0) {
			assert_true(copy_is_hit(world, 64));
			assert_int_equal(hit.num_rules, 1);
			assert_true(copy_is_hit(world, 4096));
			assert_int_equal(hit.num_rules, 2);
		}
	}
}

static void test_processes_count_together(void **state)
{
	struct world *world = *state;
	struct sim_injector *other = view_of(world, "host", "other", 200);
	struct sim_fault_site site = { .op = SIM_OP_DMA_MEMCPY };

	add(world, "dma.memcpy nth=2 tear");
	assert_false(copy_is_hit(world, 0));
	assert_true(sim_injector_evaluate(other, &site, &hit));
	assert_false(copy_is_hit(world, 0));
	sim_injector_destroy(other);
}

static void test_overwritten_plans_are_survived(void **state)
{
	struct world *world = *state;
	uint8_t *bytes = (uint8_t *)world->plan;

	srand(2);
	for (int round = 0; round < 10; round++) {
		for (size_t i = 0; i < sizeof(struct sim_plan); i++)
			if (round == 0 || rand() % 8 == 0)
				bytes[i] = (uint8_t)(rand() >> 7);
		atomic_store(&world->plan->end, SIM_PLAN_MAX_RULES);
		atomic_fetch_add(&world->plan->generation, 1);
		for (enum sim_op op = 0; op < SIM_OP_COUNT; op++)
			op_is_hit(world, op);
		sim_injector_next_event_ns(world->faults, 0);
	}
}

/* Valid rules with a wrong byte here and there pass more checks. */
static void test_slightly_overwritten_plans_are_survived(void **state)
{
	static const char *const rules[] = {
		"* delay=pareto(1us,1.5)",
		"dma.memcpy every=3 flip=2",
		"comch.* size=1..100k delay=normal(1us,1us)",
		"link degrade=gen1x4 errors=0.1",
		"dma.memcpy fail=DRIVER moved=50%",
		"*.send reorder=7 truncate=5",
		"peer program=a* side=dpu pid=3 pause=1s",
		"dma.memcpy p=0.1 delay=lognormal(1us,2us) times=3",
	};
	struct world *world = *state;
	uint8_t *bytes = (uint8_t *)world->plan->slots;
	unsigned int fired = 0;

	srand(3);
	for (int round = 0; round < 2000; round++) {
		if (round % 50 == 0)
			sim_plan_clear(world->plan);
		add(world, rules[round % 8]);
		bytes[(size_t)rand() % (SIM_PLAN_MAX_RULES * sizeof(struct sim_plan_slot))] = (uint8_t)rand();
		for (int i = 0; i < 3; i++)
			bytes[(size_t)rand() % ((unsigned int)(round + 1) * sizeof(struct sim_plan_slot))] =
				(uint8_t)rand();
		for (enum sim_op op = 0; op < SIM_OP_COUNT; op++)
			fired += op_is_hit(world, op);
	}
	assert_true(fired > 1000);
}

/* Valid rules first, then impossible counters and delays. */
static void test_overwritten_counters_are_survived(void **state)
{
	struct world *world = *state;

	add(world, "dma.memcpy every=3 skip=2 delay=1us");
	assert_false(copy_is_hit(world, 64));
	atomic_store(&world->plan->slots[0].matched, UINT64_MAX - 1);
	for (int i = 0; i < 8; i++)
		copy_is_hit(world, 64);
	atomic_store(&world->plan->slots[0].fired, UINT64_MAX);
	for (int i = 0; i < 8; i++)
		copy_is_hit(world, 64);
}

/* A thousand rules ------------------------------------------------------------------------- */

static void test_a_thousand_rules_keep_out_of_the_way(void **state)
{
	struct world *world = *state;
	char text[128];

	for (int i = 0; i < 1000; i++) {
		static const char *const kinds[] = {
			"dma.memcpy size>=%dM tear",       "dma.memcpy program=other%d tear", "comch.send nth=%d drop",
			"dma.memcpy device=mlx5_9%d tear", "dma.memcpy pid=1%d tear",
		};

		snprintf(text, sizeof(text), kinds[i % 5], 1 + i % 500);
		add(world, text);
	}
	assert_false(copy_is_hit(world, 64));
	assert_true(copy_is_hit(world, UINT64_C(500) << 20));
	assert_int_equal(hit.num_rules, 200);
	assert_int_equal(hit.rules[7], 36); /* every fifth, from 1 on */
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		test(test_part_that_was_moved_is_reckoned),
		test(test_first_failure_wins),
		test(test_nothing_is_left_of_what_hangs_or_is_refused),
		test(test_refused_submissions_say_again_and_connections_nothing),
		test(test_delays_and_flips_add),
		test(test_messages_get_the_worst_of_their_rules),
		test(test_flipped_bits_are_all_different),
		test(test_no_more_bits_are_flipped_than_there_are),
		test(test_delays_of_a_file_come_in_turn),
		test(test_changes_are_seen_by_the_next_ask),
		test(test_rules_come_and_go_for_long),
		test(test_processes_count_together),
		test(test_overwritten_plans_are_survived),
		test(test_slightly_overwritten_plans_are_survived),
		test(test_overwritten_counters_are_survived),
		test(test_a_thousand_rules_keep_out_of_the_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

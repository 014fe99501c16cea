/* SPDX-License-Identifier: BSD-3-Clause */
/* What strikes where and when, and what several rules come to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/faults/faults.h"

#define MS UINT64_C(1000000)

struct world {
	struct sim_plan *plan;
	struct pcie_topology *topology;
	struct sim_faults *faults; /* of a process "app", pid 100, on side "node0/dpu" */
};

static struct sim_faults *view_of(const struct world *world, const char *side, const char *program, int32_t pid)
{
	struct sim_faults_cfg cfg = {
		.plan = world->plan,
		.topology = world->topology,
		.self = { side, program, pid },
	};
	struct sim_faults *faults;

	assert_int_equal(sim_faults_create(&cfg, &faults), 0);
	return faults;
}

static const char topology_yaml[] = "cards:\n"
				    "- profile: bluefield-3\n"
				    "  functions:\n"
				    "  - {side: node0/dpu, type: pf, pci: '03:00.0'}\n"
				    "  - {side: node0/dpu, type: pf, pci: '03:00.1'}\n"
				    "  - {side: node0/host, type: pf, pci: 'b1:00.0', ibdev: mlx5_4}\n"
				    "  - {side: node0/host, type: pf, pci: '0001:b1:00.1'}\n";
enum { DPU_PF0, DPU_PF1, HOST_PF0, HOST_PF1 };

static int set_up(void **state)
{
	static struct world world;
	char error[PCIE_ERROR_SIZE];

	if (pcie_topology_parse("test", topology_yaml, strlen(topology_yaml), &world.topology, error) ||
	    sim_plan_create(42, &world.plan))
		return -1;
	world.faults = view_of(&world, "node0/dpu", "app", 100);
	*state = &world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	sim_faults_destroy(world->faults);
	sim_plan_destroy(world->plan);
	pcie_topology_destroy(world->topology);
	return 0;
}

static uint32_t add_at(struct world *world, const char *text, uint64_t now_ns)
{
	char file[SIM_DELAYS_FILE_SIZE];
	struct sim_rule_error error;
	struct sim_rule rule;
	uint32_t id;

	if (sim_rule_parse(text, &rule, file, &error))
		fail_msg("%s\n%*s^ %s", text, (int)error.column - 1, "", error.text);
	assert_int_equal(sim_plan_add(world->plan, &rule, NULL, now_ns, &id), 0);
	return id;
}

static uint32_t add(struct world *world, const char *text)
{
	return add_at(world, text, 0);
}

static struct sim_strike strike; /* the last one */

static bool copy_strikes(struct world *world, uint64_t size)
{
	struct sim_site site = { .op = SIM_OP_DMA_MEMCPY, .function = DPU_PF0, .size = size, .addr = 0x1000 };

	return sim_faults_strike(world->faults, &site, &strike);
}

static bool op_strikes(struct world *world, enum sim_op op)
{
	struct sim_site site = { .op = op, .function = DPU_PF0, .size = 100 };

	return sim_faults_strike(world->faults, &site, &strike);
}

/* Which of @count copies a fault strikes, as a text of "." and "x". */
static const char *pattern(struct world *world, int count)
{
	static char text[256];

	for (int i = 0; i < count; i++)
		text[i] = copy_strikes(world, 4096) ? 'x' : '.';
	text[count] = '\0';
	return text;
}

static void find_counts(void *arg, const struct sim_plan_rule *rule)
{
	struct sim_plan_rule *wanted = arg;

	if (rule->id == wanted->id)
		*wanted = *rule;
}

static void assert_counted(struct world *world, uint32_t id, uint64_t matched, uint64_t fired)
{
	struct sim_plan_rule rule = { .id = id, .matched = UINT64_MAX };

	sim_plan_each(world->plan, find_counts, &rule);
	assert_int_equal(rule.matched, matched);
	assert_int_equal(rule.fired, fired);
}

/* Where ---------------------------------------------------------------------------------- */

static void test_no_plan_no_fault(void **state)
{
	struct sim_site site = { .op = SIM_OP_DMA_MEMCPY };

	assert_false(sim_faults_any(NULL, SIM_OP_DMA_MEMCPY));
	assert_false(sim_faults_timed(NULL, SIM_OP_DMA_MEMCPY));
	assert_false(sim_faults_strike(NULL, &site, &strike));
	assert_int_equal(sim_faults_next(NULL, 0), SIM_NEVER_NS);
	assert_false(copy_strikes(*state, 64));
	assert_false(sim_faults_any(((struct world *)*state)->faults, SIM_OP_DMA_MEMCPY));
}

static void test_only_the_named_operation_is_struck(void **state)
{
	struct world *world = *state;

	add(world, "dma.memcpy fail=IO_FAILED");
	assert_true(sim_faults_any(world->faults, SIM_OP_COMCH_SEND)); /* the plan is new: ask */
	assert_false(op_strikes(world, SIM_OP_COMCH_SEND));
	assert_false(sim_faults_any(world->faults, SIM_OP_COMCH_SEND));
	assert_true(sim_faults_any(world->faults, SIM_OP_DMA_MEMCPY));
	assert_true(copy_strikes(world, 64));
	assert_int_equal(strike.actions, SIM_ACT_BIT(SIM_ACT_FAIL));
	assert_int_equal(strike.status, 17);
	assert_int_equal(strike.num_rules, 1);
	assert_int_equal(strike.rules[0], 1);
}

static void test_pattern_strikes_what_its_actions_fit(void **state)
{
	struct world *world = *state;

	add(world, "* drop");
	assert_true(op_strikes(world, SIM_OP_COMCH_SEND));
	assert_true(op_strikes(world, SIM_OP_COMM_CHANNEL_RECV));
	assert_false(copy_strikes(world, 64));
	assert_false(sim_faults_any(world->faults, SIM_OP_DMA_MEMCPY));
}

static void test_rules_for_other_processes_do_not_strike(void **state)
{
	struct world *world = *state;
	static const struct {
		const char *text;
		bool strikes;
	} cases[] = {
		{ "dma.memcpy side=dpu tear", true },         { "dma.memcpy side=node0/dpu tear", true },
		{ "dma.memcpy side=node?/* tear", true },     { "dma.memcpy side=host tear", false },
		{ "dma.memcpy side=node1/dpu tear", false },  { "dma.memcpy program=app tear", true },
		{ "dma.memcpy program=a* tear", true },       { "dma.memcpy program=application tear", false },
		{ "dma.memcpy pid=100 tear", true },          { "dma.memcpy pid=101 tear", false },
		{ "dma.memcpy pid=100 side=host tear", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t id = add(world, cases[i].text);

		if (copy_strikes(world, 64) != cases[i].strikes)
			fail_msg("%s: should%s strike", cases[i].text, cases[i].strikes ? "" : " not");
		assert_int_equal(sim_faults_any(world->faults, SIM_OP_DMA_MEMCPY), cases[i].strikes);
		assert_counted(world, id, cases[i].strikes, cases[i].strikes);
		sim_plan_clear(world->plan);
	}
}

static bool strikes_at(struct world *world, uint32_t function)
{
	struct sim_site site = { .op = SIM_OP_DEV_OPEN, .function = function };

	return sim_faults_strike(world->faults, &site, &strike);
}

static void assert_strikes_at(struct world *world, const char *text, const char *functions)
{
	uint32_t ids[] = { DPU_PF0, DPU_PF1, HOST_PF0, HOST_PF1, SIM_NO_FUNCTION };

	add(world, text);
	for (size_t i = 0; i < 5; i++)
		if (strikes_at(world, ids[i]) != (functions[i] == 'x'))
			fail_msg("%s: function %zu should%s be struck", text, i, functions[i] == 'x' ? "" : " not");
	sim_plan_clear(world->plan);
}

static void test_device_is_an_address_or_a_name(void **state)
{
	assert_strikes_at(*state, "dev.open fail=DRIVER", "xxxxx");
	assert_strikes_at(*state, "dev.open device=03:00.0 fail=DRIVER", "x....");
	assert_strikes_at(*state, "dev.open device=0000:03:00.1 fail=DRIVER", ".x...");
	assert_strikes_at(*state, "dev.open device=03:00.* fail=DRIVER", "xx...");
	assert_strikes_at(*state, "dev.open device=mlx5_4 fail=DRIVER", "..x..");
	assert_strikes_at(*state, "dev.open device=b1:00.1 fail=DRIVER", ".....");
	assert_strikes_at(*state, "dev.open device=0001:* fail=DRIVER", "...x.");
	assert_strikes_at(*state, "dev.open device=ff:00.0 fail=DRIVER", ".....");
}

static void test_devices_follow_another_topology(void **state)
{
	struct world *world = *state;

	add(world, "dev.open device=03:00.1 fail=DRIVER");
	assert_true(strikes_at(world, DPU_PF1));
	assert_int_equal(sim_faults_set_topology(world->faults, NULL), 0);
	assert_false(strikes_at(world, DPU_PF1));
	assert_int_equal(sim_faults_set_topology(world->faults, world->topology), 0);
	assert_true(strikes_at(world, DPU_PF1));
}

/* Around each bound, and in each class of sizes. */
static void test_size_is_compared_exactly(void **state)
{
	struct world *world = *state;
	static const struct {
		const char *text;
		uint64_t size;
		bool strikes;
	} cases[] = {
		{ "dma.memcpy size=4096 tear", 4095, false },     { "dma.memcpy size=4096 tear", 4096, true },
		{ "dma.memcpy size=4096 tear", 4097, false },     { "dma.memcpy size>=4096 tear", 4095, false },
		{ "dma.memcpy size>=4096 tear", UINT64_MAX, true }, { "dma.memcpy size<4096 tear", 0, true },
		{ "dma.memcpy size<4096 tear", 4096, false },     { "dma.memcpy size=1k..64k tear", 1023, false },
		{ "dma.memcpy size=1k..64k tear", 1024, true },   { "dma.memcpy size=1k..64k tear", 65536, true },
		{ "dma.memcpy size=1k..64k tear", 65537, false }, { "dma.memcpy size=0 tear", 0, true },
		{ "dma.memcpy size=0 tear", 1, false },           { "dma.memcpy size=1 tear", 0, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		add(world, cases[i].text);
		if (copy_strikes(world, cases[i].size) != cases[i].strikes)
			fail_msg("%s: should%s strike %zu bytes", cases[i].text, cases[i].strikes ? "" : " not",
				 (size_t)cases[i].size);
		sim_plan_clear(world->plan);
	}
}

/* The rule's range is 0x1000..0x1fff; a copy that touches a byte of it is struck. */
static void test_address_ranges_overlap_or_not(void **state)
{
	struct world *world = *state;
	struct sim_site site = { .op = SIM_OP_DMA_MEMCPY, .size = 16 };

	add(world, "dma.memcpy addr=0x1000..0x1fff tear");
	site.addr = 0xff0;
	assert_false(sim_faults_strike(world->faults, &site, &strike));
	site.addr = 0xff1;
	assert_true(sim_faults_strike(world->faults, &site, &strike));
	site.addr = 0x1fff;
	assert_true(sim_faults_strike(world->faults, &site, &strike));
	site.addr = 0x2000;
	assert_false(sim_faults_strike(world->faults, &site, &strike));
	site.addr = UINT64_MAX - 3; /* wraps: ends at the end */
	assert_false(sim_faults_strike(world->faults, &site, &strike));
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

/* A spent rule costs nothing more: nobody needs to ask. */
static void test_spent_rules_leave(void **state)
{
	struct world *world = *state;

	add(world, "dma.memcpy times=1 tear");
	assert_string_equal(pattern(world, 3), "x..");
	assert_false(sim_faults_any(world->faults, SIM_OP_DMA_MEMCPY));
}

/* 10000 matches at one in twenty: 500, with a deviation of 22. */
static void test_chance_is_as_said_and_the_same_each_time(void **state)
{
	struct world *world = *state;
	char first[65];
	int hits = 0;

	add(world, "dma.memcpy seed=5 p=0.05 tear");
	for (int i = 0; i < 10000; i++)
		hits += copy_strikes(world, 64);
	assert_in_range(hits, 435, 565);

	sim_plan_destroy(world->plan);
	sim_faults_destroy(world->faults);
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
			sim_faults_destroy(world->faults);
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
			char a = copy_strikes(world, 64) ? 'x' : '.', b = op_strikes(world, SIM_OP_COMCH_SEND) ? 'x' : '.';

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

static bool copy_strikes_at(struct world *world, uint64_t now_ns)
{
	struct sim_site site = { .op = SIM_OP_DMA_MEMCPY, .size = 64, .now_ns = now_ns };

	return sim_faults_strike(world->faults, &site, &strike);
}

static void test_rules_strike_in_their_window_of_time(void **state)
{
	struct world *world = *state;
	uint32_t id;

	add(world, "comch.send drop");
	assert_false(copy_strikes_at(world, 0));
	assert_false(sim_faults_timed(world->faults, SIM_OP_COMCH_SEND));
	id = add(world, "dma.memcpy from=10ms until=20ms tear");
	assert_false(copy_strikes_at(world, 10 * MS - 1));
	assert_true(sim_faults_timed(world->faults, SIM_OP_DMA_MEMCPY));
	assert_false(sim_faults_timed(world->faults, SIM_OP_COMCH_SEND));
	assert_true(copy_strikes_at(world, 10 * MS));
	assert_true(copy_strikes_at(world, 20 * MS - 1));
	assert_false(copy_strikes_at(world, 20 * MS));
	assert_counted(world, id, 2, 2);
}

/* What ------------------------------------------------------------------------------------ */

static void test_part_that_was_moved_is_reckoned(void **state)
{
	struct world *world = *state;

	add(world, "dma.memcpy nth=1 fail=IO_FAILED moved=25%");
	add(world, "dma.memcpy nth=2 fail=IO_FAILED moved=100");
	add(world, "dma.memcpy nth=3 fail=IO_FAILED moved=1G");
	add(world, "dma.memcpy skip=3 fail=IO_FAILED");
	assert_true(copy_strikes(world, 4096));
	assert_int_equal(strike.moved_bytes, 1024);
	assert_true(copy_strikes(world, 4096));
	assert_int_equal(strike.moved_bytes, 100);
	assert_true(copy_strikes(world, 4096));
	assert_int_equal(strike.moved_bytes, 4096);
	assert_true(copy_strikes(world, 4096));
	assert_int_equal(strike.moved_bytes, 0);
}

/* Rules are asked in order; the first that ends the copy is the last that fires. */
static void test_first_failure_wins(void **state)
{
	struct world *world = *state;
	uint32_t delay = add(world, "dma.memcpy delay=10us"), first = add(world, "dma.memcpy every=2 fail=DRIVER");
	uint32_t second = add(world, "dma.memcpy fail=IO_FAILED"), late = add(world, "dma.memcpy delay=5us");

	assert_true(copy_strikes(world, 64));
	assert_int_equal(strike.status, 17);
	assert_int_equal(strike.delay_ns, 10000);
	assert_int_equal(strike.actions, SIM_ACT_BIT(SIM_ACT_FAIL) | SIM_ACT_BIT(SIM_ACT_DELAY));
	assert_int_equal(strike.num_rules, 2);
	assert_true(copy_strikes(world, 64));
	assert_int_equal(strike.status, 21);
	assert_int_equal(strike.rules[0], delay);
	assert_int_equal(strike.rules[1], first);
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
	assert_true(copy_strikes(world, 64));
	assert_int_equal(strike.actions, SIM_ACT_BIT(SIM_ACT_HANG));
	assert_true(copy_strikes(world, 64));
	assert_int_equal(strike.actions, SIM_ACT_BIT(SIM_ACT_REFUSE));
	assert_int_equal(strike.refuse_status, SIM_STATUS_NO_MEMORY);
}

static void test_refused_submissions_say_again_and_connections_nothing(void **state)
{
	struct world *world = *state;

	add(world, "comch.* refuse");
	assert_true(op_strikes(world, SIM_OP_COMCH_SEND));
	assert_int_equal(strike.refuse_status, SIM_STATUS_AGAIN);
	assert_true(op_strikes(world, SIM_OP_COMCH_CONNECT));
	assert_int_equal(strike.refuse_status, 0);
}

static void test_delays_and_flips_add(void **state)
{
	struct world *world = *state;

	add(world, "dma.memcpy delay=10us flip=2");
	add(world, "dma.memcpy delay=uniform(1us,1us) flip=3");
	assert_true(copy_strikes(world, 64));
	assert_int_equal(strike.delay_ns, 11000);
	assert_int_equal(strike.flip_bits, 5);
	add(world, "dma.memcpy delay=1000000000s");
	add(world, "dma.memcpy delay=1000000000s");
	assert_true(copy_strikes(world, 64));
	assert_int_equal(strike.delay_ns, SIM_RULE_MAX_NS);
}

static void test_messages_get_the_worst_of_their_rules(void **state)
{
	struct world *world = *state;

	add(world, "comch.send truncate=16 reorder=2");
	add(world, "comch.send truncate=8 duplicate");
	add(world, "comch.send truncate=32 reorder=5");
	for (int i = 0; i < 50; i++) {
		assert_true(op_strikes(world, SIM_OP_COMCH_SEND));
		assert_int_equal(strike.truncate_bytes, 8);
		assert_int_equal(strike.window, 5);
		assert_in_range(strike.behind, 1, 5);
		assert_true(strike.actions & SIM_ACT_BIT(SIM_ACT_DUPLICATE));
	}
}

/* Five bits of 512: five different ones, the same for the same match. */
static void test_flipped_bits_are_all_different(void **state)
{
	struct world *world = *state;
	uint8_t data[64] = { 0 }, again[64] = { 0 };
	int bits = 0;

	add(world, "dma.memcpy flip=5");
	assert_true(copy_strikes(world, sizeof(data)));
	sim_strike_flip(&strike, data, sizeof(data));
	sim_strike_flip(&strike, again, sizeof(again));
	assert_memory_equal(data, again, sizeof(data));
	for (size_t i = 0; i < sizeof(data); i++)
		bits += __builtin_popcount(data[i]);
	assert_int_equal(bits, 5);
	assert_true(copy_strikes(world, sizeof(data)));
	sim_strike_flip(&strike, again, sizeof(again));
	assert_memory_not_equal(data, again, sizeof(data));
}

static void test_no_more_bits_are_flipped_than_there_are(void **state)
{
	struct world *world = *state;
	uint8_t data[2] = { 0, 0x5a };

	add(world, "dma.memcpy flip=1000");
	assert_true(copy_strikes(world, 1));
	assert_int_equal(strike.flip_bits, 8);
	sim_strike_flip(&strike, data, 1);
	assert_int_equal(data[0], 0xff);
	assert_int_equal(data[1], 0x5a);
	assert_true(copy_strikes(world, 0));
	assert_int_equal(strike.flip_bits, 0);
	sim_strike_flip(&strike, data, 0);
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
		assert_true(copy_strikes(world, 64));
		assert_int_equal(strike.delay_ns, 1000 * (1 + i % 3));
	}
}

/* Changes ---------------------------------------------------------------------------------- */

static void test_changes_are_seen_by_the_next_ask(void **state)
{
	struct world *world = *state;
	uint32_t id;

	assert_false(copy_strikes(world, 64));
	id = add(world, "dma.memcpy tear");
	assert_true(copy_strikes(world, 64));
	assert_int_equal(sim_plan_remove(world->plan, id), 0);
	assert_false(copy_strikes(world, 64));
	assert_false(sim_faults_any(world->faults, SIM_OP_DMA_MEMCPY));
	add(world, "dma.memcpy hang");
	add(world, "dma.memcpy size>=1M tear");
	assert_true(copy_strikes(world, 64));
	sim_plan_clear(world->plan);
	assert_false(copy_strikes(world, 1 << 20));
}

/* Places are used over and over: 20000 rules, three at a time. */
static void test_rules_come_and_go_for_long(void **state)
{
	struct world *world = *state;
	uint32_t ids[3] = { 0 };

	for (uint32_t i = 0; i < 20000; i++) {
		if (ids[i % 3])
			assert_int_equal(sim_plan_remove(world->plan, ids[i % 3]), 0);
		ids[i % 3] = add(world, i & 1 ? "dma.memcpy size=64 delay=1us" : "dma.memcpy size=4096 delay=1us");
		if (i > 3 && i % 16 == 0) {
			assert_true(copy_strikes(world, 64));
			assert_int_equal(strike.num_rules, 1);
			assert_true(copy_strikes(world, 4096));
			assert_int_equal(strike.num_rules, 2);
		}
	}
}

static void test_processes_count_together(void **state)
{
	struct world *world = *state;
	struct sim_faults *other = view_of(world, "host", "other", 200);
	struct sim_site site = { .op = SIM_OP_DMA_MEMCPY };

	add(world, "dma.memcpy nth=2 tear");
	assert_false(copy_strikes(world, 0));
	assert_true(sim_faults_strike(other, &site, &strike));
	assert_false(copy_strikes(world, 0));
	sim_faults_destroy(other);
}

static void test_scribbled_plans_are_survived(void **state)
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
			op_strikes(world, op);
		sim_faults_next(world->faults, 0);
	}
}

/* Good rules first, then counters and delays that can't be. */
static void test_scribbled_counters_are_survived(void **state)
{
	struct world *world = *state;

	add(world, "dma.memcpy every=3 skip=2 delay=1us");
	assert_false(copy_strikes(world, 64));
	atomic_store(&world->plan->slots[0].matched, UINT64_MAX - 1);
	for (int i = 0; i < 8; i++)
		copy_strikes(world, 64);
	atomic_store(&world->plan->slots[0].fired, UINT64_MAX);
	for (int i = 0; i < 8; i++)
		copy_strikes(world, 64);
}

/* Events ----------------------------------------------------------------------------------- */

static bool event_strikes(struct world *world, enum sim_op op, uint32_t function, const struct sim_who *who,
			  uint64_t since_ns, uint64_t now_ns)
{
	struct sim_site site = { .op = op, .function = function, .who = who, .since_ns = since_ns, .now_ns = now_ns };

	return sim_faults_strike(world->faults, &site, &strike);
}

static void test_events_happen_once_at_their_time(void **state)
{
	struct world *world = *state;

	add(world, "link device=03:00.0 from=1s down=200ms");
	add(world, "link device=03:00.0 from=2s degrade=gen2x4 until=5s");
	assert_int_equal(sim_faults_next(world->faults, 0), 1000 * MS);
	assert_false(event_strikes(world, SIM_OP_LINK, DPU_PF0, NULL, 0, 999 * MS));
	assert_false(event_strikes(world, SIM_OP_LINK, DPU_PF1, NULL, 999 * MS + 1, 1000 * MS));
	assert_true(event_strikes(world, SIM_OP_LINK, DPU_PF0, NULL, 999 * MS + 1, 1000 * MS));
	assert_int_equal(strike.actions, SIM_ACT_BIT(SIM_ACT_DOWN));
	assert_int_equal(strike.duration_ns, 200 * MS);
	assert_int_equal(sim_faults_next(world->faults, 1000 * MS), 2000 * MS);
	assert_true(event_strikes(world, SIM_OP_LINK, DPU_PF0, NULL, 1000 * MS + 1, 2500 * MS));
	assert_int_equal(strike.actions, SIM_ACT_BIT(SIM_ACT_DEGRADE));
	assert_int_equal(strike.link_gen, 2);
	assert_int_equal(strike.link_lanes, 4);
	assert_int_equal(strike.until_ns, 5000 * MS);
	assert_false(event_strikes(world, SIM_OP_LINK, DPU_PF0, NULL, 2500 * MS + 1, 4000 * MS));
	assert_int_equal(sim_faults_next(world->faults, 2000 * MS), SIM_NEVER_NS);
}

/* "bfsim link down" of a session that has run for ten seconds. */
static void test_event_added_later_begins_then(void **state)
{
	struct world *world = *state;

	add_at(world, "link down=1ms", 10000 * MS);
	assert_int_equal(sim_faults_next(world->faults, 9000 * MS), 10000 * MS);
	assert_true(event_strikes(world, SIM_OP_LINK, DPU_PF0, NULL, 9000 * MS, 10000 * MS));
	assert_false(event_strikes(world, SIM_OP_LINK, DPU_PF0, NULL, 10000 * MS + 1, 11000 * MS));
}

static void test_peers_are_known_by_their_names(void **state)
{
	struct world *world = *state;
	struct sim_who victim = { "node0/host", "victim", 7 }, other = { "node0/host", "other", 8 };

	add(world, "peer program=victim side=host from=2s kill");
	assert_true(sim_faults_any(world->faults, SIM_OP_PEER)); /* it is about others, so it is in every view */
	assert_false(event_strikes(world, SIM_OP_PEER, SIM_NO_FUNCTION, &other, 0, 2000 * MS));
	assert_false(event_strikes(world, SIM_OP_PEER, SIM_NO_FUNCTION, NULL, 0, 2000 * MS));
	assert_true(event_strikes(world, SIM_OP_PEER, SIM_NO_FUNCTION, &victim, 0, 2000 * MS));
	assert_int_equal(strike.actions, SIM_ACT_BIT(SIM_ACT_KILL));
	/* One that attaches later is new, and the rule still holds. */
	assert_true(event_strikes(world, SIM_OP_PEER, SIM_NO_FUNCTION, &victim, 0, 3000 * MS));
}

static void test_link_gets_the_worst_of_its_rules(void **state)
{
	struct world *world = *state;

	add(world, "link degrade=gen3x1 until=1s");
	add(world, "link degrade=gen1x8 errors=0.4");
	add(world, "link errors=0.7");
	add(world, "link down=1ms");
	add(world, "link down=3ms");
	assert_true(event_strikes(world, SIM_OP_LINK, DPU_PF0, NULL, 0, 0));
	assert_int_equal(strike.link_gen, 1);
	assert_int_equal(strike.link_lanes, 1);
	assert_int_equal(strike.errors_ppb, SIM_PPB);
	assert_int_equal(strike.duration_ns, 3 * MS);
	assert_int_equal(strike.until_ns, SIM_NEVER_NS);
}

static void test_function_events(void **state)
{
	struct world *world = *state;

	add(world, "function device=b1:00.0 num_vfs=4");
	add(world, "function num_vfs=9");
	add(world, "function device=b1:00.0 reset");
	add(world, "function add");
	assert_true(event_strikes(world, SIM_OP_FUNCTION, HOST_PF0, NULL, 0, 0));
	assert_int_equal(strike.actions, SIM_ACT_BIT(SIM_ACT_NUM_VFS) | SIM_ACT_BIT(SIM_ACT_RESET));
	assert_int_equal(strike.num_vfs, 4);
	assert_true(event_strikes(world, SIM_OP_DAEMON, SIM_NO_FUNCTION, NULL, 0, 0) == false);
}

/* A thousand rules ------------------------------------------------------------------------- */

static void test_a_thousand_rules_keep_out_of_the_way(void **state)
{
	struct world *world = *state;
	char text[128];

	for (int i = 0; i < 1000; i++) {
		static const char *const kinds[] = {
			"dma.memcpy size>=%dM tear", "dma.memcpy program=other%d tear", "comch.send nth=%d drop",
			"dma.memcpy device=mlx5_9%d tear", "dma.memcpy pid=1%d tear",
		};

		snprintf(text, sizeof(text), kinds[i % 5], 1 + i % 500);
		add(world, text);
	}
	assert_false(copy_strikes(world, 64));
	assert_true(copy_strikes(world, UINT64_C(500) << 20));
	assert_int_equal(strike.num_rules, 200);
	assert_int_equal(strike.rules[7], 36); /* every fifth, from 1 on */
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		test(test_no_plan_no_fault),
		test(test_only_the_named_operation_is_struck),
		test(test_pattern_strikes_what_its_actions_fit),
		test(test_rules_for_other_processes_do_not_strike),
		test(test_device_is_an_address_or_a_name),
		test(test_devices_follow_another_topology),
		test(test_size_is_compared_exactly),
		test(test_address_ranges_overlap_or_not),
		test(test_matches_are_counted_out),
		test(test_counts_tell_matches_from_faults),
		test(test_spent_rules_leave),
		test(test_chance_is_as_said_and_the_same_each_time),
		test(test_the_plans_seed_is_for_rules_without_their_own),
		test(test_rules_strike_in_their_window_of_time),
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
		test(test_scribbled_plans_are_survived),
		test(test_scribbled_counters_are_survived),
		test(test_events_happen_once_at_their_time),
		test(test_event_added_later_begins_then),
		test(test_peers_are_known_by_their_names),
		test(test_link_gets_the_worst_of_its_rules),
		test(test_function_events),
		test(test_a_thousand_rules_keep_out_of_the_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

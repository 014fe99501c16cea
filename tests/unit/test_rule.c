/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules as text: valid texts, their compiled form, and the text that is written back. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rules.h"
#include "sim/faults/rule/rule.h"

/* @text means the same as @canonical, and is written like that. */
static void assert_written(const char *text, const char *canonical)
{
	struct sim_rule rule, again;
	char file[SIM_DELAYS_FILE_SIZE], written[SIM_RULE_TEXT_SIZE];
	struct sim_rule_error error;
	size_t len;

	if (sim_rule_parse(text, &rule, file, &error))
		fail_msg("%s\n%*s^ %s", text, (int)error.column - 1, "", error.text);
	len = sim_rule_format(&rule, file, written);
	assert_int_equal(len, strlen(written));
	assert_string_equal(written, canonical);
	again = parse_rule(written);
	assert_memory_equal(&again, &rule, sizeof(rule));
}

#define assert_canonical(text) assert_written((text), (text))

static void test_rule_is_small_and_flat(void **state)
{
	assert_int_equal(sizeof(struct sim_rule), 304);
}

static void test_every_part_of_a_rule_has_its_place(void **state)
{
	struct sim_rule rule =
		parse_rule("dma.memcpy side=dpu program=my_* pid=42 device=mlx5_0 size=1k..64k addr=0x1000..0x1fff "
			   "from=1s until=2s skip=5 every=3 p=0.25 seed=9 times=7 fail=IO_FAILED moved=50%");

	assert_int_equal(rule.ops, SIM_OP_BIT(SIM_OP_DMA_MEMCPY));
	assert_string_equal(rule.side, "dpu");
	assert_string_equal(rule.program, "my_*");
	assert_int_equal(rule.pid, 42);
	assert_string_equal(rule.device, "mlx5_0");
	assert_int_equal(rule.size_min, 1024);
	assert_int_equal(rule.size_max, 65536);
	assert_int_equal(rule.addr_min, 0x1000);
	assert_int_equal(rule.addr_max, 0x1fff);
	assert_int_equal(rule.from_ns, 1000000000);
	assert_int_equal(rule.until_ns, 2000000000);
	assert_int_equal(rule.skip, 5);
	assert_int_equal(rule.every, 3);
	assert_int_equal(rule.chance_ppb, 250000000);
	assert_int_equal(rule.seed, 9);
	assert_int_equal(rule.times, 7);
	assert_int_equal(rule.actions, SIM_ACT_BIT(SIM_ACT_FAIL));
	assert_int_equal(rule.status, 17);
	assert_int_equal(rule.moved, SIM_PPB / 2);
	assert_true(rule.moved_is_fraction);
}

/* The examples of the manual's first page. */
static void test_a_written_rule_is_the_rule(void **state)
{
	assert_canonical("dma.memcpy size>=4k nth=3 fail=IO_FAILED");
	assert_canonical("dma.memcpy side=dpu p=0.01 delay=lognormal(20us,5us)");
	assert_canonical("comch.send every=10 times=3 drop");
	assert_canonical("dma.memcpy program=my_app nth=5 fail=IO_FAILED moved=50%");
	assert_canonical("dma.memcpy size=1k..64k flip=3");
	assert_canonical("comch.connect refuse");
	assert_canonical("link device=0000:03:00.0 from=1s down=200ms");
	assert_canonical("peer program=victim from=2s kill");
	assert_canonical("peer program=victim after='dma.memcpy nth=10' kill");
	assert_canonical("link after='comch.send,dma.memcpy nth=1' until=2s times=3 down=1ms");
	assert_canonical("alloc nth=7 fail=NO_MEMORY");
}

static void test_one_spelling_is_written_for_many(void **state)
{
	assert_written("  dma.memcpy\t size>=4096  nth=3 fail=DOCA_ERROR_IO_FAILED ",
		       "dma.memcpy size>=4k nth=3 fail=IO_FAILED");
	assert_written("fun* device=B1:00.2 reset", "function device=0000:b1:00.2 reset");
	assert_written("comch.send drop times=3 every=10", "comch.send every=10 times=3 drop");
	assert_written("dma.memcpy size>4095 size<65536 tear", "dma.memcpy size=4k..65535 tear");
	assert_written("dma.memcpy size==4096 tear", "dma.memcpy size=4k tear");
	assert_written("dma.memcpy size=7..7 tear", "dma.memcpy size=7 tear");
	assert_written("dma.memcpy size>=0 tear", "dma.memcpy size>=0 tear");
	assert_written("dma.memcpy size<=18446744073709551615 tear", "dma.memcpy size>=0 tear");
	assert_written("dma.memcpy addr=4096 tear", "dma.memcpy addr=0x1000..0x1000 tear");
	assert_written("dma.memcpy delay=1.5ms", "dma.memcpy delay=1500us");
	assert_written("dma.memcpy delay=0", "dma.memcpy delay=0ns");
	assert_written("dma.memcpy delay=uniform( 1us , 0.002ms )", "dma.memcpy delay=uniform(1us,2us)");
	assert_written("dma.memcpy delay=pareto(1us,1.50)", "dma.memcpy delay=pareto(1us,1.5)");
	assert_written("dma.memcpy p=1% tear", "dma.memcpy p=0.01 tear");
	assert_written("dma.memcpy p=1e-6 tear", "dma.memcpy p=0.000001 tear");
	assert_written("dma.memcpy p=1 tear", "dma.memcpy p=1 tear");
	assert_written("dma.memcpy fail=DRIVER moved=12.50%", "dma.memcpy fail=DRIVER moved=12.5%");
	assert_written("dma.memcpy fail=DRIVER moved=0%", "dma.memcpy fail=DRIVER moved=0%");
	assert_written("dma.memcpy fail=DRIVER moved=2048", "dma.memcpy fail=DRIVER moved=2k");
	assert_written("link errors=0.1%", "link errors=0.001");
	assert_written("machine.link rate=10240k side=node1 delay=2000us",
		       "machine.link side=node1 delay=2ms rate=10M");
}

static void test_patterns_name_several_operations(void **state)
{
	assert_canonical("* fail=DRIVER");
	assert_canonical("comch.* delay=1ms");
	assert_written("c*h.connect refuse", "comch.connect refuse");
	assert_written("*.send refuse", "comch.send,comch.producer.send,comm_channel.send,rdma.send refuse");
	assert_written("dma.memcpy,comch.* hang", "comch.*,dma.memcpy hang");
	assert_written("dma.* hang", "dma.memcpy hang");
	assert_written("mmap.?mport fail=DRIVER", "mmap.import fail=DRIVER");
}

/* "*" is every operation that the action fits. */
static void test_rule_can_hit_only_operations_that_fit(void **state)
{
	struct sim_rule rule = parse_rule("* size>=1 drop");

	assert_int_equal(rule.ops, SIM_OPS_ALL);
	assert_int_equal(sim_rule_ops(&rule), SIM_OP_BIT(SIM_OP_COMCH_SEND) | SIM_OP_BIT(SIM_OP_COMCH_RECV) |
						      SIM_OP_BIT(SIM_OP_COMCH_PRODUCER_SEND) |
						      SIM_OP_BIT(SIM_OP_COMM_CHANNEL_SEND) |
						      SIM_OP_BIT(SIM_OP_COMM_CHANNEL_RECV));
	rule = parse_rule("* fail=IO_FAILED");
	assert_false(sim_rule_ops(&rule) & SIM_OP_BIT(SIM_OP_ALLOC));
	rule = parse_rule("* fail=NO_MEMORY");
	assert_true(sim_rule_ops(&rule) & SIM_OP_BIT(SIM_OP_ALLOC));
	rule = parse_rule("* refuse=AGAIN");
	assert_false(sim_rule_ops(&rule) & SIM_OP_BIT(SIM_OP_COMCH_CONNECT));
	rule = parse_rule("* fail=TIME_OUT moved=1");
	assert_int_equal(sim_rule_ops(&rule), SIM_OPS_MOVING);
}

/* "*" is an event only where no program's operation fits; a name is always meant. */
static void test_a_star_is_what_programs_do(void **state)
{
	struct sim_rule rule = parse_rule("* delay=1ms");

	assert_false(sim_rule_ops(&rule) & SIM_OPS_EVENTS);
	assert_true(sim_rule_ops(&rule) & SIM_OP_BIT(SIM_OP_RDMA_WRITE));
	rule = parse_rule("* down=1s");
	assert_true(sim_rule_ops(&rule) & SIM_OP_BIT(SIM_OP_MACHINE_LINK));
	rule = parse_rule("rdma.write,machine.link delay=1ms");
	assert_int_equal(sim_rule_ops(&rule), SIM_OP_BIT(SIM_OP_RDMA_WRITE) | SIM_OP_BIT(SIM_OP_MACHINE_LINK));
}

/* Each entry of the table is a rule that can be written, and no other pair is. */
static void test_table_of_operations_and_actions_is_the_language(void **state)
{
	static const char *const written[SIM_ACT_COUNT] = {
		[SIM_ACT_FAIL] = "fail=NO_MEMORY",    [SIM_ACT_REFUSE] = "refuse",
		[SIM_ACT_DELAY] = "delay=1us",        [SIM_ACT_FLIP] = "flip=1",
		[SIM_ACT_REORDER] = "reorder=2",      [SIM_ACT_TRUNCATE] = "truncate=1",
		[SIM_ACT_STALL] = "stall=1us",        [SIM_ACT_DOWN] = "down=1us",
		[SIM_ACT_DEGRADE] = "degrade=gen1x1", [SIM_ACT_ERRORS] = "errors=0.5",
		[SIM_ACT_NUM_VFS] = "num_vfs=2",      [SIM_ACT_PAUSE] = "pause=1us",
		[SIM_ACT_RATE] = "rate=1k",
	};
	char text[256], file[SIM_DELAYS_FILE_SIZE];
	struct sim_rule_error error;
	struct sim_rule rule;

	for (enum sim_op op = 0; op < SIM_OP_COUNT; op++) {
		for (enum sim_act act = 0; act < SIM_ACT_COUNT; act++) {
			bool can = sim_op_actions(op) & SIM_ACT_BIT(act);

			snprintf(text, sizeof(text), "%s %s", sim_op_name(op),
				 written[act] ? written[act] : sim_act_name(act));
			if (can != (sim_rule_parse(text, &rule, file, &error) == 0))
				fail_msg("\"%s\" should be %s", text, can ? "possible" : "refused");
			assert_int_equal(!!(sim_act_ops(act) & SIM_OP_BIT(op)), can);
		}
		assert_true(sim_op_actions(op));
	}
}

static void test_names_with_spaces_stand_in_quotes(void **state)
{
	struct sim_rule rule = parse_rule("dma.memcpy program=\"my app (1)\" hang");

	assert_string_equal(rule.program, "my app (1)");
	assert_canonical("dma.memcpy program=\"my app (1)\" hang");
	assert_canonical("dma.memcpy delay=trace(\"slow disk.txt\")");
}

static void test_file_of_delays_is_named_beside_the_rule(void **state)
{
	char file[SIM_DELAYS_FILE_SIZE], text[SIM_RULE_TEXT_SIZE];
	struct sim_rule_error error;
	struct sim_rule rule;

	assert_int_equal(sim_rule_parse("dma.memcpy delay=trace( measured/a.txt )", &rule, file, &error), 0);
	assert_string_equal(file, "measured/a.txt");
	assert_int_equal(rule.delay_kind, SIM_DELAY_TRACE);
	sim_rule_format(&rule, file, text);
	assert_string_equal(text, "dma.memcpy delay=trace(measured/a.txt)");

	assert_int_equal(sim_rule_parse("dma.memcpy tear", &rule, file, &error), 0);
	assert_string_equal(file, "");
}

static void test_statuses_have_the_numbers_of_the_api(void **state)
{
	uint32_t status = 0;

	assert_int_equal(sim_status_find("AGAIN", 5, &status), 0);
	assert_int_equal(status, SIM_STATUS_AGAIN);
	assert_int_equal(sim_status_find("NO_MEMORY", 9, &status), 0);
	assert_int_equal(status, SIM_STATUS_NO_MEMORY);
	assert_int_equal(sim_status_find("CONNECTION_RESET", 16, &status), 0);
	assert_int_equal(status, 11);
	assert_int_equal(sim_status_find("SKIPPED", 7, &status), 0);
	assert_int_equal(status, 30);
	assert_null(sim_status_name(31));
	assert_int_equal(sim_status_find("IO_FAIL", 7, &status), -ENOENT);
}

static void test_glob_matches_as_shells_do(void **state)
{
	assert_true(sim_glob("", ""));
	assert_true(sim_glob("*", ""));
	assert_true(sim_glob("abc", "abc"));
	assert_true(sim_glob("a*c", "ac"));
	assert_true(sim_glob("a*b*c", "a.b.b.c"));
	assert_true(sim_glob("*.send", "comch.producer.send"));
	assert_true(sim_glob("mlx5_?", "mlx5_1"));
	assert_true(sim_glob("**a", "bba"));
	assert_false(sim_glob("", "a"));
	assert_false(sim_glob("a", ""));
	assert_false(sim_glob("a?", "a"));
	assert_false(sim_glob("abc", "abcd"));
	assert_false(sim_glob("*a", "ab"));
	assert_false(sim_glob("a*b", "acbc"));
}

/* A pattern of many stars takes a bounded number of steps. */
static void test_glob_with_many_stars_ends(void **state)
{
	char pattern[64] = "", text[512];

	for (int i = 0; i < 31; i++)
		strcat(pattern, "*a");
	memset(text, 'a', sizeof(text) - 2);
	memcpy(text + sizeof(text) - 2, "b", 2);
	assert_false(sim_glob(pattern, text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rule_is_small_and_flat),
		cmocka_unit_test(test_every_part_of_a_rule_has_its_place),
		cmocka_unit_test(test_a_written_rule_is_the_rule),
		cmocka_unit_test(test_one_spelling_is_written_for_many),
		cmocka_unit_test(test_patterns_name_several_operations),
		cmocka_unit_test(test_rule_can_hit_only_operations_that_fit),
		cmocka_unit_test(test_a_star_is_what_programs_do),
		cmocka_unit_test(test_table_of_operations_and_actions_is_the_language),
		cmocka_unit_test(test_names_with_spaces_stand_in_quotes),
		cmocka_unit_test(test_file_of_delays_is_named_beside_the_rule),
		cmocka_unit_test(test_statuses_have_the_numbers_of_the_api),
		cmocka_unit_test(test_glob_matches_as_shells_do),
		cmocka_unit_test(test_glob_with_many_stars_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

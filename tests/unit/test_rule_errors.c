/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules that are wrong: each is refused with the position of its mistake and a correct form. */
#include <errno.h>
#include <string.h>

#include "cmocka_test.h"
#include "sim/faults/rule/rule.h"

struct mistake {
	const char *text;
	unsigned int column;
	const char *message;
};

/* Compile @mistake's text, which must fail as it says and leave no result. */
static void assert_refused(const struct mistake *mistake)
{
	char file[SIM_DELAYS_FILE_SIZE] = "untouched";
	struct sim_rule rule, before;
	struct sim_rule_error error;

	memset(&before, 0x5a, sizeof(before));
	rule = before;
	if (sim_rule_parse(mistake->text, &rule, file, &error) != -EINVAL)
		fail_msg("taken: %s", mistake->text);
	assert_string_equal(error.text, mistake->message);
	if (error.column != mistake->column)
		fail_msg("%s: blamed column %u, not %u", mistake->text, error.column, mistake->column);
	assert_memory_equal(&rule, &before, sizeof(rule));
	assert_string_equal(file, "untouched");
}

#define assert_all_refused(...)                                                     \
	do {                                                                        \
		static const struct mistake mistakes[] = { __VA_ARGS__ };           \
		for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) \
			assert_refused(&mistakes[i]);                               \
	} while (0)

static void test_rule_without_operation_is_refused(void **state)
{
	assert_all_refused(
		{ "", 1,
		  "the rule is empty; write OPERATION [CONDITION...] ACTION, for instance dma.memcpy nth=3 fail=IO_FAILED" },
		{ "   ", 4,
		  "the rule is empty; write OPERATION [CONDITION...] ACTION, for instance dma.memcpy nth=3 fail=IO_FAILED" },
		{ "nth=3 dma.memcpy hang", 1,
		  "a rule begins with its operation, such as dma.memcpy, not with `nth=3`" },
		{ "dma.memcpy,, hang", 12, "an operation is missing beside the comma" });
}

static void test_unknown_words_are_refused_with_the_nearest_known(void **state)
{
	assert_all_refused(
		{ "dma.memcopy hang", 1, "unknown operation `dma.memcopy`; did you mean `dma.memcpy`?" },
		{ "foo.* hang", 1, "unknown operation `foo.*`; bfsim fault --help lists them" },
		{ "dma.memcpy nht=3 hang", 12, "unknown word `nht`; did you mean `nth`?" },
		{ "dma.memcpy sise=4 hang", 12, "unknown word `sise`; did you mean `side`?" },
		{ "dma.memcpy dealy=4us", 12, "unknown word `dealy`; did you mean `delay`?" },
		{ "dma.memcpy quux hang", 12,
		  "unknown word `quux`; an operation is followed by conditions and actions, such as size>=4k nth=3 fail=IO_FAILED" },
		{ "dma.memcpy fail=IO_FAIL", 17, "fail: unknown status `IO_FAIL`; did you mean `IO_FAILED`?" },
		{ "dma.memcpy delay=lognormel(1us,2us)", 18,
		  "delay: unknown distribution `lognormel`; did you mean `lognormal`?" },
		{ "dma.memcpy delay=fixed(10us)", 18,
		  "delay: a fixed delay is written without parentheses: delay=10us" });
}

static void test_words_in_the_wrong_shape_are_refused(void **state)
{
	assert_all_refused({ "dma.memcpy nth hang", 12, "nth: needs a value: nth=N" },
			   { "dma.memcpy nth= hang", 12, "nth: its value is missing: nth=N" },
			   { "dma.memcpy nth>=3 hang", 12, "nth: takes = and no other comparison; only size does" },
			   { "dma.memcpy hang=1", 12, "hang: takes no value" },
			   { "dma.memcpy nth=1 nth=2 hang", 18, "nth: is given twice; remove one" },
			   { "dma.memcpy size>= hang", 12, "size: its value is missing: size=A..B, size>=BYTES, ..." },
			   { "dma.memcpy program=\"ab hang", 12, "a \" is missing; quotes enclose a whole value" },
			   { "dma.memcpy program=\"ab\"c hang", 20, "quotes enclose a whole value" },
			   { "dma.memcpy program=a\"b\" hang", 20,
			     "program: expected a name of up to 31 bytes (* and ? are wildcards), got `a\"b\"`" },
			   { "peer program=\"a\tb\" kill", 15,
			     "program: expected a name without a tab; ? matches one, got `a?b`" },
			   { "dma.memcpy delay=trace(a\tb)", 24,
			     "delay: expected trace(FILE), the file's name without a tab, got `a?b`" },
			   { "dma.memcpy delay=uniform(1us,2us", 12, "parentheses do not match: a ) is missing" },
			   { "dma.memcpy delay=1us)", 12, "parentheses do not match: a ( is missing" });
}

static void test_values_out_of_range_are_refused(void **state)
{
	assert_all_refused(
		{ "dma.memcpy nth=x hang", 16, "nth: expected a number from 1, got `x`" },
		{ "dma.memcpy nth=0 hang", 16, "nth: expected a number from 1, got `0`" },
		{ "dma.memcpy nth=4294967296 hang", 16, "nth: expected a number from 1, got `4294967296`" },
		{ "dma.memcpy size=4q hang", 17,
		  "size: expected bytes (4096, 64k, 1M) or a range of them (1k..64k), got `4q`" },
		{ "dma.memcpy size<0 hang", 17,
		  "size: expected bytes (4096, 64k, 1M) or a range of them (1k..64k), got `0`" },
		{ "dma.memcpy addr=0xg hang", 17,
		  "addr: expected a range of addresses (0x7f0000000000..0x7f00000fffff), got `0xg`" },
		{ "dma.memcpy pid=0 hang", 16, "pid: expected a number from 1, got `0`" },
		{ "dma.memcpy side=aaaaaaaaaaaaaaaaaaaaaaaaaaaa hang", 17,
		  "side: expected a name of up to 23 bytes (* and ? are wildcards), got `aaaaaaaaaaaaaaaaaaaaaaaaaaaa`" },
		{ "dma.memcpy p=0 hang", 14,
		  "p: expected a probability above 0 and up to 1 (0.01, 1e-6, 5%), got `0`" },
		{ "dma.memcpy p=1.5 hang", 14,
		  "p: expected a probability above 0 and up to 1 (0.01, 1e-6, 5%), got `1.5`" },
		{ "dma.memcpy seed=-1 hang", 17, "seed: expected a number from 0, got `-1`" },
		{ "dma.memcpy from=1 hang", 17,
		  "from: expected a time of whole ns, up to 1000000000s, with its unit ns, us, ms or s (1.5ms), got `1`" },
		{ "dma.memcpy from=1.5ns hang", 17,
		  "from: expected a time of whole ns, up to 1000000000s, with its unit ns, us, ms or s (1.5ms), got `1.5ns`" },
		{ "dma.memcpy from=99999999999s hang", 17,
		  "from: expected a time of whole ns, up to 1000000000s, with its unit ns, us, ms or s (1.5ms), got `99999999999s`" });
}

static void test_parameters_out_of_range_are_refused(void **state)
{
	assert_all_refused(
		{ "dma.memcpy fail=SUCCESS", 17,
		  "fail: expected an error of the API without DOCA_ERROR_ (IO_FAILED, TIME_OUT, ...), got `SUCCESS`" },
		{ "dma.memcpy fail=EIO", 17,
		  "fail: expected an error of the API without DOCA_ERROR_ (IO_FAILED, TIME_OUT, ...), got `EIO`" },
		{ "dma.memcpy fail=DRIVER moved=101%", 30,
		  "moved: expected bytes (4096, 64k) or a part of the copy (50%), got `101%`" },
		{ "dma.memcpy refuse=IO_FAILED", 19, "refuse: expected AGAIN or NO_MEMORY, got `IO_FAILED`" },
		{ "dma.memcpy flip=0", 17, "flip: expected a number from 1 to 1048576, got `0`" },
		{ "dma.memcpy flip=2000000", 17, "flip: expected a number from 1 to 1048576, got `2000000`" },
		{ "comch.send reorder=0", 20, "reorder: expected a number from 1 to 1024, got `0`" },
		{ "comch.send truncate=x", 21,
		  "truncate: expected bytes that are left of the message (0, 16, 1k), got `x`" },
		{ "comch.connect stall=0", 21, "stall: expected a time above 0, got `0`" },
		{ "link degrade=gen7x4", 14,
		  "degrade: expected a generation of 1 to 6 and 1, 2, 4, 8 or 16 lanes (gen2x4), got `gen7x4`" },
		{ "link degrade=gen2x3", 14,
		  "degrade: expected a generation of 1 to 6 and 1, 2, 4, 8 or 16 lanes (gen2x4), got `gen2x3`" },
		{ "link degrade=2x4", 14,
		  "degrade: expected a generation of 1 to 6 and 1, 2, 4, 8 or 16 lanes (gen2x4), got `2x4`" },
		{ "link errors=0", 13,
		  "errors: expected a part of all packets above 0 and up to 1 (1e-4, 0.1%), got `0`" },
		{ "function num_vfs=x", 18, "num_vfs: expected a number from 0 to 65535, got `x`" });
}

static void test_delays_that_are_none_are_refused(void **state)
{
	assert_all_refused(
		{ "dma.memcpy delay=10", 18,
		  "delay: expected a time with its unit (10us), or one of uniform(a,b), normal(mean,sd), lognormal(mean,sd), pareto(min,alpha), trace(FILE), got `10`" },
		{ "dma.memcpy delay=gauss(1us,2us)", 18,
		  "delay: expected a time with its unit (10us), or one of uniform(a,b), normal(mean,sd), lognormal(mean,sd), pareto(min,alpha), trace(FILE), got `gauss(1us,2us)`" },
		{ "dma.memcpy delay=lognormal(1us)", 28,
		  "delay: expected lognormal(MEAN, DEVIATION), with units of time (20us), got `1us`" },
		{ "dma.memcpy delay=uniform(2us,1us)", 12, "delay: uniform(LEAST, MOST) has the smaller one first" },
		{ "dma.memcpy delay=lognormal(0,1us)", 12, "delay: lognormal(MEAN, DEVIATION) needs a mean above 0" },
		{ "dma.memcpy delay=pareto(1us,0)", 12,
		  "delay: pareto(LEAST, ALPHA) needs a least delay above 0 and an alpha of at least 0.01" },
		{ "dma.memcpy delay=pareto(1us,1001)", 25,
		  "delay: expected pareto(LEAST, ALPHA), with units of time (20us) and a number up to 1000, got `1us,1001`" },
		{ "dma.memcpy delay=trace()", 24,
		  "delay: expected trace(FILE), the file's name up to 127 bytes, got ``" });
}

static void test_rules_that_can_never_act_are_refused(void **state)
{
	assert_all_refused(
		{ "dma.memcpy", 1, "the rule does nothing; add an action, for instance fail=IO_FAILED or delay=10us" },
		{ "dma.memcpy drop", 12,
		  "drop: is not an action of dma.memcpy; actions there: fail, hang, refuse, delay, flip, tear" },
		{ "comch.send tear", 12,
		  "tear: is not an action of comch.send; actions there: fail, hang, refuse, delay, flip, drop, duplicate, reorder, truncate, break" },
		{ "link hang", 6, "hang: is not an action of link; actions there: down, degrade, errors, fatal" },
		{ "peer size=3 kill", 6, "size: is not a condition of peer; conditions there: side, program, pid" },
		{ "daemon side=host kill", 8, "side: is not a condition of daemon; conditions there: none" },
		{ "link program=x down=1s", 6, "program: is not a condition of link; conditions there: side, device" },
		{ "dma.memcpy size>=64k size<4k hang", 22,
		  "size: nothing is at least as large as one bound and at most as large as the other" },
		{ "dma.memcpy size=8k..4k hang", 12,
		  "size: nothing is at least as large as one bound and at most as large as the other" },
		{ "dma.memcpy addr=0x2000..0x1000 hang", 12, "addr: the range ends before it begins" },
		{ "dma.memcpy from=2s until=1s hang", 20, "until: is not later than from; the rule would never act" },
		{ "comch.connect refuse=AGAIN", 15,
		  "refuse: of a connection has no status; write refuse, or fail=AGAIN" },
		{ "alloc fail=IO_FAILED", 7, "fail: alloc fails with NO_MEMORY and nothing else" },
		{ "comch.send fail=DRIVER moved=50%", 24,
		  "moved: only dma.memcpy and tasks of engines (sha, compress and others) can fail with a part of it done" });
}

static void test_words_that_do_not_go_together_are_refused(void **state)
{
	assert_all_refused(
		{ "dma.memcpy hang drop", 17, "drop: cannot be combined with hang; write two rules" },
		{ "dma.memcpy hang delay=1us", 17, "delay: cannot be combined with hang; write two rules" },
		{ "dma.memcpy fail=DRIVER hang", 12, "fail: cannot be combined with hang; write two rules" },
		{ "comch.send drop duplicate", 17, "duplicate: cannot be combined with drop; write two rules" },
		{ "link down=1s degrade=gen1x1", 14, "degrade: cannot be combined with down; write two rules" },
		{ "comch.connect stall=1s down=2s", 24, "down: a rule has one of stall, down and pause" },
		{ "dma.memcpy nth=3 every=3 hang", 18,
		  "every: cannot be combined with nth; nth hits once, every hits again and again (skip says from where on)" },
		{ "dma.memcpy moved=50% hang", 12, "moved: goes with fail only; it says what was written before" },
		{ "dma.memcpy after='comch.send' hang", 12,
		  "after: goes with events (link, net.link, function, peer, daemon); of operations, skip and nth count" },
		{ "link nth=2 after='comch.send' down=1s", 12,
		  "after: cannot be combined with nth, every or skip; its own nth=N is in its quotes" },
		{ "link after='comch.send' from=1s down=1s", 25,
		  "from: cannot be combined with after; the event begins at the operation" },
		{ "link after='peer' down=1s", 13, "after: an event follows operations, such as dma.memcpy" },
		{ "link after='dma.memcpy every=2' down=1s", 24,
		  "after: takes operations and perhaps nth=N, such as after='dma.memcpy nth=10'" },
		{ "link after='dma.memcpy nth=0' down=1s", 28, "nth: expected a number from 1, got `0`" },
		{ "link after='dma.memcpy nth=1 x' down=1s", 13,
		  "after: expected operations and perhaps nth=N, got `dma.memcpy nth=1 x`" },
		{ "link after='dma.memcpy down=1s", 6, "a ' is missing; quotes enclose a whole value" },
		{ "dma.*,comch.send drop tear", 23, "tear: cannot be combined with drop; write two rules" });
}

static void test_control_characters_and_overlong_lines_are_refused(void **state)
{
	char text[2 * SIM_RULE_LINE_SIZE];
	struct mistake longest = { text, 1, "the rule is longer than 1023 bytes" };

	assert_all_refused(
		{ "dma.memcpy hang\n", 16, "a rule is one line of plain text; remove the control character" },
		{ "dma.memcpy\033 hang", 11, "a rule is one line of plain text; remove the control character" });
	memset(text, ' ', sizeof(text));
	memcpy(text, "dma.memcpy hang", 15);
	text[SIM_RULE_LINE_SIZE] = '\0';
	assert_refused(&longest);
}

/* A quotation in a message may be long; the message is not. */
static void test_long_words_are_quoted_in_part(void **state)
{
	char text[1000];
	struct mistake mistake = { text, 12,
				   "unknown word `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`; an operation is "
				   "followed by conditions and actions, such as size>=4k nth=3 fail=IO_FAILED" };

	memset(text, 'a', sizeof(text));
	memcpy(text, "dma.memcpy ", 11);
	text[sizeof(text) - 1] = '\0';
	assert_refused(&mistake);
}

/* A rule from an untrusted source: only results of the compiler are accepted. */
static void test_unsound_rules_are_refused(void **state)
{
	char file[SIM_DELAYS_FILE_SIZE];
	struct sim_rule_error error;
	struct sim_rule good, bad;

	assert_int_equal(sim_rule_parse("dma.memcpy size=1k..2k every=3 delay=pareto(1us,1.5)", &good, file, &error),
			 0);
	assert_int_equal(sim_rule_check(&good), 0);
#define assert_unsound(member, value)                            \
	do {                                                     \
		bad = good;                                      \
		bad.member = (value);                            \
		assert_int_equal(sim_rule_check(&bad), -EINVAL); \
	} while (0)
	assert_unsound(ops, 0);
	assert_unsound(ops, ~(sim_bits)0);
	assert_unsound(ops, SIM_OP_BIT(SIM_OP_LINK));
	assert_unsound(actions, 0);
	assert_unsound(actions, ~(sim_bits)0);
	assert_unsound(actions, SIM_ACT_BIT(SIM_ACT_FAIL));
	assert_unsound(where, UINT32_MAX);
	assert_unsound(when, UINT32_MAX);
	assert_unsound(every, 0);
	assert_unsound(nth, 1);
	assert_unsound(chance_ppb, 5);
	assert_unsound(size_max, 5);
	assert_unsound(addr_min, 5);
	assert_unsound(from_ns, 5);
	assert_unsound(until_ns, 0);
	assert_unsound(delay_kind, 200);
	assert_unsound(delay_kind, SIM_DELAY_NONE);
	assert_unsound(delay_b, 0);
	assert_unsound(delay_b, UINT64_MAX);
	assert_unsound(delay_a, UINT64_MAX);
	assert_unsound(status, 17);
	assert_unsound(flip_bits, 1);
	assert_unsound(window, 1);
	assert_unsound(link_gen, 1);
	assert_unsound(side[0], 'x');
	assert_unsound(reserved[0], 1);
	bad = good;
	bad.where |= SIM_WHERE_PROGRAM;
	memset(bad.program, 'x', sizeof(bad.program)); /* without an end */
	assert_int_equal(sim_rule_check(&bad), -EINVAL);
	bad.program[5] = '\0';
	assert_int_equal(sim_rule_check(&bad), -EINVAL); /* bytes behind its end */
	memset(bad.program + 5, 0, sizeof(bad.program) - 5);
	assert_int_equal(sim_rule_check(&bad), 0);
	bad.program[0] = '\n';
	assert_int_equal(sim_rule_check(&bad), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rule_without_operation_is_refused),
		cmocka_unit_test(test_unknown_words_are_refused_with_the_nearest_known),
		cmocka_unit_test(test_words_in_the_wrong_shape_are_refused),
		cmocka_unit_test(test_values_out_of_range_are_refused),
		cmocka_unit_test(test_parameters_out_of_range_are_refused),
		cmocka_unit_test(test_delays_that_are_none_are_refused),
		cmocka_unit_test(test_rules_that_can_never_act_are_refused),
		cmocka_unit_test(test_words_that_do_not_go_together_are_refused),
		cmocka_unit_test(test_control_characters_and_overlong_lines_are_refused),
		cmocka_unit_test(test_long_words_are_quoted_in_part),
		cmocka_unit_test(test_unsound_rules_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

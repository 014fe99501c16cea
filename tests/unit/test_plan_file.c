/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans in YAML: the resulting rules, and the messages on mistakes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/faults/plan/plan_file.h"

static struct sim_plan_file parse(const char *yaml)
{
	char error[SIM_PLAN_FILE_ERROR_SIZE];
	struct sim_plan_file file;

	if (sim_plan_file_parse("plan.yaml", yaml, strlen(yaml), &file, error))
		fail_msg("%s", error);
	return file;
}

static void assert_rule(const struct sim_plan_file *file, uint32_t i, unsigned int line, const char *expected)
{
	char text[SIM_RULE_TEXT_SIZE];

	assert_true(i < file->num_rules);
	sim_rule_format(&file->rules[i].rule, file->rules[i].delays_file, text);
	assert_string_equal(text, expected);
	assert_int_equal(file->rules[i].line, line);
}

static void test_rules_are_lines_or_mappings(void **state)
{
	struct sim_plan_file file = parse("seed: 42\n"
					  "faults:\n"
					  "  - dma.memcpy size>=4096 nth=3 fail=IO_FAILED\n"
					  "  - {op: comch.send, every: 10, times: 3, drop: true}\n"
					  "  - op: dma.memcpy\n"
					  "    program: my app\n"
					  "    size: \">=4k\"\n"
					  "    fail: IO_FAILED\n"
					  "    moved: 50%\n"
					  "  - delay: uniform(1us, 2us)\n"
					  "    op: dma.*\n"
					  "    size: 1k..64k\n"
					  "  - {op: dma.memcpy, delay: trace(slow disk.txt)}\n"
					  "  - \"link device=03:00.0 from=1s down=200ms\"\n");

	assert_true(file.has_seed);
	assert_int_equal(file.seed, 42);
	assert_int_equal(file.num_rules, 6);
	assert_rule(&file, 0, 3, "dma.memcpy size>=4k nth=3 fail=IO_FAILED");
	assert_rule(&file, 1, 4, "comch.send every=10 times=3 drop");
	assert_rule(&file, 2, 5, "dma.memcpy program=\"my app\" size>=4k fail=IO_FAILED moved=50%");
	assert_rule(&file, 3, 10, "dma.memcpy size=1k..64k delay=uniform(1us,2us)");
	assert_rule(&file, 4, 13, "dma.memcpy delay=trace(\"slow disk.txt\")");
	assert_rule(&file, 5, 14, "link device=0000:03:00.0 from=1s down=200ms");
	sim_plan_file_fini(&file);
}

/* Spellings of YAML's versions and of their users. A keyword that needs a value gets one. */
static void test_words_that_stand_alone_are_true_in_any_spelling(void **state)
{
	struct sim_plan_file file = parse("faults:\n"
					  "  - {op: comch.send, drop: yes}\n"
					  "  - {op: comch.send, drop: On}\n"
					  "  - {op: comch.send, drop: TRUE}\n"
					  "  - {op: comch.connect, refuse: yes}\n"
					  "  - {op: dma.memcpy, side: no, program: yes, hang: true}\n");

	assert_int_equal(file.num_rules, 5);
	for (uint32_t i = 0; i < 3; i++)
		assert_rule(&file, i, 2 + i, "comch.send drop");
	assert_rule(&file, 3, 5, "comch.connect refuse");
	assert_rule(&file, 4, 6, "dma.memcpy side=no program=yes hang");
	sim_plan_file_fini(&file);
}

static void test_plan_may_be_empty_and_without_seed(void **state)
{
	struct sim_plan_file file = parse("faults: []\n");

	assert_false(file.has_seed);
	assert_int_equal(file.num_rules, 0);
	sim_plan_file_fini(&file);
}

static void assert_refused(const char *yaml, const char *message)
{
	struct sim_plan_file file = { .num_rules = 77 };
	char error[SIM_PLAN_FILE_ERROR_SIZE];

	if (sim_plan_file_parse("plan.yaml", yaml, strlen(yaml), &file, error) != -EINVAL)
		fail_msg("taken: %s", yaml);
	assert_memory_equal(error, "plan.yaml:", 10);
	assert_string_equal(error + 10, message);
	assert_int_equal(file.num_rules, 77);
}

static void test_text_that_is_no_plan_is_refused(void **state)
{
	assert_refused("", "1: the file is empty; it needs \"faults:\" and a list of rules");
	assert_refused("hello\n", "1: expected \"faults:\" and a list of rules");
	assert_refused("seed: 1\n", "1: faults: is missing; this field is required");
	assert_refused("faults:\n", "1: faults: expected a list ([a, b] or \"- a\" lines)");
	assert_refused("faults: []\nfault: []\n", "2: fault: unknown field; did you mean faults?");
	assert_refused("faults: []\nfaults: []\n", "2: faults: is given twice; remove one");
	assert_refused("seed: 1\nseed: 2\n", "2: seed: is given twice; remove one");
	assert_refused("seed: x\n", "1: seed: expected a number from 0, got `x`");
	assert_refused("seed: [1]\n", "1: seed: expected a number from 0, got ``");
	assert_refused("faults: []\n---\nfaults: []\n", "2: a second document (---) starts here; write one per file");
	assert_refused("faults:\n  - [a]\n",
		       "2: faults[0]: expected a rule: a line (dma.memcpy nth=3 fail=IO_FAILED) or a mapping "
		       "({op: dma.memcpy, nth: 3, fail: IO_FAILED})");
	assert_refused("faults:\n- &a dma.memcpy tear\n- *a\n",
		       "2: faults[0]: anchors (&name) are not supported; repeat the value");
	assert_refused("faults: [\n", "2: faults: not YAML: did not find expected node content");
	assert_refused("#\nfaults: \001\n", "2: not YAML: control characters are not allowed");
	assert_refused("faults:\n- \"dma\\0\"\n", "2: faults[0]: has a zero byte in its text; remove it");
}

static void test_mistakes_in_rules_are_refused_with_their_line(void **state)
{
	assert_refused("faults:\n  - dma.memcpy tear\n  - dma.memcpy nth=x tear\n",
		       "3: faults[1]: column 16 of the rule: nth: expected a number from 1, got `x`");
	assert_refused("faults:\n  - op: dma.memcpy\n    nth: x\n    tear: true\n",
		       "3: faults[0]: nth: expected a number from 1, got `x`");
	assert_refused(
		"faults:\n  - nth: 3\n    op: dma.memcpy\n    drop: true\n",
		"4: faults[0]: drop: is not an action of dma.memcpy; actions there: fail, hang, refuse, delay, flip, tear");
	assert_refused("faults:\n  - nth: 3\n    tear: true\n",
		       "2: faults[0]: op is missing; it names the operation (dma.memcpy)");
	assert_refused("faults:\n  - op: dma.memcopy\n    tear: true\n",
		       "2: faults[0]: unknown operation `dma.memcopy`; did you mean `dma.memcpy`?");
	assert_refused("faults:\n  - {op: dma.memcpy, op: dma.memcpy}\n",
		       "2: faults[0].op: is given twice; remove one");
	assert_refused("faults:\n  - {op: dma.memcpy, tear: false}\n",
		       "2: faults[0].tear: cannot be false; leave it out");
	assert_refused("faults:\n  - {op: dma.memcpy, tear: [1]}\n", "2: faults[0].tear: expected a single value");
	assert_refused("faults:\n  - {op: dma.memcpy, nth: 1,\n     nth: 2, tear: true}\n",
		       "3: faults[0]: nth: is given twice; remove one");
	assert_refused("faults:\n  - {op: dma.memcpy, fail: \"\"}\n",
		       "2: faults[0]: fail: its value is missing: fail=STATUS");
	assert_refused("faults:\n  - {op: dma.memcpy, tear: \"\"}\n",
		       "2: faults[0].tear: takes no value; write tear: true, or leave it out");
	assert_refused("faults:\n  - {op: dma.memcpy, tear: 1}\n",
		       "2: faults[0].tear: takes no value; write tear: true, or leave it out");
	assert_refused("faults:\n  - {op: dma.memcpy, tear: No}\n", "2: faults[0].tear: cannot be false; leave it out");
	assert_refused("faults:\n  - {op: dma.memcpy, refuse: off}\n",
		       "2: faults[0].refuse: cannot be false; leave it out");
}

/* One value is one word: a value cannot bring further words. */
static void test_values_can_not_smuggle_words(void **state)
{
	assert_refused("faults:\n  - {op: dma.memcpy, nth: 3 hang}\n",
		       "2: faults[0]: nth: expected a number from 1, got `3 hang`");
	assert_refused(
		"faults:\n  - {op: dma.memcpy, delay: 1us flip=3}\n",
		"2: faults[0]: delay: expected a time with its unit (10us), or one of uniform(a,b), normal(mean,sd), "
		"lognormal(mean,sd), pareto(min,alpha), trace(FILE), got `1us flip=3`");
	assert_refused("faults:\n  - {op: dma.memcpy, delay: 'trace(a) flip=3 \"\"'}\n",
		       "2: faults[0].delay: a value with spaces cannot have a \" in it");
	assert_refused("faults:\n  - {op: dma.memcpy, program: \"x\\\" hang\"}\n",
		       "2: faults[0]: a \" is missing; quotes enclose a whole value");
	assert_refused("faults:\n  - {op: dma.memcpy hang}\n",
		       "2: faults[0].op: expected an operation, such as dma.memcpy, got `dma.memcpy hang`");
	assert_refused("faults:\n  - {op: dma.memcpy, \"nth=3 hang\": true}\n",
		       "2: faults[0]: expected one of a rule's words as key, such as op, size, nth or fail");
	assert_refused("faults:\n  - {op: dma.memcpy, tear: \"true\\nhang\"}\n",
		       "2: faults[0].tear: takes no value; write tear: true, or leave it out");
	assert_refused("faults:\n  - {op: dma.memcpy, program: \"app\\nhang\"}\n",
		       "2: faults[0]: a rule is one line of plain text; remove the control character");
}

static void test_overlong_plans_are_refused(void **state)
{
	struct sim_plan_file file;
	char error[SIM_PLAN_FILE_ERROR_SIZE];
	char *text = malloc(SIM_PLAN_FILE_MAX_BYTES + 1);
	size_t len;

	assert_non_null(text);
	memset(text, '#', SIM_PLAN_FILE_MAX_BYTES + 1);
	assert_int_equal(sim_plan_file_parse("plan.yaml", text, SIM_PLAN_FILE_MAX_BYTES + 1, &file, error), -EINVAL);
	assert_string_equal(error, "plan.yaml:1: is larger than 4194304 bytes");
	len = (size_t)sprintf(text, "faults:\n");
	for (int i = 0; i <= SIM_PLAN_MAX_RULES; i++)
		len += (size_t)sprintf(text + len, "- peer kill\n");
	assert_int_equal(sim_plan_file_parse("plan.yaml", text, len, &file, error), -EINVAL);
	assert_string_equal(error, "plan.yaml:1: faults: has more than 4096 entries");
	len = (size_t)sprintf(text, "faults:\n- op: dma.memcpy\n  nth: ");
	memset(text + len, '1', 2000);
	assert_int_equal(sim_plan_file_parse("plan.yaml", text, len + 2000, &file, error), -EINVAL);
	assert_string_equal(error, "plan.yaml:3: faults[0].nth: the rule is longer than 1023 bytes");
	free(text);
}

/* Files --------------------------------------------------------------------------------- */

static char folder[] = "/tmp/test_plan_file.XXXXXX";

static int make_folder(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static const char *path_of(const char *name)
{
	static char path[2][128];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
	return path[turn];
}

static void write_file(const char *name, const char *text)
{
	FILE *stream = fopen(path_of(name), "w");

	assert_non_null(stream);
	assert_true(fputs(text, stream) >= 0);
	assert_int_equal(fclose(stream), 0);
}

static int remove_folder(void **state)
{
	unlink(path_of("plan.yaml"));
	unlink(path_of("delays.txt"));
	return rmdir(folder);
}

static void count_rule(void *arg, const struct sim_plan_rule *rule)
{
	++*(int *)arg;
}

static void test_a_loaded_plan_takes_its_delays_from_beside_it(void **state)
{
	char error[SIM_PLAN_FILE_ERROR_SIZE];
	struct sim_plan_file file;
	struct sim_plan *plan;
	int count = 0;

	write_file("plan.yaml", "seed: 7\nfaults:\n- dma.memcpy delay=trace(delays.txt)\n- dma.memcpy tear\n");
	write_file("delays.txt", "5us\n6us\n");
	if (sim_plan_file_load(path_of("plan.yaml"), &file, error))
		fail_msg("%s", error);
	assert_int_equal(file.rules[0].delays->count, 2);
	assert_null(file.rules[1].delays);
	assert_int_equal(sim_plan_create(1, &plan), 0);
	assert_int_equal(sim_plan_file_apply(&file, plan, 0, error), 0);
	assert_int_equal(atomic_load(&plan->seed), 7);
	sim_plan_each(plan, count_rule, &count);
	assert_int_equal(count, 2);
	sim_plan_destroy(plan);
	sim_plan_file_fini(&file);
}

static void test_files_that_are_not_there_are_named(void **state)
{
	char error[SIM_PLAN_FILE_ERROR_SIZE], expected[SIM_PLAN_FILE_ERROR_SIZE];
	struct sim_plan_file file;

	assert_int_equal(sim_plan_file_load(path_of("absent.yaml"), &file, error), -ENOENT);
	snprintf(expected, sizeof(expected), "%s: No such file or directory", path_of("absent.yaml"));
	assert_string_equal(error, expected);
	assert_int_equal(sim_plan_file_load(folder, &file, error), -EISDIR);
	write_file("plan.yaml", "faults:\n- dma.memcpy tear\n- dma.memcpy delay=trace(absent.txt)\n");
	assert_int_equal(sim_plan_file_load(path_of("plan.yaml"), &file, error), -ENOENT);
	snprintf(expected, sizeof(expected), "%s:3: %s/absent.txt: can't read these delays: No such file or directory",
		 path_of("plan.yaml"), folder);
	assert_string_equal(error, expected);
}

static void test_a_full_plan_says_which_rule_has_no_place(void **state)
{
	struct sim_plan_file file = parse("faults:\n- dma.memcpy tear\n- dma.memcpy hang\n");
	char error[SIM_PLAN_FILE_ERROR_SIZE];
	struct sim_plan *plan;
	uint32_t id;

	assert_int_equal(sim_plan_create(1, &plan), 0);
	for (int i = 0; i < SIM_PLAN_MAX_RULES - 1; i++)
		assert_int_equal(sim_plan_add(plan, &file.rules[0].rule, NULL, 0, &id), 0);
	assert_int_equal(sim_plan_file_apply(&file, plan, 0, error), -ENOSPC);
	assert_string_equal(error, "the rule of line 3 cannot be added to the plan: it is full");
	sim_plan_destroy(plan);
	sim_plan_file_fini(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules_are_lines_or_mappings),
		cmocka_unit_test(test_words_that_stand_alone_are_true_in_any_spelling),
		cmocka_unit_test(test_plan_may_be_empty_and_without_seed),
		cmocka_unit_test(test_text_that_is_no_plan_is_refused),
		cmocka_unit_test(test_mistakes_in_rules_are_refused_with_their_line),
		cmocka_unit_test(test_values_can_not_smuggle_words),
		cmocka_unit_test(test_overlong_plans_are_refused),
		cmocka_unit_test(test_a_loaded_plan_takes_its_delays_from_beside_it),
		cmocka_unit_test(test_files_that_are_not_there_are_named),
		cmocka_unit_test(test_a_full_plan_says_which_rule_has_no_place),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The manual is right: its examples compile, its table is the program's. */
#include <stdio.h>
#include <string.h>

#include "rules.h"
#include "sim/faults/rule/rule.h"

#define MAX_LINE 2048

/* Call @row with the two first cells of each row of the table below @heading; the first one begins and ends with "`". */
static unsigned int each_row(const char *heading, void (*row)(const char *first, char *second))
{
	FILE *manual = fopen(MANUAL, "r");
	char line[MAX_LINE], first[MAX_LINE], second[MAX_LINE];
	unsigned int rows = 0;
	bool below = false;

	assert_non_null(manual);
	while (fgets(line, sizeof(line), manual)) {
		if (line[0] == '#')
			below = strstr(line, heading) != NULL;
		if (below && sscanf(line, "| `%[^|]| %[^|\n]", first, second) == 2) {
			first[strcspn(first, "\n")] = '\0';
			*strrchr(first, '`') = '\0';
			row(first, second);
			rows++;
		}
	}
	fclose(manual);
	return rows;
}

static void compile(const char *text, char *meaning)
{
	parse_rule(text);
}

static void test_examples_compile(void **state)
{
	assert_int_equal(each_row("Ten rules", compile), 10);
}

/* Which operations the rows of a table have named, each once; a row may name several: `a`, `b`. */
static bool is_named[SIM_OP_COUNT];

static void name_operation(const char *name, enum sim_op *ret_op)
{
	if (sim_op_find(name, strlen(name), ret_op))
		fail_msg("there is no %s", name);
	if (is_named[*ret_op])
		fail_msg("%s has two rows", name);
	is_named[*ret_op] = true;
}

static void expect_all_named(void)
{
	for (enum sim_op op = 0; op < SIM_OP_COUNT; op++)
		if (!is_named[op])
			fail_msg("%s has no row", sim_op_name(op));
	memset(is_named, 0, sizeof(is_named));
}

static void compare_actions(const char *names, char *list)
{
	char copy[MAX_LINE], *rest = NULL;
	uint32_t actions = 0;
	enum sim_act act;
	enum sim_op op;

	for (const char *word = strtok(list, "`, "); word; word = strtok(NULL, "`, ")) {
		assert_int_equal(sim_act_find(word, strlen(word), &act), 0);
		actions |= SIM_ACT_BIT(act);
	}
	strcpy(copy, names);
	for (const char *name = strtok_r(copy, "`, ", &rest); name; name = strtok_r(NULL, "`, ", &rest)) {
		name_operation(name, &op);
		if (actions != sim_op_actions(op))
			fail_msg("the manual is wrong about %s", name);
	}
}

static void test_table_of_actions_is_the_programs(void **state)
{
	each_row("Which goes with which", compare_actions);
	expect_all_named();
}

static void know_operation(const char *names, char *meaning)
{
	char copy[MAX_LINE], *rest = NULL;
	enum sim_op op;

	strcpy(copy, names);
	for (const char *name = strtok_r(copy, "`, ", &rest); name; name = strtok_r(NULL, "`, ", &rest))
		name_operation(name, &op);
}

static void test_each_operation_is_explained(void **state)
{
	each_row("## Operations", know_operation);
	expect_all_named();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples_compile),
		cmocka_unit_test(test_table_of_actions_is_the_programs),
		cmocka_unit_test(test_each_operation_is_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

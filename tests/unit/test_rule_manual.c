/* SPDX-License-Identifier: BSD-3-Clause */
/* The manual is right: its examples compile, its table is the program's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "sim/faults/rule/rule.h"

#define MAX_LINE 2048

/* Call @row with the two first cells of each row of the table below @heading. */
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
		if (below && sscanf(line, "| `%[^`]` | %[^|\n]", first, second) == 2) {
			row(first, second);
			rows++;
		}
	}
	fclose(manual);
	return rows;
}

static void compile(const char *text, char *meaning)
{
	char file[SIM_DELAYS_FILE_SIZE];
	struct sim_rule_error error;
	struct sim_rule rule;

	(void)meaning;
	if (sim_rule_parse(text, &rule, file, &error))
		fail_msg("%s: %s", text, error.text);
}

static void test_examples_compile(void **state)
{
	(void)state;
	assert_int_equal(each_row("Ten rules", compile), 10);
}

static void compare_actions(const char *name, char *list)
{
	uint32_t actions = 0;
	enum sim_act act;
	enum sim_op op;

	assert_int_equal(sim_op_find(name, strlen(name), &op), 0);
	for (const char *word = strtok(list, "`, "); word; word = strtok(NULL, "`, ")) {
		assert_int_equal(sim_act_find(word, strlen(word), &act), 0);
		actions |= SIM_ACT_BIT(act);
	}
	if (actions != sim_op_actions(op))
		fail_msg("the manual is wrong about %s", name);
}

static void test_table_of_actions_is_the_programs(void **state)
{
	(void)state;
	assert_int_equal(each_row("Which goes with which", compare_actions), SIM_OP_COUNT);
}

static void know_operation(const char *name, char *meaning)
{
	enum sim_op op;

	(void)meaning;
	if (sim_op_find(name, strlen(name), &op))
		fail_msg("there is no %s", name);
}

static void test_each_operation_is_explained(void **state)
{
	(void)state;
	assert_int_equal(each_row("## Operations", know_operation), SIM_OP_COUNT);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* The manual is right: its examples compile, its tables are the program's. */
#include <stdio.h>
#include <string.h>

#include "rules.h"
#include "sim/faults/rule/rule_priv.h"

#define MAX_LINE 2048

typedef void row_reader(const char *first, char *second, char *third);

/* Call @row with the first cells of each row of the table below @heading; the first one begins and ends with "`". */
static unsigned int each_row(const char *heading, row_reader *row)
{
	FILE *manual = fopen(MANUAL, "r");
	char line[MAX_LINE], first[MAX_LINE], second[MAX_LINE], third[MAX_LINE];
	unsigned int rows = 0;
	bool below = false;

	assert_non_null(manual);
	while (fgets(line, sizeof(line), manual)) {
		if (line[0] == '#')
			below = strstr(line, heading) != NULL;
		third[0] = '\0';
		if (below && sscanf(line, "| `%[^|]| %[^|\n]| %[^|\n]", first, second, third) >= 2) {
			first[strcspn(first, "\n")] = '\0';
			*strrchr(first, '`') = '\0';
			row(first, second, third);
			rows++;
		}
	}
	fclose(manual);
	return rows;
}

static void compile(const char *text, char *second, char *third)
{
	parse_rule(text);
}

static void test_examples_compile(void **state)
{
	assert_int_equal(each_row("Ten rules", compile), 10);
}

/* ---- operations ---- */

static unsigned int find(const char *name, const char *(*name_at)(unsigned int i))
{
	unsigned int i = 0;

	while (name_at(i) && strcmp(name_at(i), name) != 0)
		i++;
	if (!name_at(i))
		fail_msg("there is no %s", name);
	return i;
}

static const char *op_name(unsigned int i)
{
	return sim_op_name((enum sim_op)i);
}

static const char *act_name(unsigned int i)
{
	return sim_act_name((enum sim_act)i);
}

/* Which operations the rows of a table have named, each once; a row may name several: `a`, `b`. */
static bool is_named[SIM_OP_COUNT];

static enum sim_op name_operation(const char *name)
{
	enum sim_op op = find(name, op_name);

	if (is_named[op])
		fail_msg("%s has two rows", name);
	is_named[op] = true;
	return op;
}

static void expect_all_named(void)
{
	for (enum sim_op op = 0; op < SIM_OP_COUNT; op++)
		if (!is_named[op])
			fail_msg("%s has no row", sim_op_name(op));
	memset(is_named, 0, sizeof(is_named));
}

static void compare_actions(const char *names, char *list, char *third)
{
	char copy[MAX_LINE], *rest = NULL;
	sim_bits actions = 0;

	for (const char *word = strtok(list, "`, "); word; word = strtok(NULL, "`, "))
		actions |= SIM_ACT_BIT(find(word, act_name));
	strcpy(copy, names);
	for (const char *name = strtok_r(copy, "`, ", &rest); name; name = strtok_r(NULL, "`, ", &rest))
		if (actions != sim_op_actions(name_operation(name)))
			fail_msg("the manual is wrong about the actions of %s", name);
}

static void test_table_of_actions_is_the_programs(void **state)
{
	each_row("Which goes with which", compare_actions);
	expect_all_named();
}

static const struct sim_keyword *find_keyword(const char *word)
{
	const struct sim_keyword *keyword =
		sim_keyword_at(sim_keyword_find((struct sim_text){ word, strcspn(word, "=<>") }));

	if (!keyword)
		fail_msg("there is no %s", word);
	return keyword;
}

/* The conditions that a cell names besides those of the process: `a`, `b` (text); "the same" as in the row above. */
static uint32_t read_conditions(char *cell)
{
	static uint32_t above;
	uint32_t where = strstr(cell, "only") || strstr(cell, "no conditions") ?
				 0 :
				 SIM_WHERE_SIDE | SIM_WHERE_PROGRAM | SIM_WHERE_PID;
	char *at = cell;

	if (strstr(cell, "the same"))
		return above;
	while ((at = strchr(at, '`')) != NULL) {
		char *end = strchr(++at, '`');

		assert_non_null(end);
		*end = '\0';
		where |= UINT32_C(1) << find_keyword(at)->number;
		at = end + 1;
	}
	return above = where;
}

static void compare_conditions(const char *names, char *meaning, char *conditions)
{
	uint32_t where = read_conditions(conditions);
	char copy[MAX_LINE], *rest = NULL;

	strcpy(copy, names);
	for (const char *name = strtok_r(copy, "`, ", &rest); name; name = strtok_r(NULL, "`, ", &rest))
		if (where != sim_op_where(name_operation(name)))
			fail_msg("the manual is wrong about the conditions of %s", name);
}

static void test_each_operation_is_explained_with_its_conditions(void **state)
{
	each_row("## Operations", compare_conditions);
	expect_all_named();
}

/* ---- words ---- */

static enum sim_keyword_kind expected_kind;
static unsigned int num_words;

/* `word=VALUE`, `word` or `word=ANOTHER` */
static void know_words(const char *cell, char *meaning, char *third)
{
	char copy[MAX_LINE], *rest = NULL;
	const struct sim_keyword *last = NULL;

	strcpy(copy, cell);
	for (const char *word = strtok_r(copy, "`", &rest); word; word = strtok_r(NULL, "`", &rest)) {
		const struct sim_keyword *keyword;

		if (strcspn(word, " ,") == 0)
			continue; /* between two words */
		keyword = find_keyword(word);
		if (keyword->kind != expected_kind && keyword->kind != SIM_KEYWORD_PART)
			fail_msg("%s belongs to another table", word);
		if ((strchr(word, '=') != NULL) != (keyword->arg.type != SIM_ARG_NONE) &&
		    !keyword->arg.may_be_missing && !strpbrk(word, "<>"))
			fail_msg("%s: its usage is %s", word, keyword->usage);
		num_words += keyword != last;
		last = keyword;
	}
}

static void test_each_word_is_explained(void **state)
{
	const struct {
		const char *heading;
		enum sim_keyword_kind kind;
		unsigned int count;
	} tables[] = {
		{ "## Where", SIM_KEYWORD_CONDITION, SIM_NUM_CONDITIONS },
		{ "## When", SIM_KEYWORD_LIMIT, SIM_NUM_LIMITS },
		{ "## What", SIM_KEYWORD_ACT, SIM_ACT_COUNT + 1 }, /* and moved */
	};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		expected_kind = tables[i].kind;
		num_words = 0;
		each_row(tables[i].heading, know_words);
		if (num_words != tables[i].count)
			fail_msg("%s: %u of %u words have a row of their own", tables[i].heading, num_words,
				 tables[i].count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples_compile),
		cmocka_unit_test(test_table_of_actions_is_the_programs),
		cmocka_unit_test(test_each_operation_is_explained_with_its_conditions),
		cmocka_unit_test(test_each_word_is_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

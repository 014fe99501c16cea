/* SPDX-License-Identifier: BSD-3-Clause */
/* What another machine answers about its fault plan is checked. */
#include "cmocka_test.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/number.h"
#include "sim/cli/fault/fault_change.h"
#include "sim/cli/reach/reach.h"

static const char *answer;

/* In place of reach.c. */
int cli_reach_call(const char *dir, const char *machine, const char *const *words, const void *input, size_t len,
		   FILE *out)
{
	fputs(answer, out);
	return CLI_OK;
}

int cli_fail(const char *format, ...)
{
	return CLI_FAILED;
}

int cli_number_parse(const char *text, int base, uint64_t min, uint64_t max, uint64_t *ret_number, const char **ret_end)
{
	return -1;
}

static bool takes(const char *text)
{
	json_object *list;

	answer = text;
	list = cli_fault_rules_of("session", "node1");
	json_object_put(list);
	return list;
}

static void test_rules_are_a_list_of_objects(void **state)
{
	assert_true(takes("[]"));
	assert_true(takes("[{\"id\": 1}]"));
	assert_false(takes(""));
	assert_false(takes("{}"));
	assert_false(takes("[1]"));
	assert_false(takes("[{}, null]"));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_rules_are_a_list_of_objects) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

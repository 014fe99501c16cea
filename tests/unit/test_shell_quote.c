/* SPDX-License-Identifier: BSD-3-Clause */
/* Quoting for a shell: the quoted text, and the shell's result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_test.h"
#include "sim/base/shell_quote.h"

static void assert_quoted(const char *text, const char *wanted)
{
	char *quoted = sim_shell_quote(text);

	assert_non_null(quoted);
	assert_string_equal(quoted, wanted);
	free(quoted);
}

static void test_text_that_is_one_word_stays_as_it_is(void **state)
{
	assert_quoted("/tmp/bfsim-1000/s_2.x", "/tmp/bfsim-1000/s_2.x");
	assert_quoted("0000:03:00.0", "0000:03:00.0");
}

static void test_text_that_is_not_gets_quotes(void **state)
{
	assert_quoted("", "''");
	assert_quoted("my dir/s", "'my dir/s'");
	assert_quoted("it's", "'it'\\''s'");
}

static void assert_shell_reads(const char *text)
{
	char *quoted = sim_shell_quote(text), *command = NULL, read[256] = "";
	FILE *shell;

	assert_true(asprintf(&command, "printf '[%%s]' %s", quoted) > 0);
	shell = popen(command, "r");
	assert_non_null(shell);
	assert_true(fread(read, 1, sizeof(read) - 1, shell) == strlen(text) + 2);
	assert_int_equal(pclose(shell), 0);
	assert_memory_equal(read + 1, text, strlen(text));
	free(command);
	free(quoted);
}

static void test_shell_reads_what_was_meant(void **state)
{
	static const char *const texts[] = { "plain",
					     "",
					     "two words",
					     "it's",
					     "'",
					     "$HOME",
					     "`id`",
					     "a;b",
					     "a\\b",
					     "*",
					     "~root",
					     "#no",
					     "a\tb",
					     "a\nb",
					     "\"",
					     "!!",
					     "a&b|c<d>e(f){g}[h]?",
					     "\xc3\xa4" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_shell_reads(texts[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_that_is_one_word_stays_as_it_is),
		cmocka_unit_test(test_text_that_is_not_gets_quotes),
		cmocka_unit_test(test_shell_reads_what_was_meant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

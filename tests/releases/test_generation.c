/* SPDX-License-Identifier: BSD-3-Clause */
/* Which generation of libraries a program is for. The only argument is the folder
 * of the programs that use every symbol of a release. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/cli/generation.h"

static const char *programs;

/* One of the programs, by its path. */
static enum cli_provider generation_of(const char *name)
{
	char *path;
	enum cli_provider generation;

	assert_true(asprintf(&path, "%s/%s", programs, name) > 0);
	generation = cli_generation_of_command(path);
	free(path);
	return generation;
}

static enum cli_provider generation_of_one(const char *symbol, const char *version)
{
	struct cli_import import = {.symbol = (char *)(uintptr_t)symbol, .version = (char *)(uintptr_t)version};
	struct cli_imports imports = {.list = &import, .num = 1};

	return cli_generation_of_imports(&imports);
}

static void test_program_of_2_2_is_of_the_workq_generation(void **state)
{
	(void)state;
	assert_int_equal(generation_of("uses_2_2"), CLI_BFSIM_WORKQ);
}

static void test_program_of_2_5_or_later_is_of_the_task_generation(void **state)
{
	(void)state;
	assert_int_equal(generation_of("uses_2_5"), CLI_BFSIM_TASK);
	assert_int_equal(generation_of("uses_2_10"), CLI_BFSIM_TASK);
	assert_int_equal(generation_of("uses_3_0"), CLI_BFSIM_TASK);
}

/* doca_mmap_create is in both, in 2.2 in node EXPERIMENTAL. */
static void test_version_of_a_symbol_tells_the_generation(void **state)
{
	(void)state;
	assert_int_equal(generation_of_one("doca_mmap_create", "EXPERIMENTAL"), CLI_BFSIM_WORKQ);
	assert_int_equal(generation_of_one("doca_mmap_create", "DOCA_2"), CLI_BFSIM_TASK);
	assert_int_equal(generation_of_one("doca_mmap_create", NULL), CLI_BFSIM_TASK);
}

static void test_symbol_of_1_5_alone_tells_the_generation(void **state)
{
	(void)state;
	assert_int_equal(generation_of_one("doca_mmap_populate", "EXPERIMENTAL"), CLI_BFSIM_WORKQ);
}

static void test_what_does_not_tell_is_of_the_task_generation(void **state)
{
	(void)state;
	assert_int_equal(generation_of_one("doca_log", "EXPERIMENTAL"), CLI_BFSIM_TASK); /* both have it */
	assert_int_equal(generation_of_one("doca_of_tomorrow", "DOCA_9"), CLI_BFSIM_TASK);
	assert_int_equal(cli_generation_of_command("/etc/passwd"), CLI_BFSIM_TASK);
	assert_int_equal(cli_generation_of_command("/nowhere/at/all"), CLI_BFSIM_TASK);
	assert_int_equal(cli_generation_of_command("no-program-of-this-name"), CLI_BFSIM_TASK);
	assert_int_equal(cli_generation_of_command(""), CLI_BFSIM_TASK);
}

static void test_program_is_found_in_the_path(void **state)
{
	(void)state;
	assert_int_equal(setenv("PATH", programs, 1), 0);
	assert_int_equal(cli_generation_of_command("uses_2_2"), CLI_BFSIM_WORKQ);
	assert_int_equal(setenv("PATH", "/nowhere:", 1), 0); /* an empty entry is the current directory */
	assert_int_equal(chdir(programs), 0);
	assert_int_equal(cli_generation_of_command("uses_2_2"), CLI_BFSIM_WORKQ);
}

static void test_names_lead_to_their_generation(void **state)
{
	(void)state;
	assert_int_equal(cli_generation_of_name("workq"), CLI_BFSIM_WORKQ);
	assert_int_equal(cli_generation_of_name("task"), CLI_BFSIM_TASK);
	assert_int_equal(cli_generation_of_name("2.2"), -1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program_of_2_2_is_of_the_workq_generation),
		cmocka_unit_test(test_program_of_2_5_or_later_is_of_the_task_generation),
		cmocka_unit_test(test_version_of_a_symbol_tells_the_generation),
		cmocka_unit_test(test_symbol_of_1_5_alone_tells_the_generation),
		cmocka_unit_test(test_what_does_not_tell_is_of_the_task_generation),
		cmocka_unit_test(test_names_lead_to_their_generation),
		cmocka_unit_test(test_program_is_found_in_the_path), /* last: it changes the environment */
	};

	if (argc != 2)
		return EXIT_FAILURE;
	programs = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}

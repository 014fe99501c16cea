/* SPDX-License-Identifier: BSD-3-Clause */
/* The generation of libraries that a program needs. The argument is the folder of
 * the programs that use every symbol of a release. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/cli/abi/generation.h"

static const char *programs;

static enum cli_generation generation_of_word(const char *word)
{
	char *command[] = { (char *)(uintptr_t)word, NULL };

	return cli_generation_of_command(command);
}

/* One of the programs, by its path. */
static enum cli_generation generation_of(const char *name)
{
	char *path;
	enum cli_generation generation;

	assert_true(asprintf(&path, "%s/%s", programs, name) > 0);
	generation = generation_of_word(path);
	free(path);
	return generation;
}

static enum cli_generation generation_of_one(const char *symbol, const char *version)
{
	struct cli_import import = { .symbol = (char *)(uintptr_t)symbol, .version = (char *)(uintptr_t)version };
	struct cli_imports imports = { .list = &import, .num = 1 };

	return cli_generation_of_imports(&imports);
}

static void test_program_of_2_2_is_of_the_workq_generation(void **state)
{
	assert_int_equal(generation_of("uses_2_2"), CLI_GENERATION_WORKQ);
	assert_int_equal(generation_of("old_jobs"), CLI_GENERATION_WORKQ);
	assert_int_equal(generation_of("old_channel_2_2"), CLI_GENERATION_WORKQ);
}

static void test_program_of_2_5_or_later_is_of_the_task_generation(void **state)
{
	assert_int_equal(generation_of("uses_2_5"), CLI_GENERATION_TASK);
	assert_int_equal(generation_of("uses_2_10"), CLI_GENERATION_TASK);
	assert_int_equal(generation_of("uses_3_0"), CLI_GENERATION_TASK);
	assert_int_equal(generation_of("old_copy"), CLI_GENERATION_TASK);
}

/* Comm Channel's symbols are in both generations' libraries, Comch's by its earlier name in one. */
static void test_program_of_2_5_with_comm_channel_is_of_the_task_generation(void **state)
{
	assert_int_equal(generation_of("old_channel"), CLI_GENERATION_TASK);
	assert_int_equal(generation_of("old_cc"), CLI_GENERATION_TASK);
}

/* A program that lacks the note of bfsim's header, and that is of 2.5 or 2.6 by its symbols alone. */
static void test_program_of_2_5_with_rdma_is_of_the_task_2_5_generation(void **state)
{
	assert_int_equal(generation_of("uses_rdma_2_5"), CLI_GENERATION_TASK_2_5);
	assert_int_equal(generation_of("uses_rdma_2_6"), CLI_GENERATION_TASK_2_5);
	assert_int_equal(generation_of("old_rdma"), CLI_GENERATION_TASK_2_5);
	assert_int_equal(generation_of_one("doca_rdma_task_receive_get_result_length", "EXPERIMENTAL"),
			 CLI_GENERATION_TASK_2_5);
	assert_int_equal(generation_of_one("doca_rdma_srq_create", "EXPERIMENTAL"), CLI_GENERATION_TASK_2_5);
}

static void test_note_of_the_header_tells_the_generation(void **state)
{
	struct cli_import import = { .symbol = (char *)(uintptr_t) "doca_rdma_connect",
				     .version = (char *)(uintptr_t) "EXPERIMENTAL" };
	struct cli_imports imports = { .list = &import, .num = 1 };

	assert_int_equal(generation_of("old_rdma_2_6"), CLI_GENERATION_TASK_2_5);
	assert_int_equal(cli_generation_of_imports(&imports), CLI_GENERATION_TASK);
	imports.is_of_task_2_5 = true;
	assert_int_equal(cli_generation_of_imports(&imports), CLI_GENERATION_TASK_2_5);
	import.symbol = (char *)(uintptr_t) "doca_pe_create"; /* the header is included, RDMA is not used */
	import.version = (char *)(uintptr_t) "DOCA_2";
	assert_int_equal(cli_generation_of_imports(&imports), CLI_GENERATION_TASK);
}

static void test_later_program_with_rdma_is_of_the_task_generation(void **state)
{
	assert_int_equal(generation_of("old_rdma_3_0"), CLI_GENERATION_TASK);
	assert_int_equal(generation_of_one("doca_rdma_connection_get_id", "EXPERIMENTAL"), CLI_GENERATION_TASK);
}

/* doca_mmap_create is in both, in 2.2 in node EXPERIMENTAL. */
static void test_version_of_a_symbol_tells_the_generation(void **state)
{
	assert_int_equal(generation_of_one("doca_mmap_create", "EXPERIMENTAL"), CLI_GENERATION_WORKQ);
	assert_int_equal(generation_of_one("doca_mmap_create", "DOCA_2"), CLI_GENERATION_TASK);
	assert_int_equal(generation_of_one("doca_mmap_create", NULL), CLI_GENERATION_TASK);
}

static void test_symbol_of_1_5_alone_tells_the_generation(void **state)
{
	assert_int_equal(generation_of_one("doca_mmap_populate", "EXPERIMENTAL"), CLI_GENERATION_WORKQ);
}

/* A FIFO among the words is not opened: an open would wait for a writer. */
static void test_program_that_another_one_starts_tells_the_generation(void **state)
{
	char dir[] = "/tmp/bfsim-generation-XXXXXX", *program, *script, *fifo;

	assert_non_null(mkdtemp(dir));
	assert_true(asprintf(&program, "%s/uses_2_2", programs) > 0);
	assert_true(asprintf(&script, "cd /; %s | cat", program) > 0);
	assert_true(asprintf(&fifo, "%s/fifo", dir) > 0);
	assert_int_equal(mkfifo(fifo, 0700), 0);
	assert_int_equal(cli_generation_of_command((char *[]){ "env", "A=1", fifo, dir, program, "-x", NULL }),
			 CLI_GENERATION_WORKQ);
	assert_int_equal(cli_generation_of_command((char *[]){ "sh", "-c", script, NULL }), CLI_GENERATION_WORKQ);
	assert_int_equal(cli_generation_of_command((char *[]){ "env", "A=1", NULL }), CLI_GENERATION_TASK);
	assert_int_equal(unlink(fifo), 0);
	assert_int_equal(rmdir(dir), 0);
	free(fifo);
	free(script);
	free(program);
}

static void test_what_does_not_tell_is_of_the_task_generation(void **state)
{
	assert_int_equal(generation_of_one("doca_log", "EXPERIMENTAL"), CLI_GENERATION_TASK); /* both have it */
	assert_int_equal(generation_of_one("doca_of_tomorrow", "DOCA_9"), CLI_GENERATION_TASK);
	assert_int_equal(generation_of_word("/etc/passwd"), CLI_GENERATION_TASK);
	assert_int_equal(generation_of_word("/nowhere/at/all"), CLI_GENERATION_TASK);
	assert_int_equal(generation_of_word("no-program-of-this-name"), CLI_GENERATION_TASK);
	assert_int_equal(generation_of_word(""), CLI_GENERATION_TASK);
}

static void test_program_is_found_in_the_path(void **state)
{
	assert_int_equal(setenv("PATH", programs, 1), 0);
	assert_int_equal(generation_of_word("uses_2_2"), CLI_GENERATION_WORKQ);
	assert_int_equal(setenv("PATH", "/nowhere:", 1), 0); /* an empty entry is the current directory */
	assert_int_equal(chdir(programs), 0);
	assert_int_equal(generation_of_word("uses_2_2"), CLI_GENERATION_WORKQ);
}

static enum cli_generation generation_of_shell(const char *format)
{
	char *text;
	enum cli_generation generation;

	assert_true(asprintf(&text, format, programs) > 0);
	generation = cli_generation_of_shell(text);
	free(text);
	return generation;
}

static void write_script(const char *path, const char *format, const char *program)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fprintf(file, format, program) > 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0700), 0);
}

/* One script starts another, which starts the program; one that starts itself ends the search. */
static void test_script_is_of_the_program_that_it_starts(void **state)
{
	char dir[] = "/tmp/bfsim-generation-XXXXXX", *inner, *outer;

	assert_non_null(mkdtemp(dir));
	assert_true(asprintf(&inner, "%s/inner", dir) > 0);
	assert_true(asprintf(&outer, "%s/outer", dir) > 0);
	write_script(inner, "#!/bin/sh\n# starts it\nset -e\nexec %s/uses_2_2 \"$@\"\n", programs);
	write_script(outer, "#!/bin/sh\n%s\n", inner);
	assert_int_equal(generation_of_word(inner), CLI_GENERATION_WORKQ);
	assert_int_equal(generation_of_word(outer), CLI_GENERATION_WORKQ);
	assert_int_equal(cli_generation_of_shell(outer), CLI_GENERATION_WORKQ);
	write_script(inner, "#!/bin/sh\n%s\n", outer);
	assert_int_equal(generation_of_word(outer), CLI_GENERATION_TASK);
	write_script(inner, "%s/uses_2_2\n", programs); /* no script */
	assert_int_equal(generation_of_word(inner), CLI_GENERATION_TASK);
	assert_int_equal(unlink(inner) || unlink(outer) || rmdir(dir), 0);
	free(inner);
	free(outer);
}

static void test_shell_command_is_of_the_first_word_that_uses_doca(void **state)
{
	assert_int_equal(generation_of_shell("cd /tmp && timeout 9 %s/uses_2_2"), CLI_GENERATION_WORKQ);
	assert_int_equal(generation_of_shell("until [ -s info ]; do sleep 1; done; %s/uses_2_2 -d info | cat"),
			 CLI_GENERATION_WORKQ);
	assert_int_equal(generation_of_shell("'%s/uses_2_2'"), CLI_GENERATION_WORKQ);
	assert_int_equal(generation_of_shell("exec \"%s/uses\"\\_2'_2' a b"), CLI_GENERATION_WORKQ);
	assert_int_equal(generation_of_shell("echo '%s/uses_2_2 is no word of its own'"), CLI_GENERATION_TASK);
	assert_int_equal(generation_of_shell("sh %s/uses_2_5 uses_2_2"), CLI_GENERATION_TASK);
	assert_int_equal(generation_of_shell("'%s/uses_2_2"), CLI_GENERATION_WORKQ); /* the shell reports the error */
	assert_int_equal(generation_of_shell("%s/uses_2_2"), CLI_GENERATION_WORKQ);
	assert_int_equal(generation_of_shell(" A=1 B= %s/uses_2_2 -x; true"), CLI_GENERATION_WORKQ);
	assert_int_equal(generation_of_shell("%s/uses_2_2>/dev/null"), CLI_GENERATION_WORKQ);
	assert_int_equal(generation_of_shell("%s/uses_2_5 uses_2_2"), CLI_GENERATION_TASK);
	assert_int_equal(generation_of_shell("cd %s; ./uses_2_2"), CLI_GENERATION_WORKQ);
	assert_int_equal(generation_of_shell("cd / && cd .%s && exec ./uses_2_2"), CLI_GENERATION_WORKQ);
	assert_int_equal(generation_of_shell("sh -c 'sleep 1; exec %s/uses_2_2'"), CLI_GENERATION_WORKQ);
	assert_int_equal(generation_of_shell("cd %s; bash -c \"sh -c 'exec ./uses_2_2'\""), CLI_GENERATION_WORKQ);
	assert_int_equal(cli_generation_of_shell(""), CLI_GENERATION_TASK);
	assert_int_equal(cli_generation_of_shell("A=1"), CLI_GENERATION_TASK);
	assert_int_equal(cli_generation_of_shell("(true)"), CLI_GENERATION_TASK);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program_of_2_2_is_of_the_workq_generation),
		cmocka_unit_test(test_program_of_2_5_or_later_is_of_the_task_generation),
		cmocka_unit_test(test_program_of_2_5_with_comm_channel_is_of_the_task_generation),
		cmocka_unit_test(test_program_of_2_5_with_rdma_is_of_the_task_2_5_generation),
		cmocka_unit_test(test_note_of_the_header_tells_the_generation),
		cmocka_unit_test(test_later_program_with_rdma_is_of_the_task_generation),
		cmocka_unit_test(test_version_of_a_symbol_tells_the_generation),
		cmocka_unit_test(test_symbol_of_1_5_alone_tells_the_generation),
		cmocka_unit_test(test_what_does_not_tell_is_of_the_task_generation),
		cmocka_unit_test(test_program_that_another_one_starts_tells_the_generation),
		cmocka_unit_test(test_script_is_of_the_program_that_it_starts),
		cmocka_unit_test(test_shell_command_is_of_the_first_word_that_uses_doca),
		cmocka_unit_test(test_program_is_found_in_the_path), /* last: it changes the environment */
	};

	if (argc != 2)
		return EXIT_FAILURE;
	programs = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Help, version and the usage text, each printed by a child of its own. */
#include "test_argp_util.h"

#include <doca_version.h>

#define COLUMN 36 /* where descriptions begin */

static char output[8192];

/* The line of @output that begins with @begin, cut off in a static copy. */
static const char *line(const char *begin)
{
	static char copy[512];
	const char *at = output;

	while (at && strncmp(at, begin, strlen(begin)) != 0) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		fail_msg("no line begins with '%s' in:\n%s", begin, output);
	snprintf(copy, sizeof(copy), "%.*s", (int)strcspn(at, "\n"), at);
	return copy;
}

static bool printed(const char *part)
{
	return strstr(output, part) != NULL;
}

static void add_programs_params(void)
{
	struct doca_argp_param *size = make_param(NULL, "num-size", DOCA_ARGP_TYPE_INT, on_size);
	struct doca_argp_param *hidden = make_param("x", "secret", DOCA_ARGP_TYPE_BOOLEAN, on_fast);
	struct doca_argp_param *wide = make_param("rdma_dev", "rdma-device", DOCA_ARGP_TYPE_STRING, on_other);

	doca_argp_param_set_arguments(size, "<bytes>");
	doca_argp_param_set_hidden(hidden);
	doca_argp_param_set_arguments(wide, "<RDMA device name>");
	add_param("n", "name", DOCA_ARGP_TYPE_STRING, on_name);
	add_param("f", NULL, DOCA_ARGP_TYPE_BOOLEAN, on_fast);
	assert_int_equal(doca_argp_register_param(size), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_param(hidden), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_param(wide), DOCA_SUCCESS);
}

static void add_cmds(void)
{
	struct doca_argp_param *name = make_param("n", "name", DOCA_ARGP_TYPE_STRING, on_name);
	struct doca_argp_cmd *get, *hidden;

	doca_argp_param_set_inherited(name);
	assert_int_equal(doca_argp_register_param(name), DOCA_SUCCESS);
	add_param("f", "fast", DOCA_ARGP_TYPE_BOOLEAN, on_fast);
	assert_int_equal(doca_argp_cmd_create(&get), DOCA_SUCCESS);
	doca_argp_cmd_set_name(get, "get");
	doca_argp_cmd_set_description(get, "What get does");
	assert_int_equal(doca_argp_cmd_register_param(get, make_param("s", "num-size", DOCA_ARGP_TYPE_INT, on_size)),
			 DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_cmd(get), DOCA_SUCCESS);
	assert_int_equal(doca_argp_cmd_create(&hidden), DOCA_SUCCESS);
	doca_argp_cmd_set_name(hidden, "debug");
	doca_argp_cmd_set_description(hidden, "What debug does");
	doca_argp_cmd_set_hidden(hidden);
	assert_int_equal(doca_argp_register_cmd(hidden), DOCA_SUCCESS);
}

static void help_short(void)
{
	add_programs_params();
	start("-h");
}

static void test_help_prints_the_usage_and_leaves_well(void **state)
{
	char expected[128];

	assert_int_equal(run_child(help_short, output, sizeof(output)), EXIT_SUCCESS);
	assert_string_equal(line("Usage:"), "Usage: prog [DOCA Flags] [Program Flags]");
	assert_true(printed("\n\nDOCA Flags:\n  -h, --help  "));
	assert_true(printed("\n\nProgram Flags:\n  -n, --name  "));
	snprintf(expected, sizeof(expected), "%-*sWhat it is for", COLUMN, "  -n, --name");
	assert_string_equal(line("  -n"), expected);
	snprintf(expected, sizeof(expected), "%-*sWhat it is for", COLUMN, "  -f");
	assert_string_equal(line("  -f"), expected);
	snprintf(expected, sizeof(expected), "%-*sWhat it is for", COLUMN, "  --num-size <bytes>");
	assert_string_equal(line("  --num-size"), expected);
	assert_string_equal(line("  -rdma_dev"), "  -rdma_dev, --rdma-device <RDMA device name> What it is for");
	assert_false(printed("secret"));
	assert_true(strlen(line("  -h, --help")) > COLUMN);
	assert_true(strlen(line("  -v, --version")) > COLUMN);
	assert_non_null(strstr(line("  -l, --log-level  "), "10=DISABLE"));
	assert_non_null(strstr(line("  --sdk-log-level  "), "70=TRACE"));
	assert_true(strlen(line("  -j, --json <path>  ")) > COLUMN);
}

static void tell_whether_destroyed(void)
{
	printf("destroy at exit: %d\n", doca_argp_destroy());
}

static void help_watched_at_exit(void)
{
	add_programs_params();
	atexit(tell_whether_destroyed);
	start("-h");
}

static void version_watched_at_exit(void)
{
	atexit(tell_whether_destroyed);
	start("-v");
}

static void test_parser_is_destroyed_before_help_or_version_exits(void **state)
{
	char expected[64];

	snprintf(expected, sizeof(expected), "destroy at exit: %d\n", DOCA_ERROR_BAD_STATE);
	assert_int_equal(run_child(help_watched_at_exit, output, sizeof(output)), EXIT_SUCCESS);
	assert_true(printed(expected));
	assert_int_equal(run_child(version_watched_at_exit, output, sizeof(output)), EXIT_SUCCESS);
	assert_true(printed(expected));
}

static void help_behind_other_flags(void)
{
	add_programs_params();
	start("--num-size", "3", "--help", "--bogus");
}

static void test_help_wins_over_what_stands_behind_it(void **state)
{
	assert_int_equal(run_child(help_behind_other_flags, output, sizeof(output)), EXIT_SUCCESS);
	assert_true(printed("Usage: prog"));
	assert_false(printed("bogus"));
}

static void help_after_a_mistake(void)
{
	doca_argp_disable_logger_callback();
	exit(start("--bogus", "-h") == DOCA_ERROR_NOT_SUPPORTED ? 3 : 4);
}

static void test_mistake_wins_over_help_behind_it(void **state)
{
	assert_int_equal(run_child(help_after_a_mistake, output, sizeof(output)), 3);
	assert_false(printed("Usage:"));
}

static void help_without_name(void)
{
	char *words[] = { "/opt/some where/dma_app", "-h", NULL };

	doca_argp_destroy();
	doca_argp_init(NULL, NULL);
	doca_argp_start(2, words);
}

static void test_name_comes_from_argv_if_none_was_given(void **state)
{
	assert_int_equal(run_child(help_without_name, output, sizeof(output)), EXIT_SUCCESS);
	assert_string_equal(line("Usage:"), "Usage: dma_app [DOCA Flags]");
	assert_false(printed("Program Flags"));
}

static doca_error_t no_dpdk(int argc, char **argv)
{
	exit(5); /* help comes before it */
}

static void help_of_a_dpdk_program(void)
{
	doca_argp_set_dpdk_program(no_dpdk);
	add_programs_params();
	start("-h");
}

static void help_of_a_dpdk_program_behind_the_separator(void)
{
	doca_argp_set_dpdk_program(no_dpdk);
	add_programs_params();
	start("-l", "0", "--", "--help");
}

static void test_help_of_a_dpdk_program_shows_where_its_flags_stand(void **state)
{
	assert_int_equal(run_child(help_of_a_dpdk_program, output, sizeof(output)), EXIT_SUCCESS);
	assert_string_equal(line("Usage:"), "Usage: prog [DPDK Flags] -- [DOCA Flags] [Program Flags]");
	assert_int_equal(run_child(help_of_a_dpdk_program_behind_the_separator, output, sizeof(output)), EXIT_SUCCESS);
	assert_string_equal(line("Usage:"), "Usage: prog [DPDK Flags] -- [DOCA Flags] [Program Flags]");
}

static void help_of_a_program_with_commands(void)
{
	add_cmds();
	start("-h");
}

static void test_help_lists_commands(void **state)
{
	char expected[128];

	assert_int_equal(run_child(help_of_a_program_with_commands, output, sizeof(output)), EXIT_SUCCESS);
	assert_string_equal(line("Usage:"), "Usage: prog [DOCA Flags] [Program Flags] <Command> [Command Flags]");
	snprintf(expected, sizeof(expected), "%-*sWhat get does", COLUMN, "  get");
	assert_string_equal(line("  get"), expected);
	assert_false(printed("debug"));
	assert_false(printed("--num-size"));
}

static void help_of_a_command(void)
{
	add_cmds();
	start("get", "-h");
}

static void test_help_of_a_command_lists_its_flags(void **state)
{
	assert_int_equal(run_child(help_of_a_command, output, sizeof(output)), EXIT_SUCCESS);
	assert_string_equal(line("Usage:"), "Usage: prog get [DOCA Flags] [Command Flags]");
	assert_true(printed("\nCommand Flags:\n  -s, --num-size "));
	assert_true(printed("  -n, --name ")); /* inherited */
	assert_false(printed("--fast"));       /* not inherited */
}

static void usage_and_go_on(void)
{
	add_programs_params();
	doca_argp_usage();
	exit(start() == DOCA_SUCCESS ? 7 : 8);
}

static void test_usage_prints_and_returns(void **state)
{
	assert_int_equal(run_child(usage_and_go_on, output, sizeof(output)), 7);
	assert_string_equal(line("Usage:"), "Usage: prog [DOCA Flags] [Program Flags]");
}

static void usage_without_init(void)
{
	doca_argp_destroy();
	doca_argp_usage();
	exit(7);
}

static void test_usage_without_a_parser_prints_nothing(void **state)
{
	assert_int_equal(run_child(usage_without_init, output, sizeof(output)), 7);
	assert_false(printed("Usage:"));
}

static void version_short(void)
{
	start("-v");
}

static void version_long(void)
{
	start("-l", "60", "--version", "--bogus");
}

static void test_version_is_printed_and_leaves_well(void **state)
{
	assert_int_equal(run_child(version_short, output, sizeof(output)), EXIT_SUCCESS);
	assert_true(printed(doca_version_runtime()));
	assert_int_equal(run_child(version_long, output, sizeof(output)), EXIT_SUCCESS);
	assert_true(printed(doca_version_runtime()));
	assert_false(printed("bogus"));
}

static doca_error_t own_version(void *value, void *config)
{
	printf("prog 1.2\n");
	doca_argp_destroy();
	exit(6);
}

static void version_of_its_own(void)
{
	add_programs_params();
	doca_argp_register_version_callback(own_version);
	start("-n", "Ada", "-v");
}

static void test_own_version_callback_may_destroy_the_parser_and_exit(void **state)
{
	assert_int_equal(run_child(version_of_its_own, output, sizeof(output)), 6);
	assert_true(printed("prog 1.2\n"));
	assert_false(printed(doca_version_runtime()));
}

#define usage(test) cmocka_unit_test_setup_teardown(test, argp_setup, argp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		usage(test_help_prints_the_usage_and_leaves_well),
		usage(test_parser_is_destroyed_before_help_or_version_exits),
		usage(test_help_wins_over_what_stands_behind_it),
		usage(test_mistake_wins_over_help_behind_it),
		usage(test_name_comes_from_argv_if_none_was_given),
		usage(test_help_of_a_dpdk_program_shows_where_its_flags_stand),
		usage(test_help_lists_commands),
		usage(test_help_of_a_command_lists_its_flags),
		usage(test_usage_prints_and_returns),
		usage(test_usage_without_a_parser_prints_nothing),
		usage(test_version_is_printed_and_leaves_well),
		usage(test_own_version_callback_may_destroy_the_parser_and_exit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim check-binary: check which releases of DOCA, and bfsim, have the symbols that programs need. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "sim/cli/abi/check_binary.h"
#include "commands.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/json.h"

/* Exit statuses: the largest of all programs counts. */
enum {
	ALL_PRESENT = CLI_OK,
	SOMETHING_MISSING = 1,
	UNREADABLE = 2,
};

struct options {
	int against; /* a release; -1: bfsim */
	bool json;
	bool all;
	char **programs;
	int num_programs;
};

#define RELEASES "1.5, 2.2, 2.5, 2.6, 2.7, 2.10, 3.0, 3.1, 3.3"

static const struct argp_option option_list[] = {
	{ "against", 'r', "RELEASE", 0, "Check relinking with a release of DOCA: " RELEASES, 0 },
	{ "all", 'a', NULL, 0, "List all symbols, not only those that are missing", 0 },
	{ "json", 'j', NULL, 0, "Print JSON", 0 },
	{ 0 },
};

/* A release may exist, and bfsim not know it: name the one before it. */
static int release_of_arg(const char *arg, struct argp_state *state)
{
	int release = cli_release_of_name(arg), before = cli_release_before(arg);

	if (release < 0 && before >= 0)
		argp_error(state,
			   "--against %s: bfsim has no facts of that release; it knows " RELEASES
			   ". The newest one before it is %s: what the program has beyond that release is not checked",
			   arg, cli_provider_name((enum cli_provider)before));
	if (release < 0)
		argp_error(state, "--against %s: bfsim has no facts of that release; it knows " RELEASES, arg);
	return release;
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'r':
		options->against = release_of_arg(arg, state);
		return 0;
	case 'a':
		options->all = true;
		return 0;
	case 'j':
		options->json = true;
		return 0;
	case ARGP_KEY_ARGS:
		options->programs = state->argv + state->next;
		options->num_programs = state->argc - state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no programs: give their files");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char *read_error_text(int rc)
{
	switch (rc) {
	case -ENOEXEC:
		return "not an ELF program or shared object";
	case -EBADMSG:
		return "the file is damaged, or its section headers were removed";
	default:
		return strerror(-rc);
	}
}

static int exit_status_of_check(const struct options *options, const struct cli_check *check)
{
	bool is_all_present;

	if (options->against < 0)
		is_all_present = cli_check_starts(check, check->bfsim_provider) == CLI_CHECK_TRUE &&
				 cli_check_num_abi_mismatches(check) == 0;
	else
		is_all_present = cli_check_links(check, (enum cli_provider)options->against) == CLI_CHECK_TRUE &&
				 check->counts[options->against].changed == 0;
	return is_all_present ? ALL_PRESENT : SOMETHING_MISSING;
}

/* Check one program. Print the result, or append it to @list if that is not NULL. Returns an exit status. */
static int check_program(const struct options *options, const char *path, json_object *list)
{
	struct cli_check check;
	int status, rc = cli_check_read(path, &check);

	if (rc < 0) {
		cli_fail("cannot check %s: %s", path, read_error_text(rc));
		return UNREADABLE;
	}
	status = exit_status_of_check(options, &check);
	if (list)
		json_object_array_add(list, cli_check_json(&check));
	else if (cli_check_print(&check, options->against, options->all) < 0)
		status = UNREADABLE;
	cli_check_free(&check);
	return status;
}

int cli_check_binary(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_opt,
		.args_doc = "PROGRAM...",
		.doc = "Check which releases of DOCA, and bfsim, have the symbols that programs or shared objects need.\v"
		       "The exit status is 0 if bfsim, or the release of --against, has all; 1 if something is missing; "
		       "2 if a file cannot be read.",
	};
	struct options options = { .against = -1 };
	json_object *list = NULL;
	int worst = ALL_PRESENT;

	cli_args_parse(&argp, argc, argv, 0, &options);
	if (options.json)
		list = json_object_new_array();
	for (int i = 0; i < options.num_programs; i++) {
		int status;

		if (i > 0 && !options.json)
			printf("\n");
		status = check_program(&options, options.programs[i], list);
		worst = status > worst ? status : worst;
	}
	if (list && cli_json_print(list, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE) < 0)
		worst = UNREADABLE;
	return worst;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim check-binary: check which releases of DOCA, and bfsim, have the symbols that programs need. */
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
	struct cli_words programs;
};

#define RELEASES "1.5, 2.2, 2.5, 2.6, 2.7, 2.10, 3.0, 3.1, 3.3"

/* A release may exist, and bfsim not know it: name the one before it. */
static void set_release(void *to, char *text, struct argp_state *state)
{
	int release = cli_release_of_name(text), before = cli_release_before(text);

	if (release < 0 && before >= 0)
		argp_error(state,
			   "--against %s: bfsim has no facts of that release; it knows " RELEASES
			   ". The newest one before it is %s: what the program has beyond that release is not checked",
			   text, cli_provider_name((enum cli_provider)before));
	if (release < 0)
		argp_error(state, "--against %s: bfsim has no facts of that release; it knows " RELEASES, text);
	*(int *)to = release;
}

static const struct cli_option option_list[] = {
	CLI_CALL('r', "against", "RELEASE", struct options, against, set_release,
		 "Check relinking with a release of DOCA: " RELEASES),
	CLI_FLAG('a', "all", struct options, all, "List all symbols, not only those that are missing"),
	CLI_FLAG('j', "json", struct options, json, "Print JSON"),
	{ 0 },
};

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
	static const struct cli_args args = {
		.options = option_list,
		.words = offsetof(struct options, programs),
		.max_words = CLI_MANY_WORDS,
		.no_words = "no programs: give their files",
		.args_doc = "PROGRAM...",
		.doc = "Check which releases of DOCA, and bfsim, have the symbols that programs or shared objects need.\v"
		       "The exit status is 0 if bfsim, or the release of --against, has all; 1 if something is missing; "
		       "2 if a file cannot be read.",
	};
	struct options options = { .against = -1 };
	json_object *list = NULL;
	int worst = ALL_PRESENT;

	cli_args_parse(&args, argc, argv, 0, &options);
	if (options.json)
		list = json_object_new_array();
	for (size_t i = 0; i < options.programs.count; i++) {
		int status;

		if (i > 0 && !options.json)
			printf("\n");
		status = check_program(&options, options.programs.list[i], list);
		worst = status > worst ? status : worst;
	}
	if (list && cli_json_print(list, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE) < 0)
		worst = UNREADABLE;
	return worst;
}

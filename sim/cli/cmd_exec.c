/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim exec: become a program on one side of a session's card. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "sim/cli/base/check_opt.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/abi/emulator.h"
#include "sim/cli/abi/generation.h"
#include "sim/cli/base/number.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/base/session_client.h"
#include "sim/cli/base/side_env.h"
#include "sim/cli/reach/reach.h"
#include "sim/cli/reach/reach_exec.h"

#define MAX_OWN_WORDS 16

struct options {
	struct cli_session_opt session;
	struct cli_check_opt check;
	const char *side;
	enum cli_generation generation;
	bool has_generation; /* else the program's symbols decide */
	bool waits;          /* for the session, up to wait_s; 0 = without end */
	uint64_t wait_s;
	struct cli_words command;
};

static void set_generation(void *all, char *text, struct argp_state *state)
{
	struct options *options = all;

	cli_set_generation(&options->generation, text, state);
	options->has_generation = true;
}

static void set_wait(void *all, char *text, struct argp_state *state)
{
	struct options *options = all;

	options->waits = true;
	if (text && cli_number_parse(text, 10, 1, INT_MAX, &options->wait_s, NULL) < 0)
		argp_error(state, "--wait=%s: not a number of seconds from 1 to %d", text, INT_MAX);
}

static const struct cli_option option_list[] = {
	CLI_TEXT('o', "on", "SIDE", struct options, side,
		 "The side to start it on: host, dpu, or another of the session's (required)"),
	CLI_CALL_WHOLE('g', "generation", "GENERATION", set_generation, 0,
		       "Libraries: " CLI_GENERATION_HELP "; default: by the program's symbols"),
	CLI_CALL_WHOLE(0, "wait", "SECONDS", set_wait, OPTION_ARG_OPTIONAL,
		       "Wait until the session is live, for up to SECONDS (default: for as long as it takes)"),
	{ 0 },
};

static void check_options(void *all, struct argp_state *state)
{
	const struct options *options = all;

	if (!options->side)
		argp_error(state, "no side: give --on host or --on dpu");
	if (options->check.num_reports > 1)
		argp_error(state, "--check-report: the program writes one report; bfsim run writes several");
	if (options->command.count == 0)
		argp_error(state, "no program: give its command line after --");
}

/* Check that the session is live and has the side. Returns its absolute directory, or NULL with an exit status. */
static char *resolve_session_dir(const struct options *options, int *ret_status)
{
	const char *dir = options->session.dir;
	struct pcie_topology *topology = cli_topology_of_session(dir);
	char *absolute = NULL;

	*ret_status = CLI_OWN_FAILURE;
	if (topology && !cli_check_side(topology, dir, options->side)) {
		*ret_status = CLI_USAGE;
	} else if (topology) {
		absolute = realpath(dir, NULL);
		if (!absolute)
			cli_fail("cannot use the session directory %s: %s", dir, strerror(errno));
	}
	pcie_topology_destroy(topology);
	return absolute;
}

/* Returns 0, or -1 with a message. */
static int set_env(const struct options *options, const char *dir)
{
	if (cli_set_side_env(dir, options->side, options->generation) < 0)
		return -1;
	return cli_check_set_env(&options->check, NULL);
}

/* The command line for bfsim exec there. Returns 0, or -1 with a message. */
static int fill_words(const struct options *options, const char **words)
{
	const struct cli_check_opt *check = &options->check;

	if (check->num_reports > 0 || check->mutes_path)
		return cli_error(
			"--check-report and --check-mutes name files here, and %s is on another machine: start bfsim exec there",
			options->side);
	*words++ = "--on";
	*words++ = options->side;
	if (options->has_generation) {
		*words++ = "--generation";
		*words++ = cli_generation_name(options->generation);
	}
	if (check->mode != SIM_CHECK_OFF) {
		static char mode[32];

		snprintf(mode, sizeof(mode), "--check=%s", sim_check_mode_name(check->mode));
		*words++ = mode;
		*words++ = "--check-fail";
		*words++ = check->fails ? sim_check_severity_name(check->fail_severity) : "none";
	}
	if (check->sync) {
		*words++ = "--check-sync";
		*words++ = check->sync;
	}
	*words++ = "--";
	for (size_t i = 0; i < options->command.count; i++)
		*words++ = options->command.list[i];
	*words = NULL;
	return 0;
}

/* Returns whether the side is on another machine, which its name begins with; then *ret_status is the exit status. */
static bool exec_elsewhere(const struct options *options, int *ret_status)
{
	struct cli_machines machines = { .self = "" };
	const struct cli_machine *machine = NULL;
	const char **words;

	*ret_status = CLI_OWN_FAILURE;
	if (!strchr(options->side, '/'))
		return false;
	if (cli_machines_read(options->session.dir, &machines) < 0)
		return true;
	machine = cli_machines_of_side(&machines, options->side);
	if (!machine || machine->is_self) {
		cli_machines_free(&machines);
		return false;
	}
	words = calloc(options->command.count + MAX_OWN_WORDS, sizeof(*words));
	if (!words)
		cli_fail("out of memory");
	else if (fill_words(options, words) == 0)
		*ret_status = cli_reach_exec(options->session.dir, machine->name, words);
	free(words);
	cli_machines_free(&machines);
	return true;
}

int cli_exec(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.parts = { CLI_PART(struct options, session, cli_session_args),
			   CLI_PART(struct options, check, cli_check_args) },
		.words = offsetof(struct options, command),
		.max_words = CLI_MANY_WORDS,
		.check = check_options,
		.args_doc = "-- COMMAND [ARGUMENT...]",
		.doc = "Start a program on one side of a session's card.\v"
		       "The exit status is the program's; 126 or 127 when it cannot be started or found, 125 when bfsim failed. With "
		       "--check, it is 70 instead of 0 when a rule was broken (--check-fail).",
	};
	struct options options = { 0 };
	char *dir, **words;
	int rc;

	cli_args_parse(&args, argc, argv, ARGP_IN_ORDER, &options);
	if (options.waits && cli_session_wait(options.session.dir, (unsigned int)options.wait_s) < 0)
		return CLI_OWN_FAILURE;
	dir = resolve_session_dir(&options, &rc);
	if (!dir)
		return rc;
	if (exec_elsewhere(&options, &rc)) {
		free(dir);
		return rc;
	}
	if (!options.has_generation)
		options.generation = cli_generation_of_command(options.command.list);
	if (cli_check_begin_reports(&options.check) < 0) {
		free(dir);
		return CLI_USAGE;
	}
	rc = set_env(&options, dir);
	free(dir);
	cli_check_fini(&options.check);
	if (rc < 0)
		return CLI_OWN_FAILURE;
	words = cli_emulate_command(options.command.list);
	if (!words)
		return cli_fail("out of memory");
	execvp(words[0], words);
	rc = errno;
	cli_fail("cannot start %s: %s", words[0], strerror(rc));
	free(words);
	return rc == ENOENT ? CLI_NOT_FOUND : CLI_NOT_EXECUTABLE;
}

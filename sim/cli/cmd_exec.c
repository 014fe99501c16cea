/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim exec: become a program on one side of a session's card. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/check_opt.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/abi/emulator.h"
#include "sim/cli/abi/generation.h"
#include "sim/cli/base/number.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/base/session_client.h"
#include "sim/cli/base/side_env.h"

enum {
	KEY_WAIT = 0x100,
};

struct options {
	struct cli_session_opt session;
	struct cli_check_opt check;
	const char *side;
	enum cli_generation generation;
	bool has_generation; /* else the program's symbols decide */
	bool waits;          /* for the session, up to wait_s; 0 = without end */
	uint64_t wait_s;
	char **command;
};

static const struct argp_option option_list[] = {
	{ "on", 'o', "SIDE", 0, "The side to start it on: host, dpu, or another of the session's (required)", 0 },
	{ "generation", 'g', "GENERATION", 0, "Libraries: " CLI_GENERATION_HELP "; default: by the program's symbols",
	  0 },
	{ "wait", KEY_WAIT, "SECONDS", OPTION_ARG_OPTIONAL,
	  "Wait until the session is live, for up to SECONDS (default: for as long as it takes)", 0 },
	{ 0 },
};

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->session;
		state->child_inputs[1] = &options->check;
		return 0;
	case 'o':
		options->side = arg;
		return 0;
	case 'g':
		if (cli_generation_parse(arg, &options->generation) < 0)
			argp_error(state, CLI_GENERATION_WRONG, arg);
		options->has_generation = true;
		return 0;
	case KEY_WAIT:
		options->waits = true;
		if (arg && cli_number_parse(arg, 10, 1, INT_MAX, &options->wait_s, NULL) < 0)
			argp_error(state, "--wait=%s: not a number of seconds from 1 to %d", arg, INT_MAX);
		return 0;
	case ARGP_KEY_ARG:
		options->command = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		if (!options->side)
			argp_error(state, "no side: give --on host or --on dpu");
		if (options->check.num_reports > 1)
			argp_error(state, "--check-report: the program writes one report; bfsim run writes several");
		if (!options->command)
			argp_error(state, "no program: give its command line after --");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Check that the session is live and has the side. Returns its absolute directory, or NULL with an exit status. */
static char *resolve_session_dir(const struct options *options, int *ret_status)
{
	const char *dir = options->session.dir;
	int dir_fd = cli_session_open(dir);
	struct pcie_topology *topology = dir_fd < 0 ? NULL : cli_topology_of_session(dir_fd, dir);
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
	if (dir_fd >= 0)
		close(dir_fd);
	return absolute;
}

/* Returns 0, or -1 with a message. */
static int set_env(const struct options *options, const char *dir)
{
	if (cli_set_side_env(dir, options->side, options->generation) < 0)
		return -1;
	return cli_check_set_env(&options->check, NULL);
}

int cli_exec(int argc, char **argv)
{
	static const struct argp_child children[] = { { &cli_session_argp, 0, NULL, 0 },
						      { &cli_check_argp, 0, NULL, 0 },
						      { 0 } };
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_opt,
		.args_doc = "-- COMMAND [ARGUMENT...]",
		.doc = "Start a program on one side of a session's card.\v"
		       "The exit status is the program's; 126 or 127 when it cannot be started or found, 125 when bfsim failed. With "
		       "--check, it is 70 instead of 0 when a rule was broken (--check-fail).",
		.children = children,
	};
	struct options options = { 0 };
	char *dir, **words;
	int rc;

	cli_args_parse(&argp, argc, argv, ARGP_IN_ORDER, &options);
	if (options.waits && cli_session_wait(options.session.dir, (unsigned int)options.wait_s) < 0)
		return CLI_OWN_FAILURE;
	dir = resolve_session_dir(&options, &rc);
	if (!dir)
		return rc;
	if (!options.has_generation)
		options.generation = cli_generation_of_command(options.command);
	if (cli_check_begin_reports(&options.check) < 0) {
		free(dir);
		return CLI_USAGE;
	}
	rc = set_env(&options, dir);
	free(dir);
	cli_check_fini(&options.check);
	if (rc < 0)
		return CLI_OWN_FAILURE;
	words = cli_emulate_command(options.command);
	if (!words)
		return cli_fail("out of memory");
	execvp(words[0], words);
	rc = errno;
	cli_fail("cannot start %s: %s", words[0], strerror(rc));
	free(words);
	return rc == ENOENT ? CLI_NOT_FOUND : CLI_NOT_EXECUTABLE;
}

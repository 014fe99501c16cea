/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim up: start a session's daemon in the background. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/group_opt.h"
#include "sim/cli/base/session_start.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/base/session_client.h"
#include "sim/cli/base/trace_opt.h"
#include "sim/base/shell_quote.h"

enum {
	KEY_CLOCK = 0x100,
};

struct options {
	struct cli_session_opt session;
	const char *topology;
	enum sim_clock_mode clock;
	uint32_t trace_level;
	bool has_group;
	gid_t group;
};

static const struct argp_option option_list[] = {
	{ "topology", 't', "FILE", 0, "The card, as YAML (default: one BlueField-3 with two ports)", 0 },
	{ "clock", KEY_CLOCK, "MODE", 0, CLI_CLOCK_HELP, 0 },
	CLI_TRACE_LEVEL_OPTION(0),
	CLI_GROUP_OPTION,
	{ 0 },
};

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->session;
		return 0;
	case CLI_KEY_TRACE_LEVEL:
		options->trace_level = cli_trace_level(arg, state);
		return 0;
	case CLI_KEY_GROUP:
		options->group = cli_group(arg, state);
		options->has_group = true;
		return 0;
	case 't':
		options->topology = arg;
		return 0;
	case KEY_CLOCK:
		options->clock = cli_clock_mode(arg, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_exec_hint(void *arg, const char *side)
{
	printf("  bfsim exec%s --on %s -- COMMAND...\n", (const char *)arg, side);
}

/* Print the directory of the session, and commands to copy. */
static void print_usage_hints(const struct options *options, const char *dir)
{
	struct pcie_topology *topology;
	char *quoted = sim_shell_quote(dir), *option = NULL;
	int dir_fd = cli_session_open(dir);

	if (options->session.is_from_option && (!quoted || asprintf(&option, " --session %s", quoted) < 0))
		option = NULL;
	topology = dir_fd < 0 ? NULL : cli_topology_of_session(dir_fd, dir);
	if (topology) {
		printf("session %s\n", dir);
		pcie_topology_for_each_side(topology, print_exec_hint, option ? option : "");
		printf("  bfsim down%s\n", option ? option : "");
	}
	pcie_topology_destroy(topology);
	if (dir_fd >= 0)
		close(dir_fd);
	free(option);
	free(quoted);
}

int cli_up(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_opt,
		.doc = "Start a session: a simulated card and the daemon that owns it.",
		.children = cli_session_children,
	};
	struct options options = { 0 };
	struct sim_session_dir session_dir;
	struct sim_launch_cfg cfg = { .session_dir = &session_dir };
	pid_t pid;

	cli_args_parse(&argp, argc, argv, 0, &options);
	cfg.topology = options.topology;
	cfg.clock = options.clock;
	cfg.trace_level = options.trace_level;
	cfg.has_group = options.has_group;
	cfg.group = options.group;
	if (cli_session_prepare(options.session.dir, &session_dir) < 0)
		return CLI_FAILED;
	pid = cli_daemon_start(&cfg);
	if (pid > 0)
		print_usage_hints(&options, session_dir.dir);
	sim_session_dir_fini(&session_dir);
	return pid > 0 ? CLI_OK : CLI_FAILED;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim join: make this machine one of a session whose home is elsewhere. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "sim/base/shell_quote.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/session_client.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/base/session_start.h"

struct options {
	struct cli_session_opt session;
	struct sim_launch_cfg launch;
	struct cli_words home;
};

static const struct cli_option option_list[] = {
	CLI_MACHINE_OPTIONS(struct options, launch.machines),
	{ 0 },
};

static void check_options(void *all, struct argp_state *state)
{
	struct options *options = all;
	struct sim_machines_cfg *machines = &options->launch.machines;

	machines->join = options->home.count > 0 ? options->home.list[0] : NULL;
	if (!machines->name)
		argp_error(state, "which machine of the topology is this one? Give --as NAME");
	cli_check_machine_name(machines, state);
	if (!machines->token_file)
		argp_error(state, "give --token-file FILE, a copy of home's token");
}

struct hints {
	const char *machine, *option;
};

static void print_exec_hint(void *arg, const char *side)
{
	const struct hints *hints = arg;

	if (pcie_side_is_of(side, hints->machine))
		printf("  bfsim exec%s --on %s -- COMMAND...\n", hints->option, side);
}

static void print_hints(const struct options *options, const char *dir)
{
	struct pcie_topology *topology = cli_topology_of_session(dir);
	char *quoted = sim_shell_quote(dir), *option = NULL;
	struct hints hints = { options->launch.machines.name, "" };

	if (options->session.is_from_option && quoted && asprintf(&option, " --session %s", quoted) >= 0)
		hints.option = option;
	if (topology) {
		printf("session %s, machine %s\n", dir, hints.machine);
		pcie_topology_for_each_side(topology, print_exec_hint, &hints);
		printf("  bfsim down%s\n", hints.option);
	}
	pcie_topology_destroy(topology);
	free(option);
	free(quoted);
}

int cli_join(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.parts = { CLI_PART(struct options, session, cli_session_args) },
		.words = offsetof(struct options, home),
		.max_words = 1,
		.no_words = "where? Give HOST:PORT, at which bfsim up --listen was called",
		.check = check_options,
		.args_doc = "HOST:PORT",
		.doc = "Join a session whose home is another machine.\v"
		       "HOST:PORT is where bfsim up --listen was called. The session's topology comes from there. bfsim down on this "
		       "machine leaves the session; bfsim down at home ends it.",
	};
	struct options options = { 0 };
	struct sim_session_dir session_dir;
	pid_t pid;

	cli_args_parse(&args, argc, argv, 0, &options);
	options.launch.session_dir = &session_dir;
	if (cli_session_prepare(options.session.dir, &session_dir) < 0)
		return CLI_FAILED;
	pid = cli_daemon_start(&options.launch);
	if (pid > 0)
		print_hints(&options, session_dir.dir);
	sim_session_dir_fini(&session_dir);
	return pid > 0 ? CLI_OK : CLI_FAILED;
}

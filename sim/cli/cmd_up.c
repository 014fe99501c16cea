/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim up: start a session's daemon in the background. */
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/session_start.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/base/session_client.h"
#include "sim/base/shell_quote.h"

struct options {
	struct cli_session_opt session;
	struct sim_launch_cfg launch;
};

static void print_exec_hint(void *arg, const char *side)
{
	printf("  bfsim exec%s --on %s -- COMMAND...\n", (const char *)arg, side);
}

/* Print the directory of the session, and commands to copy. */
static void print_usage_hints(const struct options *options, const char *dir)
{
	struct pcie_topology *topology;
	char *quoted = sim_shell_quote(dir), *option = NULL;

	if (options->session.is_from_option && (!quoted || asprintf(&option, " --session %s", quoted) < 0))
		option = NULL;
	topology = cli_topology_of_session(dir);
	if (topology) {
		printf("session %s\n", dir);
		pcie_topology_for_each_side(topology, print_exec_hint, option ? option : "");
		printf("  bfsim down%s\n", option ? option : "");
	}
	pcie_topology_destroy(topology);
	free(option);
	free(quoted);
}

int cli_up(int argc, char **argv)
{
	static const struct cli_args args = {
		.parts = { CLI_PART(struct options, session, cli_session_args),
			   CLI_PART(struct options, launch, cli_launch_args),
			   CLI_PART(struct options, launch, cli_machines_args) },
		.doc = "Start a session: a simulated card and the daemon that owns it.",
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
		print_usage_hints(&options, session_dir.dir);
	sim_session_dir_fini(&session_dir);
	return pid > 0 ? CLI_OK : CLI_FAILED;
}

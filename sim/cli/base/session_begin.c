/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions that go on when the command has ended. */
#include "session_begin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "session_client.h"
#include "session_start.h"
#include "sim/base/shell_quote.h"

struct hints {
	const char *machine; /* NULL = all sides are here */
	const char *option;
};

static void print_exec_hint(void *arg, const char *side)
{
	const struct hints *hints = arg;

	if (!hints->machine || pcie_side_is_of(side, hints->machine))
		printf("  bfsim exec%s --on %s -- COMMAND...\n", hints->option, side);
}

/* For the first of the machines that may join. A free port is not known here: bfsim ps names it. */
static void print_join_hint(const struct sim_machines_cfg *machines, const struct pcie_topology *topology)
{
	const char *colon = strrchr(machines->listen, ':'), *port = colon ? colon + 1 : machines->listen;
	char name[PCIE_SIDE_SIZE];

	for (uint32_t i = 0; strcmp(port, "0") != 0 && pcie_topology_get_machine(topology, i, name); i++)
		if (strcmp(name, machines->name) != 0) {
			printf("  bfsim join HOST:%s --as %s --token-file FILE (on that machine)\n", port, name);
			return;
		}
}

static void print_hints(const struct cli_session_opt *session, const struct sim_machines_cfg *machines, const char *dir)
{
	const char *machine = machines->name;
	struct pcie_topology *topology = cli_topology_of_session(dir);
	char *quoted = sim_shell_quote(dir), *option = NULL;
	struct hints hints = { machine, "" };

	if (session->is_from_option && quoted && asprintf(&option, " --session %s", quoted) >= 0)
		hints.option = option;
	if (topology) {
		printf("session %s%s%s\n", dir, machine ? ", machine " : "", machine ? machine : "");
		pcie_topology_for_each_side(topology, print_exec_hint, &hints);
		if (machines->listen && !machines->join)
			print_join_hint(machines, topology);
		printf("  bfsim down%s\n", hints.option);
	}
	pcie_topology_destroy(topology);
	free(option);
	free(quoted);
}

int cli_session_begin(const struct cli_session_opt *session, struct sim_launch_cfg *launch)
{
	struct sim_session_dir session_dir;
	pid_t pid;

	if (cli_session_prepare(session->dir, &session_dir) < 0)
		return CLI_FAILED;
	launch->session_dir = &session_dir;
	pid = cli_daemon_start(launch);
	launch->session_dir = NULL;
	if (pid > 0)
		print_hints(session, &launch->machines, session_dir.dir);
	sim_session_dir_fini(&session_dir);
	return pid > 0 ? CLI_OK : CLI_FAILED;
}

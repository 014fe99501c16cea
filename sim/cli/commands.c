/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of subcommands. */
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/env_check.h"
#include "sim/base/log.h"
#include "sim/cli/base/cli.h"

static const struct cli_command commands[] = {
	{ "up", "start a session: a simulated card and its daemon", cli_up, CLI_FAILED, "" },
	{ "join", "join a session whose home is another machine", cli_join, CLI_FAILED, "" },
	{ "token", "print a new token for a session over several machines", cli_token, CLI_FAILED, "" },
	{ "wait", "wait until machines have joined a session", cli_wait, CLI_FAILED, "" },
	{ "down", "end a session", cli_down, CLI_FAILED, "" },
	{ "ps", "show a session's processes, their memory and connections", cli_ps, CLI_FAILED, "" },
	{ "exec", "start a program on one side of a session's card", cli_exec, CLI_OWN_FAILURE, "" },
	{ "run", "run programs on both sides, in a session of their own", cli_run, CLI_OWN_FAILURE, "" },
	{ "new", "write a pair of programs to start from, with its test and CI job", cli_new, CLI_FAILED, "comch" },
	{ "test", "run scenarios in YAML as tests", cli_test, CLI_OWN_FAILURE, "" },
	{ "replay", "run a failure of bfsim test again, from its bundle", cli_replay, CLI_OWN_FAILURE, "" },
	{ "fault", "show and change the fault plan of a session", cli_fault, CLI_FAILED, CLI_FAULT_ACTIONS },
	{ "function", "reset, remove, add or break a PCIe function", cli_function, CLI_FAILED, CLI_FUNCTION_ACTIONS },
	{ "link", "take a card's PCIe link or a network link down, or slow down the former", cli_link, CLI_FAILED,
	  CLI_LINK_ACTIONS },
	{ "trace", "write what processes have recorded, for Perfetto or as CSV", cli_trace, CLI_FAILED, "" },
	{ "stats", "count what a session's processes have done", cli_stats, CLI_FAILED, "" },
	{ "report", "write a page about a run: latency, throughput, faults", cli_report, CLI_FAILED, "" },
	{ "top", "watch what a session's processes do while they run", cli_top, CLI_FAILED, "" },
	{ "rules", "list the checker's rules, or explain one", cli_rules, CLI_FAILED, "" },
	{ "devs", "list PCIe functions, representors and capabilities", cli_devs, CLI_FAILED, "" },
	{ "caps", "show capabilities by library, as the vendor's doca_caps does", cli_caps, CLI_FAILED, "" },
	{ "sdk", "print the path of an SDK tree, or set up a shell for it", cli_sdk, CLI_FAILED, "" },
	{ "check-binary", "check which releases, and bfsim, have the symbols of a program", cli_check_binary,
	  CLI_FAILED, "" },
	{ "coverage", "show which functions of the vendor's libraries bfsim has", cli_coverage, CLI_FAILED, "" },
	{ "bench", "measure copies, messages and engines: sizes, depths, threads, data paths, clocks", cli_bench,
	  CLI_OWN_FAILURE, "" },
	{ "pcie", "print or draw the bandwidth of a PCI Express link by payload size", cli_pcie, CLI_FAILED, "" },
	{ "doctor", "check what works on this machine, and name the remedy", cli_doctor, CLI_FAILED, "" },
	{ "completion", "print the completion of commands and options for a shell", NULL, CLI_FAILED, "bash zsh fish" },
};

#define NUM_COMMANDS (sizeof(commands) / sizeof(commands[0]))

const struct cli_command *cli_command_at(size_t i)
{
	return i < NUM_COMMANDS ? &commands[i] : NULL;
}

const struct cli_command *cli_command_find(const char *name)
{
	for (size_t i = 0; i < NUM_COMMANDS; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

struct cli_hint cli_command_hint(const char *name)
{
	const char *names[NUM_COMMANDS];

	for (size_t i = 0; i < NUM_COMMANDS; i++)
		names[i] = commands[i].name;
	return cli_hint(name, names, NUM_COMMANDS);
}

static void say(const char *line)
{
	cli_fail("%s", line);
}

/* For commands that start programs. These do not repeat what is said here. */
static void check_env(void)
{
	char names[512], all[sizeof(names) + 32];

	sim_env_check(say, names, sizeof(names));
	snprintf(all, sizeof(all), "%s%s", sim_log_check_level() ? "" : "BFSIM_LOG_LEVEL ", names);
	if (all[0])
		setenv(SIM_ENV_NAMED, all, 1);
}

void cli_command_run(const struct cli_command *command, cli_command_fn *completion, int argc, char **argv)
{
	char name[32];

	snprintf(name, sizeof(name), "bfsim %s", command->name);
	argv[0] = name;
	cli_set_failure_status(command->failure_status);
	if (command->failure_status == CLI_OWN_FAILURE)
		check_env();
	exit((command->run ? command->run : completion)(argc, argv));
}

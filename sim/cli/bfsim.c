/* SPDX-License-Identifier: BSD-3-Clause */
/* The bfsim command: finds and runs the subcommand. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "sim/cli/base/cli.h"

struct command {
	const char *name;
	const char *summary; /* for the list in --help */
	int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
	{ "up", "start a session: a simulated card and its daemon", cli_up },
	{ "down", "end a session", cli_down },
	{ "ps", "show a session's processes, their memory and connections", cli_ps },
	{ "exec", "start a program on one side of a session's card", cli_exec },
	{ "run", "run programs on both sides, in a session of their own", cli_run },
	{ "fault", "show and change the fault plan of a session", cli_fault },
	{ "function", "reset, remove, add or break a PCIe function", cli_function },
	{ "link", "take a card's PCIe link down, or slow it down", cli_link },
	{ "trace", "write what processes have recorded, for Perfetto or as CSV", cli_trace },
	{ "stats", "count what a session's processes have done", cli_stats },
	{ "report", "write a page about a run: latency, throughput, faults", cli_report },
	{ "top", "watch what a session's processes do while they run", cli_top },
	{ "rules", "list the checker's rules, or explain one", cli_rules },
	{ "devs", "list PCIe functions, representors and capabilities", cli_devs },
	{ "sdk", "print the path of an SDK tree, or set up a shell for it", cli_sdk },
	{ "check-binary", "check which releases, and bfsim, have the symbols of a program", cli_check_binary },
	{ "pcie", "print or draw the bandwidth of a PCI Express link by payload size", cli_pcie },
};

#define NUM_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < NUM_COMMANDS; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

/* Run @command with argv[0] changed so that its messages name it. Does not return. */
static void run_command(const struct command *command, int argc, char **argv)
{
	char name[32];
	int status;

	snprintf(name, sizeof(name), "bfsim %s", command->name);
	argv[0] = name;
	status = command->run(argc, argv);
	if (fclose(stdout) != 0 && status == CLI_OK)
		status = cli_fail("cannot write all of the output: %s", strerror(errno));
	exit(status);
}

static void show_help(struct argp_state *state, const char *name)
{
	char *argv[] = { NULL, (char *)"--help", NULL };
	const struct command *command = name ? find_command(name) : NULL;

	if (name && !command)
		argp_error(state, "there is no command \"%s\"; bfsim --help lists them", name);
	if (!command)
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
	run_command(command, 2, argv);
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	const struct command *command;

	switch (key) {
	case ARGP_KEY_ARG:
		if (strcmp(arg, "help") == 0)
			show_help(state, state->argv[state->next]);
		command = find_command(arg);
		if (!command)
			argp_error(state, "there is no command \"%s\"; bfsim --help lists them", arg);
		run_command(command, state->argc - state->next + 1, state->argv + state->next - 1);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which command? bfsim --help lists them");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Append the list of commands to the help. */
static char *list_commands(int key, const char *text, void *input)
{
	char *list = NULL;
	size_t len;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	out = open_memstream(&list, &len);
	if (!out)
		return NULL;
	fprintf(out, "Commands:\n");
	for (size_t i = 0; i < NUM_COMMANDS; i++)
		fprintf(out, "  %-14s%s\n", commands[i].name, commands[i].summary);
	fprintf(out, "  %-14s%s\n\n", "help", "explain a command: bfsim help COMMAND");
	fprintf(out,
		"Exit status: 0, 1 for a failure, 2 for a wrong command line; exec and run pass on their programs'.");
	fclose(out);
	return list; /* argp frees it */
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_opt,
		.args_doc = "COMMAND [ARGUMENT...]",
		.doc = "Run programs for a BlueField against a simulated card.",
		.help_filter = list_commands,
	};

	cli_init();
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, NULL);
	return CLI_OK;
}

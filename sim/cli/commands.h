/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/commands.h - the subcommands of bfsim.
 *
 *   bfsim.c  --finds the command in commands.c-->  cmd_NAME.c
 *
 * Each subcommand is one file with its own table of options (args.h). argv[0] is "bfsim NAME", for messages. Each returns its exit
 * status (cli.h).
 */
#ifndef SIM_CLI_COMMANDS_H
#define SIM_CLI_COMMANDS_H

#include "sim/cli/base/args.h"

typedef int cli_command_fn(int argc, char **argv);

struct cli_command {
	const char *name;
	const char *summary; /* for the list in --help */
	cli_command_fn *run; /* NULL = cli_completion(), which reads the table itself */
	int failure_status;  /* of a failure of bfsim itself (cli.h) */
	const char *words;   /* the first arguments that it takes, with blanks between them; "" = none, or any */
};

/* The i-th command; NULL behind the last one. */
const struct cli_command *cli_command_at(size_t i);

/* The command of that name, or NULL; and a hint for a mistyped one. */
const struct cli_command *cli_command_find(const char *name);
struct cli_hint cli_command_hint(const char *name);

/* The actions of commands that have some: their first words. */
#define CLI_FAULT_ACTIONS    "list add rm clear replay"
#define CLI_FUNCTION_ACTIONS "reset remove add fatal"
#define CLI_LINK_ACTIONS     "down degrade errors"

/* Run @command, or for one without a function @completion, with argv[0] changed so that its messages name it. Does not
 * return. */
void cli_command_run(const struct cli_command *command, cli_command_fn *completion, int argc, char **argv)
	__attribute__((noreturn));

cli_command_fn cli_up, cli_down, cli_ps, cli_exec, cli_rules, cli_run, cli_fault, cli_function, cli_link, cli_new,
	cli_devs, cli_sdk, cli_check_binary, cli_pcie, cli_trace, cli_stats, cli_report, cli_top, cli_test, cli_replay,
	cli_coverage, cli_bench, cli_caps, cli_doctor, cli_join, cli_token, cli_wait, cli_completion;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/commands.h - the subcommands of bfsim.
 *
 *   bfsim.c  --finds the command-->  cmd_NAME.c
 *
 * Each subcommand is one file with its own argp parser. argv[0] is "bfsim NAME", for messages. Each returns its exit
 * status (cli.h).
 */
#ifndef SIM_CLI_COMMANDS_H
#define SIM_CLI_COMMANDS_H

int cli_up(int argc, char **argv);
int cli_down(int argc, char **argv);
int cli_ps(int argc, char **argv);
int cli_exec(int argc, char **argv);
int cli_rules(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_fault(int argc, char **argv);
int cli_function(int argc, char **argv);
int cli_link(int argc, char **argv);
int cli_devs(int argc, char **argv);
int cli_sdk(int argc, char **argv);
int cli_check_binary(int argc, char **argv);
int cli_pcie(int argc, char **argv);
int cli_trace(int argc, char **argv);
int cli_stats(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_top(int argc, char **argv);

#endif

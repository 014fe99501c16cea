/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/cli.h - the bfsim command: its subcommands and how they end.
 *
 *   bfsim.c  --finds the command-->  cmd_NAME.c
 *
 * Each subcommand is one file with its own argp parser. What went wrong is one
 * line on standard error that says what, where, and what to do about it.
 */
#ifndef SIM_CLI_BASE_CLI_H
#define SIM_CLI_BASE_CLI_H

/* Exit statuses of bfsim itself; exec and run pass on those of programs. */
enum {
	CLI_OK = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,       /* argp ends the process with it */
	CLI_TIMED_OUT = 124, /* the next three as timeout(1) and the shell have them */
	CLI_NOT_EXECUTABLE = 126,
	CLI_NOT_FOUND = 127,
	CLI_SIGNAL = 128, /* plus the signal's number */
};

/* The subcommands. argv[0] is "bfsim NAME", for messages. Each returns its exit status. */
int cli_up(int argc, char **argv);
int cli_down(int argc, char **argv);
int cli_ps(int argc, char **argv);
int cli_exec(int argc, char **argv);
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

/* Complain: "bfsim: MESSAGE" in one line on standard error, with "?" for control characters. Returns CLI_FAILED. */
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What every main does first: the usage status, and something open at 0, 1 and
 * 2, so that no file of ours gets the number of a standard stream. */
void cli_init(void);

#endif

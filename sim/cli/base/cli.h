/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/cli.h - exit statuses and messages, for all commands.
 *
 * A failure prints one line on standard error, with the failure, its place and a remedy.
 */
#ifndef SIM_CLI_BASE_CLI_H
#define SIM_CLI_BASE_CLI_H

#include <stddef.h>

/* Exit statuses of bfsim itself; exec and run pass on those of programs. doc/exit-status.md explains them. */
enum {
	CLI_OK = 0,
	CLI_FAILED =
		1, /* a verdict: a test failed, a function is missing; or a failure of a command that runs no programs */
	CLI_USAGE =
		2, /* wrong command line (argp exits with it, too), or an input that is refused before anything starts */
	CLI_TIMED_OUT = 124,   /* as timeout(1); the last three as the shell */
	CLI_OWN_FAILURE = 125, /* bfsim failed, or the run did not prove what it was asked to prove */
	CLI_NOT_EXECUTABLE = 126,
	CLI_NOT_FOUND = 127,
	CLI_SIGNAL = 128, /* plus the signal's number */
};

/* Print "bfsim: MESSAGE" as one line on standard error, with "?" for what is not printable (sim/base/printable.h). Returns
 * cli_failure_status(). */
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for functions that return -1 then. */
#define cli_error(...) (cli_fail(__VA_ARGS__), -1)

/* Keep the texts of cli_fail() from now on, for a report of what was said. */
void cli_keep_messages(void);

/* Those that were kept, without "bfsim: "; they stay. */
const char *const *cli_messages(size_t *ret_count);

/* The text of the last message of cli_fail(), cut if it is long; "" before the first one. */
const char *cli_last_message(void);

/* The exit status of a failure of bfsim: CLI_FAILED, or CLI_OWN_FAILURE in a command that says so because its status can be a
 * program's or a verdict. */
int cli_failure_status(void);
void cli_set_failure_status(int status);

/* Every main calls this first. Sets argp's exit status, and opens /dev/null at closed descriptors 0, 1 and 2, so
 * that no other file becomes a standard stream. Any exit() with 0 becomes a failure if standard output could not be written. */
void cli_init(void);

#endif

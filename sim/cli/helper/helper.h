/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/helper/helper.h - the process that acts on this machine for a command of another one (sim/control/reach.h).
 *
 * The gateway starts it, with a socket. Its words and its input come from another machine: they are checked, and do what a process
 * of the session may do. Programs alone need the machine's permission, which the gateway checks before it starts the helper.
 */
#ifndef SIM_CLI_HELPER_HELPER_H
#define SIM_CLI_HELPER_HELPER_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/control/reach.h"

struct cli_helper {
	int sock;
	const char *dir;     /* the session's directory on this machine */
	const char *machine; /* its name */
	FILE *out;           /* becomes OUTPUT packets */
};

/* The main function: control|exec DIRECTORY MACHINE. */
int cli_helper_main(int argc, char **argv);

/* Commands. Each returns the exit status. */
int cli_helper_faults(struct cli_helper *helper);
int cli_helper_processes(struct cli_helper *helper);
int cli_helper_change(struct cli_helper *helper);
int cli_helper_trace(struct cli_helper *helper, bool counts_only);
int cli_helper_exec(struct cli_helper *helper, char *const *words);

#endif

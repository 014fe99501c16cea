/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/dpacc/command.h - run a command, print it for -v, take what it writes. */
#ifndef SIM_CLI_DPACC_COMMAND_H
#define SIM_CLI_DPACC_COMMAND_H

#include <stdbool.h>

#include "words.h"

/* Print the command to standard error, as a shell would read it. */
void command_print(const struct words *command);

/* Run it. @ret_out and @ret_err get what it wrote, NULL = it writes where dpacc does. Returns whether it ended with status 0; if
 * it can't be started, a message says so. */
bool command_run(const struct words *command, struct text *ret_out, struct text *ret_err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/output_gone.h - the end of a terminal, or of a pipe's reader, without writing to it. */
#ifndef SIM_CLI_BASE_OUTPUT_GONE_H
#define SIM_CLI_BASE_OUTPUT_GONE_H

#include <stdbool.h>

/* Whether nobody can read what is written to standard output: its terminal was hung up, or its pipe has no reader. Commands
 * that wait without an end ask before each wait. */
bool cli_output_is_gone(void);

#endif

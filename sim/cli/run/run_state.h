/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/run_state.h - what the programs of a run did when it had to be ended. */
#ifndef SIM_CLI_RUN_RUN_STATE_H
#define SIM_CLI_RUN_RUN_STATE_H

#include <stddef.h>

#include "program.h"

/* Print on standard error, for each program: whether it runs, its tasks in flight, and its last records. @dir is the
 * session's directory; its daemon must live. */
void cli_run_state_print(const char *dir, const struct cli_program *programs, size_t num_programs);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/run_leaks.h - what programs of a run left open at their end. */
#ifndef SIM_CLI_RUN_RUN_LEAKS_H
#define SIM_CLI_RUN_RUN_LEAKS_H

#include <stddef.h>

#include "program.h"

/* Print on standard error, for each process of a program that ended with 0: a context that still ran, and maps,
 * inventories, engines and devices that were left open. @dir is the session's directory; its daemon must live. */
void cli_run_leaks_print(const char *dir, const struct cli_program *programs, size_t num_programs);

#endif

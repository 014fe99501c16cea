/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/generation.h - which of bfsim's two generations of libraries a program was linked for.
 *
 *   workq   work queues, releases 1.5 to 2.2
 *   task    progress engines and tasks, from 2.5 on
 *
 * Both have the same SONAMEs. The program's own imports tell them apart: symbols,
 * or versions of symbols, that only one of them has. What does not tell (a
 * script, a file that can't be read, a program that loads its libraries later)
 * is of the current generation, task.
 */
#ifndef SIM_CLI_GENERATION_H
#define SIM_CLI_GENERATION_H

#include "elf_imports.h"
#include "releases.h"

/* CLI_BFSIM_WORKQ or CLI_BFSIM_TASK. */
enum cli_provider cli_generation_of_imports(const struct cli_imports *imports);

/* The same for the program that execvp(3) would start for @command. */
enum cli_provider cli_generation_of_command(const char *command);

/* "workq", "task". */
const char *cli_generation_name(enum cli_provider generation);

/* The generation of that name, or -1. */
int cli_generation_of_name(const char *name);

#endif

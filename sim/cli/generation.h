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
#include "install.h"

enum cli_generation cli_generation_of_imports(const struct cli_imports *imports);

/* The same for the program that execvp(3) would start for @command. */
enum cli_generation cli_generation_of_command(const char *command);

/* The same for the program that a command of sh(1) begins with, behind assignments
 * of variables. Its name is taken as it stands: without quotes and expansions. */
enum cli_generation cli_generation_of_shell(const char *text);

#endif

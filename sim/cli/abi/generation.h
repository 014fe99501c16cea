/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/abi/generation.h - which of bfsim's two generations of libraries a program was linked for.
 *
 *   workq   work queues, releases 1.5 to 2.2
 *   task    progress engines and tasks, from 2.5 on
 *
 * Both have the same SONAMEs. The program's own imports tell them apart: symbols,
 * or versions of symbols, that only one of them has. A program is often not the
 * first word of its command (valgrind ./app, timeout 9 ./app, sh -c './app'): the
 * first word counts that names one which uses DOCA. Where none does (scripts, files
 * that can't be read, programs that load their libraries later), it is the current
 * generation, task.
 */
#ifndef SIM_CLI_ABI_GENERATION_H
#define SIM_CLI_ABI_GENERATION_H

#include "elf_imports.h"
#include "sim/cli/base/install.h"

enum cli_generation cli_generation_of_imports(const struct cli_imports *imports);

/* Of a command's words, up to NULL; a word may itself be for a shell. */
enum cli_generation cli_generation_of_command(char *const *command);

/* Of the words of a command for sh(1), with what is quoted in one piece, and nothing expanded. */
enum cli_generation cli_generation_of_shell(const char *text);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/abi/generation.h - the generation of bfsim's libraries that a program was linked for.
 *
 *   workq      work queues, releases 1.5 to 2.2
 *   task       progress engines and tasks, from 2.5 on
 *   task-2.5   the same of releases 2.5 and 2.6, where they are another interface under the same names: libdoca_rdma
 *
 * All have the same SONAMEs. The imports of the program decide: symbols, or versions of symbols, that only one
 * generation has. A program that uses RDMA is of task-2.5 if it was compiled with the header of that generation's SDK
 * tree, or if more of its symbols are in 2.5 and 2.6 alone than in later releases alone; other programs of 2.5 and 2.6
 * can't be told from later ones. A program is often not the first word of its command (valgrind ./app, timeout 9 ./app,
 * sh -c './app'): the first word that names a program which uses DOCA counts, also behind "cd DIR", in the
 * argument of a shell's -c, or in a script. Nothing is expanded. Without such a word (unreadable files, programs
 * that load libraries at run time) the result is the current generation, task.
 */
#ifndef SIM_CLI_ABI_GENERATION_H
#define SIM_CLI_ABI_GENERATION_H

#include "elf_imports.h"
#include "sim/cli/base/install.h"

enum cli_generation cli_generation_of_imports(const struct cli_imports *imports);

/* Of the words of a command, up to NULL. A word may be a command for a shell. */
enum cli_generation cli_generation_of_command(char *const *command);

/* Of a command for sh(1). Quoted text is one word; nothing is expanded. */
enum cli_generation cli_generation_of_shell(const char *text);

#endif

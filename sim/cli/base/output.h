/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/output.h - where results go: standard output, and files that options name. */
#ifndef SIM_CLI_BASE_OUTPUT_H
#define SIM_CLI_BASE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/* Whether nobody can read what is written to standard output: its terminal was hung up, or its pipe has no reader. Commands
 * that wait without an end ask before each wait. */
bool cli_output_is_gone(void);

/* Whether @what ("the trace") can be written to @path; NULL and "-", standard output, are fine. To be asked before the work that
 * leads to it; nothing is changed. Returns 0, or -1 with a message. */
int cli_output_path_check(const char *what, const char *path);

/* Write @what to @path, or for NULL and "-" to standard output: @print prints @arg to a stream, whose errors are found here, and
 * returns 0, or another number with a message. A file is replaced by a whole one (sim/base/output_file.h). Returns an exit status; a
 * failure comes with a message. */
int cli_output_write(const char *what, const char *path, int print(const void *arg, FILE *out), const void *arg);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/output_path.h - files that options name for results, looked at before the work that leads to them. */
#ifndef SIM_CLI_BASE_OUTPUT_PATH_H
#define SIM_CLI_BASE_OUTPUT_PATH_H

/* Whether @what ("the trace") can be written to @path; NULL and "-", standard output, are fine. Nothing is changed. Returns 0, or -1
 * with a message. */
int cli_output_path_check(const char *what, const char *path);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/report/report_write.h - writing a report to a file. */
#ifndef SIM_CLI_REPORT_REPORT_WRITE_H
#define SIM_CLI_REPORT_REPORT_WRITE_H

#include <stdbool.h>

struct cli_report_run;

/* Write the page of a live session, or of a file of recordings, to @path; NULL or "-" = standard output. Return an exit
 * status; a failure comes with a message. @run: of bfsim run (report_run.h); NULL for other commands. */
int cli_report_write_session(const char *dir, const char *path, const struct cli_report_run *run);
int cli_report_write_file(const char *recording, const char *path);

/* Write the figures alone, as JSON, of the file @recording, or with NULL of the live session @dir. */
int cli_report_write_json(const char *recording, const char *dir, const char *path);

/* Compare two files of recordings, as a page or as JSON. Files that can't be read are CLI_USAGE; CLI_OWN_FAILURE without an operation
 * in common. */
int cli_report_write_comparison(const char *before, const char *now, const char *path, bool as_json);

#endif

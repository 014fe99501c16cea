/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/report/report_write.h - writing a report to a file. */
#ifndef SIM_CLI_REPORT_REPORT_WRITE_H
#define SIM_CLI_REPORT_REPORT_WRITE_H

#include <stdbool.h>

struct cli_report_run;

/* Write the page of a live session, or of a trace file, to @path; NULL or "-" = standard output. Return an exit
 * status; a failure comes with a message. @run: of bfsim run (report_run.h); NULL for other commands. @as_json: only the
 * figures. */
int cli_report_write_session(const char *dir, const char *path, const struct cli_report_run *run, bool as_json);
int cli_report_write_file(const char *trace, const char *path, bool as_json);

#endif

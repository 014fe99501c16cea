/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/report/report_write.h - writing a report to a file. Functions return an exit status; what went wrong was said. */
#ifndef SIM_CLI_REPORT_REPORT_WRITE_H
#define SIM_CLI_REPORT_REPORT_WRITE_H

#include "report.h"

/* Of a live session, or of the trace in the file @trace, to @path; NULL or "-" = standard output. */
int cli_report_write_session(const char *dir, const char *path);
int cli_report_write_trace(const char *trace, const char *path);

/* What a live session has recorded, as a trace: a file at its begin (fclose()), or NULL
 * (said). */
FILE *cli_report_session_trace(const char *dir);

#endif

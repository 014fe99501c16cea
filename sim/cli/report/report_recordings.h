/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/report/report_recordings.h - the recordings of a session as a report. */
#ifndef SIM_CLI_REPORT_REPORT_RECORDINGS_H
#define SIM_CLI_REPORT_REPORT_RECORDINGS_H

#include "report.h"
#include "sim/trace/export/merged_trace.h"

/* Fill *ret_report from a sorted merged trace; @name begins messages. Returns 0, or -1 without memory, with a
 * message. The caller releases *ret_report with cli_report_fini(). */
int cli_report_from_recordings(const struct sim_merged_trace *merged, const char *name, struct cli_report *ret_report);

/* The same of a file of recordings, and of the file at @path (sim/cli/trace/recording_file.h). */
int cli_report_from_file(FILE *in, const char *name, struct cli_report *ret_report);
int cli_report_open_file(const char *path, struct cli_report *ret_report);

#endif

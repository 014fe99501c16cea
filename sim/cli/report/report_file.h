/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/report/report_file.h - a trace file as a report. */
#ifndef SIM_CLI_REPORT_REPORT_FILE_H
#define SIM_CLI_REPORT_REPORT_FILE_H

#include "report.h"

/* Fill *ret_report from a trace that bfsim trace wrote for Perfetto; @name is the file's name in messages. Returns
 * 0, or -1 after a message. The caller releases *ret_report with cli_report_fini(). */
int cli_report_from_file(FILE *in, const char *name, struct cli_report *ret_report);

/* The same for the file at @path. */
int cli_report_open_file(const char *path, struct cli_report *ret_report);

#endif

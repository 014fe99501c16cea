/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/report/report_page.h - the parts of a report's page. */
#ifndef SIM_CLI_REPORT_REPORT_PAGE_H
#define SIM_CLI_REPORT_REPORT_PAGE_H

#include "report.h"

extern const char cli_report_style[]; /* CSS */

/* "dpu: dma_copy (1234)". */
void cli_report_put_process(const struct cli_report *report, int64_t pid, FILE *out);

/* The sections with figures: latency, throughput and queue depth of operations; utilization of links. */
void cli_report_put_operations(const struct cli_report *report, FILE *out);
void cli_report_put_links(const struct cli_report *report, FILE *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/report/report_page.h - the parts of a report's page. */
#ifndef SIM_CLI_REPORT_REPORT_PAGE_H
#define SIM_CLI_REPORT_REPORT_PAGE_H

#include "report.h"

extern const char cli_report_style[]; /* CSS */

#define CLI_REPORT_MAX_LISTED 200 /* findings, and warnings; the JSON has all */

/* The page until its first section, and from its last one on: @json, which is released, is the data of the page. */
void cli_report_put_page_begin(const char *title, FILE *out);
void cli_report_put_page_end(json_object *json, FILE *out);

/* A cell with the time since the report's begin. */
void cli_report_put_time_offset(const struct cli_report *report, uint64_t time_ns, FILE *out);

/* A table with a row for each incident, up to CLI_REPORT_MAX_LISTED, and how many more there are. */
typedef void cli_report_put_incident(const struct cli_report *report, const struct cli_report_incident *incident,
				     FILE *out);
void cli_report_put_incidents(const char *name, const char *const *headings, const struct cli_report *report,
			      const struct cli_report_incidents *incidents, cli_report_put_incident *put, FILE *out);

/* "dpu: dma_copy (1234)", and a cell with that. */
void cli_report_put_process(const struct cli_report *report, int64_t pid, FILE *out);
void cli_report_put_process_cell(const struct cli_report *report, int64_t pid, FILE *out);

/* The sections with figures: latency, throughput and queue depth of operations; utilization of links. */
void cli_report_put_operations(const struct cli_report *report, FILE *out);
void cli_report_put_links(const struct cli_report *report, FILE *out);

/* The plot of an operation's latencies, or of a pair's: shares of each run's tasks, on the same axes. Nothing without latencies. */
void cli_report_put_latencies(const struct cli_report_op *op, FILE *out);
void cli_report_put_latency_pair(const struct cli_report_op *before, const struct cli_report_op *now, FILE *out);

/* The section with the checker's findings; nothing without them. */
void cli_report_put_findings(const struct cli_report *report, FILE *out);

#endif

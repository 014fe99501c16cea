/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a report's page, for the files that print it. */
#ifndef SIM_CLI_REPORT_REPORT_PAGE_H
#define SIM_CLI_REPORT_REPORT_PAGE_H

#include "report.h"
#include "sim/cli/base/human_format.h"

extern const char cli_report_style[];

/* "dpu: dma_copy (1234)". */
void cli_report_put_process(const struct cli_report *report, int64_t pid, FILE *out);

/* A table in a frame that scrolls when the window is narrow. @headings end with NULL; '>' before one: numbers. */
void cli_report_put_table_begin(FILE *out, const char *name, const char *const *headings);
void cli_report_put_table_end(FILE *out);
void cli_report_put_cell(FILE *out, const char *text);
void cli_report_put_number_cell(FILE *out, const char *text);

/* report_figures.c */
void cli_report_put_operations(const struct cli_report *report, FILE *out);
void cli_report_put_links(const struct cli_report *report, FILE *out);

#endif

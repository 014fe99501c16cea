/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/report/report_compare.h - two reports side by side.
 *
 *   report "before" --+
 *                     +--pair (report_pairs.c)--> struct cli_report_comparison --> one HTML page, or JSON
 *   report "now" -----+
 *
 * Processes are paired by side and program, those left over by side alone. Operations of paired processes are paired by
 * context and kind of task, those left over by the kind of context ("dma" of "dma #2"). Among equals the order decides. An
 * entry without a counterpart is a pair with NULL. A comparison borrows both reports.
 */
#ifndef SIM_CLI_REPORT_REPORT_COMPARE_H
#define SIM_CLI_REPORT_REPORT_COMPARE_H

#include "report.h"
#include "sim/cli/base/human_format.h"

#define CLI_REPORT_MAX_FIGURES 16 /* of a run, or of an operation */

enum cli_report_unit { CLI_REPORT_COUNT, CLI_REPORT_NS, CLI_REPORT_BYTES, CLI_REPORT_BYTE_RATE, CLI_REPORT_RATE };

/* A quantity of both runs; each of the two may be unknown. */
struct cli_report_figure {
	const char *key, *title; /* in JSON, on the page */
	enum cli_report_unit unit;
	bool has_before, has_now;
	uint64_t before, now;
};

struct cli_report_process_pair {
	const struct cli_report_process *before, *now;
};

struct cli_report_op_pair {
	const struct cli_report_op *before, *now;
};

/* A rule of the fault plan or of the checker, and its hits. has_before and has_now: the run has the rule. */
struct cli_report_rule_pair {
	const char *rule;
	bool has_before, has_now;
	uint64_t before, now;
};

/* A property of the runs that is not the same, and makes the comparison of their figures doubtful. */
struct cli_report_difference {
	const char *of, *before, *now; /* "clock", "virtual", "timed" */
};

struct cli_report_comparison {
	const char *before_name, *now_name; /* of the files; the caller's */
	struct cli_report *before, *now;    /* texts of differences belong to @now */
	struct cli_report_process_pair *processes;
	struct cli_report_op_pair *ops;
	struct cli_report_rule_pair *faults, *findings;
	struct cli_report_difference *differences;
	size_t num_processes, num_ops, num_faults, num_findings, num_differences;
	size_t num_common; /* operations with a counterpart */
};

/* Compare two reports with their stats; the names stay the caller's. Returns 0, or -1 without memory, with a message. */
int cli_report_compare(struct cli_report *before, struct cli_report *now, struct cli_report_comparison *ret_comparison);

void cli_report_comparison_fini(struct cli_report_comparison *comparison);

/* Pair processes and operations, and the hits of rules. Returns 0, or -1 without memory. */
int cli_report_pair(struct cli_report_comparison *comparison);

/* The figures of the runs, or of a pair of operations, into @figures. Return their number. */
size_t cli_report_run_figures(const struct cli_report_comparison *comparison,
			      struct cli_report_figure figures[CLI_REPORT_MAX_FIGURES]);
size_t cli_report_op_figures(const struct cli_report_op_pair *pair,
			     struct cli_report_figure figures[CLI_REPORT_MAX_FIGURES]);

/* Whether both sides are known; and, if @before is not 0 as well, how many times as large @now is. */
bool cli_report_figure_is_paired(const struct cli_report_figure *figure);
bool cli_report_figure_ratio(const struct cli_report_figure *figure, double *ret_ratio);

/* The differences, for JSON and for the page. */
extern const struct cli_field cli_report_difference_fields[];

/* The comparison as JSON, which the caller releases; and as a page. Test ferror(@out) for errors. */
json_object *cli_report_comparison_json(const struct cli_report_comparison *comparison);
void cli_report_print_comparison(const struct cli_report_comparison *comparison, FILE *out);

#endif

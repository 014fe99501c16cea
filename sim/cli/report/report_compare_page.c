/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of two reports side by side. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "report_compare.h"
#include "report_page.h"
#include "sim/check/rules.h"

#define MAX_PLOTTED  24 /* operations; all have a table */
#define UNKNOWN_TEXT "\u2013"

/* ---- numbers ---- */

static void format_value(enum cli_report_unit unit, uint64_t value, char text[CLI_HUMAN_SIZE])
{
	if (unit == CLI_REPORT_NS)
		cli_human_time(value, text);
	else if (unit == CLI_REPORT_BYTES)
		cli_human_bytes(value, text);
	else if (unit == CLI_REPORT_BYTE_RATE)
		cli_human_byte_rate(value, text);
	else if (unit == CLI_REPORT_RATE)
		cli_human_count(value, text);
	else
		snprintf(text, CLI_HUMAN_SIZE, "%" PRIu64, value);
}

static void put_value(enum cli_report_unit unit, bool is_known, uint64_t value, FILE *out)
{
	char text[CLI_HUMAN_SIZE] = UNKNOWN_TEXT;

	if (is_known)
		format_value(unit, value, text);
	cli_html_put_number_cell(out, text);
}

static void put_difference(const struct cli_report_figure *figure, FILE *out)
{
	bool is_less = figure->now < figure->before;
	char text[CLI_HUMAN_SIZE], signed_text[CLI_HUMAN_SIZE + 4] = UNKNOWN_TEXT;

	if (cli_report_figure_is_paired(figure)) {
		format_value(figure->unit, is_less ? figure->before - figure->now : figure->now - figure->before, text);
		snprintf(signed_text, sizeof(signed_text), "%s%s",
			 is_less                       ? "\u2212" :
			 figure->now == figure->before ? "" :
							 "+",
			 text);
	}
	cli_html_put_number_cell(out, signed_text);
}

/* Three digits, such as 0.012, 1.25, 33.3 and 120. */
static void put_ratio(const struct cli_report_figure *figure, FILE *out)
{
	char text[CLI_HUMAN_SIZE] = UNKNOWN_TEXT;
	double ratio;

	if (cli_report_figure_ratio(figure, &ratio))
		snprintf(text, sizeof(text), "%.*f",
			 ratio < 0.095 ? 3 :
			 ratio < 9.995 ? 2 :
			 ratio < 99.95 ? 1 :
					 0,
			 ratio);
	cli_html_put_number_cell(out, text);
}

static void put_sides(const struct cli_report_figure *figure, FILE *out)
{
	put_value(figure->unit, figure->has_before, figure->before, out);
	put_value(figure->unit, figure->has_now, figure->now, out);
	put_difference(figure, out);
	put_ratio(figure, out);
}

static void put_figures(const char *name, const struct cli_report_figure *figures, size_t count, FILE *out)
{
	static const char *const headings[] = { "Figure", ">Before", ">Now", ">Difference", ">Ratio", NULL };

	cli_html_put_table_begin(out, name, headings);
	for (size_t i = 0; i < count; i++) {
		fputs("<tr>", out);
		cli_html_put_cell(out, figures[i].title);
		put_sides(&figures[i], out);
		fputs("</tr>\n", out);
	}
	cli_html_put_table_end(out);
}

/* ---- the runs ---- */

static void put_caveats(const struct cli_report_comparison *comparison, FILE *out)
{
	const struct cli_report *reports[] = { comparison->before, comparison->now };
	bool is_virtual = true, is_sampled = false;

	for (int i = 0; i < 2; i++) {
		is_virtual &= reports[i]->clock && strcmp(reports[i]->clock, "virtual") == 0;
		for (size_t j = 0; j < reports[i]->num_processes; j++)
			is_sampled |= strcmp(reports[i]->processes[j].level, "sampled") == 0;
	}
	if (is_sampled)
		fputs("<p class=\"soft\">Only a sample of fast tasks and messages was recorded: counts of tasks are exact, latencies are of"
		      " the sample. <code>--trace-level full</code> records all.</p>\n",
		      out);
	if (!is_virtual)
		fputs("<p class=\"soft\">Times depend on the machine and on what else it did, and a trace does not name the machine."
		      " <code>--clock virtual</code> gives times that do not.</p>\n",
		      out);
}

static void put_differences(const struct cli_report_comparison *comparison, FILE *out)
{
	static const char *const headings[] = { "Difference in", "Before", "Now", NULL };

	fputs("<h2 id=\"differences\">Differences between the runs</h2>\n", out);
	put_caveats(comparison, out);
	if (comparison->num_differences == 0) {
		fputs("<p>Clock, cards, programs, devices, data paths, trace levels and fault rules are the same.</p>\n",
		      out);
		return;
	}
	fputs("<p class=\"bad\">The runs are not alike: figures may differ for these reasons.</p>\n", out);
	cli_html_put_table(out, "Differences", headings, cli_report_difference_fields, comparison->differences,
			   comparison->num_differences, sizeof(*comparison->differences));
}

static void put_run(const struct cli_report_comparison *comparison, FILE *out)
{
	struct cli_report_figure figures[CLI_REPORT_MAX_FIGURES];
	size_t count = cli_report_run_figures(comparison, figures);

	fputs("<h2 id=\"run\">Run</h2>\n", out);
	put_figures("Run", figures, count, out);
}

/* ---- operations ---- */

static void put_op_name(const struct cli_report *report, const struct cli_report_op *op, FILE *out)
{
	cli_report_put_process_cell(report, op->pid, out);
	cli_html_put_cell(out, op->context);
	cli_html_put_cell(out, op->name);
}

static void put_percentiles(uint64_t before, uint64_t now, bool is_timed_before, bool is_timed_now, FILE *out)
{
	const struct cli_report_figure figure = {
		.has_before = is_timed_before, .has_now = is_timed_now, .before = before, .now = now
	};

	put_value(CLI_REPORT_NS, figure.has_before, before, out);
	put_value(CLI_REPORT_NS, figure.has_now, now, out);
	put_ratio(&figure, out);
}

static void put_overview(const struct cli_report_comparison *comparison, FILE *out)
{
	static const char *const headings[] = { "Process", "Context",     "Operation", ">p50 before", ">p50 now",
						">Ratio",  ">p99 before", ">p99 now",  ">Ratio",      NULL };

	cli_html_put_table_begin(out, "Latency of each operation", headings);
	for (size_t i = 0; i < comparison->num_ops; i++) {
		const struct cli_report_op *before = comparison->ops[i].before, *now = comparison->ops[i].now;

		if (!before || !now)
			continue;
		fputs("<tr>", out);
		put_op_name(comparison->now, now, out);
		put_percentiles(before->p50_ns, now->p50_ns, before->timed > 0, now->timed > 0, out);
		put_percentiles(before->p99_ns, now->p99_ns, before->timed > 0, now->timed > 0, out);
		fputs("</tr>\n", out);
	}
	cli_html_put_table_end(out);
}

static void put_op(const struct cli_report_comparison *comparison, const struct cli_report_op_pair *pair,
		   bool is_plotted, FILE *out)
{
	struct cli_report_figure figures[CLI_REPORT_MAX_FIGURES];
	size_t count = cli_report_op_figures(pair, figures);

	fputs("<h3>", out);
	cli_html_put_escaped(out, pair->now->name);
	fputs(", ", out);
	cli_html_put_escaped(out, pair->now->context);
	fputs(" <span class=\"soft\">of ", out);
	cli_report_put_process(comparison->now, pair->now->pid, out);
	fputs("</span></h3>\n", out);
	put_figures("Operation", figures, count, out);
	if (!is_plotted)
		return;
	fputs("<div class=\"figures\">\n", out);
	cli_report_put_latency_pair(pair->before, pair->now, out);
	fputs("</div>\n", out);
}

static void put_operations(const struct cli_report_comparison *comparison, FILE *out)
{
	size_t num_done = 0;

	fputs("<h2 id=\"operations\">Operations</h2>\n<p class=\"soft\">Latency is from a task's submission until it is back, and from"
	      " a message's sending until its receipt. Throughput and rate are over the time from the operation's first submission to"
	      " its last end.</p>\n",
	      out);
	put_overview(comparison, out);
	for (size_t i = 0; i < comparison->num_ops; i++) {
		const struct cli_report_op_pair *pair = &comparison->ops[i];

		if (pair->before && pair->now)
			put_op(comparison, pair, num_done++ < MAX_PLOTTED, out);
	}
	if (num_done > MAX_PLOTTED)
		fprintf(out, "<p class=\"soft\">The first %d operations are drawn.</p>\n", MAX_PLOTTED);
}

/* Operations of one run alone. */
static void put_single_ops(const struct cli_report_comparison *comparison, FILE *out)
{
	static const char *const headings[] = { "Run",     "Process", "Context", "Operation", ">Ended",
						">Failed", ">p50",    ">p99",    NULL };

	if (comparison->num_ops == comparison->num_common)
		return;
	fputs("<h2 id=\"single\">Operations of one run</h2>\n<p>They have no counterpart in the other run.</p>\n", out);
	cli_html_put_table_begin(out, "Operations of one run", headings);
	for (size_t i = 0; i < comparison->num_ops; i++) {
		const struct cli_report_op_pair *pair = &comparison->ops[i];
		const struct cli_report_op *op = pair->now ? pair->now : pair->before;

		if (pair->before && pair->now)
			continue;
		fprintf(out, "<tr><td>%s</td>", pair->now ? "now" : "before");
		put_op_name(pair->now ? comparison->now : comparison->before, op, out);
		cli_html_put_count_cell(out, cli_report_op_ended(op));
		cli_html_put_count_cell(out, op->has_counts ? op->counts.failed : op->recorded_failed);
		put_value(CLI_REPORT_NS, op->timed > 0, op->p50_ns, out);
		put_value(CLI_REPORT_NS, op->timed > 0, op->p99_ns, out);
		fputs("</tr>\n", out);
	}
	cli_html_put_table_end(out);
}

/* ---- rules ---- */

static void put_hits(const char *name, const struct cli_report_rule_pair *pairs, size_t count, FILE *out)
{
	static const char *const headings[] = { "Rule", ">Before", ">Now", ">Difference", ">Ratio", NULL };

	cli_html_put_table_begin(out, name, headings);
	for (size_t i = 0; i < count; i++) {
		const struct sim_check_rule_entry *rule = sim_check_rule_find(pairs[i].rule);
		const struct cli_report_figure figure = { .has_before = pairs[i].has_before,
							  .has_now = pairs[i].has_now,
							  .before = pairs[i].before,
							  .now = pairs[i].now };

		fputs("<tr><td class=\"wide\"><code>", out);
		cli_html_put_escaped(out, pairs[i].rule);
		fputs("</code>", out);
		if (rule)
			fputs(" ", out);
		cli_html_put_escaped(out, rule ? rule->rule : "");
		fputs("</td>", out);
		put_sides(&figure, out);
		fputs("</tr>\n", out);
	}
	cli_html_put_table_end(out);
}

static void put_rules(const struct cli_report_comparison *comparison, FILE *out)
{
	if (comparison->num_faults) {
		fputs("<h2 id=\"faults\">Faults</h2>\n<p class=\"soft\">How often each rule was applied. A dash: the run did not have the rule.</p>\n",
		      out);
		put_hits("Faults", comparison->faults, comparison->num_faults, out);
	}
	if (comparison->num_findings) {
		fputs("<h2 id=\"findings\">Findings of the checker</h2>\n<p class=\"soft\">A trace does not say whether the checker was"
		      " on.</p>\n",
		      out);
		put_hits("Findings", comparison->findings, comparison->num_findings, out);
	}
}

/* ---- processes ---- */

static void put_process_side(const struct cli_report *report, const struct cli_report_process *process, FILE *out)
{
	fputs("<td>", out);
	if (process)
		cli_report_put_process(report, process->pid, out);
	else
		fputs(UNKNOWN_TEXT, out);
	fputs("</td>", out);
	cli_html_put_cell(out, process && process->paths[0] ? process->paths : UNKNOWN_TEXT);
	cli_html_put_cell(out, process ? process->level : UNKNOWN_TEXT);
}

static void put_processes(const struct cli_report_comparison *comparison, FILE *out)
{
	static const char *const headings[] = { "Before", "Data paths before", "Recorded before",
						"Now",    "Data paths",        "Recorded",
						NULL };

	fputs("<h2 id=\"processes\">Processes</h2>\n", out);
	cli_html_put_table_begin(out, "Processes", headings);
	for (size_t i = 0; i < comparison->num_processes; i++) {
		fputs("<tr>", out);
		put_process_side(comparison->before, comparison->processes[i].before, out);
		put_process_side(comparison->now, comparison->processes[i].now, out);
		fputs("</tr>\n", out);
	}
	cli_html_put_table_end(out);
}

/* ---- the whole ---- */

static void put_navigation(const struct cli_report_comparison *comparison, FILE *out)
{
	const struct cli_html_section sections[] = { { true, "differences", "Differences" },
						     { true, "run", "Run" },
						     { true, "operations", "Operations" },
						     { comparison->num_common < comparison->num_ops, "single",
						       "Operations of one run" },
						     { comparison->num_faults, "faults", "Faults" },
						     { comparison->num_findings, "findings", "Findings" },
						     { true, "processes", "Processes" },
						     { 0 } };

	cli_html_put_navigation(out, sections);
}

static void put_name(const char *what, const char *name, const struct cli_report *report, FILE *out)
{
	fprintf(out, "<p>%s: <code>", what);
	cli_html_put_escaped(out, name);
	fputs("</code>, clock ", out);
	cli_html_put_escaped(out, report->clock ? report->clock : "unknown");
	fputs("</p>\n", out);
}

void cli_report_print_comparison(const struct cli_report_comparison *comparison, FILE *out)
{
	cli_report_put_page_begin("bfsim report: two runs", out);
	put_name("Before", comparison->before_name, comparison->before, out);
	put_name("Now", comparison->now_name, comparison->now, out);
	put_navigation(comparison, out);
	put_differences(comparison, out);
	put_run(comparison, out);
	put_operations(comparison, out);
	put_single_ops(comparison, out);
	put_rules(comparison, out);
	put_processes(comparison, out);
	cli_report_put_page_end(cli_report_comparison_json(comparison), out);
}

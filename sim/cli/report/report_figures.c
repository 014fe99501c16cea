/* SPDX-License-Identifier: BSD-3-Clause */
/* The sections of operations and links: a table and plots. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "pcie_model/arith.h"
#include "report_page.h"
#include "report_plot.h"

#define MAX_PLOTTED  24 /* operations; the table has all */
#define CAPTION_SIZE 256

void cli_report_put_process(const struct cli_report *report, int64_t pid, FILE *out)
{
	const struct cli_report_process *process = cli_report_find_process(report, pid);

	cli_html_put_escaped(out, process ? process->side : "");
	fputs(": ", out);
	cli_html_put_escaped(out, process ? process->program : "");
	fprintf(out, " (%" PRId64 ")", pid);
}

void cli_report_put_process_cell(const struct cli_report *report, int64_t pid, FILE *out)
{
	fputs("<td>", out);
	cli_report_put_process(report, pid, out);
	fputs("</td>", out);
}

/* ---- the table ---- */

static void put_time(FILE *out, uint64_t ns, bool is_known)
{
	char text[CLI_HUMAN_SIZE] = "\u2013";

	if (is_known)
		cli_human_time(ns, text);
	cli_html_put_number_cell(out, text);
}

static void put_op_row(const struct cli_report *report, const struct cli_report_op *op, FILE *out)
{
	const uint64_t times[] = { op->p50_ns, op->p90_ns, op->p99_ns, op->p999_ns, op->max_ns };

	fputs("<tr>", out);
	cli_report_put_process_cell(report, op->pid, out);
	cli_html_put_cell(out, op->context);
	cli_html_put_cell(out, op->name);
	cli_html_put_count_cell(out, cli_report_op_ended(op));
	cli_html_put_count_cell(out, op->has_counts ? op->counts.failed : op->recorded_failed);
	cli_html_put_count_cell(out, op->timed);
	for (int i = 0; i < 5; i++)
		put_time(out, times[i], op->timed > 0);
	fputs("</tr>\n", out);
}

static void put_table(const struct cli_report *report, FILE *out)
{
	static const char *const headings[] = { "Process", "Context", "Operation", ">Ended", ">Failed", ">Timed",
						">p50",    ">p90",    ">p99",      ">p99.9", ">Max",    NULL };

	cli_html_put_table_begin(out, "Latency of each operation", headings);
	for (size_t i = 0; i < report->num_ops; i++)
		put_op_row(report, &report->ops[i], out);
	cli_html_put_table_end(out);
}

/* ---- plots ---- */

static void slice_text(const struct cli_plot *plot, uint32_t number, char text[CLI_HUMAN_SIZE])
{
	cli_human_time(plot->first + number * plot->step, text);
}

/* A plot of one value per slice, over the time of the report. */
static struct cli_plot make_time_plot(const struct cli_report *report, const uint64_t values[CLI_REPORT_SLICES])
{
	struct cli_plot plot = {
		.values = values, .count = CLI_REPORT_SLICES, .position_text = slice_text, .step = report->slice_ns
	};

	cli_plot_label_times(&plot, report->slice_ns * CLI_REPORT_SLICES);
	return plot;
}

static bool has_fault(const struct cli_report_op *op, const struct cli_report_incident *fault)
{
	return fault->pid == op->pid && strcmp(fault->context, op->context) == 0;
}

/* Mark the faults of the operation's context: one mark for all of a slice. */
static void mark_faults(const struct cli_report *report, const struct cli_report_op *op, struct cli_plot *plot)
{
	uint64_t counts[CLI_REPORT_SLICES] = { 0 }, firsts[CLI_REPORT_SLICES];
	uint64_t length_ns = report->slice_ns * CLI_REPORT_SLICES;
	char text[CLI_HUMAN_SIZE];

	for (size_t i = 0; i < report->faults.count; i++) {
		const struct cli_report_incident *fault = &report->faults.list[i];
		uint32_t slice = cli_report_slice_index(report, fault->time_ns);

		if (has_fault(op, fault) && counts[slice]++ == 0)
			firsts[slice] = fault->time_ns - report->first_ns;
	}
	plot->marks_key = "&#9662; injected fault";
	for (int i = 0; i < CLI_REPORT_SLICES; i++) {
		struct cli_plot_mark *mark;

		if (counts[i] == 0)
			continue;
		mark = cli_plot_add_mark(plot, (uint32_t)((unsigned __int128)firsts[i] * CLI_PLOT_WIDTH / length_ns));
		cli_human_time(firsts[i], text);
		snprintf(mark->tooltip, sizeof(mark->tooltip), "%" PRIu64 " fault%s, at %s%s", counts[i],
			 counts[i] == 1 ? "" : "s", text, counts[i] == 1 ? "" : " and later");
	}
}

static void plot_throughput(const struct cli_report *report, const struct cli_report_op *op, FILE *out)
{
	char caption[CAPTION_SIZE], most[CLI_HUMAN_SIZE], mean[CLI_HUMAN_SIZE];
	uint64_t rates[CLI_REPORT_SLICES] = { 0 }, sum = 0;
	struct cli_plot plot = make_time_plot(report, rates);
	bool by_bytes;

	for (int i = 0; i < CLI_REPORT_SLICES; i++)
		sum += op->bytes[i];
	by_bytes = sum > 0;
	for (int i = 0; i < CLI_REPORT_SLICES; i++)
		rates[i] = cli_per_second(by_bytes ? op->bytes[i] : op->tasks[i], report->slice_ns);
	plot.value_text = by_bytes ? cli_human_byte_rate : cli_human_count;
	plot.value_text(cli_plot_largest(rates, CLI_REPORT_SLICES), most);
	plot.value_text(cli_per_second(by_bytes ? sum : op->recorded, report->slice_ns * CLI_REPORT_SLICES), mean);
	snprintf(caption, sizeof(caption), "over time: at most %s%s, %s%s on average", most,
		 by_bytes ? "" : " a second", mean, by_bytes ? "" : " a second");
	plot.title = by_bytes ? "Throughput" : "Rate";
	plot.caption = caption;
	plot.colour = "bytes";
	mark_faults(report, op, &plot);
	if (op->recorded > 0)
		cli_plot_print(&plot, out);
}

static void plot_depth(const struct cli_report *report, const struct cli_report_op *op, FILE *out)
{
	uint64_t depths[CLI_REPORT_SLICES] = { 0 };
	struct cli_plot plot = make_time_plot(report, depths);
	char caption[CAPTION_SIZE];

	for (int i = 0; i < CLI_REPORT_SLICES; i++)
		depths[i] = op->in_flight[i];
	if (cli_plot_largest(depths, CLI_REPORT_SLICES) == 0)
		return;
	snprintf(caption, sizeof(caption), "over time: at most %" PRIu64 " in flight",
		 cli_plot_largest(depths, CLI_REPORT_SLICES));
	plot.title = "Queue depth";
	plot.caption = caption;
	plot.colour = "depth";
	mark_faults(report, op, &plot);
	plot.value_text = cli_human_count;
	cli_plot_print(&plot, out);
}

static void plot_op(const struct cli_report *report, const struct cli_report_op *op, FILE *out)
{
	fputs("<h3>", out);
	cli_html_put_escaped(out, op->name);
	fputs(", ", out);
	cli_html_put_escaped(out, op->context);
	fputs(" <span class=\"soft\">of ", out);
	cli_report_put_process(report, op->pid, out);
	fputs("</span></h3>\n<div class=\"figures\">\n", out);
	cli_report_put_latencies(op, out);
	plot_throughput(report, op, out);
	plot_depth(report, op, out);
	fputs("</div>\n", out);
}

static int busiest_first(const void *left, const void *right)
{
	const struct cli_report_op *a = *(const struct cli_report_op *const *)left;
	const struct cli_report_op *b = *(const struct cli_report_op *const *)right;

	if (a->recorded != b->recorded)
		return a->recorded > b->recorded ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void plot_ops(const struct cli_report *report, FILE *out)
{
	const struct cli_report_op **order = calloc(report->num_ops + 1, sizeof(struct cli_report_op *));
	size_t count = min_size(report->num_ops, MAX_PLOTTED);

	for (size_t i = 0; order && i < report->num_ops; i++)
		order[i] = &report->ops[i];
	if (order)
		qsort(order, report->num_ops, sizeof(struct cli_report_op *), busiest_first);
	for (size_t i = 0; order && i < count; i++)
		if (order[i]->recorded)
			plot_op(report, order[i], out);
	if (count < report->num_ops)
		fprintf(out, "<p class=\"soft\">The %d busiest operations are drawn.</p>\n", MAX_PLOTTED);
	free(order);
}

void cli_report_put_operations(const struct cli_report *report, FILE *out)
{
	fputs("<h2 id=\"operations\">Operations</h2>\n", out);
	if (report->num_ops == 0) {
		fputs("<p>No task and no message was recorded.</p>\n", out);
		return;
	}
	fputs("<p class=\"soft\">Latency is from a task's submission until it is back, and from a message's sending until its receipt."
	      " Ended counts all tasks. Timed counts those recorded one by one, which the plots show.</p>\n",
	      out);
	put_table(report, out);
	plot_ops(report, out);
}

/* ---- links ---- */

static void plot_direction(const struct cli_report *report, const struct cli_report_link *link,
			   enum cli_report_direction direction, FILE *out)
{
	static const char *const names[CLI_REPORT_NUM_DIRECTIONS] = { "host to card", "card to host" };
	char title[192], caption[CAPTION_SIZE], most[CLI_HUMAN_SIZE], all[CLI_HUMAN_SIZE], could[CLI_HUMAN_SIZE];
	const struct cli_report_link_traffic *traffic = &link->traffic[direction];
	uint64_t shares[CLI_REPORT_SLICES] = { 0 };
	struct cli_plot plot = make_time_plot(report, shares);

	for (int i = 0; i < CLI_REPORT_SLICES; i++)
		shares[i] = cli_report_link_utilization(traffic, traffic->bytes[i], report->slice_ns);
	cli_human_percent(cli_plot_largest(shares, CLI_REPORT_SLICES), most);
	cli_human_percent(
		cli_report_link_utilization(traffic, traffic->total_bytes, report->slice_ns * CLI_REPORT_SLICES), all);
	cli_human_bit_rate(traffic->payload_bps, could);
	snprintf(title, sizeof(title), "%s: %s, %s", link->side, link->device, names[direction]);
	snprintf(caption, sizeof(caption), "at most %s of %s, %s on average", most, could, all);
	plot.title = title;
	plot.caption = caption;
	plot.colour = "link";
	plot.value_text = cli_human_percent;
	if (traffic->total_bytes > 0)
		cli_plot_print(&plot, out);
}

/* In functional mode no task uses time on a link, so the report has no links. */
void cli_report_put_links(const struct cli_report *report, FILE *out)
{
	if (report->num_links == 0)
		return;
	fputs("<h2 id=\"links\">Links</h2>\n<p class=\"soft\">Bytes that tasks of a device moved over its link to the host, as a share of"
	      " the link's bandwidth for large transfers in this direction.</p>\n<div class=\"figures\">\n",
	      out);
	for (size_t i = 0; i < report->num_links; i++)
		for (enum cli_report_direction direction = 0; direction < CLI_REPORT_NUM_DIRECTIONS; direction++)
			plot_direction(report, &report->links[i], direction, out);
	fputs("</div>\n", out);
}

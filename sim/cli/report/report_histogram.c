/* SPDX-License-Identifier: BSD-3-Clause */
/* Plots of latencies: of an operation, and of the same operation in two runs. */
#include <inttypes.h>

#include "pcie_model/arith.h"
#include "report_page.h"
#include "report_plot.h"

#define CAPTION_SIZE 256
#define MIN_BINS     8
#define WHOLE_PPM    1000000

static void bin_text(const struct cli_plot *plot, uint32_t number, char text[CLI_HUMAN_SIZE])
{
	cli_human_time(cli_report_bin_start_ns((uint32_t)plot->first + number), text);
}

/* Plot the bins with tasks, extended by empty bins to at least MIN_BINS. */
static void choose_bins(uint32_t first, uint32_t end, struct cli_plot *plot)
{
	while (end - first < MIN_BINS) {
		first -= first > 0;
		end += end < CLI_REPORT_BINS;
	}
	plot->first = first;
	plot->count = end - first;
}

/* Label borders of bins: each power of ten, and as many between or as few as there is room for. */
static void label_bins(struct cli_plot *plot)
{
	uint32_t step = 1;
	char text[CLI_HUMAN_SIZE];

	while (plot->count / step >= CLI_PLOT_MAX_LABELS - 1)
		step *= 2;
	for (uint32_t i = 0; i <= plot->count; i++) {
		if ((plot->first + i + step - 1) % step != 0 && step > 1)
			continue;
		bin_text(plot, i, text);
		cli_plot_add_label(plot, i * CLI_PLOT_WIDTH / plot->count, text);
	}
}

/* The position of a latency: within its bin, in proportion. */
static uint32_t latency_position(const struct cli_plot *plot, uint64_t ns)
{
	uint32_t i = 0;
	uint64_t from, to;

	while (i + 1 < plot->count && ns >= cli_report_bin_start_ns((uint32_t)plot->first + i + 1))
		i++;
	from = cli_report_bin_start_ns((uint32_t)plot->first + i);
	to = cli_report_bin_start_ns((uint32_t)plot->first + i + 1);
	return (uint32_t)((i * UINT64_C(1000) + min_u64((ns - from) * 1000 / (to - from), 1000)) * CLI_PLOT_WIDTH /
			  1000 / plot->count);
}

static void mark_percentile(struct cli_plot *plot, const char *label, uint32_t row, uint64_t ns)
{
	struct cli_plot_mark *mark = cli_plot_add_mark(plot, latency_position(plot, ns));
	char text[CLI_HUMAN_SIZE];

	cli_human_time(ns, text);
	mark->row = row;
	snprintf(mark->label, sizeof(mark->label), "%s", label);
	snprintf(mark->tooltip, sizeof(mark->tooltip), "%s: %s", label, text);
}

void cli_report_put_latencies(const struct cli_report_op *op, FILE *out)
{
	char caption[CAPTION_SIZE], p50[CLI_HUMAN_SIZE], p99[CLI_HUMAN_SIZE];
	struct cli_plot plot = { .title = "Latency",
				 .caption = caption,
				 .colour = "latency",
				 .value_text = cli_human_count,
				 .position_text = bin_text };

	if (op->timed == 0)
		return;
	choose_bins(op->first_bin, op->end_bin, &plot);
	plot.values = op->bins + plot.first;
	label_bins(&plot);
	mark_percentile(&plot, "p50", 0, op->p50_ns);
	mark_percentile(&plot, "p99", 1, op->p99_ns);
	cli_human_time(op->p50_ns, p50);
	cli_human_time(op->p99_ns, p99);
	snprintf(caption, sizeof(caption), "of %" PRIu64 " %s: half within %s, 99 %% within %s", op->timed,
		 op->is_messages ? "messages" : "tasks", p50, p99);
	if (op->timed == 1)
		snprintf(caption, sizeof(caption), "of one %s: %s", op->is_messages ? "message" : "task", p50);
	cli_plot_print(&plot, out);
}

/* ---- two runs ---- */

/* Millionths as "12.3 %", "0.04 %". */
static void share_text(uint64_t ppm, char text[CLI_HUMAN_SIZE])
{
	if (ppm >= WHOLE_PPM / 100)
		cli_human_percent(ppm / 1000, text);
	else
		snprintf(text, CLI_HUMAN_SIZE, "0.%02" PRIu64 " %%", max_u64(ppm / 100, 1));
}

/* The tasks in each bin as shares of all of the run; a bin that is not empty has at least a millionth. */
static void share_bins(const struct cli_report_op *op, const struct cli_plot *plot, uint64_t shares[CLI_REPORT_BINS])
{
	for (uint32_t i = 0; i < plot->count; i++) {
		uint64_t count = op->bins[plot->first + i];

		shares[i] = count ? max_u64((uint64_t)((unsigned __int128)count * WHOLE_PPM / op->timed), 1) : 0;
	}
}

void cli_report_put_latency_pair(const struct cli_report_op *before, const struct cli_report_op *now, FILE *out)
{
	uint64_t shares_before[CLI_REPORT_BINS], shares_now[CLI_REPORT_BINS];
	char caption[CAPTION_SIZE];
	struct cli_plot plot = { .title = "Latency",
				 .caption = caption,
				 .colour = "latency",
				 .values = shares_now,
				 .before = shares_before,
				 .value_text = share_text,
				 .position_text = bin_text };

	if (before->timed == 0 || now->timed == 0)
		return;
	choose_bins(min_u32(before->first_bin, now->first_bin),
		    before->end_bin > now->end_bin ? before->end_bin : now->end_bin, &plot);
	share_bins(before, &plot, shares_before);
	share_bins(now, &plot, shares_now);
	label_bins(&plot);
	mark_percentile(&plot, "p50 before", 0, before->p50_ns);
	mark_percentile(&plot, "p50 now", 1, now->p50_ns);
	mark_percentile(&plot, "p99 before", 2, before->p99_ns);
	mark_percentile(&plot, "p99 now", 3, now->p99_ns);
	snprintf(caption, sizeof(caption),
		 "shares of %" PRIu64 " %s before (wide, pale bars) and of %" PRIu64 " now (narrow bars)",
		 before->timed, before->is_messages ? "messages" : "tasks", now->timed);
	cli_plot_print(&plot, out);
}

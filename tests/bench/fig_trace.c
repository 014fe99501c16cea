/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of recording: the same 64-byte tasks in processes with and without recording. */
#include "copier.h"
#include "fig.h"

static int compare(const struct bench_report *report, struct bench_copier *ours, struct bench_copier *off,
		   const struct bench_row *row)
{
	int rc = bench_copier_start(ours);

	if (rc == 0)
		rc = bench_copier_compare(report, ours, off, row);
	return bench_process_end(&ours->process) < 0 ? -1 : rc;
}

int bench_fig_trace(const struct bench_report *report)
{
	static const struct bench_row rows[] = {
		{ .name = "64 B, recording sampled",
		  .baseline_name = "recording off",
		  .goal = BENCH_RATIO_AT_LEAST,
		  .limit = 0.95 },
		{ .name = "64 B, recording full", .baseline_name = "recording off" },
		{ .name = "64 B, recording off",
		  .baseline_name = "recording off" }, /* the precision of the other two */
	};
	static const char *const levels[] = { "sampled", "full", "off" };
	struct bench_card card;
	struct bench_copier off = { .card = &card, .trace_level = "off" };
	int rc;

	if (bench_card_up(&card) < 0)
		return -1;
	rc = bench_copier_start(&off);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && rc == 0; i++) {
		struct bench_copier ours = { .card = &card, .trace_level = levels[i] };

		rc = compare(report, &ours, &off, &rows[i]);
	}
	if (bench_process_end(&off.process) < 0)
		rc = -1;
	return bench_card_down(&card) < 0 ? -1 : rc;
}

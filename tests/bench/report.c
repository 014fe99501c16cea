/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of the result table: sent through a pipe, printed as text and JSON. */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int bench_report_row(const struct bench_report *report, const struct bench_row *row)
{
	if (write(report->fd, row, sizeof(*row)) != sizeof(*row))
		return bench_fail("a row got lost: the runner is gone");
	return 0;
}

int bench_report_skipped(const struct bench_report *report, const char *name, const char *why)
{
	struct bench_row row = { .ours = NAN, .baseline = NAN, .ratio = NAN };

	snprintf(row.name, sizeof(row.name), "%s", name);
	snprintf(row.note, sizeof(row.note), "%s", why);
	return bench_report_row(report, &row);
}

int bench_report_result(const struct bench_report *report, const struct bench_row *row,
			const struct bench_result *result, enum bench_measure measure, uint32_t bytes)
{
	static const char *const units[] = { [BENCH_BANDWIDTH] = "GB/s", [BENCH_RATE] = "M/s", [BENCH_LATENCY] = "us" };
	double a_second = measure == BENCH_BANDWIDTH ? bytes : 1000; /* in the unit, from operations each ns */
	struct bench_row told = *row;
	double quiet;

	snprintf(told.unit, sizeof(told.unit), "%s", units[measure]);
	if (measure == BENCH_LATENCY) {
		told.ours = result->ours_ns / 1000;
		told.baseline = result->baseline_ns / 1000;
		told.ratio = result->time_ratio;
		quiet = result->quiet_time_ratio;
	} else {
		told.ours = a_second / result->ours_ns;
		told.baseline = a_second / result->baseline_ns;
		told.ratio = 1 / result->time_ratio;
		quiet = 1 / result->quiet_time_ratio;
	}
	snprintf(told.note, sizeof(told.note), "ratio when quiet: %.3f", quiet);
	return bench_report_row(report, &told);
}

static const struct {
	const char *sign, *subject;
} goals[] = {
	[BENCH_NO_GOAL] = { "", "" },
	[BENCH_RATIO_AT_LEAST] = { ">=", "ratio" },
	[BENCH_RATIO_ABOVE] = { ">", "ratio" },
	[BENCH_RATIO_AT_MOST] = { "<=", "ratio" },
	[BENCH_OURS_AT_LEAST] = { ">=", "ours" },
	[BENCH_OURS_AT_MOST] = { "<=", "ours" },
	[BENCH_OURS_BELOW] = { "<", "ours" },
};

/* "yes", "no", "-" (no goal) or "skipped". */
static const char *verdict(const struct bench_row *row)
{
	bool met = false;

	if (isnan(row->ours))
		return "skipped";
	switch (row->goal) {
	case BENCH_NO_GOAL:
		return "-";
	case BENCH_RATIO_AT_LEAST:
		met = row->ratio >= row->limit;
		break;
	case BENCH_RATIO_ABOVE:
		met = row->ratio > row->limit;
		break;
	case BENCH_RATIO_AT_MOST:
		met = row->ratio <= row->limit;
		break;
	case BENCH_OURS_AT_LEAST:
		met = row->ours >= row->limit;
		break;
	case BENCH_OURS_AT_MOST:
		met = row->ours <= row->limit;
		break;
	case BENCH_OURS_BELOW:
		met = row->ours < row->limit;
		break;
	}
	return met ? "yes" : "no";
}

static const char *number(char *text, size_t size, double value)
{
	if (isnan(value))
		snprintf(text, size, "-");
	else
		snprintf(text, size, "%.*f", value < 10 ? 3 : value < 100 ? 2 : 1, value);
	return text;
}

void bench_print_head(void)
{
	double load[1];

	if (getloadavg(load, 1) == 1)
		printf("%ld CPUs, load %.1f before the start: figures of two processes want two idle CPUs\n",
		       sysconf(_SC_NPROCESSORS_ONLN), load[0]);
	printf("%-34s %9s %9s %-6s %6s  %-12s %-7s %s\n", "figure", "ours", "baseline", "unit", "ratio", "goal", "ok?",
	       "baseline is; notes");
}

void bench_print_row(const struct bench_row *row)
{
	char ours[24], baseline[24], ratio[24], goal[24] = "-";

	if (row->goal != BENCH_NO_GOAL)
		snprintf(goal, sizeof(goal), "%s %s %g", goals[row->goal].subject, goals[row->goal].sign, row->limit);
	printf("%-34s %9s %9s %-6s %6s  %-12s %-7s %s%s%s\n", row->name, number(ours, sizeof(ours), row->ours),
	       number(baseline, sizeof(baseline), row->baseline), row->unit[0] ? row->unit : "-",
	       number(ratio, sizeof(ratio), row->ratio), goal, verdict(row), row->baseline_name,
	       row->baseline_name[0] && row->note[0] ? "; " : "", row->note);
	fflush(stdout);
}

static void print_json_number(const char *key, double value)
{
	if (isnan(value))
		printf(",\"%s\":null", key);
	else
		printf(",\"%s\":%.6g", key, value);
}

/* The texts here contain no character that JSON would escape. */
void bench_print_json(const struct bench_row *row)
{
	printf("{\"name\":\"%s\",\"unit\":\"%s\"", row->name, row->unit);
	print_json_number("ours", row->ours);
	print_json_number("baseline", row->baseline);
	print_json_number("ratio", row->ratio);
	if (row->goal != BENCH_NO_GOAL)
		printf(",\"goal\":\"%s %s %g\"", goals[row->goal].subject, goals[row->goal].sign, row->limit);
	printf(",\"ok\":\"%s\",\"against\":\"%s\",\"note\":\"%s\"}\n", verdict(row), row->baseline_name, row->note);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <math.h>
#include <stdio.h>
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
	struct bench_row row = {.ours = NAN, .baseline = NAN, .ratio = NAN};

	snprintf(row.name, sizeof(row.name), "%s", name);
	snprintf(row.note, sizeof(row.note), "%s", why);
	return bench_report_row(report, &row);
}

static int report_numbers(const struct bench_report *report, struct bench_row *row, const char *unit, double ours,
			  double baseline, double ratio)
{
	snprintf(row->unit, sizeof(row->unit), "%s", unit);
	row->ours = ours;
	row->baseline = baseline;
	row->ratio = ratio;
	return bench_report_row(report, row);
}

int bench_report_bandwidth(const struct bench_report *report, struct bench_row *row,
			   const struct bench_result *result, uint64_t bytes)
{
	return report_numbers(report, row, "GB/s", (double)bytes / result->ours_ns, (double)bytes / result->baseline_ns,
			      1 / result->time_ratio);
}

int bench_report_rate(const struct bench_report *report, struct bench_row *row, const struct bench_result *result)
{
	return report_numbers(report, row, "M/s", 1000 / result->ours_ns, 1000 / result->baseline_ns,
			      1 / result->time_ratio);
}

int bench_report_latency(const struct bench_report *report, struct bench_row *row,
			 const struct bench_result *result)
{
	return report_numbers(report, row, "us", result->ours_ns / 1000, result->baseline_ns / 1000,
			      result->time_ratio);
}

static const struct {
	const char *sign, *subject;
} goals[] = {
	[BENCH_NO_GOAL] = {"", ""},
	[BENCH_RATIO_AT_LEAST] = {">=", "ratio"},
	[BENCH_RATIO_ABOVE] = {">", "ratio"},
	[BENCH_RATIO_AT_MOST] = {"<=", "ratio"},
	[BENCH_OURS_AT_LEAST] = {">=", "ours"},
	[BENCH_OURS_AT_MOST] = {"<=", "ours"},
	[BENCH_OURS_BELOW] = {"<", "ours"},
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

/* Our own texts hold nothing that JSON would want escaped. */
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

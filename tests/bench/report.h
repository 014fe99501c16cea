/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/bench/report.h - results of the benchmarks: rows of one table.
 *
 * A figure runs in a process of its own and sends its rows through a pipe; the
 * runner prints them as a table, then again as one line of JSON each. A row
 * that misses its goal is a finding, not a failure: times prove nothing about
 * correctness on a machine that others use as well.
 */
#ifndef TESTS_BENCH_REPORT_H
#define TESTS_BENCH_REPORT_H

#include <stdbool.h>

#include "measure.h"

enum bench_goal {
	BENCH_NO_GOAL, /* for information */
	BENCH_RATIO_AT_LEAST,
	BENCH_RATIO_ABOVE,
	BENCH_RATIO_AT_MOST,
	BENCH_OURS_AT_LEAST,
	BENCH_OURS_AT_MOST,
	BENCH_OURS_BELOW,
};

/* NAN = absent: no baseline, no ratio; a row without "ours" was skipped. */
struct bench_row {
	char name[40];
	char baseline_name[32];
	char unit[16];
	double ours, baseline, ratio;
	enum bench_goal goal;
	double limit;
	char note[96];
};

/* Where a figure's rows go. */
struct bench_report {
	int fd;
};

/* Send a row. Returns 0 or -1. */
int bench_report_row(const struct bench_report *report, const struct bench_row *row);

/* A row without figures, and the reason. Returns 0 or -1. */
int bench_report_skipped(const struct bench_report *report, const char *name, const char *why);

/* Format of a comparison of operations. */
enum bench_measure {
	BENCH_BANDWIDTH, /* GB/s; the ratio is speed over speed */
	BENCH_RATE,      /* millions each second; likewise */
	BENCH_LATENCY,   /* microseconds each; the ratio is time over time */
};

/* Send the row of a comparison, with the names, goal and limit of @row; an
 * operation moves @bytes. Returns 0 or -1. */
int bench_report_result(const struct bench_report *report, const struct bench_row *row,
			const struct bench_result *result, enum bench_measure measure, uint32_t bytes);

/* The runner's: print. */
void bench_print_head(void);
void bench_print_row(const struct bench_row *row);
void bench_print_json(const struct bench_row *row);

#endif

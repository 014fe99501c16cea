/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/bench/bench.h - measurements of copies: points of a sweep, their results, and the comparison of two results.
 *
 *   sizes x depths x threads x paths x clocks --> points --"bfsim run" each--> results --> table, CSV, JSON
 */
#ifndef SIM_CLI_BENCH_BENCH_H
#define SIM_CLI_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CLI_BENCH_MAX_VALUES 32 /* of one dimension */
#define CLI_BENCH_MAX_RUNS   16

struct cli_bench_point {
	uint64_t size, depth, threads;
	char path[16];  /* data path; "best" = what bfsim chooses */
	char clock[16]; /* functional, timed, virtual */
	/* Results of the runs; the percentiles are those of the median run. */
	uint64_t byte_rate[CLI_BENCH_MAX_RUNS]; /* bytes per second, sorted */
	uint32_t num_runs;
	uint64_t task_rate; /* per second */
	uint64_t p50_ns, p90_ns, p99_ns, p999_ns, max_ns;
};

struct cli_bench {
	struct cli_bench_point *points;
	size_t num_points;
};

/* Median of the runs. */
uint64_t cli_bench_byte_rate(const struct cli_bench_point *point);

struct cli_bench_cfg {
	const char *topology; /* file, or NULL */
	uint64_t count;       /* tasks of each thread; 0 = by size */
	uint32_t num_runs;
};

/* Run a point as often as @cfg says, and fill in its results. Returns 0, or -1 with a message. */
int cli_bench_run(const struct cli_bench_cfg *cfg, struct cli_bench_point *point);

void cli_bench_print_table(const struct cli_bench *bench);
void cli_bench_print_csv(const struct cli_bench *bench, FILE *out);
/* Write JSON to @path, or to standard output with NULL. Returns 0, or -1 with a message. */
int cli_bench_write_json(const struct cli_bench *bench, const char *path);

/* Read such JSON. Returns 0 (the caller frees ret_bench->points), or -1 with a message. */
int cli_bench_read_json(const char *path, struct cli_bench *ret_bench);

/* Print the points of both, and which differ by more than their runs do among themselves. Returns the number of points that
 * are slower now. */
size_t cli_bench_compare(const struct cli_bench *before, const struct cli_bench *now);

#endif

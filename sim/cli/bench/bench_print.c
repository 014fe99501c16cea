/* SPDX-License-Identifier: BSD-3-Clause */
/* Results as lines of a table and of CSV, which appear as they are measured: the columns have fixed widths. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "sim/cli/base/human_format.h"

enum { WORKLOAD, CLOCK, PATH, THREADS, DEPTH, BYTES, THROUGHPUT, RATE, P50, P90, P99, P999, NUM_COLUMNS };

static const struct {
	const char *heading;
	int width; /* < 0: a text, at the left */
} columns[NUM_COLUMNS] = {
	[WORKLOAD] = { "WORKLOAD", -15 },
	[CLOCK] = { "CLOCK", -10 },
	[PATH] = { "PATH", -8 },
	[THREADS] = { "THREADS", 7 },
	[DEPTH] = { "DEPTH", 5 },
	[BYTES] = { "BYTES", 10 },
	[THROUGHPUT] = { "THROUGHPUT", 10 },
	[RATE] = { "TASKS/S", 7 },
	[P50] = { "P50", 7 },
	[P90] = { "P90", 7 },
	[P99] = { "P99", 7 },
	[P999] = { "P99.9", 7 },
};

static int num_characters(const char *text)
{
	int count = 0;

	for (; *text; text++)
		count += ((unsigned char)*text & 0xc0) != 0x80;
	return count;
}

static void put_cell(int column, const char *text)
{
	int width = columns[column].width, pad = (width < 0 ? -width : width) - num_characters(text);

	if (width < 0)
		printf("%s%*s", text, pad > 0 ? pad : 0, "");
	else
		printf("%*s%s", pad > 0 ? pad : 0, "", text);
	fputs(column + 1 < NUM_COLUMNS ? "  " : "\n", stdout);
}

void cli_bench_print_headings(void)
{
	for (int i = 0; i < NUM_COLUMNS; i++)
		put_cell(i, columns[i].heading);
	fflush(stdout);
}

void cli_bench_print_point(const struct cli_bench_point *point)
{
	const uint64_t numbers[] = { point->threads, point->depth, point->size };
	const uint64_t times[] = { point->p50_ns, point->p90_ns, point->p99_ns, point->p999_ns };
	char text[CLI_HUMAN_SIZE];

	put_cell(WORKLOAD, point->workload);
	put_cell(CLOCK, point->clock);
	put_cell(PATH, point->used_path[0] ? point->used_path : "-");
	for (int i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "%" PRIu64, numbers[i]);
		put_cell(THREADS + i, text);
	}
	cli_human_byte_rate(cli_bench_byte_rate(point), text);
	put_cell(THROUGHPUT, cli_bench_byte_rate(point) ? text : "-");
	cli_human_count(point->task_rate, text);
	put_cell(RATE, point->task_rate ? text : "-");
	for (int i = 0; i < 4; i++) {
		cli_human_time(times[i], text);
		put_cell(P50 + i, text);
	}
	fflush(stdout);
}

void cli_bench_print_csv_headings(void)
{
	printf("workload,clock,path,asked_path,threads,depth,bytes,bytes_per_s,tasks_per_s,p50_ns,p90_ns,p99_ns,p999_ns,max_ns\n");
	fflush(stdout);
}

void cli_bench_print_csv_point(const struct cli_bench_point *point)
{
	const uint64_t numbers[] = { point->threads,   point->depth,  point->size,   cli_bench_byte_rate(point),
				     point->task_rate, point->p50_ns, point->p90_ns, point->p99_ns,
				     point->p999_ns,   point->max_ns };

	printf("%s,%s,%s,%s", point->workload, point->clock, point->used_path, point->path);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		printf(",%" PRIu64, numbers[i]);
	putchar('\n');
	fflush(stdout);
}

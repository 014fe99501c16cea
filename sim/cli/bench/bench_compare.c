/* SPDX-License-Identifier: BSD-3-Clause */
/* What two results differ in. */
#include <inttypes.h>
#include <string.h>

#include "bench.h"
#include "sim/cli/base/human_format.h"
#include "sim/cli/base/table.h"

#define LEAST_CHANGE_PERCENT 3 /* smaller ones are noise, even between runs that agree */

static const struct cli_bench_point *find_point(const struct cli_bench *bench, const struct cli_bench_point *wanted)
{
	for (size_t i = 0; i < bench->num_points; i++) {
		const struct cli_bench_point *point = &bench->points[i];

		if (point->size == wanted->size && point->depth == wanted->depth && point->threads == wanted->threads &&
		    strcmp(point->workload, wanted->workload) == 0 && strcmp(point->path, wanted->path) == 0 &&
		    strcmp(point->clock, wanted->clock) == 0)
			return point;
	}
	return NULL;
}

/* Beyond noise: no run of the one is as fast as a run of the other. 1 = faster now, -1 = slower, 0 = noise. */
static int judge(const struct cli_bench_point *before, const struct cli_bench_point *now)
{
	uint64_t a = cli_bench_byte_rate(before), b = cli_bench_byte_rate(now), gap = a > b ? a - b : b - a;

	if (before->num_runs == 0 || now->num_runs == 0 || gap * 100 < a * LEAST_CHANGE_PERCENT)
		return 0;
	if (now->byte_rate[0] > before->byte_rate[before->num_runs - 1])
		return 1;
	return now->byte_rate[now->num_runs - 1] < before->byte_rate[0] ? -1 : 0;
}

static void add_rate(struct cli_table *table, uint64_t rate)
{
	char text[CLI_HUMAN_SIZE];

	cli_human_byte_rate(rate, text);
	cli_table_add(table, "%s", text);
}

static void add_row(struct cli_table *table, const struct cli_bench_point *old, const struct cli_bench_point *point,
		    int verdict)
{
	static const char *const verdicts[] = { "slower", "noise", "faster" };
	double before = (double)cli_bench_byte_rate(old), now = (double)cli_bench_byte_rate(point);

	cli_table_add(table, "%s", point->workload);
	cli_table_add(table, "%s", point->clock);
	cli_table_add(table, "%s", point->used_path[0] ? point->used_path : point->path);
	cli_table_add(table, "%" PRIu64, point->threads);
	cli_table_add(table, "%" PRIu64, point->depth);
	cli_table_add(table, "%" PRIu64, point->size);
	add_rate(table, cli_bench_byte_rate(old));
	add_rate(table, cli_bench_byte_rate(point));
	cli_table_add(table, "%+.1f %%", before > 0 ? 100.0 * (now / before - 1) : 0.0);
	cli_table_add(table, "%s", verdicts[verdict + 1]);
}

static void warn_if_different(const char *what, const char *before, const char *now)
{
	if (strcmp(before, now) != 0)
		fprintf(stderr, "bfsim: warning: the results are of different %s: \"%s\" and \"%s\"\n", what,
			before[0] ? before : "unknown", now[0] ? now : "unknown");
}

/* In virtual time the machine does not matter. */
static void warn_of_differences(const struct cli_bench *before, const struct cli_bench *now, bool is_real_time)
{
	warn_if_different("cards", before->env.card, now->env.card);
	warn_if_different("topologies", before->env.topology, now->env.topology);
	if (is_real_time)
		warn_if_different("machines", before->env.machine, now->env.machine);
}

size_t cli_bench_compare(const struct cli_bench *before, const struct cli_bench *now, size_t *ret_num_slower)
{
	static const char *const headings[] = { "WORKLOAD", "CLOCK",   "PATH", ">THREADS", ">DEPTH",
						">BYTES",   ">BEFORE", ">NOW", ">CHANGE",  "VERDICT" };
	struct cli_table table = CLI_TABLE(headings);
	bool is_real_time = false;
	size_t num_common = 0;

	*ret_num_slower = 0;
	for (size_t i = 0; i < now->num_points; i++) {
		const struct cli_bench_point *point = &now->points[i], *old = find_point(before, point);
		int verdict;

		if (!old)
			continue;
		verdict = judge(old, point);
		num_common++;
		*ret_num_slower += verdict < 0;
		is_real_time |= strcmp(point->clock, "virtual") != 0;
		warn_if_different("data paths", old->used_path, point->used_path);
		add_row(&table, old, point, verdict);
	}
	if (num_common == 0)
		return 0;
	warn_of_differences(before, now, is_real_time);
	cli_table_print(&table);
	return num_common;
}

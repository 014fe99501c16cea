/* SPDX-License-Identifier: BSD-3-Clause */
/* Results as a table, CSV and JSON, and what two of them differ in. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "sim/base/output_file.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/human_format.h"
#include "sim/cli/base/json.h"
#include "sim/cli/base/table.h"

#define LEAST_CHANGE_PERCENT 3 /* smaller ones are noise, even between runs that agree */

static void add_time(struct cli_table *table, uint64_t ns)
{
	char text[CLI_HUMAN_SIZE];

	cli_human_time(ns, text);
	cli_table_add(table, "%s", text);
}

static void add_point(struct cli_table *table, const struct cli_bench_point *point)
{
	cli_table_add(table, "%s", point->clock);
	cli_table_add(table, "%s", point->path);
	cli_table_add(table, "%" PRIu64, point->threads);
	cli_table_add(table, "%" PRIu64, point->depth);
	cli_table_add(table, "%" PRIu64, point->size);
}

static void add_rate(struct cli_table *table, uint64_t rate)
{
	char text[CLI_HUMAN_SIZE];

	cli_human_byte_rate(rate, text);
	cli_table_add(table, "%s", text);
}

void cli_bench_print_table(const struct cli_bench *bench)
{
	static const char *const headings[] = { "CLOCK",    "PATH", ">THREADS", ">DEPTH", ">BYTES", ">THROUGHPUT",
						">TASKS/S", ">P50", ">P90",     ">P99",   ">P99.9" };
	struct cli_table table = CLI_TABLE(headings);
	char text[CLI_HUMAN_SIZE];

	for (size_t i = 0; i < bench->num_points; i++) {
		const struct cli_bench_point *point = &bench->points[i];

		add_point(&table, point);
		add_rate(&table, cli_bench_byte_rate(point));
		cli_human_count(point->task_rate, text);
		cli_table_add(&table, "%s", text);
		add_time(&table, point->p50_ns);
		add_time(&table, point->p90_ns);
		add_time(&table, point->p99_ns);
		add_time(&table, point->p999_ns);
	}
	cli_table_print(&table);
}

void cli_bench_print_csv(const struct cli_bench *bench, FILE *out)
{
	fprintf(out, "clock,path,threads,depth,bytes,bytes_per_s,tasks_per_s,p50_ns,p90_ns,p99_ns,p999_ns,max_ns\n");
	for (size_t i = 0; i < bench->num_points; i++) {
		const struct cli_bench_point *point = &bench->points[i];

		fprintf(out,
			"%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
			point->clock, point->path, point->threads, point->depth, point->size,
			cli_bench_byte_rate(point), point->task_rate, point->p50_ns, point->p90_ns, point->p99_ns,
			point->p999_ns, point->max_ns);
	}
}

/* ---- JSON ---- */

static json_object *point_json(const struct cli_bench_point *point)
{
	json_object *json = json_object_new_object(), *runs = json_object_new_array();

	cli_json_add_text(json, "clock", point->clock);
	cli_json_add_text(json, "path", point->path);
	cli_json_add_number(json, "threads", point->threads);
	cli_json_add_number(json, "depth", point->depth);
	cli_json_add_number(json, "bytes", point->size);
	for (uint32_t i = 0; i < point->num_runs; i++)
		json_object_array_add(runs, json_object_new_uint64(point->byte_rate[i]));
	json_object_object_add(json, "bytes-per-s", runs);
	cli_json_add_number(json, "tasks-per-s", point->task_rate);
	cli_json_add_number(json, "p50-ns", point->p50_ns);
	cli_json_add_number(json, "p90-ns", point->p90_ns);
	cli_json_add_number(json, "p99-ns", point->p99_ns);
	cli_json_add_number(json, "p999-ns", point->p999_ns);
	cli_json_add_number(json, "max-ns", point->max_ns);
	return json;
}

int cli_bench_write_json(const struct cli_bench *bench, const char *path)
{
	json_object *json = json_object_new_object(), *points = json_object_new_array();
	struct sim_output_file file;
	int rc;

	cli_json_add_text(json, "bfsim", BFSIM_VERSION);
	for (size_t i = 0; i < bench->num_points; i++)
		json_object_array_add(points, point_json(&bench->points[i]));
	json_object_object_add(json, "points", points);
	if (!path)
		return cli_json_print(json, JSON_C_TO_STRING_PRETTY);
	rc = sim_output_file_open(path, &file);
	if (rc == 0) {
		fputs(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PRETTY), file.stream);
		rc = sim_output_file_close(&file);
	}
	json_object_put(json);
	if (rc < 0)
		cli_fail("cannot write %s: %s", path, strerror(-rc));
	return rc < 0 ? -1 : 0;
}

static void read_point(json_object *json, struct cli_bench_point *ret_point)
{
	json_object *runs = cli_json_list(json, "bytes-per-s");

	*ret_point = (struct cli_bench_point){ .size = cli_json_number(json, "bytes"),
					       .depth = cli_json_number(json, "depth"),
					       .threads = cli_json_number(json, "threads"),
					       .p50_ns = cli_json_number(json, "p50-ns"),
					       .p99_ns = cli_json_number(json, "p99-ns") };
	snprintf(ret_point->path, sizeof(ret_point->path), "%s", cli_json_text(json, "path"));
	snprintf(ret_point->clock, sizeof(ret_point->clock), "%s", cli_json_text(json, "clock"));
	for (size_t i = 0; runs && i < json_object_array_length(runs) && i < CLI_BENCH_MAX_RUNS; i++)
		ret_point->byte_rate[ret_point->num_runs++] =
			json_object_get_uint64(json_object_array_get_idx(runs, i));
}

int cli_bench_read_json(const char *path, struct cli_bench *ret_bench)
{
	json_object *json = json_object_from_file(path), *points = json ? cli_json_list(json, "points") : NULL;
	size_t count = points ? json_object_array_length(points) : 0;

	*ret_bench = (struct cli_bench){ .points = calloc(count ? count : 1, sizeof(struct cli_bench_point)) };
	if (!points || !ret_bench->points) {
		cli_fail("%s is no result of bfsim bench --json", path);
		json_object_put(json);
		free(ret_bench->points);
		return -1;
	}
	for (size_t i = 0; i < count; i++)
		read_point(json_object_array_get_idx(points, i), &ret_bench->points[ret_bench->num_points++]);
	json_object_put(json);
	return 0;
}

/* ---- comparison ---- */

static const struct cli_bench_point *find_point(const struct cli_bench *bench, const struct cli_bench_point *wanted)
{
	for (size_t i = 0; i < bench->num_points; i++) {
		const struct cli_bench_point *point = &bench->points[i];

		if (point->size == wanted->size && point->depth == wanted->depth && point->threads == wanted->threads &&
		    strcmp(point->path, wanted->path) == 0 && strcmp(point->clock, wanted->clock) == 0)
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

size_t cli_bench_compare(const struct cli_bench *before, const struct cli_bench *now)
{
	static const char *const headings[] = { "CLOCK",   "PATH", ">THREADS", ">DEPTH", ">BYTES",
						">BEFORE", ">NOW", ">CHANGE",  "VERDICT" };
	static const char *const verdicts[] = { "slower", "noise", "faster" };
	struct cli_table table = CLI_TABLE(headings);
	size_t num_slower = 0;

	for (size_t i = 0; i < now->num_points; i++) {
		const struct cli_bench_point *point = &now->points[i], *old = find_point(before, point);
		double change;
		int verdict;

		if (!old)
			continue;
		verdict = judge(old, point);
		num_slower += verdict < 0;
		change = 100.0 * ((double)cli_bench_byte_rate(point) / (double)cli_bench_byte_rate(old) - 1);
		add_point(&table, point);
		add_rate(&table, cli_bench_byte_rate(old));
		add_rate(&table, cli_bench_byte_rate(point));
		cli_table_add(&table, "%+.1f %%", change);
		cli_table_add(&table, "%s", verdicts[verdict + 1]);
	}
	cli_table_print(&table);
	return num_slower;
}

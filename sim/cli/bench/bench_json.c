/* SPDX-License-Identifier: BSD-3-Clause */
/* Results as JSON, for scripts and for a later comparison. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/json.h"
#include "sim/cli/base/output.h"

static json_object *point_json(const struct cli_bench_point *point)
{
	json_object *json = json_object_new_object(), *runs = json_object_new_array();

	cli_json_add_text(json, "workload", point->workload);
	cli_json_add_text(json, "clock", point->clock);
	cli_json_add_text(json, "path", point->path);
	cli_json_add_text(json, "used-path", point->used_path);
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

static int put_json(const void *json, FILE *out)
{
	fputs(json_object_to_json_string_ext((json_object *)(uintptr_t)json, JSON_C_TO_STRING_PRETTY), out);
	return 0;
}

int cli_bench_write_json(const struct cli_bench *bench, const char *path)
{
	json_object *json = json_object_new_object(), *points = json_object_new_array();
	int status;

	cli_json_add_text(json, "bfsim", bench->env.version);
	cli_json_add_text(json, "date", bench->env.date);
	cli_json_add_text(json, "machine", bench->env.machine);
	cli_json_add_text(json, "card", bench->env.card);
	cli_json_add_text(json, "topology", bench->env.topology);
	for (size_t i = 0; i < bench->num_points; i++)
		json_object_array_add(points, point_json(&bench->points[i]));
	json_object_object_add(json, "points", points);
	if (!path)
		return cli_json_print(json, JSON_C_TO_STRING_PRETTY);
	status = cli_output_write("the results", path, put_json, json);
	json_object_put(json);
	return status == CLI_OK ? 0 : -1;
}

static void copy_text(char *to, size_t size, json_object *json, const char *key)
{
	snprintf(to, size, "%s", cli_json_text(json, key));
}

static void read_env(json_object *json, struct cli_bench_env *ret_env)
{
	copy_text(ret_env->version, sizeof(ret_env->version), json, "bfsim");
	copy_text(ret_env->date, sizeof(ret_env->date), json, "date");
	copy_text(ret_env->machine, sizeof(ret_env->machine), json, "machine");
	copy_text(ret_env->card, sizeof(ret_env->card), json, "card");
	copy_text(ret_env->topology, sizeof(ret_env->topology), json, "topology");
}

static void read_point(json_object *json, struct cli_bench_point *ret_point)
{
	json_object *runs = cli_json_list(json, "bytes-per-s");

	*ret_point = (struct cli_bench_point){ .size = cli_json_number(json, "bytes"),
					       .depth = cli_json_number(json, "depth"),
					       .threads = cli_json_number(json, "threads"),
					       .p50_ns = cli_json_number(json, "p50-ns"),
					       .p99_ns = cli_json_number(json, "p99-ns") };
	copy_text(ret_point->workload, sizeof(ret_point->workload), json, "workload");
	copy_text(ret_point->path, sizeof(ret_point->path), json, "path");
	copy_text(ret_point->used_path, sizeof(ret_point->used_path), json, "used-path");
	copy_text(ret_point->clock, sizeof(ret_point->clock), json, "clock");
	if (!ret_point->workload[0]) /* of a version that had one workload */
		strcpy(ret_point->workload, cli_bench_workload_names[CLI_BENCH_HOST_TO_DPU]);
	for (size_t i = 0; runs && i < json_object_array_length(runs) && i < CLI_BENCH_MAX_RUNS; i++)
		ret_point->byte_rate[ret_point->num_runs++] =
			json_object_get_uint64(json_object_array_get_idx(runs, i));
}

int cli_bench_read_json(const char *path, struct cli_bench *ret_bench)
{
	json_object *json, *points;
	size_t count;

	if (access(path, R_OK) < 0)
		return cli_error("cannot read %s: %s", path, strerror(errno));
	json = json_object_from_file(path);
	points = json ? cli_json_list(json, "points") : NULL;
	count = points ? json_object_array_length(points) : 0;
	*ret_bench = (struct cli_bench){ .points = calloc(count ? count : 1, sizeof(struct cli_bench_point)) };
	if (!points || !ret_bench->points) {
		cli_fail("%s is not a result of bfsim bench --json", path);
		json_object_put(json);
		free(ret_bench->points);
		return -1;
	}
	read_env(json, &ret_bench->env);
	for (size_t i = 0; i < count; i++)
		read_point(json_object_array_get_idx(points, i), &ret_bench->points[ret_bench->num_points++]);
	json_object_put(json);
	return 0;
}

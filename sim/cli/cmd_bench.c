/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim bench: copies, messages and RDMA between host and DPU, and tasks of the accelerator engines, in many sizes, depths and threads. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/number.h"
#include "sim/cli/base/output.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/bench/bench.h"

struct options {
	struct cli_bench_cfg cfg;
	struct cli_bench_sweep sweep;
	bool json, csv, compare;
	const char *output;
	struct cli_words files;
};

static void add_size(struct cli_bench_numbers *numbers, const char *text, struct argp_state *state)
{
	if (numbers->count == CLI_BENCH_MAX_VALUES ||
	    cli_size_parse(text, UINT64_C(1) << 32, &numbers->list[numbers->count++]) < 0)
		argp_error(state, "--%s: \"%s\" is not a number from 1 to 4G, such as 64 or 4k; write several as 64,4k",
			   cli_option_of(state)->name, text);
}

static void set_numbers(void *to, char *text, struct argp_state *state)
{
	struct cli_bench_numbers *numbers = to;

	numbers->count = 0;
	for (char *word = strtok(text, ","); word; word = strtok(NULL, ","))
		add_size(numbers, word, state);
	if (numbers->count == 0)
		argp_error(state, "--%s needs numbers, such as 64,4k", cli_option_of(state)->name);
}

static void add_name(struct cli_bench_names *names, const char *name, struct argp_state *state)
{
	const struct cli_option *option = cli_option_of(state);
	bool found = false;
	size_t count = 0;

	for (; option->names[count]; count++)
		found |= strcmp(option->names[count], name) == 0;
	if (!found || names->count == CLI_BENCH_MAX_VALUES)
		argp_error(state, "--%s: there is no \"%s\"%s; bfsim bench --help names them", option->name, name,
			   cli_hint(name, option->names, count).text);
	names->list[names->count++] = name;
}

static void set_names(void *to, char *text, struct argp_state *state)
{
	struct cli_bench_names *names = to;

	names->count = 0;
	for (char *word = strtok(text, ","); word; word = strtok(NULL, ","))
		add_name(names, word, state);
	if (names->count == 0)
		argp_error(state, "--%s needs names; bfsim bench --help has them", cli_option_of(state)->name);
}

static const char *const paths[] = { "best", "in-place", "mapped", "procmem", "cma", "shm", "tcp", NULL };
static const char *const clocks[] = { "functional", "timed", "virtual", NULL };

#define NAMES_OPTION(name, value, member, names_, help)                                                \
	CLI_VALUE(CLI_KIND_CALL, 0, name, value, struct options, sweep.member, help, .set = set_names, \
		  .names = (names_))

static const struct cli_option option_list[] = {
	NAMES_OPTION(
		"workloads", "WORKLOADS", workloads, cli_bench_workload_names,
		"What is measured: host-to-dpu, dpu-to-host (DMA), comch (a message there and back), comch-fast, rdma-write, rdma-read, "
		"rdma-send (from the host to the DPU), the same with -dpu (from the DPU) or -port (between two functions of the host), or "
		"rdma for all of these; sha, deflate, inflate, lz4, ec-create, ec-recover, gcm-encrypt, gcm-decrypt, or engines for those of "
		"the last eight that the card has (default: host-to-dpu)"),
	CLI_CALL(0, "sizes", "SIZES", struct options, sweep.sizes, set_numbers,
		 "Bytes of a task (default: 64,4k,64k,1M)"),
	CLI_CALL(0, "depths", "DEPTHS", struct options, sweep.depths, set_numbers,
		 "Tasks in flight of each thread (default: 1,32)"),
	CLI_CALL(0, "threads", "THREADS", struct options, sweep.threads, set_numbers,
		 "Threads, with a context each (default: 1)"),
	NAMES_OPTION("paths", "PATHS", paths, paths,
		     "Data paths: best, in-place, mapped, procmem, cma, shm, tcp (default: best)"),
	NAMES_OPTION("clock", "MODES", clocks, clocks, "Clocks: functional, timed, virtual (default: functional)"),
	CLI_TOPOLOGY_OPTION(struct options, cfg.topology),
	CLI_NUMBER(0, "count", "NUMBER", struct options, cfg.count, 1, 100000000, "a number",
		   "Tasks of each thread (default: by size)"),
	CLI_NUMBER(0, "repeat", "NUMBER", struct options, cfg.num_runs, 1, CLI_BENCH_MAX_RUNS, "a number",
		   "Runs of each point, from 1 to 16 (default: 3)"),
	CLI_FLAG('j', "json", struct options, json, "Print JSON"),
	CLI_FLAG(0, "csv", struct options, csv, "Print CSV"),
	CLI_TEXT('o', "output", "FILE", struct options, output, "Write JSON to FILE as well, for --compare"),
	CLI_FLAG(0, "compare", struct options, compare, "Compare two results instead: BEFORE.json NOW.json"),
	{ 0 },
};

static void check_options(void *all, struct argp_state *state)
{
	const struct options *options = all;

	if (options->compare ? options->files.count != 2 : options->files.count > 0)
		argp_error(state, "--compare takes two files, and nothing else takes any: bfsim bench --compare "
				  "BEFORE.json NOW.json");
}

static int compare_files(const struct options *options)
{
	struct cli_bench before, now;
	size_t num_slower, num_common;

	if (cli_bench_read_json(options->files.list[0], &before) < 0)
		return CLI_USAGE;
	if (cli_bench_read_json(options->files.list[1], &now) < 0) {
		free(before.points);
		return CLI_USAGE;
	}
	num_common = cli_bench_compare(&before, &now, &num_slower);
	free(before.points);
	free(now.points);
	if (num_common == 0) {
		cli_fail("%s and %s have no point in common: nothing was compared; measure both with the same options",
			 options->files.list[0], options->files.list[1]);
		return CLI_OWN_FAILURE;
	}
	return num_slower ? CLI_FAILED : CLI_OK;
}

static void print_point(const struct options *options, const struct cli_bench_point *point)
{
	if (options->csv)
		cli_bench_print_csv_point(point);
	else if (!options->json)
		cli_bench_print_point(point);
}

/* Remove the points of the workload at @begin from there on, if not all of them have to be measured. Returns 0, or -1 with a
 * message. */
static int drop_workload(struct cli_bench *bench, size_t begin)
{
	const struct cli_bench_point lacking = bench->points[begin];
	size_t count = begin;

	if (!lacking.may_lack)
		return cli_error(
			"%s can't be measured here: install the library that the warning above names (bfsim doctor lists them)",
			lacking.workload);
	fprintf(stderr, "bfsim: %s is left out: this machine lacks the library that the warning above names\n",
		lacking.workload);
	for (size_t i = begin; i < bench->num_points; i++)
		if (strcmp(bench->points[i].workload, lacking.workload) != 0)
			bench->points[count++] = bench->points[i];
	bench->num_points = count;
	return 0;
}

static int run_points(const struct options *options, struct cli_bench *bench)
{
	bool shows_progress = options->json && isatty(STDERR_FILENO) == 1;

	if (options->csv)
		cli_bench_print_csv_headings();
	else if (!options->json)
		cli_bench_print_headings();
	for (size_t i = 0; i < bench->num_points;) {
		int rc;

		if (cli_output_is_gone())
			return cli_error("nobody reads the results any more: not measuring further");
		if (shows_progress)
			fprintf(stderr, "\rpoint %zu of %zu ", i + 1, bench->num_points);
		rc = cli_bench_run(&options->cfg, &bench->points[i]);
		if (rc == 0)
			print_point(options, &bench->points[i++]);
		else if (rc != -ENOTSUP || drop_workload(bench, i) < 0)
			return -1;
	}
	if (shows_progress)
		fprintf(stderr, "\r\033[K");
	if (bench->num_points == 0)
		cli_fail("there is nothing to measure");
	return bench->num_points == 0 ? -1 : 0;
}

static int write_results(const struct options *options, const struct cli_bench *bench)
{
	int rc = options->json ? cli_bench_write_json(bench, NULL) : 0;

	if (options->output && cli_bench_write_json(bench, options->output) < 0)
		rc = -1;
	return rc;
}

static int measure(const struct options *options)
{
	struct cli_bench bench = { 0 };
	struct cli_bench_limits limits;
	int rc;

	if (cli_bench_env_get(&options->cfg, &bench.env, &limits) < 0)
		return -1;
	rc = cli_bench_make_points(&options->sweep, &limits, &bench);
	if (rc == 0)
		rc = run_points(options, &bench);
	if (rc == 0)
		rc = write_results(options, &bench);
	free(bench.points);
	return rc;
}

int cli_bench(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.words = offsetof(struct options, files),
		.max_words = CLI_MANY_WORDS,
		.check = check_options,
		.args_doc = "\n--compare BEFORE.json NOW.json",
		.doc = "Measure DMA copies, Comch messages and RDMA between host and DPU, and accelerator engines: throughput and latencies.\v"
		       "In functional time the figures are the machine's; with --clock virtual they are those that the model of the "
		       "card gives. The exit status of --compare is 1 if a point is slower beyond noise, and 125 if bfsim failed or the two "
		       "results have no point in common.",
	};
	struct options options = { .cfg = { .num_runs = 3 },
				   .sweep = { .sizes = { { 64, 4096, 65536, 1 << 20 }, 4 },
					      .depths = { { 1, 32 }, 2 },
					      .threads = { { 1 }, 1 },
					      .workloads = { { "host-to-dpu" }, 1 },
					      .paths = { { "best" }, 1 },
					      .clocks = { { "functional" }, 1 } } };

	cli_args_parse(&args, argc, argv, 0, &options);
	if (options.compare)
		return compare_files(&options);
	if (cli_output_path_check("the results", options.output) < 0)
		return CLI_USAGE;
	return measure(&options) == 0 ? CLI_OK : CLI_OWN_FAILURE;
}

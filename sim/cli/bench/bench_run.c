/* SPDX-License-Identifier: BSD-3-Clause */
/* Running one point: the probe on both sides of a session of its own, by "bfsim run". */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "sim/base/shell_quote.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/human_format.h"
#include "sim/cli/base/install.h"
#include "sim/cli/base/json.h"

#define TIMEOUT_S     120
#define MAX_COUNT     20000
#define COPIED_BYTES  (UINT64_C(256) << 20) /* of a run, at most, without --count */
#define VIRTUAL_COUNT 2000                  /* virtual time needs no long runs */

/* Status of the probe that found no device with the engine (shim/bench/probe.h). */
#define PROBE_LACKS_ENGINE 3

static bool has_workload(const struct cli_bench_point *point, enum cli_bench_workload workload)
{
	return cli_bench_workload_of(point) == workload;
}

static bool is_comch(const struct cli_bench_point *point)
{
	return has_workload(point, CLI_BENCH_COMCH) || has_workload(point, CLI_BENCH_COMCH_FAST);
}

static bool is_rdma(const struct cli_bench_point *point)
{
	return cli_bench_is_rdma(cli_bench_workload_of(point));
}

static bool is_between_ports(const struct cli_bench_point *point)
{
	return is_rdma(point) && cli_bench_rdma_place(cli_bench_workload_of(point)) == CLI_BENCH_BETWEEN_PORTS;
}

static bool is_engine(const struct cli_bench_point *point)
{
	return cli_bench_accel(cli_bench_workload_of(point)) != PCIE_NUM_ACCELS;
}

/* Whether one process works on its own memory. */
static bool is_local(const struct cli_bench_point *point)
{
	return is_engine(point) || (!is_comch(point) && strcmp(point->path, "in-place") == 0);
}

uint64_t cli_bench_byte_rate(const struct cli_bench_point *point)
{
	return point->num_runs ? point->byte_rate[point->num_runs / 2] : 0;
}

static uint64_t choose_count(const struct cli_bench_cfg *cfg, const struct cli_bench_point *point)
{
	uint64_t count = COPIED_BYTES / point->size, most = MAX_COUNT;

	if (cfg->count)
		return cfg->count;
	if (strcmp(point->clock, "functional") != 0)
		most = VIRTUAL_COUNT;
	count = count < most ? count : most;
	return count < 2 * point->depth ? 2 * point->depth : count;
}

/* Put a word, quoted, behind the words of *text. Without memory, *text becomes NULL. */
static void append_word(char **text, const char *word)
{
	char *quoted = sim_shell_quote(word), *longer = NULL;

	if (!*text || !quoted || asprintf(&longer, "%s %s", *text, quoted) < 0)
		longer = NULL;
	free(quoted);
	free(*text);
	*text = longer;
}

/* Append numbers of the probe's command line. */
static void append_numbers(char **text, const uint64_t *numbers, size_t count)
{
	char word[32];

	for (size_t i = 0; i < count; i++) {
		snprintf(word, sizeof(word), "%" PRIu64, numbers[i]);
		append_word(text, word);
	}
}

static void append_comch(char **text, const struct cli_bench_cfg *cfg, const struct cli_bench_point *point, bool is_dpu)
{
	const uint64_t numbers[] = { point->size, point->depth, choose_count(cfg, point) };

	if (has_workload(point, CLI_BENCH_COMCH))
		append_word(text, is_dpu ? "pong" : "ping");
	else
		append_word(text, is_dpu ? "consume" : "produce");
	append_numbers(text, numbers, 3);
}

static void append_copy(char **text, const struct cli_bench_cfg *cfg, const struct cli_bench_point *point,
			const char *dir, bool is_dpu)
{
	const uint64_t numbers[] = { point->size, point->depth, point->threads, choose_count(cfg, point) },
		       bytes = point->size * point->depth * point->threads;
	char file[PATH_MAX + 16];

	snprintf(file, sizeof(file), "%s/descriptor", dir);
	append_word(text, !is_dpu ? "export" : has_workload(point, CLI_BENCH_DPU_TO_HOST) ? "write" : "read");
	append_word(text, is_dpu && is_local(point) ? "-" : file);
	if (is_dpu)
		append_numbers(text, numbers, 4);
	else
		append_numbers(text, &bytes, 1);
}

static void append_engine(char **text, const struct cli_bench_cfg *cfg, const struct cli_bench_point *point)
{
	const uint64_t numbers[] = { point->size, point->depth, point->threads, choose_count(cfg, point) };

	append_word(text, "engine");
	append_word(text, point->workload);
	append_word(text, point->device);
	append_numbers(text, numbers, 4);
}

static void append_rdma(char **text, const struct cli_bench_cfg *cfg, const struct cli_bench_point *point,
			const char *dir, bool is_second)
{
	static const char *const ops[] = { "write", "read", "send" };
	const uint64_t numbers[] = { point->size, point->depth, point->threads, choose_count(cfg, point) };
	enum cli_bench_workload workload = cli_bench_workload_of(point);
	bool is_requester = (cli_bench_rdma_place(workload) == CLI_BENCH_FROM_DPU) == is_second;
	char file[PATH_MAX + 16];

	snprintf(file, sizeof(file), "%s/descriptor", dir);
	append_word(text, is_requester ? "request" : is_between_ports(point) ? "serve-last" : "serve");
	append_word(text, ops[cli_bench_rdma_op(workload) - CLI_BENCH_RDMA_WRITE]);
	append_word(text, file);
	append_numbers(text, numbers, 4);
}

/* The command of a side: the probe with its arguments. Between two functions of the host, the second command is not the DPU's. */
static char *side_command(const struct cli_bench_cfg *cfg, const struct cli_bench_point *point, const char *dir,
			  bool is_dpu)
{
	char *probe = cli_bench_probe_path(), *text = strdup("exec");

	append_word(&text, probe ? probe : "");
	if (is_comch(point))
		append_comch(&text, cfg, point, is_dpu);
	else if (is_rdma(point))
		append_rdma(&text, cfg, point, dir, is_dpu);
	else if (is_engine(point))
		append_engine(&text, cfg, point);
	else
		append_copy(&text, cfg, point, dir, is_dpu);
	free(probe);
	return text;
}

/* The variables of "bfsim run": no warnings where there is an exporter, as it sleeps in virtual time; the command that tells the
 * data path. */
static char *environment(const struct cli_bench_point *point, const char *self)
{
	char *text = strdup("exec env -u BFSIM_PATH -u BFSIM_SESSION"), *quoted = sim_shell_quote(self), *ps = NULL,
	     word[64];

	append_word(&text, is_engine(point) ? "BFSIM_LOG_LEVEL=40" : "BFSIM_LOG_LEVEL=30");
	if (quoted && asprintf(&ps, "BFSIM_BENCH_PS=%s ps --json", quoted) >= 0)
		append_word(&text, ps);
	free(ps);
	free(quoted);
	snprintf(word, sizeof(word), "BFSIM_PATH=%s", point->path);
	if (strcmp(point->path, "best") != 0 && cli_bench_has_path(cli_bench_workload_of(point)))
		append_word(&text, word);
	return text;
}

static void append_option(char **text, const char *option, const char *value)
{
	append_word(text, option);
	append_word(text, value ? value : "");
}

/* The command @second, of the DPU's side or of the host's. */
static void append_second(char **text, const struct cli_bench_point *point, const char *second)
{
	char *on = NULL;

	if (!is_between_ports(point)) {
		append_option(text, "--dpu", second);
		return;
	}
	append_option(text, "--on", second && asprintf(&on, "host=%s", second) >= 0 ? on : NULL);
	free(on);
}

/* "bfsim run" with the probe on its sides. NULL without memory. The caller frees it. */
static char *command_line(const struct cli_bench_cfg *cfg, const struct cli_bench_point *point, const char *dir)
{
	char *self = realpath("/proc/self/exe", NULL), *text = environment(point, self ? self : "bfsim"), word[64];
	char *host = side_command(cfg, point, dir, false), *dpu = side_command(cfg, point, dir, true);

	append_word(&text, self ? self : "bfsim");
	append_word(&text, "run");
	snprintf(word, sizeof(word), "--timeout=%d", TIMEOUT_S);
	append_word(&text, word);
	append_word(&text, "--trace-level=off");
	append_option(&text, "--clock", point->clock);
	if (cfg->topology)
		append_option(&text, "--topology", cfg->topology);
	append_second(&text, point, dpu);
	if (!is_local(point))
		append_option(&text, "--host", host);
	if (is_comch(point))
		append_option(&text, "--start", "host after bfsim-bench");
	free(self);
	free(host);
	free(dpu);
	return text;
}

/* The line of the probe's result. Other lines go to standard error. */
static json_object *read_result(FILE *out)
{
	json_object *result = NULL;
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, out) > 0) {
		const char *begin = strstr(line, "| {\"tasks\"");

		if (begin && !result)
			result = json_tokener_parse(begin + 2);
		else
			fputs(line, stderr);
	}
	free(line);
	return result;
}

/* The signal that ends the command; 0 = none. It interrupts the reading of a run's output; without a reader the run ends. */
static volatile sig_atomic_t end_signal;

static void note_end(int number)
{
	end_signal = number;
}

/* Let the signals that end a command wait until a run's directory is removed: note them, or end by the one that was noted. */
static void handle_ends(bool is_begin)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	const struct sigaction action = { .sa_handler = is_begin ? note_end : SIG_DFL };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct sigaction before;

		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
	if (!is_begin && end_signal)
		raise(end_signal);
}

/* Run a command line. Returns its status, as pclose() does, and the probe's result or NULL. */
static int read_run(const char *text, json_object **ret_result)
{
	FILE *out = popen(text, "re");

	*ret_result = out ? read_result(out) : NULL;
	return out ? pclose(out) : -1;
}

/* With the descriptor that one probe gives the other, or the begin of it if a signal came as it was written. */
static void remove_directory(const char *dir)
{
	static const char *const names[] = { "descriptor", "descriptor.new" };
	char path[PATH_MAX + 16];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
}

static int run_once(const struct cli_bench_cfg *cfg, const struct cli_bench_point *point, json_object **ret_result)
{
	const char *parent = getenv("TMPDIR");
	char dir[PATH_MAX], *text = NULL;
	int status = -1;

	*ret_result = NULL;
	snprintf(dir, sizeof(dir), "%s/bfsim-bench-XXXXXX", parent && parent[0] ? parent : "/tmp");
	handle_ends(true);
	if (!mkdtemp(dir))
		return cli_error("cannot make a directory in %s: %s", parent && parent[0] ? parent : "/tmp",
				 strerror(errno));
	text = command_line(cfg, point, dir);
	if (text)
		status = read_run(text, ret_result);
	free(text);
	remove_directory(dir);
	handle_ends(false);
	if (status == 0 && *ret_result)
		return 0;
	json_object_put(*ret_result);
	*ret_result = NULL;
	if (is_engine(point) && WIFEXITED(status) && WEXITSTATUS(status) == PROBE_LACKS_ENGINE)
		return -ENOTSUP;
	return cli_error("the run of %s for %" PRIu64 " bytes, depth %" PRIu64 ", %" PRIu64
			 " threads, path %s, clock %s failed",
			 point->workload, point->size, point->depth, point->threads, point->path, point->clock);
}

static int compare_rates(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Enter a run; its percentiles count if it is the median of those up to now. */
static void add_result(struct cli_bench_point *point, json_object *result)
{
	uint64_t ns = cli_json_number(result, "ns"), rate = cli_per_second(cli_json_number(result, "bytes"), ns);

	snprintf(point->used_path, sizeof(point->used_path), "%s", cli_json_text(result, "path"));
	point->byte_rate[point->num_runs++] = rate;
	qsort(point->byte_rate, point->num_runs, sizeof(point->byte_rate[0]), compare_rates);
	if (cli_bench_byte_rate(point) != rate)
		return;
	point->task_rate = cli_per_second(cli_json_number(result, "tasks"), ns);
	point->p50_ns = cli_json_number(result, "p50");
	point->p90_ns = cli_json_number(result, "p90");
	point->p99_ns = cli_json_number(result, "p99");
	point->p999_ns = cli_json_number(result, "p999");
	point->max_ns = cli_json_number(result, "max");
}

int cli_bench_run(const struct cli_bench_cfg *cfg, struct cli_bench_point *point)
{
	/* In virtual time all runs are equal. */
	uint32_t num_runs = strcmp(point->clock, "virtual") == 0 ? 1 : cfg->num_runs;

	for (uint32_t i = 0; i < num_runs; i++) {
		json_object *result;
		int rc = run_once(cfg, point, &result);

		if (rc < 0)
			return rc;
		add_result(point, result);
		json_object_put(result);
	}
	return 0;
}

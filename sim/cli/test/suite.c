/* SPDX-License-Identifier: BSD-3-Clause */
/* Running cases side by side. */
#include "suite.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bundle.h"
#include "case_priv.h"
#include "results.h"
#include "sim/base/monotonic.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/number.h"
#include "sim/cli/base/output.h"

#define OUTPUT_POLL_NS 500000000 /* between two looks at whether the results are read */

#define LAST_FAILED "last-failed" /* in the directory of bundles: "SEED PATH", or "- PATH" */

/* ---- cases ---- */

static int add_case(struct cli_suite *suite, const struct cli_scenario *scenario, bool has_seed, uint64_t seed)
{
	struct cli_case *cases = reallocarray(suite->cases, suite->num_cases + 1, sizeof(*cases));

	if (!cases)
		return cli_error("out of memory");
	suite->cases = cases;
	if (cli_case_init(scenario, has_seed, seed, &cases[suite->num_cases]) < 0)
		return -1;
	suite->num_cases++;
	return 0;
}

static int adopt(struct cli_suite *suite, struct cli_scenario *scenario)
{
	struct cli_scenario **list =
		reallocarray(suite->scenarios, suite->num_scenarios + 1, sizeof(struct cli_scenario *));
	struct cli_scenario *copy = list ? malloc(sizeof(*copy)) : NULL;

	if (list)
		suite->scenarios = list;
	if (!copy) {
		cli_scenario_fini(scenario);
		return cli_error("out of memory");
	}
	*copy = *scenario;
	list[suite->num_scenarios++] = copy;
	return 0;
}

int cli_suite_add(struct cli_suite *suite, struct cli_scenario *scenario, bool has_seed, uint64_t seed)
{
	if (adopt(suite, scenario) < 0 || cli_scenario_check(suite->scenarios[suite->num_scenarios - 1]) < 0)
		return -1;
	return add_case(suite, suite->scenarios[suite->num_scenarios - 1], has_seed, seed);
}

int cli_suite_add_file(struct cli_suite *suite, const char *path)
{
	struct cli_scenario *scenario, read;

	if (cli_scenario_read(path, NULL, &read) < 0 || adopt(suite, &read) < 0)
		return -1;
	scenario = suite->scenarios[suite->num_scenarios - 1];
	if (cli_scenario_options_apply(&suite->options, scenario) < 0 || cli_scenario_check(scenario) < 0)
		return -1;
	for (uint64_t seed = scenario->first_seed;; seed++) {
		if (add_case(suite, scenario, scenario->has_seeds, seed) < 0)
			return -1;
		if (seed == scenario->last_seed)
			return 0;
	}
}

/* A sequence that depends on the seed alone (SplitMix64). */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

void cli_suite_shuffle(struct cli_suite *suite, uint64_t seed)
{
	for (size_t i = suite->num_cases; i > 1; i--) {
		size_t other = (size_t)(next_random(&seed) % i);
		struct cli_case swapped = suite->cases[i - 1];

		suite->cases[i - 1] = suite->cases[other];
		suite->cases[other] = swapped;
	}
}

/* ---- the cases that failed ---- */

static FILE *open_last_failed(const struct cli_suite *suite, const char *mode)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" LAST_FAILED, suite->bundles);
	return fopen(path, mode);
}

static bool is_case(const struct cli_case *test, const char *line)
{
	char wanted[PATH_MAX + 32];

	if (test->has_seed)
		snprintf(wanted, sizeof(wanted), "%" PRIu64 " %s", test->seed, test->scenario->path);
	else
		snprintf(wanted, sizeof(wanted), "- %s", test->scenario->path);
	return strcmp(wanted, line) == 0;
}

static int read_last_failed(const struct cli_suite *suite, struct cli_texts *ret_lines)
{
	FILE *file = open_last_failed(suite, "re");
	char *line = NULL;
	size_t size = 0;

	if (!file) {
		cli_fail("--rerun-failed: no run before has left failures in %s; --bundles names another directory",
			 suite->bundles);
		return -1;
	}
	while (getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		cli_texts_add(ret_lines, line, 0); /* without memory, one is run less */
	}
	free(line);
	fclose(file);
	return 0;
}

/* Without files on the command line: those of the failures. */
static int add_failed_files(struct cli_suite *suite, const struct cli_texts *lines)
{
	for (size_t i = 0; i < lines->count; i++) {
		const char *path = strchr(lines->list[i], ' ');
		bool is_known = !path;

		for (size_t j = 0; !is_known && j < suite->num_scenarios; j++)
			is_known = strcmp(suite->scenarios[j]->path, path + 1) == 0;
		if (!is_known && cli_suite_add_file(suite, path + 1) < 0)
			return -1;
	}
	return 0;
}

int cli_suite_keep_failed(struct cli_suite *suite)
{
	struct cli_texts lines = { 0 };
	size_t kept = 0;
	int rc = read_last_failed(suite, &lines);

	if (rc == 0 && suite->num_scenarios == 0)
		rc = add_failed_files(suite, &lines);
	for (size_t i = 0; rc == 0 && i < suite->num_cases; i++) {
		bool has_failed = false;

		for (size_t j = 0; j < lines.count; j++)
			has_failed |= is_case(&suite->cases[i], lines.list[j]);
		if (has_failed)
			suite->cases[kept++] = suite->cases[i];
		else
			cli_case_fini(&suite->cases[i]);
	}
	if (rc == 0)
		suite->num_cases = kept;
	cli_texts_fini(&lines);
	return rc;
}

/* An empty list also means that nothing failed. Without a failure, no directory is made. */
static void write_last_failed(const struct cli_suite *suite)
{
	FILE *file = open_last_failed(suite, "we");

	for (size_t i = 0; file && i < suite->num_cases; i++) {
		const struct cli_case *test = &suite->cases[i];

		if (test->reasons.count == 0 && test->is_done)
			continue;
		if (test->has_seed)
			fprintf(file, "%" PRIu64 " %s\n", test->seed, test->scenario->path);
		else
			fprintf(file, "- %s\n", test->scenario->path);
	}
	if (file)
		fclose(file);
}

/* ---- running ---- */

struct suite_run {
	struct cli_suite *suite;
	sigset_t watched;
	size_t next, num_running, num_done;
	int signal; /* that ends the run; 0 = none */
	bool failed_to_start;
};

static void start_cases(struct suite_run *run)
{
	struct cli_suite *suite = run->suite;

	while (!run->signal && !run->failed_to_start && run->num_running < suite->num_jobs &&
	       run->next < suite->num_cases) {
		if (cli_case_start(&suite->cases[run->next]) < 0) {
			run->failed_to_start = true;
			return;
		}
		run->next++;
		run->num_running++;
	}
}

static bool has_missed(const struct cli_case *test, uint32_t rule)
{
	for (size_t i = 0; i < test->num_misses; i++)
		if (test->misses[i].rule == rule)
			return true;
	return false;
}

/* Returns how many of the scenario's cases have missed the rule; 0 if one has hit it, or has not ended. */
static size_t count_misses(const struct cli_suite *suite, const struct cli_scenario *scenario, uint32_t rule)
{
	size_t count = 0;

	for (size_t i = 0; i < suite->num_cases; i++) {
		const struct cli_case *test = &suite->cases[i];

		if (test->scenario != scenario)
			continue;
		if (!test->is_done || !has_missed(test, rule))
			return 0;
		count++;
	}
	return count;
}

/* A random fault must hit with one of the seeds: the last case fails for it. A part of the seeds, as of a rerun, proves nothing. */
static void judge_seeds(const struct cli_suite *suite, struct cli_case *test)
{
	const struct cli_scenario *scenario = test->scenario;

	for (size_t i = 0; i < test->num_misses; i++) {
		uint64_t num_others = scenario->last_seed - scenario->first_seed;
		size_t count = count_misses(suite, scenario, test->misses[i].rule);

		if (count > num_others)
			cli_case_add_reason(test, "with none of the %zu seeds: %s", count, test->misses[i].text);
	}
}

static void end_case(struct suite_run *run, struct cli_case *test, int status)
{
	run->num_running--;
	run->num_done++;
	cli_case_finish(test, status);
	judge_seeds(run->suite, test);
	if (run->signal)
		return;
	if (test->reasons.count)
		cli_bundle_write(run->suite->bundles, &run->suite->options, test);
	if (run->suite->tap)
		cli_results_print_tap(test, run->num_done);
	else
		cli_results_print_line(test);
}

static void reap(struct suite_run *run)
{
	struct cli_suite *suite = run->suite;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (size_t i = 0; i < run->next; i++)
			if (suite->cases[i].pid == pid)
				end_case(run, &suite->cases[i], status);
}

/* The runs that go on end their programs themselves. */
static void end_run(struct suite_run *run, int signal)
{
	run->signal = signal;
	for (size_t i = 0; i < run->next; i++)
		if (run->suite->cases[i].pid > 0)
			kill(run->suite->cases[i].pid, SIGTERM);
}

static void print_summary(const struct suite_run *run, int64_t took_ms)
{
	const struct cli_suite *suite = run->suite;
	size_t num_failed = 0;

	for (size_t i = 0; i < suite->num_cases; i++)
		num_failed += suite->cases[i].is_done && suite->cases[i].reasons.count > 0;
	if (suite->tap)
		return;
	for (size_t i = 0; i < suite->num_cases && !run->signal; i++)
		if (suite->cases[i].reasons.count)
			cli_results_print_failure(&suite->cases[i]);
	printf("%s%zu passed, %zu failed in %.1f s\n", num_failed ? "\n" : "", run->num_done - num_failed, num_failed,
	       (double)took_ms / 1000);
}

static int summarize(struct suite_run *run, int64_t took_ms)
{
	int status = CLI_OK;

	for (size_t i = 0; i < run->suite->num_cases; i++)
		if (run->suite->cases[i].reasons.count)
			status = CLI_FAILED;
	if (run->failed_to_start)
		status = CLI_OWN_FAILURE;
	print_summary(run, took_ms);
	write_last_failed(run->suite);
	return run->signal ? CLI_SIGNAL + run->signal : status;
}

/* What ends the suite, with its runs and directories. SIGPIPE: results that nobody reads. */
static void watch_signals(sigset_t *ret_watched)
{
	static const int signals[] = { SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };

	sigemptyset(ret_watched);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(ret_watched, signals[i]);
	sigprocmask(SIG_BLOCK, ret_watched, NULL);
}

static void wait_and_handle(struct suite_run *run)
{
	const struct timespec pause = { .tv_nsec = OUTPUT_POLL_NS };
	int signal = sigtimedwait(&run->watched, NULL, &pause);

	if (signal == SIGCHLD)
		reap(run);
	else if (signal > 0)
		end_run(run, signal);
	else if (!run->signal && cli_output_is_gone())
		end_run(run, SIGPIPE);
}

int cli_suite_run(struct cli_suite *suite)
{
	struct suite_run run = { .suite = suite };
	int64_t began_ms = sim_monotonic_ms();

	watch_signals(&run.watched);
	if (suite->tap)
		printf("1..%zu\n", suite->num_cases);
	for (start_cases(&run); run.num_running > 0; start_cases(&run))
		wait_and_handle(&run);
	return summarize(&run, sim_monotonic_ms() - began_ms);
}

void cli_suite_fini(struct cli_suite *suite)
{
	for (size_t i = 0; i < suite->num_cases; i++)
		cli_case_fini(&suite->cases[i]);
	for (size_t i = 0; i < suite->num_scenarios; i++) {
		cli_scenario_fini(suite->scenarios[i]);
		free(suite->scenarios[i]);
	}
	free(suite->cases);
	free(suite->scenarios);
	cli_scenario_options_fini(&suite->options);
	*suite = (struct cli_suite){ 0 };
}

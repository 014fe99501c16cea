/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim run: run programs in a session that lasts as long as they do. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "commands.h"
#include "sim/base/monotonic.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/fault/faults.h"
#include "sim/cli/abi/emulator.h"
#include "sim/cli/abi/generation.h"
#include "sim/cli/run/supervisor.h"
#include "sim/cli/base/check_opt.h"
#include "sim/cli/base/install.h"
#include "sim/cli/base/number.h"
#include "sim/cli/base/seeds.h"
#include "sim/cli/run/run_inputs.h"
#include "sim/cli/run/run_worker.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/base/trace_opt.h"
#include "sim/trace/trace.h"

enum {
	KEY_HOST = 0x100,
	KEY_DPU,
	KEY_TIMEOUT,
	KEY_REQUIRE_FAULTS,
	KEY_ALLOW_UNUSED,
	KEY_VERDICT,
	KEY_CLOCK,
	KEY_TRACE,
	KEY_REPORT,
	KEY_METRICS,
	KEY_SHUFFLE,
	KEY_QUIET,
	KEY_SEEDS,
};

struct options {
	struct cli_session_opt session;
	struct cli_faults faults;
	struct cli_check_opt check;
	struct cli_start_order order;
	bool quiet;
	bool has_seeds; /* a run for each */
	uint64_t first_seed, last_seed;
	uint64_t *hits_of_seeds; /* of each fault, shared with the runs; NULL = there is one seed */
	bool require_faults, allows_unused_faults;
	const char *verdict_path;
	const char *topology;
	enum sim_clock_mode clock;
	uint32_t trace_level;
	const char *trace_path;
	const char *report_path;
	const char *metrics_path;
	unsigned int timeout_s;
	enum cli_generation generation; /* of the commands that follow the option */
	bool has_generation;            /* else each program's symbols decide */
	struct cli_run_command *commands;
	size_t num_commands;
};

/* In groups; those of the children are between them. */
enum group { PROGRAMS = 1, ORDER, CARD, SESSION, RULES, FAULTS, CHECKER, RESULTS };

static const struct argp_option option_list[] = {
	{ NULL, 0, NULL, 0, "Programs:", PROGRAMS },
	{ "host", KEY_HOST, "CMD", CLI_OPTION_REPEATS, "Run CMD on the side \"host\"", PROGRAMS },
	{ "dpu", KEY_DPU, "CMD", CLI_OPTION_REPEATS, "Run CMD on the side \"dpu\"", PROGRAMS },
	{ "on", 'o', "SIDE=CMD", CLI_OPTION_REPEATS, "Run CMD on SIDE", PROGRAMS },
	{ "generation", 'g', "GENERATION", CLI_OPTION_REPEATS,
	  "Libraries of the commands after this option: " CLI_GENERATION_HELP
	  "; default: by the symbols of the first program in the command that uses DOCA",
	  PROGRAMS },
	{ "timeout", KEY_TIMEOUT, "SECONDS", 0, "End all programs after this time, with status 124", PROGRAMS },
	{ NULL, 0, NULL, 0, "Card and time:", CARD },
	{ "topology", 't', "FILE", 0, "The card, as YAML (default: one BlueField-3 with two ports)", CARD },
	{ "clock", KEY_CLOCK, "MODE", 0, CLI_CLOCK_HELP, CARD },
	{ "shuffle", KEY_SHUFFLE, "SEED", OPTION_ARG_OPTIONAL,
	  "Complete the DMA tasks of a context in a random order, which a card may have; SEED repeats an order", CARD },
	{ NULL, 0, NULL, 0, "Runs with faults:", FAULTS },
	{ "require-faults", KEY_REQUIRE_FAULTS, NULL, 0,
	  "Fail when a fault was never applied (the default), or when there is none", FAULTS },
	{ "allow-unused-faults", KEY_ALLOW_UNUSED, NULL, 0, "A fault that was never applied is no failure", FAULTS },
	{ "seeds", KEY_SEEDS, "SEEDS", 0, "Repeat the run for each seed of a range, such as 1..50, with a summary",
	  FAULTS },
	{ "quiet", KEY_QUIET, NULL, 0, "Do not print which faults are applied, and which were allowed not to be",
	  FAULTS },
	{ "verdict", KEY_VERDICT, "FILE", OPTION_HIDDEN, "For bfsim test: what the run has proved", FAULTS },
	{ NULL, 0, NULL, 0, "Results:", RESULTS },
	{ "trace", KEY_TRACE, "FILE", 0, "At the end, write a trace, as bfsim trace does", RESULTS },
	{ "metrics", KEY_METRICS, "FILE", 0,
	  "At the end, write counts to FILE as OpenMetrics text, as bfsim stats does", RESULTS },
	{ "report", KEY_REPORT, "FILE", 0,
	  "At the end, write a page about the run, as bfsim report does; the default --trace-level is full then",
	  RESULTS },
	CLI_TRACE_LEVEL_OPTION(RESULTS),
	{ 0 },
};

static void add_command(struct options *options, const char *side, const char *text, struct argp_state *state)
{
	struct cli_run_command *commands =
		reallocarray(options->commands, options->num_commands + 1, sizeof(*commands));

	if (!commands)
		argp_failure(state, cli_failure_status(), 0, "out of memory");
	if (text[strspn(text, " \t\n")] == '\0') /* such as a shell variable that is not set */
		argp_error(state, "the command on %s is empty", side);
	commands[options->num_commands++] = (struct cli_run_command){
		.side = side,
		.text = cli_emulate_shell(text),
		.generation = options->has_generation ? options->generation : cli_generation_of_shell(text),
	};
	if (!commands[options->num_commands - 1].text)
		argp_failure(state, cli_failure_status(), 0, "out of memory");
	options->commands = commands;
}

/* Split "SIDE=CMD" in place. */
static void add_side_command(struct options *options, char *arg, struct argp_state *state)
{
	char *equals = strchr(arg, '=');

	if (!equals || equals == arg)
		argp_error(state, "--on %s: write SIDE=CMD", arg);
	*equals = '\0';
	add_command(options, arg, equals + 1, state);
}

static unsigned int parse_seconds(const char *text, struct argp_state *state)
{
	uint64_t number = 0;

	if (cli_number_parse(text, 10, 1, INT_MAX, &number, NULL) < 0)
		argp_error(state, "--timeout %s: not a number of seconds from 1 to %d", text, INT_MAX);
	return (unsigned int)number;
}

/* Processes find the seed in their environment. */
static void set_shuffle(const char *text, struct argp_state *state)
{
	uint64_t seed = 0;
	char number[24];

	if (!text && getrandom(&seed, sizeof(uint32_t), 0) < 0)
		argp_failure(state, cli_failure_status(), errno, "no random numbers; give --shuffle=SEED");
	if (text && cli_number_parse(text, 10, 0, UINT64_MAX, &seed, NULL) < 0)
		argp_error(state, "--shuffle=%s: not a number", text);
	snprintf(number, sizeof(number), "%" PRIu64, seed);
	if (setenv("BFSIM_SHUFFLE", number, 1) < 0)
		argp_failure(state, cli_failure_status(), errno, "cannot set the environment");
	if (!text)
		fprintf(stderr, "bfsim run: the order of tasks is repeated by --shuffle=%s\n", number);
}

static void set_seeds(struct options *options, const char *text, struct argp_state *state)
{
	options->has_seeds = true;
	if (cli_seeds_parse(text, &options->first_seed, &options->last_seed) < 0)
		argp_error(state, "--seeds %s: write a number, or a range such as 1..50", text);
}

/* Of the commands that follow. */
static void set_generation(struct options *options, const char *text, struct argp_state *state)
{
	if (cli_generation_parse(text, &options->generation) < 0)
		argp_error(state, CLI_GENERATION_WRONG, text);
	options->has_generation = true;
}

/* The options that give the commands, in their order. */
static error_t parse_command(struct options *options, int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case KEY_HOST:
		add_command(options, "host", arg, state);
		return 0;
	case KEY_DPU:
		add_command(options, "dpu", arg, state);
		return 0;
	case 'o':
		add_side_command(options, arg, state);
		return 0;
	case 'g':
		set_generation(options, arg, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The options about what the run has proved, and its files. */
static error_t parse_result(struct options *options, int key, char *arg)
{
	switch (key) {
	case KEY_REQUIRE_FAULTS:
		options->require_faults = true;
		return 0;
	case KEY_ALLOW_UNUSED:
		options->allows_unused_faults = true;
		return 0;
	case KEY_VERDICT:
		options->verdict_path = arg;
		return 0;
	case KEY_TRACE:
		options->trace_path = arg;
		return 0;
	case KEY_REPORT:
		options->report_path = arg;
		return 0;
	case KEY_METRICS:
		options->metrics_path = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void check_options(struct options *options, struct argp_state *state)
{
	if (options->num_commands == 0)
		argp_error(state, "run what? Give --host CMD, --dpu CMD or --on SIDE=CMD");
	if (options->has_seeds && options->faults.has_seed_option)
		argp_error(state, "--seed is one seed, --seeds are several: give one of the two");
	if (options->require_faults && options->allows_unused_faults)
		argp_error(state, "--require-faults and --allow-unused-faults contradict each other: give one");
	if (options->report_path && options->trace_level == SIM_TRACE_UNSET)
		options->trace_level = SIM_TRACE_FULL;
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->session;
		state->child_inputs[1] = &options->faults;
		state->child_inputs[2] = &options->check;
		state->child_inputs[3] = &options->order;
		return 0;
	case KEY_QUIET:
		options->quiet = true;
		return 0;
	case KEY_SEEDS:
		set_seeds(options, arg, state);
		return 0;
	case 't':
		options->topology = arg;
		return 0;
	case KEY_CLOCK:
		options->clock = cli_clock_mode(arg, state);
		return 0;
	case KEY_SHUFFLE:
		set_shuffle(arg, state);
		return 0;
	case CLI_KEY_TRACE_LEVEL:
		options->trace_level = cli_trace_level(arg, state);
		return 0;
	case KEY_TIMEOUT:
		options->timeout_s = parse_seconds(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state,
			   "\"%s\" belongs to no side; a command with its arguments is one word: --host './app %s'",
			   arg, arg);
		return EINVAL;
	case ARGP_KEY_END:
		check_options(options, state);
		return 0;
	default:
		return parse_result(options, key, arg) == 0 ? 0 : parse_command(options, key, arg, state);
	}
}

/* Label the commands; "#" tells those of one side apart. Returns 0, or -1 with a message. */
static int set_labels(struct options *options)
{
	const char **labels = calloc(options->num_commands, sizeof(*labels));
	int rc = labels ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < options->num_commands; i++) {
		struct cli_run_command *command = &options->commands[i];
		size_t count = 0, number = 0;

		for (size_t other = 0; other < options->num_commands; other++) {
			bool is_same = strcmp(options->commands[other].side, command->side) == 0;

			count += is_same;
			number += is_same && other <= i;
		}
		if ((count > 1 ? asprintf(&command->label, "%s#%zu", command->side, number) :
				 asprintf(&command->label, "%s", command->side)) < 0)
			rc = -1;
		labels[i] = command->label;
	}
	if (rc < 0)
		cli_fail("out of memory");
	else
		rc = cli_start_order_check(&options->order, labels, options->num_commands);
	free(labels);
	return rc;
}

static int run_session(const struct options *options)
{
	struct sim_session_dir session_dir;
	struct cli_run_cfg cfg = { .session_dir = &session_dir,
				   .topology = options->topology,
				   .clock = options->clock,
				   .timeout_s = options->timeout_s,
				   .trace_level = options->trace_level,
				   .trace_path = options->trace_path,
				   .report_path = options->report_path,
				   .metrics_path = options->metrics_path,
				   .check = &options->check,
				   .commands = options->commands,
				   .num_commands = options->num_commands,
				   .faults = &options->faults,
				   .require_faults = options->require_faults,
				   .verdict = { .is_quiet = options->quiet,
						.allows_unused_faults = options->allows_unused_faults,
						.hits_of_seeds = options->hits_of_seeds,
						.num_rules = (uint32_t)options->faults.count },
				   .verdict_path = options->verdict_path,
				   .order = &options->order };
	struct cli_supervisor_cfg supervisor = { .work = cli_run_worker, .arg = &cfg, .timeout_s = options->timeout_s };
	int status;

	if (options->session.is_from_option ? cli_session_prepare(options->session.dir, &session_dir) :
					      cli_session_prepare_temporary(&session_dir))
		return CLI_OWN_FAILURE;
	cfg.begun_ms = sim_monotonic_ms();
	status = cli_supervise(&supervisor);
	sim_session_dir_remove(&session_dir); /* in case that the daemon was killed */
	sim_session_dir_fini(&session_dir);
	return status;
}

/* "run.json" of seed 7 is "run-7.json". NULL without memory, or for NULL. */
static char *path_of_seed(const char *path, uint64_t seed)
{
	const char *dot = path ? strrchr(path, '.') : NULL, *slash = path ? strrchr(path, '/') : NULL;
	char *result = NULL;

	if (!path)
		return NULL;
	if (!dot || (slash && dot < slash))
		dot = path + strlen(path);
	return asprintf(&result, "%.*s-%" PRIu64 "%s", (int)(dot - path), path, seed, dot) < 0 ? NULL : result;
}

/* A signal to this command, or the user's, ends the rest as well. */
static bool is_ended_by_signal(int status)
{
	return status == CLI_SIGNAL + SIGINT || status == CLI_SIGNAL + SIGTERM || status == CLI_SIGNAL + SIGHUP ||
	       status == CLI_SIGNAL + SIGQUIT;
}

static int run_seed(const struct options *options, uint64_t seed)
{
	struct options of_seed = *options;
	char *trace = path_of_seed(options->trace_path, seed), *report = path_of_seed(options->report_path, seed);
	char *metrics = path_of_seed(options->metrics_path, seed);
	int status;

	of_seed.faults.has_seed = true;
	of_seed.faults.seed = seed;
	of_seed.trace_path = trace;
	of_seed.report_path = report;
	of_seed.metrics_path = metrics;
	status = run_session(&of_seed);
	fprintf(stderr, "bfsim run: seed %" PRIu64 ": %s", seed, status ? "status" : "ok\n");
	if (status)
		fprintf(stderr, " %d\n", status);
	free(trace);
	free(report);
	free(metrics);
	return status;
}

/* A fault with a chance must hit with one of the seeds. Returns whether all did. */
static bool check_hits_of_seeds(const struct options *options)
{
	bool is_well = true;

	for (size_t i = 0; options->hits_of_seeds && i < options->faults.count; i++) {
		const struct sim_rule *rule = &options->faults.list[i].rule;
		char text[SIM_RULE_TEXT_SIZE];

		if (!(rule->when & SIM_WHEN_CHANCE) || options->hits_of_seeds[i] > 0)
			continue;
		sim_rule_format(rule, "FILE", text);
		cli_fail("fault %zu never hit with any of the seeds: %s", i + 1, text);
		is_well = false;
	}
	return is_well || options->allows_unused_faults;
}

/* Counters that the processes of the runs add to. */
static bool share_hits(struct options *options)
{
	size_t bytes = (options->faults.count + 1) * sizeof(*options->hits_of_seeds);
	void *shared;

	if (options->first_seed == options->last_seed)
		return true;
	shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		cli_fail("out of memory");
		return false;
	}
	options->hits_of_seeds = shared;
	return true;
}

/* Returns the status of the first seed that failed. */
static int run_seeds(struct options *options)
{
	uint64_t num_run = 0, num_failed = 0, first_failed = 0;
	int first = CLI_OK, status = CLI_OK;

	if (!share_hits(options))
		return CLI_OWN_FAILURE;
	for (uint64_t seed = options->first_seed; !is_ended_by_signal(status); seed++) {
		status = run_seed(options, seed);
		num_run++;
		if (status && num_failed++ == 0) {
			first = status;
			first_failed = seed;
		}
		if (seed == options->last_seed)
			break;
	}
	fprintf(stderr, "bfsim run: %" PRIu64 " seeds: %" PRIu64 " ok, %" PRIu64 " failed", num_run,
		num_run - num_failed, num_failed);
	if (num_failed)
		fprintf(stderr, "; the first again: --seed %" PRIu64, first_failed);
	fputc('\n', stderr);
	if (!is_ended_by_signal(status) && !check_hits_of_seeds(options) && first == CLI_OK)
		return CLI_OWN_FAILURE;
	return first;
}

static void options_fini(struct options *options)
{
	for (size_t i = 0; i < options->num_commands; i++) {
		free(options->commands[i].label);
		free(options->commands[i].text);
	}
	free(options->commands);
	cli_faults_fini(&options->faults);
	cli_check_fini(&options->check);
	cli_start_order_fini(&options->order);
}

/* Before the first run: of several, the names of the outputs differ in the seed alone. */
static bool check_inputs(const struct options *options)
{
	char *trace = options->has_seeds ? path_of_seed(options->trace_path, options->first_seed) : NULL;
	char *report = options->has_seeds ? path_of_seed(options->report_path, options->first_seed) : NULL;
	char *metrics = options->has_seeds ? path_of_seed(options->metrics_path, options->first_seed) : NULL;
	const struct cli_run_cfg cfg = { .topology = options->topology,
					 .clock = options->clock,
					 .check = &options->check,
					 .trace_path = trace ? trace : options->trace_path,
					 .report_path = report ? report : options->report_path,
					 .metrics_path = metrics ? metrics : options->metrics_path,
					 .commands = options->commands,
					 .num_commands = options->num_commands,
					 .verdict.is_quiet = options->quiet,
					 .faults = &options->faults };
	bool is_well = cli_run_check_inputs(&cfg) == 0;

	free(trace);
	free(report);
	free(metrics);
	return is_well;
}

int cli_run(int argc, char **argv)
{
	static const struct argp_child children[] = { { &cli_session_argp, 0, "Session:", SESSION },
						      { &cli_faults_argp, 0, "Fault rules:", RULES },
						      { &cli_check_argp, 0, "Checker:", CHECKER },
						      { &cli_start_order_argp, 0, "Order of the programs:", ORDER },
						      { 0 } };
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_opt,
		.doc = "Run commands on the sides of a card, in a session that lasts as long as they do.\v"
		       "/bin/sh runs each CMD. The exit status is 0 when all commands return 0, else that of the first command "
		       "that failed; 125 when bfsim failed, a fault never hit or nothing was checked; 2 when an input is refused "
		       "before anything starts (doc/exit-status.md). Without --session, the session's directory is temporary.",
		.children = children,
	};
	struct options options = { .session.is_optional = true };
	int status = CLI_USAGE;

	cli_args_parse(&argp, argc, argv, 0, &options);
	if (set_labels(&options) == 0 && check_inputs(&options))
		status = options.has_seeds ? run_seeds(&options) : run_session(&options);
	options_fini(&options);
	return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim run: run programs in a session that lasts as long as they do. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "commands.h"
#include "sim/base/monotonic.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/fault/faults.h"
#include "sim/cli/abi/emulator.h"
#include "sim/cli/abi/generation.h"
#include "sim/cli/run/supervisor.h"
#include "sim/cli/base/check_opt.h"
#include "sim/cli/base/install.h"
#include "sim/cli/base/seeds.h"
#include "sim/cli/run/run_inputs.h"
#include "sim/cli/run/run_worker.h"
#include "sim/cli/base/session_opt.h"
#include "sim/trace/trace.h"

struct options {
	struct cli_session_opt session;
	struct cli_faults faults;
	struct cli_check_opt check;
	struct cli_start_order order;
	struct cli_seeds seeds;         /* a run for each */
	enum cli_generation generation; /* of the commands that follow the option */
	bool has_generation;            /* else each program's symbols decide */
	struct cli_words words;         /* none */
	struct cli_run_command *commands;
	size_t num_commands;
	struct cli_run_cfg cfg; /* the rest; it refers to the above */
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

static void add_host(void *options, char *text, struct argp_state *state)
{
	add_command(options, "host", text, state);
}

static void add_dpu(void *options, char *text, struct argp_state *state)
{
	add_command(options, "dpu", text, state);
}

/* Split "SIDE=CMD" in place. */
static void add_side_command(void *options, char *text, struct argp_state *state)
{
	char *equals = strchr(text, '=');

	if (!equals || equals == text)
		argp_error(state, "--on %s: write SIDE=CMD", text);
	*equals = '\0';
	add_command(options, text, equals + 1, state);
}

/* Processes find the seed in their environment. */
static void set_shuffle(void *options, char *text, struct argp_state *state)
{
	uint64_t seed = 0;
	char number[24];

	(void)options;
	cli_set_shuffle_seed(&seed, text, state);
	snprintf(number, sizeof(number), "%" PRIu64, seed);
	if (setenv("BFSIM_SHUFFLE", number, 1) < 0)
		argp_failure(state, cli_failure_status(), errno, "cannot set the environment");
	if (!text)
		fprintf(stderr, "bfsim run: the order of tasks is repeated by --shuffle=%s\n", number);
}

/* Of the commands that follow. */
static void set_generation(void *all, char *text, struct argp_state *state)
{
	struct options *options = all;

	cli_set_generation(&options->generation, text, state);
	options->has_generation = true;
}

/* In groups; those of the parts are between them. */
enum group { PROGRAMS = 1, ORDER, CARD, SESSION, RULES, FAULTS, CHECKER, RESULTS };

static const struct cli_option option_list[] = {
	CLI_SECTION("Programs:", PROGRAMS),
	CLI_CALL_WHOLE(0, "host", "CMD", add_host, CLI_OPTION_REPEATS, "Run CMD on the side \"host\""),
	CLI_CALL_WHOLE(0, "dpu", "CMD", add_dpu, CLI_OPTION_REPEATS, "Run CMD on the side \"dpu\""),
	CLI_CALL_WHOLE('o', "on", "SIDE=CMD", add_side_command, CLI_OPTION_REPEATS, "Run CMD on SIDE"),
	CLI_CALL_WHOLE('g', "generation", "GENERATION", set_generation, CLI_OPTION_REPEATS,
		       "Libraries of the commands after this option: " CLI_GENERATION_HELP
		       "; default: by the symbols of the first program in the command that uses DOCA"),
	CLI_NUMBER(0, "timeout", "SECONDS", struct options, cfg.timeout_s, 1, INT_MAX, "a number of seconds",
		   "End all programs after this time, with status 124"),
	CLI_SECTION("Card and time:", CARD),
	CLI_TOPOLOGY_OPTION(struct options, cfg.topology),
	CLI_CLOCK_OPTION(struct options, cfg.clock),
	CLI_PROCMEM_OPTION(struct options, cfg.passes_memory),
	CLI_CALL_WHOLE(
		0, "shuffle", "SEED", set_shuffle, OPTION_ARG_OPTIONAL,
		"Complete the DMA tasks of a context in a random order, which a card may have; SEED repeats an order"),
	CLI_FLAG(
		0, "nodes", struct options, cfg.has_nodes,
		"Let each machine of the topology (node0, node1) be a machine of its own, with a daemon and a gateway, connected over loopback"),
	CLI_SECTION("Runs with faults:", FAULTS),
	CLI_FLAG(0, "require-faults", struct options, cfg.require_faults,
		 "Fail when a fault was never applied (the default), or when there is none"),
	CLI_FLAG(0, "allow-unused-faults", struct options, cfg.verdict.allows_unused_faults,
		 "A fault that was never applied is no failure"),
	CLI_SEEDS_OPTION(struct options, seeds,
			 "Repeat the run for each seed of a range, such as 1..50, with a summary"),
	CLI_FLAG(0, "quiet", struct options, cfg.verdict.is_quiet,
		 "Do not print which faults are applied, and which were allowed not to be"),
	CLI_VALUE(CLI_KIND_TEXT, 0, "verdict", "FILE", struct options, cfg.verdict_path,
		  "For bfsim test: what the run has proved", .flags = OPTION_HIDDEN),
	CLI_SECTION("Results:", RESULTS),
	CLI_TEXT(0, "trace", "FILE", struct options, cfg.trace_path, "At the end, write a trace, as bfsim trace does"),
	CLI_TEXT(0, "metrics", "FILE", struct options, cfg.metrics_path,
		 "At the end, write counts to FILE as OpenMetrics text, as bfsim stats does"),
	CLI_TEXT(
		0, "report", "FILE", struct options, cfg.report_path,
		"At the end, write a page about the run, as bfsim report does; the default --trace-level is full then"),
	CLI_TRACE_LEVEL_OPTION(struct options, cfg.trace_level),
	{ 0 },
};

static void check_nodes(const struct options *options, struct argp_state *state)
{
	const struct cli_run_cfg *cfg = &options->cfg;

	if (!cfg->has_nodes)
		return;
	if (!cfg->topology)
		argp_error(state, "--nodes: give a topology with several machines (share/topologies/two-nodes.yaml)");
	if (cfg->clock == SIM_CLOCK_VIRTUAL)
		argp_error(
			state,
			"--nodes: machines have no common virtual time; without --nodes all of them run in one session, with any clock");
}

static void check_options(void *all, struct argp_state *state)
{
	struct options *options = all;
	const char *word = cli_word(&options->words, 0);

	if (word)
		argp_error(state,
			   "\"%s\" belongs to no side; a command with its arguments is one word: --host './app %s'",
			   word, word);
	if (options->num_commands == 0)
		argp_error(state, "run what? Give --host CMD, --dpu CMD or --on SIDE=CMD");
	if (options->seeds.is_given && options->faults.has_seed_option)
		argp_error(state, "--seed is one seed, --seeds are several: give one of the two");
	if (options->cfg.require_faults && options->cfg.verdict.allows_unused_faults)
		argp_error(state, "--require-faults and --allow-unused-faults contradict each other: give one");
	check_nodes(options, state);
	if (options->cfg.report_path && options->cfg.trace_level == SIM_TRACE_UNSET)
		options->cfg.trace_level = SIM_TRACE_FULL;
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

static int run_in_new_session(const struct options *options, struct cli_run_cfg *cfg, const sigset_t *original)
{
	struct cli_supervisor_cfg supervisor = {
		.work = cli_run_worker, .arg = cfg, .original = original, .timeout_s = cfg->timeout_s
	};
	struct sim_session_dir session_dir;
	int status;

	if (options->session.is_from_option ? cli_session_prepare(options->session.dir, &session_dir) :
					      cli_session_prepare_temporary(&session_dir))
		return CLI_OWN_FAILURE;
	cfg->session_dir = &session_dir;
	cfg->begun_ms = sim_monotonic_ms();
	status = CLI_OWN_FAILURE;
	if (!cfg->has_nodes || cli_run_nodes_open(&cfg->nodes, cfg->topology, &session_dir) == 0)
		status = cli_supervise(&supervisor);
	cli_run_nodes_close(&cfg->nodes);
	sim_session_dir_remove(&session_dir); /* in case that the daemon was killed */
	sim_session_dir_fini(&session_dir);
	return status;
}

static int run_session(const struct options *options, struct cli_run_cfg *cfg)
{
	sigset_t original;
	int status;

	cli_hold_signals(&original);
	status = run_in_new_session(options, cfg, &original);
	sigprocmask(SIG_SETMASK, &original, NULL);
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

/* The files of results that a run has with this seed. */
static void set_paths(struct cli_run_cfg *cfg, const struct cli_run_cfg *all, uint64_t seed)
{
	cfg->trace_path = path_of_seed(all->trace_path, seed);
	cfg->report_path = path_of_seed(all->report_path, seed);
	cfg->metrics_path = path_of_seed(all->metrics_path, seed);
}

static void free_paths(struct cli_run_cfg *cfg)
{
	free((char *)(uintptr_t)cfg->trace_path);
	free((char *)(uintptr_t)cfg->report_path);
	free((char *)(uintptr_t)cfg->metrics_path);
}

static int run_seed(const struct options *options, uint64_t seed)
{
	struct cli_faults faults = options->faults;
	struct cli_run_cfg cfg = options->cfg;
	int status;

	faults.has_seed = true;
	faults.seed = seed;
	cfg.faults = &faults;
	set_paths(&cfg, &options->cfg, seed);
	status = run_session(options, &cfg);
	fprintf(stderr, "bfsim run: seed %" PRIu64 ": %s", seed, status ? "status" : "ok\n");
	if (status)
		fprintf(stderr, " %d\n", status);
	free_paths(&cfg);
	return status;
}

/* A fault with a chance must hit with one of the seeds. Returns whether all did. */
static bool check_hits_of_seeds(const struct options *options)
{
	bool is_well = true;

	for (size_t i = 0; options->cfg.verdict.hits_of_seeds && i < options->faults.count; i++) {
		const struct sim_rule *rule = &options->faults.list[i].rule;
		char text[SIM_RULE_TEXT_SIZE];

		if (!(rule->when & SIM_WHEN_CHANCE) || options->cfg.verdict.hits_of_seeds[i] > 0)
			continue;
		sim_rule_format(rule, "FILE", text);
		cli_fail("fault %zu never hit with any of the seeds: %s", i + 1, text);
		is_well = false;
	}
	return is_well || options->cfg.verdict.allows_unused_faults;
}

/* Counters that the processes of the runs add to. */
static bool share_hits(struct options *options)
{
	size_t bytes = (options->faults.count + 1) * sizeof(*options->cfg.verdict.hits_of_seeds);
	void *shared;

	if (options->seeds.first == options->seeds.last)
		return true;
	shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		cli_fail("out of memory");
		return false;
	}
	options->cfg.verdict.hits_of_seeds = shared;
	return true;
}

/* Returns the status of the first seed that failed. */
static int run_seeds(struct options *options)
{
	uint64_t num_run = 0, num_failed = 0, first_failed = 0;
	int first = CLI_OK, status = CLI_OK;

	if (!share_hits(options))
		return CLI_OWN_FAILURE;
	for (uint64_t seed = options->seeds.first; !is_ended_by_signal(status); seed++) {
		status = run_seed(options, seed);
		num_run++;
		if (status && num_failed++ == 0) {
			first = status;
			first_failed = seed;
		}
		if (seed == options->seeds.last)
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
	struct cli_run_cfg cfg = options->cfg;
	bool is_well;

	if (options->seeds.is_given)
		set_paths(&cfg, &options->cfg, options->seeds.first);
	is_well = cli_run_check_inputs(&cfg) == 0;
	if (options->seeds.is_given)
		free_paths(&cfg);
	return is_well;
}

int cli_run(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.parts = { { &cli_session_args, offsetof(struct options, session), "Session:", SESSION },
			   { &cli_faults_args, offsetof(struct options, faults), "Fault rules:", RULES },
			   { &cli_check_args, offsetof(struct options, check), "Checker:", CHECKER },
			   { &cli_start_order_args, offsetof(struct options, order),
			     "Order of the programs:", ORDER } },
		.words = offsetof(struct options, words),
		.max_words = CLI_MANY_WORDS,
		.check = check_options,
		.doc = "Run commands on the sides of a card, in a session that lasts as long as they do.\v"
		       "/bin/sh runs each CMD. The exit status is 0 when all commands return 0, else that of the first command "
		       "that failed; 125 when bfsim failed, a fault never hit or nothing was checked; 2 when an input is refused "
		       "before anything starts (doc/exit-status.md). Without --session, the session's directory is temporary.",
	};
	struct options options = { .session.is_optional = true };
	int status = CLI_USAGE;

	cli_args_parse(&args, argc, argv, 0, &options);
	options.cfg.check = &options.check;
	options.cfg.faults = &options.faults;
	options.cfg.order = &options.order;
	options.cfg.commands = options.commands;
	options.cfg.num_commands = options.num_commands;
	options.cfg.verdict.num_rules = (uint32_t)options.faults.count;
	if (set_labels(&options) == 0 && check_inputs(&options))
		status = options.seeds.is_given ? run_seeds(&options) : run_session(&options, &options.cfg);
	options_fini(&options);
	return status;
}

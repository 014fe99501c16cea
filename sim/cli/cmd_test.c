/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim test: run scenarios as tests. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "commands.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/number.h"
#include "sim/cli/base/output_path.h"
#include "sim/cli/test/results.h"
#include "sim/cli/test/suite.h"

enum {
	KEY_TAP = 0x100,
	KEY_JUNIT,
	KEY_RERUN,
	KEY_SHUFFLE,
	KEY_BUNDLES,
};

struct options {
	struct cli_suite suite;
	const char *junit;
	bool rerun, shuffle;
	uint64_t shuffle_seed;
	char **files;
	size_t num_files;
};

static const struct argp_option option_list[] = {
	{ "jobs", 'j', "NUMBER", 0, "Run that many at a time (default: the number of processors)", 0 },
	{ "rerun-failed", KEY_RERUN, NULL, 0, "Run what failed the last time", 0 },
	{ "shuffle", KEY_SHUFFLE, "SEED", OPTION_ARG_OPTIONAL, "Run them in a random order; SEED repeats an order", 0 },
	{ "tap", KEY_TAP, NULL, 0, "Print TAP", 0 },
	{ "junit", KEY_JUNIT, "FILE", 0, "Write the results as JUnit XML", 0 },
	{ "bundles", KEY_BUNDLES, "DIR", 0, "Where failures leave their bundles (default: bfsim-failures)", 0 },
	{ 0 },
};

static void set_jobs(struct options *options, const char *text, struct argp_state *state)
{
	uint64_t number = 0;

	if (cli_number_parse(text, 10, 1, 1024, &number, NULL) < 0)
		argp_error(state, "-j %s: not a number from 1 to 1024", text);
	options->suite.num_jobs = (uint32_t)number;
}

static void set_shuffle(struct options *options, const char *text, struct argp_state *state)
{
	options->shuffle = true;
	if (!text && getrandom(&options->shuffle_seed, sizeof(uint32_t), 0) < 0)
		argp_failure(state, cli_failure_status(), errno, "no random numbers; give --shuffle=SEED");
	if (text && cli_number_parse(text, 10, 0, UINT64_MAX, &options->shuffle_seed, NULL) < 0)
		argp_error(state, "--shuffle=%s: not a number", text);
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->suite.options;
		return 0;
	case 'j':
		set_jobs(options, arg, state);
		return 0;
	case KEY_RERUN:
		options->rerun = true;
		return 0;
	case KEY_SHUFFLE:
		set_shuffle(options, arg, state);
		return 0;
	case KEY_TAP:
		options->suite.tap = true;
		return 0;
	case KEY_JUNIT:
		options->junit = arg;
		return 0;
	case KEY_BUNDLES:
		options->suite.bundles = arg;
		return 0;
	case ARGP_KEY_ARGS:
		options->files = state->argv + state->next;
		options->num_files = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_END:
		if (options->num_files == 0 && !options->rerun)
			argp_error(state, "which scenarios? Give their files; bfsim-test(1) has one to begin with");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int prepare(struct options *options)
{
	int rc = 0;

	for (size_t i = 0; i < options->num_files; i++)
		rc |= cli_suite_add_file(&options->suite, options->files[i]);
	if (rc < 0)
		return -1;
	if (options->rerun && cli_suite_keep_failed(&options->suite) < 0)
		return -1;
	if (!options->shuffle)
		return 0;
	cli_suite_shuffle(&options->suite, options->shuffle_seed);
	fprintf(stderr, "bfsim test: this order is repeated by --shuffle=%" PRIu64 "\n", options->shuffle_seed);
	return 0;
}

int cli_test(int argc, char **argv)
{
	static const struct argp_child children[] = { { &cli_scenario_options_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_opt,
		.args_doc = "FILE...",
		.doc = "Run scenarios: programs on the sides of a card, what is injected, and what is expected of them.\v"
		       "Each FILE is a scenario in YAML; bfsim-test(1) explains its fields. A failure leaves a bundle, which bfsim "
		       "replay runs again. The exit status is 0 when all passed, 1 when one failed, 2 for a scenario that is "
		       "wrong, 125 when bfsim failed.",
		.children = children,
	};
	struct options options = { .suite = { .bundles = "bfsim-failures" } };
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	int status = CLI_USAGE;

	options.suite.num_jobs = processors > 0 ? (uint32_t)processors : 1;
	cli_args_parse(&argp, argc, argv, 0, &options);
	if (cli_output_path_check("the results", options.junit) == 0 && prepare(&options) == 0) {
		status = cli_suite_run(&options.suite);
		if (options.junit &&
		    cli_results_write_junit(options.junit, options.suite.cases, options.suite.num_cases) < 0 &&
		    status == CLI_OK)
			status = CLI_OWN_FAILURE;
	}
	cli_suite_fini(&options.suite);
	return status;
}

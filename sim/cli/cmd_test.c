/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim test: run scenarios as tests. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "commands.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/output.h"
#include "sim/cli/base/seeds.h"
#include "sim/cli/test/results.h"
#include "sim/cli/test/suite.h"

struct options {
	struct cli_suite suite;
	const char *junit;
	bool rerun, shuffle;
	uint64_t shuffle_seed;
	struct cli_words files;
};

static void set_shuffle(void *all, char *text, struct argp_state *state)
{
	struct options *options = all;

	options->shuffle = true;
	cli_set_shuffle_seed(&options->shuffle_seed, text, state);
}

static const struct cli_option option_list[] = {
	CLI_NUMBER('j', "jobs", "NUMBER", struct options, suite.num_jobs, 1, 1024, "a number",
		   "Run that many at a time (default: the number of processors)"),
	CLI_FLAG(0, "rerun-failed", struct options, rerun, "Run what failed the last time"),
	CLI_CALL_WHOLE(0, "shuffle", "SEED", set_shuffle, OPTION_ARG_OPTIONAL,
		       "Run them in a random order; SEED repeats an order"),
	CLI_FLAG(0, "tap", struct options, suite.tap, "Print TAP"),
	CLI_TEXT(0, "junit", "FILE", struct options, junit, "Write the results as JUnit XML"),
	CLI_TEXT(0, "bundles", "DIR", struct options, suite.bundles,
		 "Where failures leave their bundles (default: bfsim-failures)"),
	{ 0 },
};

static void check_options(void *all, struct argp_state *state)
{
	const struct options *options = all;

	if (options->files.count == 0 && !options->rerun)
		argp_error(state, "which scenarios? Give their files; bfsim-test(1) has one to begin with");
}

static int prepare(struct options *options)
{
	int rc = 0;

	for (size_t i = 0; i < options->files.count; i++)
		rc |= cli_suite_add_file(&options->suite, options->files.list[i]);
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
	static const struct cli_args args = {
		.options = option_list,
		.parts = { CLI_PART(struct options, suite.options, cli_scenario_options_args) },
		.words = offsetof(struct options, files),
		.max_words = CLI_MANY_WORDS,
		.check = check_options,
		.args_doc = "FILE...",
		.doc = "Run scenarios: programs on the sides of a card, what is injected, and what is expected of them.\v"
		       "Each FILE is a scenario in YAML; bfsim-test(1) explains its fields. A failure leaves a bundle, which bfsim "
		       "replay runs again. The exit status is 0 when all passed, 1 when one failed, 2 for a scenario that is "
		       "wrong, 125 when bfsim failed.",
	};
	struct options options = { .suite = { .bundles = "bfsim-failures" } };
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	int status = CLI_USAGE;

	options.suite.num_jobs = processors > 0 ? (uint32_t)processors : 1;
	cli_args_parse(&args, argc, argv, 0, &options);
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

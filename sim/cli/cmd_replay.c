/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim replay: run a failure of bfsim test again, from its bundle. */
#include <argp.h>
#include <stdio.h>

#include "commands.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/test/bundle.h"
#include "sim/cli/test/suite.h"

enum {
	KEY_FOLDER = 0x100,
	KEY_BUNDLES,
};

struct options {
	const char *bundle, *folder, *bundles;
};

static const struct argp_option option_list[] = {
	{ "folder", KEY_FOLDER, "DIR", 0, "Where the scenario's programs and files are now (default: where they were)",
	  0 },
	{ "bundles", KEY_BUNDLES, "DIR", 0, "Where a failure leaves its bundle (default: bfsim-replayed)", 0 },
	{ 0 },
};

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case KEY_FOLDER:
		options->folder = arg;
		return 0;
	case KEY_BUNDLES:
		options->bundles = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (options->bundle)
			argp_error(state, "give one bundle");
		options->bundle = arg;
		return 0;
	case ARGP_KEY_END:
		if (!options->bundle)
			argp_error(state, "which bundle? Give the directory that bfsim test named");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cli_replay(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_opt,
		.args_doc = "BUNDLE",
		.doc = "Run a failure of bfsim test again, from the bundle that it left.\v"
		       "The scenario, its topology, its faults and its seed are those of the bundle. The exit status is 0 when the "
		       "run passes now, 1 when it fails again, 2 when the bundle can't be used, 125 when bfsim failed.",
	};
	struct options options = { .bundles = "bfsim-replayed" };
	struct cli_suite suite = { .num_jobs = 1 };
	struct cli_bundle bundle;
	int status = CLI_USAGE;

	cli_args_parse(&argp, argc, argv, 0, &options);
	suite.bundles = options.bundles;
	if (cli_bundle_read(options.bundle, options.folder, &bundle) < 0)
		return CLI_USAGE;
	suite.options = bundle.options;
	if (cli_suite_add(&suite, &bundle.scenario, bundle.has_seed, bundle.seed) == 0)
		status = cli_suite_run(&suite);
	cli_suite_fini(&suite);
	return status;
}

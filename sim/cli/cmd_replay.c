/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim replay: run a failure of bfsim test again, from its bundle. */
#include <stdio.h>

#include "commands.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/test/bundle.h"
#include "sim/cli/test/suite.h"

struct options {
	struct cli_words words; /* the bundle */
	const char *folder, *bundles;
};

static const struct cli_option option_list[] = {
	CLI_TEXT(0, "folder", "DIR", struct options, folder,
		 "Where the scenario's programs and files are now (default: where they were)"),
	CLI_TEXT(0, "bundles", "DIR", struct options, bundles,
		 "Where a failure leaves its bundle (default: bfsim-replayed)"),
	{ 0 },
};

int cli_replay(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.words = offsetof(struct options, words),
		.max_words = 1,
		.no_words = "which bundle? Give the directory that bfsim test named",
		.many_words = "give one bundle",
		.args_doc = "BUNDLE",
		.doc = "Run a failure of bfsim test again, from the bundle that it left.\v"
		       "The scenario, its topology, its faults and its seed are those of the bundle. The exit status is 0 when the "
		       "run passes now, 1 when it fails again, 2 when the bundle can't be used, 125 when bfsim failed.",
	};
	struct options options = { .bundles = "bfsim-replayed" };
	struct cli_suite suite = { .num_jobs = 1 };
	struct cli_bundle bundle;
	int status = CLI_USAGE;

	cli_args_parse(&args, argc, argv, 0, &options);
	suite.bundles = options.bundles;
	if (cli_bundle_read(options.words.list[0], options.folder, &bundle) < 0)
		return CLI_USAGE;
	suite.options = bundle.options;
	if (cli_suite_add(&suite, &bundle.scenario, bundle.has_seed, bundle.seed) == 0)
		status = cli_suite_run(&suite);
	cli_suite_fini(&suite);
	return status;
}

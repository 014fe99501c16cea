/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim report: a page of HTML about a session or a recording. */

#include "commands.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/report/report_write.h"
#include "sim/cli/base/session_opt.h"

struct options {
	struct cli_session_opt session;
	struct cli_words recordings;
	const char *path;
	bool json, compare;
};

static const struct cli_option option_list[] = {
	CLI_TEXT('o', "output", "FILE", struct options, path, "Write to FILE instead of standard output"),
	CLI_FLAG('j', "json", struct options, json, "Write the figures as JSON instead of the page"),
	CLI_FLAG(0, "compare", struct options, compare, "Compare two recordings: BEFORE NOW"),
	{ 0 },
};

static void check_options(void *all, struct argp_state *state)
{
	const struct options *options = all;

	if (options->compare ? options->recordings.count != 2 : options->recordings.count > 1)
		argp_error(state, "--compare takes two recordings, and nothing else takes more than one: "
				  "bfsim report --compare BEFORE NOW");
	if (options->recordings.count && options->session.is_from_option)
		argp_error(state, "give either a RECORDING or --session");
}

int cli_report(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.parts = { CLI_PART(struct options, session, cli_session_args) },
		.words = offsetof(struct options, recordings),
		.max_words = 2,
		.check = check_options,
		.args_doc = "[RECORDING]\n--compare BEFORE NOW",
		.doc = "Write a page of HTML about a run: latency, throughput and queue depth of its operations, faults and their "
		       "hits, warnings.\v"
		       "RECORDING is a file of bfsim run --trace FILE.bfsim or bfsim trace --format raw; without one, the report is about the recordings of "
		       "the session. With --compare, the page has each figure of both runs, with its difference and ratio. The page is self-contained. doc/report.md explains it.",
	};
	struct options options = { 0 };
	const char *recording;

	cli_args_parse(&args, argc, argv, 0, &options);
	recording = cli_word(&options.recordings, 0);
	if (options.compare)
		return cli_report_write_comparison(recording, options.recordings.list[1], options.path, options.json);
	if (options.json)
		return cli_report_write_json(recording, options.session.dir, options.path);
	return recording ? cli_report_write_file(recording, options.path) :
			   cli_report_write_session(options.session.dir, options.path, NULL);
}

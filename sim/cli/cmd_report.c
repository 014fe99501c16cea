/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim report: a page of HTML about a session or a trace file. */

#include "commands.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/report/report_write.h"
#include "sim/cli/base/session_opt.h"

struct options {
	struct cli_session_opt session;
	struct cli_words traces;
	const char *path;
	bool json, compare;
};

static const struct cli_option option_list[] = {
	CLI_TEXT('o', "output", "FILE", struct options, path, "Write to FILE instead of standard output"),
	CLI_FLAG('j', "json", struct options, json, "Write the figures as JSON instead of the page"),
	CLI_FLAG(0, "compare", struct options, compare, "Compare two traces: BEFORE.json NOW.json"),
	{ 0 },
};

static void check_options(void *all, struct argp_state *state)
{
	const struct options *options = all;

	if (options->compare ? options->traces.count != 2 : options->traces.count > 1)
		argp_error(state, "--compare takes two traces, and nothing else takes more than one: "
				  "bfsim report --compare BEFORE.json NOW.json");
	if (options->traces.count && options->session.is_from_option)
		argp_error(state, "give either a TRACE or --session");
}

int cli_report(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.parts = { CLI_PART(struct options, session, cli_session_args) },
		.words = offsetof(struct options, traces),
		.max_words = 2,
		.check = check_options,
		.args_doc = "[TRACE]\n--compare BEFORE.json NOW.json",
		.doc = "Write a page of HTML about a run: latency, throughput and queue depth of its operations, faults and their "
		       "hits, warnings.\v"
		       "TRACE is a file that bfsim trace wrote for Perfetto; without TRACE, the report is about the recordings of "
		       "the session. With --compare, the page has each figure of both runs, with its difference and ratio. The page is self-contained. doc/report.md explains it.",
	};
	struct options options = { 0 };
	const char *trace;

	cli_args_parse(&args, argc, argv, 0, &options);
	trace = cli_word(&options.traces, 0);
	if (options.compare)
		return cli_report_write_comparison(trace, options.traces.list[1], options.path, options.json);
	if (options.json)
		return cli_report_write_json(trace, options.session.dir, options.path);
	return trace ? cli_report_write_file(trace, options.path) :
		       cli_report_write_session(options.session.dir, options.path, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim report: a page of HTML about a session or a trace file. */
#include <argp.h>

#include "commands.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/report/report_write.h"
#include "sim/cli/base/session_opt.h"

enum { KEY_COMPARE = 0x100 };

struct options {
	struct cli_session_opt session;
	const char *traces[2];
	unsigned int num_traces;
	const char *path;
	bool json, compare;
};

static const struct argp_option option_list[] = {
	{ "output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0 },
	{ "json", 'j', NULL, 0, "Write the figures as JSON instead of the page", 0 },
	{ "compare", KEY_COMPARE, NULL, 0, "Compare two traces: BEFORE.json NOW.json", 0 },
	{ 0 },
};

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->session;
		return 0;
	case 'o':
		options->path = arg;
		return 0;
	case 'j':
		options->json = true;
		return 0;
	case KEY_COMPARE:
		options->compare = true;
		return 0;
	case ARGP_KEY_ARG:
		if (options->num_traces == 2)
			return ARGP_ERR_UNKNOWN;
		options->traces[options->num_traces++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (options->compare ? options->num_traces != 2 : options->num_traces > 1)
			argp_error(state, "--compare takes two traces, and nothing else takes more than one: "
					  "bfsim report --compare BEFORE.json NOW.json");
		if (options->num_traces && options->session.is_from_option)
			argp_error(state, "give either a TRACE or --session");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cli_report(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_opt,
		.args_doc = "[TRACE]\n--compare BEFORE.json NOW.json",
		.doc = "Write a page of HTML about a run: latency, throughput and queue depth of its operations, faults and their "
		       "hits, warnings.\v"
		       "TRACE is a file that bfsim trace wrote for Perfetto; without TRACE, the report is about the recordings of "
		       "the session. With --compare, the page has each figure of both runs, with its difference and ratio. The page is self-contained. doc/report.md explains it.",
		.children = cli_session_children,
	};
	struct options options = { 0 };

	cli_args_parse(&argp, argc, argv, 0, &options);
	if (options.compare)
		return cli_report_write_comparison(options.traces[0], options.traces[1], options.path, options.json);
	if (options.json)
		return cli_report_write_json(options.traces[0], options.session.dir, options.path);
	return options.traces[0] ? cli_report_write_file(options.traces[0], options.path) :
				   cli_report_write_session(options.session.dir, options.path, NULL);
}

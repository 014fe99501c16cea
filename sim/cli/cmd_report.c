/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim report: a page of HTML about a session or a trace file. */
#include <argp.h>

#include "commands.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/report/report_write.h"
#include "sim/cli/base/session_opt.h"

struct options {
	struct cli_session_opt session;
	const char *trace;
	const char *path;
	bool json;
};

static const struct argp_option option_list[] = {
	{ "output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0 },
	{ "json", 'j', NULL, 0, "Write the figures as JSON instead of the page", 0 },
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
	case ARGP_KEY_ARG:
		if (state->arg_num > 0)
			return ARGP_ERR_UNKNOWN;
		options->trace = arg;
		return 0;
	case ARGP_KEY_END:
		if (options->trace && options->session.is_from_option)
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
		.args_doc = "[TRACE]",
		.doc = "Write a page of HTML about a run: latency, throughput and queue depth of its operations, faults and their "
		       "hits, warnings.\v"
		       "TRACE is a file that bfsim trace wrote for Perfetto; without TRACE, the report is about the recordings of "
		       "the session. The page is self-contained. doc/report.md explains it.",
		.children = cli_session_children,
	};
	struct options options = { 0 };

	cli_args_parse(&argp, argc, argv, 0, &options);
	if (options.json)
		return cli_report_write_json(options.trace, options.session.dir, options.path);
	return options.trace ? cli_report_write_file(options.trace, options.path) :
			       cli_report_write_session(options.session.dir, options.path, NULL);
}

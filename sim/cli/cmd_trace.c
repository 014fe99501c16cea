/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim trace: write what the processes of a session have recorded. */
#include <argp.h>
#include <stdbool.h>

#include "commands.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/trace/trace_write.h"

struct options {
	struct cli_session_opt session;
	enum cli_trace_format format;
	bool has_format;
	const char *path;
};

static const struct argp_option option_list[] = {
	{ "format", 'f', "FORMAT", 0,
	  "perfetto (default), csv or otlp; without it, csv for a FILE that is called *.csv, otlp for *.jsonl", 0 },
	{ "output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0 },
	{ 0 },
};

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->session;
		return 0;
	case 'f':
		if (cli_trace_format_parse(arg, &options->format) < 0)
			argp_error(state, "--format %s: give perfetto, csv or otlp", arg);
		options->has_format = true;
		return 0;
	case 'o':
		options->path = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num > 0)
			return ARGP_ERR_UNKNOWN;
		options->session.dir = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cli_trace(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_opt,
		.args_doc = "[SESSION]",
		.doc = "Write what the processes of a session have recorded, including processes that have ended: states of contexts, "
		       "tasks, messages, connections, faults and log lines of all sides on one time axis.\v"
		       "Open a trace at https://ui.perfetto.dev or in chrome://tracing. otlp has spans of the tasks for OpenTelemetry. SESSION is the session's directory, as "
		       "with --session. $BFSIM_TRACE and bfsim up --trace-level select what is recorded; see doc/trace.md.",
		.children = cli_session_children,
	};
	struct options options = { 0 };

	cli_args_parse(&argp, argc, argv, 0, &options);
	if (!options.has_format)
		options.format = cli_trace_format_of_file(options.path);
	return cli_trace_write(options.session.dir, options.format, options.path);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim trace: write what the processes of a session have recorded. */
#include "commands.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/trace/trace_write.h"

struct options {
	struct cli_session_opt session;
	int format; /* enum cli_trace_format; -1 = not given */
	const char *path;
};

static const struct cli_option option_list[] = {
	CLI_CHOICE(
		'f', "format", "FORMAT", struct options, format, cli_trace_formats, "format",
		"perfetto (default), csv, otlp or raw; without it, csv for a FILE that is called *.csv, otlp for *.jsonl, raw for *.bfsim"),
	CLI_TEXT('o', "output", "FILE", struct options, path, "Write to FILE instead of standard output"),
	{ 0 },
};

int cli_trace(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.parts = { CLI_PART(struct options, session, cli_session_args) },
		.words = offsetof(struct options, session.words),
		.max_words = 1,
		.args_doc = "[SESSION|RECORDING]",
		.doc = "Write what the processes of a session have recorded, including processes that have ended: states of contexts, "
		       "tasks, messages, connections, faults and log lines of all sides on one time axis.\v"
		       "Open a trace at https://ui.perfetto.dev or in chrome://tracing. otlp has spans of the tasks for OpenTelemetry. raw is a recording, which bfsim report, bfsim fault replay and this command read. SESSION is the session's directory, as "
		       "with --session. $BFSIM_TRACE and bfsim up --trace-level select what is recorded; see doc/trace.md.",
	};
	struct options options = { .format = -1 };

	cli_args_parse(&args, argc, argv, 0, &options);
	if (options.format < 0)
		options.format = (int)cli_trace_format_of_file(options.path);
	return cli_trace_write(options.session.dir, (enum cli_trace_format)options.format, options.path);
}

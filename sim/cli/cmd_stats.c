/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim stats: counts of the tasks and messages of a session. */
#include <inttypes.h>
#include <string.h>

#include "commands.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/trace/metrics.h"
#include "sim/cli/trace/recordings.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/view/stats.h"

enum { FORMAT_TABLE, FORMAT_JSON, FORMAT_OPENMETRICS };

static const char *const formats[] = { "table", "json", "openmetrics", NULL };

struct options {
	struct cli_session_opt session;
	int format;
};

static const struct cli_option option_list[] = {
	CLI_CONSTANT('j', "json", struct options, format, FORMAT_JSON, "Print JSON"),
	CLI_CHOICE(0, "format", "FORMAT", struct options, format, formats, "format",
		   "Print as table (default), json or openmetrics, which Prometheus reads"),
	{ 0 },
};

static int print_stats(const struct options *options, const struct sim_merged_trace *merged,
		       const struct cli_machines *machines)
{
	if (options->format == FORMAT_OPENMETRICS)
		return cli_metrics_print(merged, machines, stdout) < 0 ? CLI_FAILED : CLI_OK;
	if (options->format == FORMAT_JSON)
		return cli_stats_print_json(merged, machines, options->session.dir) < 0 ? CLI_FAILED : CLI_OK;
	if (cli_stats_print_tables(merged, machines) < 0)
		return CLI_FAILED;
	if (merged->num_dropped)
		printf("\n%" PRIu64 " processes ended too long ago to be listed\n", merged->num_dropped);
	return CLI_OK;
}

int cli_stats(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.parts = { CLI_PART(struct options, session, cli_session_args) },
		.words = offsetof(struct options, session.words),
		.max_words = 1,
		.args_doc = "[SESSION]",
		.doc = "Print counts of the processes of a session, including processes that have ended: tasks by context and "
		       "operation, messages by connection, and by link to another machine. SESSION is the session's directory, as with --session.",
	};
	struct options options = { 0 };
	struct sim_merged_trace merged;
	struct cli_machines machines;
	int rc;

	cli_args_parse(&args, argc, argv, 0, &options);
	if (cli_recordings_fetch(options.session.dir, &merged) < 0)
		return CLI_FAILED;
	rc = cli_machines_read(options.session.dir, &machines);
	if (rc == 0) {
		rc = print_stats(&options, &merged, &machines);
		cli_machines_free(&machines);
	}
	sim_merged_trace_free(&merged);
	return rc < 0 ? CLI_FAILED : rc;
}

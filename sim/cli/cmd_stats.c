/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim stats: counts of the tasks and messages of a session. */
#include <argp.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/trace/metrics.h"
#include "sim/cli/trace/recordings.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/base/session_client.h"
#include "sim/cli/view/stats.h"

enum {
	KEY_FORMAT = 0x100,
};

struct options {
	struct cli_session_opt session;
	enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_OPENMETRICS } format;
};

static const struct argp_option option_list[] = {
	{ "json", 'j', NULL, 0, "Print JSON", 0 },
	{ "format", KEY_FORMAT, "FORMAT", 0, "Print as table (default), json or openmetrics, which Prometheus reads",
	  0 },
	{ 0 },
};

static enum format parse_format(const char *name, struct argp_state *state)
{
	static const char *const names[] = { "table", "json", "openmetrics" };
	const char *closest = cli_closest_name(name, names, 3);

	for (size_t i = 0; i < 3; i++)
		if (strcmp(names[i], name) == 0)
			return (enum format)i;
	argp_error(state, "--format %s: there is no such format%s%s; give table, json or openmetrics", name,
		   closest ? "; did you mean " : "", closest ? closest : "");
	return FORMAT_TABLE;
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->session;
		return 0;
	case 'j':
		options->format = FORMAT_JSON;
		return 0;
	case KEY_FORMAT:
		options->format = parse_format(arg, state);
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

static int print_stats(const struct options *options, const struct sim_merged_trace *merged, uint64_t num_dropped)
{
	if (options->format == FORMAT_OPENMETRICS)
		return cli_metrics_print(merged, stdout) < 0 ? CLI_FAILED : CLI_OK;
	if (options->format == FORMAT_JSON)
		return cli_stats_print_json(merged, options->session.dir, num_dropped) < 0 ? CLI_FAILED : CLI_OK;
	if (cli_stats_print_tables(merged) < 0)
		return CLI_FAILED;
	if (num_dropped)
		printf("\n%" PRIu64 " processes ended too long ago to be listed\n", num_dropped);
	return CLI_OK;
}

int cli_stats(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_opt,
		.args_doc = "[SESSION]",
		.doc = "Print counts of the processes of a session, including processes that have ended: tasks by context and "
		       "operation, messages by connection. SESSION is the session's directory, as with --session.",
		.children = cli_session_children,
	};
	struct options options = { 0 };
	struct sim_merged_trace merged;
	uint64_t num_dropped;
	int dir_fd, rc;

	cli_args_parse(&argp, argc, argv, 0, &options);
	dir_fd = cli_session_open(options.session.dir);
	if (dir_fd < 0)
		return CLI_FAILED;
	rc = cli_recordings_fetch(dir_fd, options.session.dir, &merged, &num_dropped);
	close(dir_fd);
	if (rc < 0)
		return CLI_FAILED;
	rc = print_stats(&options, &merged, num_dropped);
	sim_merged_trace_free(&merged);
	return rc;
}

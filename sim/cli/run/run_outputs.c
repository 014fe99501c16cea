/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing the outputs of a run. */
#include "run_outputs.h"

#include <stdlib.h>

#include "sim/base/monotonic.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/report/report_run.h"
#include "sim/cli/report/report_write.h"
#include "sim/cli/trace/metrics.h"
#include "sim/cli/trace/trace_write.h"

/* The report of this run, with how its commands ended. */
static int write_report(const struct run *run, const char *dir, const char *path)
{
	struct cli_report_command *commands = calloc(run->num_programs + 1, sizeof(*commands));
	bool timed_out = run->end_requested && run->cfg->timeout_s &&
			 sim_monotonic_ms() - run->cfg->begun_ms >= (int64_t)run->cfg->timeout_s * 1000;
	struct cli_report_run about = { .commands = commands,
					.num_commands = run->num_programs,
					.status = timed_out ? CLI_TIMED_OUT :
							      cli_verdict_status(&run->verdict, run->status),
					.timed_out_s = timed_out ? run->cfg->timeout_s : 0,
					.was_signalled = run->end_requested && !timed_out,
					.ended_ns = run->ended_ns,
					.is_checked = run->cfg->check->mode != SIM_CHECK_OFF,
					.hits = run->hits.list,
					.seed = run->cfg->faults->seed };
	int status;

	about.messages = cli_messages(&about.num_messages);
	if (!commands)
		return cli_fail("cannot write the report to %s: out of memory", path);
	for (size_t i = 0; i < run->num_programs; i++)
		commands[i] = (struct cli_report_command){ .label = run->cfg->commands[i].label,
							   .text = run->cfg->commands[i].text,
							   .status = run->programs[i].status };
	status = cli_report_write_session(dir, path, &about);
	free(commands);
	return status;
}

void cli_run_write_outputs(struct run *run)
{
	const char *dir = run->cfg->session_dir->dir, *trace = run->cfg->trace_path, *report = run->cfg->report_path,
		   *metrics = run->cfg->metrics_path;
	const char *first = trace ? trace : report ? report : metrics;

	if (run->daemon <= 0) {
		if (first) /* a rule has killed the daemon, or its death is a failure of the run already */
			cli_fail("cannot write %s: the recordings were lost when the session's daemon ended", first);
		return;
	}
	if (trace && cli_trace_write(dir, cli_trace_format_of_file(trace), trace) != CLI_OK)
		cli_verdict_keep_failure(&run->verdict);
	if (report && write_report(run, dir, report) != CLI_OK)
		cli_verdict_keep_failure(&run->verdict);
	if (metrics && cli_metrics_write_session(dir, metrics) != CLI_OK)
		cli_verdict_keep_failure(&run->verdict);
}

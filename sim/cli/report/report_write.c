/* SPDX-License-Identifier: BSD-3-Clause */
#include "report_write.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "sim/cli/base/cli.h"
#include "sim/cli/trace/recordings.h"
#include "sim/cli/base/session_client.h"

/* What can't be written whole is not left there. */
static int write_page(const struct cli_report *report, const char *path)
{
	bool is_file = path && strcmp(path, "-") != 0;
	FILE *out = is_file ? fopen(path, "we") : stdout;
	bool failed;

	if (!out)
		return cli_fail("cannot write the report to %s: %s", path, strerror(errno));
	cli_report_print(report, out);
	failed = fflush(out) != 0 || ferror(out);
	if (is_file && fclose(out) != 0)
		failed = true;
	return failed ? cli_fail("cannot write the report to %s: %s", is_file ? path : "standard output",
				 strerror(errno)) :
			CLI_OK;
}

static int write_report(FILE *trace, const char *name, const char *path)
{
	struct cli_report report;
	int status = CLI_FAILED;

	if (cli_report_read(trace, name, &report) < 0)
		return CLI_FAILED;
	if (cli_report_compute_stats(&report) == 0)
		status = write_page(&report, path);
	cli_report_fini(&report);
	return status;
}

/* The merged trace as bfsim trace would tell it: so a report of a session and one of its trace are the same. */
FILE *cli_report_session_trace(const char *dir)
{
	int dir_fd = cli_session_open(dir), rc;
	struct sim_merged_trace merged;
	uint64_t num_dropped;
	FILE *trace;

	if (dir_fd < 0)
		return NULL;
	rc = cli_recordings_fetch(dir_fd, dir, &merged, &num_dropped);
	close(dir_fd);
	if (rc < 0)
		return NULL;
	trace = tmpfile();
	if (!trace || sim_trace_export_perfetto(&merged, trace) < 0 || fflush(trace) != 0) {
		cli_fail("cannot write down what session %s recorded: %s", dir, strerror(errno));
		if (trace)
			fclose(trace);
		trace = NULL;
	} else {
		rewind(trace);
	}
	sim_merged_trace_free(&merged);
	return trace;
}

int cli_report_write_session(const char *dir, const char *path)
{
	FILE *trace = cli_report_session_trace(dir);
	int status;

	if (!trace)
		return CLI_FAILED;
	status = write_report(trace, dir, path);
	fclose(trace);
	return status;
}

int cli_report_write_trace(const char *name, const char *path)
{
	FILE *trace = fopen(name, "re");
	int status;

	if (!trace)
		return cli_fail("cannot read %s: %s", name, strerror(errno));
	status = write_report(trace, name, path);
	fclose(trace);
	return status;
}

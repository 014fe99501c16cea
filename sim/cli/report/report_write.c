/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing a report of a session or of a trace file. */
#include "report_write.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "report_add.h"
#include "report_file.h"
#include "report_recordings.h"
#include "sim/base/output_file.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/session_client.h"
#include "sim/cli/trace/recordings.h"

static void print_json(const struct cli_report *report, FILE *out)
{
	json_object *json = cli_report_json(report);

	fprintf(out, "%s\n",
		json_object_to_json_string_ext(json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(json);
}

static int fail(const char *path, int rc)
{
	return cli_fail("cannot write the report to %s: %s", path, strerror(-rc));
}

static int write_page(const struct cli_report *report, const char *path, bool as_json)
{
	void (*print)(const struct cli_report *report, FILE *out) = as_json ? print_json : cli_report_print;
	struct sim_output_file file;
	int rc;

	if (!path || strcmp(path, "-") == 0) {
		print(report, stdout);
		return fflush(stdout) != 0 || ferror(stdout) ? fail("standard output", -errno) : CLI_OK;
	}
	rc = sim_output_file_open(path, &file);
	if (rc < 0)
		return fail(path, rc);
	print(report, file.stream);
	rc = sim_output_file_close(&file);
	return rc < 0 ? fail(path, rc) : CLI_OK;
}

static int write_report(struct cli_report *report, const char *path, bool as_json)
{
	int status = cli_report_compute_stats(report) == 0 ? write_page(report, path, as_json) : cli_failure_status();

	cli_report_fini(report);
	return status;
}

static int open_session(const char *dir, struct cli_report *ret_report)
{
	int dir_fd = cli_session_open(dir), rc;
	struct sim_merged_trace merged;
	uint64_t num_dropped;

	if (dir_fd < 0)
		return -1;
	rc = cli_recordings_fetch(dir_fd, dir, &merged, &num_dropped);
	close(dir_fd);
	if (rc < 0)
		return -1;
	rc = cli_report_from_recordings(&merged, dir, ret_report);
	sim_merged_trace_free(&merged);
	return rc;
}

int cli_report_write_session(const char *dir, const char *path, const struct cli_report_run *run)
{
	struct cli_report report;

	if (open_session(dir, &report) < 0)
		return cli_failure_status();
	if (run)
		cli_report_set_run(&report, run);
	return write_report(&report, path, false);
}

int cli_report_write_file(const char *trace, const char *path)
{
	struct cli_report report;

	return cli_report_open_file(trace, &report) < 0 ? cli_failure_status() : write_report(&report, path, false);
}

int cli_report_write_json(const char *trace, const char *dir, const char *path)
{
	struct cli_report report;
	int rc = trace ? cli_report_open_file(trace, &report) : open_session(dir, &report);

	return rc < 0 ? cli_failure_status() : write_report(&report, path, true);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing a report of a session or of a file of recordings. */
#include "report_write.h"

#include "report_add.h"
#include "report_compare.h"
#include "report_recordings.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/output.h"
#include "sim/cli/trace/recordings.h"

/* A report or, if it is not NULL, a comparison. */
struct output {
	const struct cli_report *report;
	const struct cli_report_comparison *comparison;
	bool as_json;
};

static void print_json(const struct output *output, FILE *out)
{
	json_object *json =
		output->comparison ? cli_report_comparison_json(output->comparison) : cli_report_json(output->report);

	fprintf(out, "%s\n",
		json_object_to_json_string_ext(json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(json);
}

static int print(const void *arg, FILE *out)
{
	const struct output *output = arg;

	if (output->as_json)
		print_json(output, out);
	else if (output->comparison)
		cli_report_print_comparison(output->comparison, out);
	else
		cli_report_print(output->report, out);
	return 0;
}

static int write_output(const struct output *output, const char *path)
{
	return cli_output_write("the report", path, print, output);
}

static int write_report(struct cli_report *report, const char *path, bool as_json)
{
	const struct output output = { .report = report, .as_json = as_json };
	int status = cli_report_compute_stats(report) == 0 ? write_output(&output, path) : cli_failure_status();

	cli_report_fini(report);
	return status;
}

static int open_session(const char *dir, struct cli_report *ret_report)
{
	struct sim_merged_trace merged;
	int rc;

	if (cli_recordings_fetch(dir, &merged) < 0)
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

int cli_report_write_file(const char *recording, const char *path)
{
	struct cli_report report;

	return cli_report_open_file(recording, &report) < 0 ? cli_failure_status() : write_report(&report, path, false);
}

int cli_report_write_json(const char *recording, const char *dir, const char *path)
{
	struct cli_report report;
	int rc = recording ? cli_report_open_file(recording, &report) : open_session(dir, &report);

	return rc < 0 ? cli_failure_status() : write_report(&report, path, true);
}

static int compare(struct cli_report *before, struct cli_report *now, struct output *output, const char *names[2],
		   const char *path)
{
	struct cli_report_comparison comparison;
	int status;

	if (cli_report_compute_stats(before) < 0 || cli_report_compute_stats(now) < 0 ||
	    cli_report_compare(before, now, &comparison) < 0)
		return CLI_OWN_FAILURE;
	comparison.before_name = names[0];
	comparison.now_name = names[1];
	output->comparison = &comparison;
	if (comparison.num_common > 0) {
		status = write_output(output, path);
	} else {
		cli_fail(
			"%s and %s have no operation in common: nothing was compared; give recordings of runs of the same programs",
			names[0], names[1]);
		status = CLI_OWN_FAILURE;
	}
	cli_report_comparison_fini(&comparison);
	return status;
}

int cli_report_write_comparison(const char *before_name, const char *now_name, const char *path, bool as_json)
{
	struct output output = { .as_json = as_json };
	struct cli_report before, now;
	int status;

	if (cli_report_open_file(before_name, &before) < 0)
		return CLI_USAGE;
	if (cli_report_open_file(now_name, &now) < 0) {
		cli_report_fini(&before);
		return CLI_USAGE;
	}
	status = compare(&before, &now, &output, (const char *[]){ before_name, now_name }, path);
	cli_report_fini(&before);
	cli_report_fini(&now);
	return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/report/report_run.h - what a report says about the command bfsim run that wrote it. */
#ifndef SIM_CLI_REPORT_REPORT_RUN_H
#define SIM_CLI_REPORT_REPORT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>

struct cli_report_command {
	const char *label, *text;
	int status; /* 128 + N for a signal N; -1 = it was not started, or its end was not seen */
};

struct cli_report_run {
	const struct cli_report_command *commands;
	size_t num_commands;
	int status;               /* of bfsim run */
	unsigned int timed_out_s; /* its time, which had passed; 0 = not so */
	bool was_signalled;       /* ended by a signal, and not for its time */
	uint64_t ended_ns;        /* session time when it ended, or began to end its commands; 0 = not known */
	uint64_t seed;            /* of random faults */
	bool is_checked;
	struct json_object *hits; /* of the checker (sim/check/hit.h); NULL = none were read */
	const char *const *messages;
	size_t num_messages; /* of bfsim run, on standard error */
};

struct cli_report;

/* Whether the run did not end by itself and well. Then the report's time is the run's: a gap before its end tells of a hang. */
bool cli_report_run_failed(const struct cli_report_run *run);

/* The section of the page; @report has a run. */
void cli_report_put_run(const struct cli_report *report, FILE *out);

/* The same as JSON; the caller releases it with json_object_put(). */
json_object *cli_report_run_json(const struct cli_report_run *run);

#endif

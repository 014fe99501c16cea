/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/check/report.h - the checker's report, as a file for machines.
 *
 *   .json    { version, tool, mode, complete, hits: [ hit.h ... ] }: all fields
 *   .sarif   SARIF 2.1.0, for code scanning: rules with their help, hits at the lines of the program
 *   .xml     JUnit: one test case a rule; it fails if the rule was hit
 *
 * The hits are an array as hit_list.h makes it; muted ones are in it (hit.h).
 */
#ifndef SIM_CHECK_REPORT_H
#define SIM_CHECK_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "rules.h"

struct json_object;

#define SIM_CHECK_REPORT_VERSION 1

enum sim_check_format { SIM_CHECK_JSON, SIM_CHECK_SARIF, SIM_CHECK_JUNIT, SIM_CHECK_NUM_FORMATS };

#define SIM_CHECK_FORMATS ".json, .sarif (code scanning) or .xml (JUnit)"

struct sim_check_report {
	struct json_object *hits;
	enum sim_check_mode mode;
	bool fails; /* JUnit: hits of fail_severity, or more severe ones, are failures */
	enum sim_check_severity fail_severity;
	bool is_complete; /* else the programs run, or ended before they said so */
};

/* The format that the name's extension asks for. Returns 0 or -EINVAL. */
int sim_check_report_format(const char *path, enum sim_check_format *ret_format);

/* Replace the file, in one step. A path that is no ordinary file, such as a pipe, is written to. Returns 0, -EINVAL
 * (unknown extension) or the -errno of the file. */
int sim_check_report_write(const struct sim_check_report *report, const char *path);

/* The writers of the other formats than JSON; what goes wrong stands in the stream. */
void sim_check_report_print_sarif(const struct sim_check_report *report, FILE *out);
void sim_check_report_print_junit(const struct sim_check_report *report, FILE *out);

#endif

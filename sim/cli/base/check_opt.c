/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of the checker, and the environment that they stand for. */
#include "check_opt.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "sim/check/mutes.h"
#include "sim/check/report.h"

static void set_mode(void *to, char *text, struct argp_state *state)
{
	if (sim_check_mode_parse(text ? text : "", to) < 0)
		argp_error(state, "--check=%s: give " SIM_CHECK_MODES, text);
}

static void set_fail(void *options, char *text, struct argp_state *state)
{
	struct cli_check_opt *check = options;

	check->fails = strcmp(text, "none") != 0;
	if (check->fails && sim_check_severity_parse(text, &check->fail_severity) < 0)
		argp_error(state, "--check-fail %s: give " SIM_CHECK_SEVERITIES " or none", text);
}

static void add_report(void *options, char *path, struct argp_state *state)
{
	struct cli_check_opt *check = options;
	enum sim_check_format format;

	if (sim_check_report_format(path, &format) < 0)
		argp_error(state, "--check-report %s: the name must end in " SIM_CHECK_FORMATS, path);
	for (size_t i = 0; i < check->num_reports; i++)
		if (strcmp(check->reports[i], path) == 0)
			argp_error(state, "--check-report %s is given twice", path);
	if (check->num_reports == CLI_CHECK_MAX_REPORTS)
		argp_error(state, "--check-report: at most %d", CLI_CHECK_MAX_REPORTS);
	check->reports[check->num_reports++] = path;
}

static void set_sync(void *to, char *text, struct argp_state *state)
{
	*(const char **)to = text;
	if (strcmp(text, "doca") != 0 && strcmp(text, "any") != 0)
		argp_error(state, "--check-sync %s: give doca or any", text);
}

static void read_mutes(void *options, char *path, struct argp_state *state)
{
	struct cli_check_opt *check = options;
	char error[SIM_CHECK_MUTES_ERROR_SIZE];

	cli_check_fini(check);
	check->mutes_path = path;
	if (sim_check_mutes_read(path, &check->mutes, error) < 0)
		argp_failure(state, CLI_USAGE, 0, "--check-mutes: %s", error);
}

/* The other options do nothing without --check. */
static void need_check(void *options, struct argp_state *state)
{
	const struct cli_check_opt *check = options;

	if (check->mode != SIM_CHECK_OFF)
		return;
	if (check->num_reports)
		argp_error(state, "--check-report %s: nothing is checked; give --check, too", check->reports[0]);
	if (check->sync)
		argp_error(state, "--check-sync %s: nothing is checked; give --check, too", check->sync);
	if (check->mutes_path)
		argp_error(state, "--check-mutes %s: nothing is checked; give --check, too", check->mutes_path);
}

static void set_defaults(void *options)
{
	struct cli_check_opt *check = options;

	check->fails = true;
	check->fail_severity = SIM_CHECK_ERROR;
}

static const struct cli_option option_list[] = {
	CLI_CALL_OPTIONAL(
		0, "check", "MODE", struct cli_check_opt, mode, set_mode,
		"Report what a card would punish: api (default), races or strict (bfsim rules lists the rules)"),
	CLI_CALL_WHOLE(0, "check-report", "FILE", add_report, CLI_OPTION_REPEATS,
		       "At the end, write the checker's report; FILE ends in " SIM_CHECK_FORMATS),
	CLI_CALL_WHOLE(
		0, "check-fail", "LEVEL", set_fail, 0,
		"The least severity that makes the exit status 70: error (default), warning, portability, performance, hint or none"),
	CLI_CALL_WHOLE(0, "check-mutes", "FILE", read_mutes, 0,
		       "Known hits that do not count, each with a reason, as YAML"),
	CLI_CALL(
		0, "check-sync", "MEANS", struct cli_check_opt, sync, set_sync,
		"doca: the processes agree by Comch, sync events and exports alone, so races for exported memory are judged by that order; any (default): by overlap in time"),
	{ 0 },
};

const struct cli_args cli_check_args = { .options = option_list, .init = set_defaults, .check = need_check };

int cli_check_write_reports(const struct cli_check_opt *check, struct json_object *hits, bool is_complete)
{
	struct sim_check_report report = { .hits = hits,
					   .mode = check->mode,
					   .fails = check->fails,
					   .fail_severity = check->fail_severity,
					   .is_complete = is_complete };
	int result = 0;

	for (size_t i = 0; i < check->num_reports; i++) {
		int rc = sim_check_report_write(&report, check->reports[i]);

		if (rc == 0)
			continue;
		cli_fail("cannot write the checker's report to %s: %s", check->reports[i], strerror(-rc));
		result = -1;
	}
	return result;
}

int cli_check_begin_reports(const struct cli_check_opt *check)
{
	struct json_object *none = json_object_new_array();
	int rc = cli_check_write_reports(check, none, false);

	json_object_put(none);
	return rc;
}

void cli_check_fini(struct cli_check_opt *check)
{
	sim_check_mutes_free(check->mutes);
	check->mutes = NULL;
}

/* NULL: take the variable out. */
static int set_env(const char *name, const char *value)
{
	return value ? setenv(name, value, 1) : unsetenv(name);
}

/* The program may change its directory. */
static int set_env_path(const char *name, const char *path)
{
	char *dir = path && path[0] != '/' ? get_current_dir_name() : NULL, *absolute = NULL;
	int rc = -1;

	if (!path || path[0] == '/')
		rc = set_env(name, path);
	else if (dir && asprintf(&absolute, "%s/%s", dir, path) >= 0)
		rc = set_env(name, absolute);
	free(absolute);
	free(dir);
	return rc;
}

int cli_check_set_env(const struct cli_check_opt *check, const char *hits_path)
{
	const char *fail = check->fails ? sim_check_severity_name(check->fail_severity) : "none";

	if (check->mode == SIM_CHECK_OFF)
		return 0;
	if (setenv("BFSIM_CHECK", sim_check_mode_name(check->mode), 1) < 0 ||
	    set_env("BFSIM_CHECK_HITS", hits_path) < 0 || set_env("BFSIM_CHECK_FAIL", hits_path ? NULL : fail) < 0 ||
	    (check->sync && set_env("BFSIM_CHECK_SYNC", check->sync) < 0) ||
	    set_env_path("BFSIM_CHECK_REPORT", hits_path ? NULL : check->reports[0]) < 0 ||
	    set_env_path("BFSIM_CHECK_MUTES", check->mutes_path) < 0)
		return cli_error("cannot set the environment: %s", strerror(errno));
	return 0;
}

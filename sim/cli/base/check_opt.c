/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of the checker, and the environment that they stand for. */
#include "check_opt.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "cli.h"
#include "sim/check/mutes.h"
#include "sim/check/report.h"

enum {
	KEY_CHECK = 0x7c1,
	KEY_CHECK_REPORT,
	KEY_CHECK_FAIL,
	KEY_CHECK_MUTES,
	KEY_CHECK_SYNC,
};

static const struct argp_option option_list[] = {
	{ "check", KEY_CHECK, "MODE", OPTION_ARG_OPTIONAL,
	  "Report what a card would punish: api (default), races or strict (bfsim rules lists the rules)", 0 },
	{ "check-report", KEY_CHECK_REPORT, "FILE", CLI_OPTION_REPEATS,
	  "At the end, write the checker's report; FILE ends in " SIM_CHECK_FORMATS, 0 },
	{ "check-fail", KEY_CHECK_FAIL, "LEVEL", 0,
	  "The least severity that makes the exit status 70: error (default), warning, portability, performance, hint or none",
	  0 },
	{ "check-mutes", KEY_CHECK_MUTES, "FILE", 0, "Known hits that do not count, each with a reason, as YAML", 0 },
	{ "check-sync", KEY_CHECK_SYNC, "MEANS", 0,
	  "doca: the processes agree by Comch, sync events and exports alone, so races for exported memory are judged by that order; any (default): by overlap in time",
	  0 },
	{ 0 },
};

static void set_fail(struct cli_check_opt *check, const char *text, struct argp_state *state)
{
	check->fails = strcmp(text, "none") != 0;
	if (check->fails && sim_check_severity_parse(text, &check->fail_severity) < 0)
		argp_error(state, "--check-fail %s: give " SIM_CHECK_SEVERITIES " or none", text);
}

static void add_report(struct cli_check_opt *check, const char *path, struct argp_state *state)
{
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

static void set_sync(struct cli_check_opt *check, const char *text, struct argp_state *state)
{
	check->sync = text;
	if (strcmp(text, "doca") != 0 && strcmp(text, "any") != 0)
		argp_error(state, "--check-sync %s: give doca or any", text);
}

static void read_mutes(struct cli_check_opt *check, const char *path, struct argp_state *state)
{
	char error[SIM_CHECK_MUTES_ERROR_SIZE];

	cli_check_fini(check);
	check->mutes_path = path;
	if (sim_check_mutes_read(path, &check->mutes, error) < 0)
		argp_failure(state, CLI_USAGE, 0, "--check-mutes: %s", error);
}

/* The other options do nothing without --check. */
static void need_check(const struct cli_check_opt *check, struct argp_state *state)
{
	if (check->mode != SIM_CHECK_OFF)
		return;
	if (check->num_reports)
		argp_error(state, "--check-report %s: nothing is checked; give --check, too", check->reports[0]);
	if (check->sync)
		argp_error(state, "--check-sync %s: nothing is checked; give --check, too", check->sync);
	if (check->mutes_path)
		argp_error(state, "--check-mutes %s: nothing is checked; give --check, too", check->mutes_path);
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct cli_check_opt *check = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		check->fails = true;
		check->fail_severity = SIM_CHECK_ERROR;
		return 0;
	case KEY_CHECK:
		if (sim_check_mode_parse(arg ? arg : "", &check->mode) < 0)
			argp_error(state, "--check=%s: give " SIM_CHECK_MODES, arg);
		return 0;
	case KEY_CHECK_REPORT:
		add_report(check, arg, state);
		return 0;
	case KEY_CHECK_MUTES:
		read_mutes(check, arg, state);
		return 0;
	case KEY_CHECK_FAIL:
		set_fail(check, arg, state);
		return 0;
	case KEY_CHECK_SYNC:
		set_sync(check, arg, state);
		return 0;
	case ARGP_KEY_END:
		need_check(check, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp cli_check_argp = { .options = option_list, .parser = parse_opt };

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
	    set_env_path("BFSIM_CHECK_MUTES", check->mutes_path) < 0) {
		cli_fail("cannot set the environment: %s", strerror(errno));
		return -1;
	}
	return 0;
}

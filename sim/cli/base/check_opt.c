/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of the checker, and the environment that they stand for. */
#include "check_opt.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum {
	KEY_CHECK = 0x7c1,
	KEY_CHECK_REPORT,
	KEY_CHECK_FAIL,
};

static const struct argp_option option_list[] = {
	{ "check", KEY_CHECK, "MODE", OPTION_ARG_OPTIONAL,
	  "Report what a card would punish: api (default), races or strict (bfsim rules lists the rules)", 0 },
	{ "check-report", KEY_CHECK_REPORT, "FILE", 0, "At the end, write the checker's report, as JSON", 0 },
	{ "check-fail", KEY_CHECK_FAIL, "LEVEL", 0,
	  "The least severity that makes the exit status 70: error (default), warning, portability, performance, hint or none",
	  0 },
	{ 0 },
};

static void set_fail(struct cli_check_opt *check, const char *text, struct argp_state *state)
{
	check->fails = strcmp(text, "none") != 0;
	if (check->fails && sim_check_severity_parse(text, &check->fail_severity) < 0)
		argp_error(state, "--check-fail %s: give error, warning, portability, performance, hint or none", text);
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
		check->report_path = arg;
		return 0;
	case KEY_CHECK_FAIL:
		set_fail(check, arg, state);
		return 0;
	case ARGP_KEY_END:
		if (check->report_path && check->mode == SIM_CHECK_OFF)
			argp_error(state, "--check-report %s: nothing is checked; give --check, too",
				   check->report_path);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp cli_check_argp = { .options = option_list, .parser = parse_opt };

int cli_check_set_env(const struct cli_check_opt *check, const char *hits_path)
{
	if (check->mode == SIM_CHECK_OFF)
		return 0;
	if (setenv("BFSIM_CHECK", sim_check_mode_name(check->mode), 1) < 0 ||
	    (hits_path && setenv("BFSIM_CHECK_HITS", hits_path, 1) < 0)) {
		cli_fail("cannot set the environment: out of memory");
		return -1;
	}
	return 0;
}

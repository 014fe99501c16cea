/* SPDX-License-Identifier: BSD-3-Clause */
/* The options --session and --clock. */
#include "session_opt.h"

#include <errno.h>
#include <stdlib.h>

#include "cli.h"
#include "sim/protocol/session_dir.h"

enum {
	KEY_SESSION = 0x5e0, /* no short form */
};

static void set_default_dir(struct cli_session_opt *opt)
{
	const char *variable = getenv("BFSIM_SESSION");

	*opt = (struct cli_session_opt){ .is_explicit = variable && variable[0], .is_optional = opt->is_optional };
	opt->dir = opt->default_dir;
	opt->default_rc = sim_session_dir_default(opt->default_dir, sizeof(opt->default_dir));
}

/* An unusable default matters only if the command uses it. */
static void check_default_dir(const struct cli_session_opt *opt, const struct argp_state *state)
{
	if (opt->dir != opt->default_dir || opt->is_optional)
		return;
	if (opt->default_rc == -EPERM)
		argp_failure(
			state, cli_failure_status(), 0,
			"%s is not a directory of this user alone: choose another with --session or $BFSIM_SESSION, or set $XDG_RUNTIME_DIR to a directory of your own",
			opt->default_dir);
	else if (opt->default_rc < 0)
		argp_failure(state, cli_failure_status(), 0,
			     "the session directory's name in $%s is longer than %d bytes",
			     opt->is_explicit ? "BFSIM_SESSION" : "XDG_RUNTIME_DIR", PATH_MAX);
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct cli_session_opt *opt = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		set_default_dir(opt);
		return 0;
	case ARGP_KEY_SUCCESS:
		check_default_dir(opt, state);
		return 0;
	case KEY_SESSION:
		if (!arg[0])
			argp_error(state, "--session needs the name of a directory");
		opt->dir = arg;
		opt->is_explicit = opt->is_from_option = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "session", KEY_SESSION, "DIR", 0, "The session's directory (default: $BFSIM_SESSION, else one per user)", 0 },
	{ 0 },
};

const struct argp cli_session_argp = { .options = options, .parser = parse_opt };

const struct argp_child cli_session_children[] = {
	{ &cli_session_argp, 0, NULL, 0 },
	{ 0 },
};

enum sim_clock_mode cli_clock_mode(const char *arg, struct argp_state *state)
{
	enum sim_clock_mode mode = SIM_CLOCK_FUNCTIONAL;

	if (sim_clock_mode_parse(arg, &mode) < 0)
		argp_error(state, "--clock %s: write " SIM_CLOCK_MODES, arg);
	return mode;
}

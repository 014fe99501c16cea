/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/session_opt.h - the options --session and --clock.
 *
 * A command lists cli_session_argp among its argp children with a
 * struct cli_session_opt as input.
 */
#ifndef SIM_CLI_BASE_SESSION_OPT_H
#define SIM_CLI_BASE_SESSION_OPT_H

#include <argp.h>
#include <limits.h>
#include <stdbool.h>

#include "sim/clock/clock.h"

struct cli_session_opt {
	const char *dir;  /* of the option, else the default */
	bool is_explicit; /* by the option or $BFSIM_SESSION */
	bool is_from_option;
	bool is_optional; /* set before the arguments are parsed: the command does without the default directory */
	int default_rc;   /* of sim_session_dir_default() */
	char default_dir[PATH_MAX];
};

extern const struct argp cli_session_argp;

/* The option --clock of commands that create a session: help text and mode. Another value is a usage error. */
#define CLI_CLOCK_HELP "How time passes on the card: functional (the default), timed or virtual"
enum sim_clock_mode cli_clock_mode(const char *arg, struct argp_state *state);

/* The argp children of a command that takes --session. */
extern const struct argp_child cli_session_children[];

#endif

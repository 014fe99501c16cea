/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim up: start a session's daemon in the background. */
#include "commands.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/session_begin.h"

struct options {
	struct cli_session_opt session;
	struct sim_launch_cfg launch;
};

int cli_up(int argc, char **argv)
{
	static const struct cli_args args = {
		.parts = { CLI_PART(struct options, session, cli_session_args),
			   CLI_PART(struct options, launch, cli_launch_args),
			   CLI_PART(struct options, launch, cli_machines_args) },
		.doc = "Start a session: a simulated card and the daemon that owns it.",
	};
	struct options options = { 0 };

	cli_args_parse(&args, argc, argv, 0, &options);
	return cli_session_begin(&options.session, &options.launch);
}

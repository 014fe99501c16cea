/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim join: make this machine one of a session whose home is elsewhere. */
#include <stddef.h>

#include "commands.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/session_begin.h"

struct options {
	struct cli_session_opt session;
	struct sim_launch_cfg launch;
	struct cli_words home;
};

static const struct cli_option option_list[] = {
	CLI_MACHINE_OPTIONS(struct options, launch.machines),
	CLI_TEXT(
		0, "listen", "[ADDRESS:]PORT", struct options, launch.machines.listen,
		"Let the other machines that join connect to this one directly; without it, home passes on what they say"),
	CLI_TEXT(0, "advertise", "[ADDRESS:]PORT", struct options, launch.machines.advertise,
		 "What the others are told of --listen, where a NAT forwards another port or address to this machine"),
	{ 0 },
};

static void check_options(void *all, struct argp_state *state)
{
	struct options *options = all;
	struct sim_machines_cfg *machines = &options->launch.machines;

	machines->join = options->home.count > 0 ? options->home.list[0] : NULL;
	if (!machines->name)
		argp_error(state, "which machine of the topology is this one? Give --as NAME");
	cli_check_machine_name(machines, state);
	if (machines->advertise && !machines->listen)
		argp_error(state, "--advertise needs --listen, where this machine listens itself");
	if (!machines->token_file)
		argp_error(state, "give --token-file FILE, a copy of home's token");
}

int cli_join(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.parts = { CLI_PART(struct options, session, cli_session_args) },
		.words = offsetof(struct options, home),
		.max_words = 1,
		.no_words = "where? Give HOST:PORT, at which bfsim up --listen was called",
		.check = check_options,
		.args_doc = "HOST:PORT",
		.doc = "Join a session whose home is another machine.\v"
		       "HOST:PORT is where bfsim up --listen was called. The session's topology comes from there. bfsim down on this "
		       "machine leaves the session; bfsim down at home ends it.",
	};
	struct options options = { 0 };

	cli_args_parse(&args, argc, argv, 0, &options);
	return cli_session_begin(&options.session, &options.launch);
}

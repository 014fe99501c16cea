/* SPDX-License-Identifier: BSD-3-Clause */
/* The options about a session. */
#include "session_opt.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "number.h"
#include "sim/protocol/session_dir.h"
#include "sim/trace/trace.h"

/* ---- which one ---- */

static void set_default_dir(void *options)
{
	struct cli_session_opt *opt = options;
	const char *variable = getenv("BFSIM_SESSION");

	*opt = (struct cli_session_opt){ .is_explicit = variable && variable[0], .is_optional = opt->is_optional };
	opt->dir = opt->default_dir;
	opt->default_rc = sim_session_dir_default(opt->default_dir, sizeof(opt->default_dir));
}

/* An unusable default matters only if the command uses it. */
static void check_dir(void *options, struct argp_state *state)
{
	struct cli_session_opt *opt = options;

	if (opt->words.count > 0)
		opt->dir = opt->words.list[0];
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

static void set_dir(void *options, char *text, struct argp_state *state)
{
	struct cli_session_opt *opt = options;

	if (!text[0])
		argp_error(state, "--session needs the name of a directory");
	opt->dir = text;
	opt->is_explicit = opt->is_from_option = true;
}

const struct cli_args cli_session_args = {
	.options =
		(const struct cli_option[]){
			CLI_CALL_WHOLE(0, "session", "DIR", set_dir, 0,
				       "The session's directory (default: $BFSIM_SESSION, else one per user)"),
			{ 0 },
		},
	.init = set_default_dir,
	.check = check_dir,
};

/* ---- a new one ---- */

void cli_set_clock(void *to, char *text, struct argp_state *state)
{
	if (sim_clock_mode_parse(text, to) < 0)
		argp_error(state, "--clock %s: write " SIM_CLOCK_MODES, text);
}

void cli_set_trace_level(void *to, char *text, struct argp_state *state)
{
	enum sim_trace_level level = SIM_TRACE_UNSET;

	if (sim_trace_level_parse(text, &level) < 0)
		argp_error(state, "--trace-level %s: give off, sampled or full", text);
	*(uint32_t *)to = level;
}

/* A name, or a number. */
static void set_group(void *options, char *text, struct argp_state *state)
{
	struct sim_launch_cfg *cfg = options;
	const struct group *group = getgrnam(text);
	uint64_t number = 0;

	if (!group && cli_number_parse(text, 10, 0, UINT32_MAX - 1, &number, NULL) < 0)
		argp_error(state, "--group %s: there is no such group; getent group lists them", text);
	cfg->group = group ? group->gr_gid : (gid_t)number;
	cfg->has_group = true;
}

void cli_check_machine_name(const struct sim_machines_cfg *machines, struct argp_state *state)
{
	size_t len = machines->name ? strlen(machines->name) : 1;

	if (len == 0 || len >= PCIE_SIDE_SIZE)
		argp_error(state, "--as %s: the name of a machine has 1 to %d characters", machines->name,
			   PCIE_SIDE_SIZE - 1);
}

/* A home needs all of it. */
static void check_machines(void *options, struct argp_state *state)
{
	struct sim_launch_cfg *cfg = options;
	struct sim_machines_cfg *machines = &cfg->machines;

	if (!machines->listen && !machines->join) {
		if (machines->name || machines->token_file || machines->fabric || machines->is_trusted ||
		    machines->allows_exec)
			argp_error(state,
				   "--as, --token-file, --fabric, --trusted-network and --allow-exec need --listen");
		return;
	}
	if (machines->join && !machines->name)
		argp_error(state, "--join needs --as NAME");
	cli_check_machine_name(machines, state);
	if (!machines->token_file)
		argp_error(state,
			   "a session over several machines needs a token: bfsim token >FILE, and --token-file FILE");
	if (!machines->name)
		machines->name = "node0";
	if (cfg->clock == SIM_CLOCK_VIRTUAL)
		argp_error(
			state,
			"--clock virtual: machines have no common virtual time; let all nodes of the topology run on this machine, without --listen");
}

const struct cli_args cli_machines_args = {
	.options =
		(const struct cli_option[]){
			CLI_TEXT(
				0, "listen", "[ADDRESS:]PORT", struct sim_launch_cfg, machines.listen,
				"Let other machines join the session (bfsim join); 0 = any port, which bfsim ps shows"),
			CLI_MACHINE_OPTIONS(struct sim_launch_cfg, machines),
			{ 0 },
		},
	.check = check_machines,
};

const struct cli_args cli_launch_args = {
	.options =
		(const struct cli_option[]){
			CLI_TOPOLOGY_OPTION(struct sim_launch_cfg, topology),
			CLI_CLOCK_OPTION(struct sim_launch_cfg, clock),
			CLI_TRACE_LEVEL_OPTION(struct sim_launch_cfg, trace_level),
			CLI_PROCMEM_OPTION(struct sim_launch_cfg, passes_memory),
			CLI_CALL_WHOLE(
				0, "group", "GROUP", set_group, 0,
				"Share the session with the members of GROUP (default: with this user's processes and root's)"),
			{ 0 },
		},
};

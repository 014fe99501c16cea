/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsimd: the card's daemon.
 *
 * With --foreground the program runs the session. Otherwise it starts itself in the background and
 * returns when the session is ready. */
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sim/cli/base/cli.h"
#include "sim/cli/base/session_start.h"
#include "sim/cli/base/session_opt.h"
#include "sim/daemon/daemon.h"

struct options {
	struct cli_session_opt session;
	struct sim_launch_cfg launch;
	int ready_fd;
	bool die_with_parent, remove_dir, foreground;
};

static const struct cli_option option_list[] = {
	CLI_FLAG('f', "foreground", struct options, foreground, "Stay, and log to standard error"),
	CLI_NUMBER(0, "ready-fd", "N", struct options, ready_fd, 0, INT_MAX, "a descriptor",
		   "Write a byte to descriptor N when the session can be used (needs -f)"),
	CLI_FLAG(0, "die-with-parent", struct options, die_with_parent,
		 "End when the process that started this one ends (needs -f)"),
	CLI_FLAG(0, "remove-dir", struct options, remove_dir, "Remove the session's directory at the end (needs -f)"),
	CLI_TEXT(0, "join", "HOST:PORT", struct options, launch.machines.join,
		 "Join the session whose home listens there"),
	CLI_TEXT(0, "advertise", "[ADDRESS:]PORT", struct options, launch.machines.advertise,
		 "What the other machines are told of --listen (needs --join)"),
	{ 0 },
};

static void check_options(void *all, struct argp_state *state)
{
	const struct options *options = all;

	if (!options->foreground && (options->ready_fd >= 0 || options->die_with_parent || options->remove_dir))
		argp_error(state, "--ready-fd, --die-with-parent and --remove-dir need --foreground");
}

/* Ask the kernel for SIGTERM at the parent's death. The signal stays blocked until the daemon reads it
 * as an event. The ready pipe, if any, detects a parent that died before the call. */
static void end_with_parent(int ready_fd)
{
	struct pollfd pipe = { .fd = ready_fd };
	sigset_t sigterm;

	sigemptyset(&sigterm);
	sigaddset(&sigterm, SIGTERM);
	sigprocmask(SIG_BLOCK, &sigterm, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (ready_fd >= 0 && poll(&pipe, 1, 0) == 1 && pipe.revents & POLLERR)
		kill(getpid(), SIGTERM);
}

static int run_foreground(const struct options *options, const struct sim_session_dir *session_dir)
{
	struct sim_daemon_cfg cfg = { .dir = session_dir->dir,
				      .topology_path = options->launch.topology,
				      .clock = options->launch.clock,
				      .trace_level = options->launch.trace_level,
				      .has_group = options->launch.has_group,
				      .group = options->launch.group,
				      .passes_memory = options->launch.passes_memory,
				      .machines = options->launch.machines.name ? &options->launch.machines : NULL,
				      .ready_fd = options->ready_fd };
	int rc;

	if (options->die_with_parent)
		end_with_parent(options->ready_fd);
	rc = sim_daemon_run(&cfg);
	if (options->remove_dir || (rc < 0 && session_dir->created))
		rmdir(session_dir->dir);
	return rc < 0 ? CLI_FAILED : CLI_OK;
}

int main(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.parts = { CLI_PART(struct options, launch, cli_launch_args),
			   CLI_PART(struct options, launch, cli_machines_args),
			   CLI_PART(struct options, session, cli_session_args) },
		.check = check_options,
		.doc = "Own a simulated card: the daemon of a session.\v"
		       "bfsim up, bfsim down and bfsim run start and end it; see bfsimd(8).",
	};
	struct options options = { .ready_fd = -1 };
	struct sim_session_dir session_dir;
	int status;

	cli_init();
	cli_args_parse(&args, argc, argv, 0, &options);
	if (cli_session_prepare(options.session.dir, &session_dir) < 0)
		return CLI_FAILED;
	options.launch.session_dir = &session_dir;
	if (options.foreground)
		status = run_foreground(&options, &session_dir);
	else
		status = cli_daemon_start(&options.launch) < 0 ? CLI_FAILED : CLI_OK;
	sim_session_dir_fini(&session_dir);
	return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsimd: the card's daemon.
 *
 * With --foreground the program runs the session. Otherwise it starts itself in the background and
 * returns when the session is ready. */
#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/group_opt.h"
#include "sim/cli/base/session_start.h"
#include "sim/cli/base/session_opt.h"
#include "sim/daemon/daemon.h"
#include "sim/cli/base/trace_opt.h"

enum {
	KEY_READY_FD = 0x100,
	KEY_DIE_WITH_PARENT,
	KEY_REMOVE_DIR,
	KEY_CLOCK,
};

struct options {
	struct cli_session_opt session;
	const char *topology;
	enum sim_clock_mode clock;
	uint32_t trace_level;
	int ready_fd;
	gid_t group;
	bool has_group, die_with_parent, remove_dir, foreground;
};

static const struct argp_option option_list[] = {
	{ "topology", 't', "FILE", 0, "The card, as YAML (default: one BlueField-3 with two ports)", 0 },
	{ "clock", KEY_CLOCK, "MODE", 0, CLI_CLOCK_HELP, 0 },
	CLI_TRACE_LEVEL_OPTION(0),
	CLI_GROUP_OPTION,
	{ "foreground", 'f', NULL, 0, "Stay, and log to standard error", 0 },
	{ "ready-fd", KEY_READY_FD, "N", 0, "Write a byte to descriptor N when the session can be used (needs -f)", 0 },
	{ "die-with-parent", KEY_DIE_WITH_PARENT, NULL, 0, "End when the process that started this one ends (needs -f)",
	  0 },
	{ "remove-dir", KEY_REMOVE_DIR, NULL, 0, "Remove the session's directory at the end (needs -f)", 0 },
	{ 0 },
};

static int parse_fd(const char *text, struct argp_state *state)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	if (errno || *end || end == text || number < 0 || number > INT_MAX)
		argp_error(state, "--ready-fd %s: not the number of a descriptor", text);
	return (int)number;
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->session;
		return 0;
	case CLI_KEY_TRACE_LEVEL:
		options->trace_level = cli_trace_level(arg, state);
		return 0;
	case CLI_KEY_GROUP:
		options->group = cli_group(arg, state);
		options->has_group = true;
		return 0;
	case 't':
		options->topology = arg;
		return 0;
	case KEY_CLOCK:
		options->clock = cli_clock_mode(arg, state);
		return 0;
	case 'f':
		options->foreground = true;
		return 0;
	case KEY_READY_FD:
		options->ready_fd = parse_fd(arg, state);
		return 0;
	case KEY_DIE_WITH_PARENT:
		options->die_with_parent = true;
		return 0;
	case KEY_REMOVE_DIR:
		options->remove_dir = true;
		return 0;
	case ARGP_KEY_SUCCESS:
		if (!options->foreground && (options->ready_fd >= 0 || options->die_with_parent || options->remove_dir))
			argp_error(state, "--ready-fd, --die-with-parent and --remove-dir need --foreground");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
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
				      .topology_path = options->topology,
				      .clock = options->clock,
				      .trace_level = options->trace_level,
				      .has_group = options->has_group,
				      .group = options->group,
				      .ready_fd = options->ready_fd };
	int rc;

	if (options->die_with_parent)
		end_with_parent(options->ready_fd);
	rc = sim_daemon_run(&cfg);
	if (options->remove_dir || (rc < 0 && session_dir->created))
		rmdir(session_dir->dir);
	return rc < 0 ? CLI_FAILED : CLI_OK;
}

static int start_background(const struct options *options, const struct sim_session_dir *session_dir)
{
	struct sim_launch_cfg cfg = { .session_dir = session_dir,
				      .topology = options->topology,
				      .clock = options->clock,
				      .trace_level = options->trace_level,
				      .has_group = options->has_group,
				      .group = options->group };

	return cli_daemon_start(&cfg) < 0 ? CLI_FAILED : CLI_OK;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_opt,
		.doc = "Own a simulated card: the daemon of a session.\v"
		       "bfsim up, bfsim down and bfsim run start and end it; see bfsimd(8).",
		.children = cli_session_children,
	};
	struct options options = { .ready_fd = -1 };
	struct sim_session_dir session_dir;
	int status;

	cli_init();
	cli_args_parse(&argp, argc, argv, 0, &options);
	if (cli_session_prepare(options.session.dir, &session_dir) < 0)
		return CLI_FAILED;
	status = options.foreground ? run_foreground(&options, &session_dir) : start_background(&options, &session_dir);
	sim_session_dir_fini(&session_dir);
	return status;
}

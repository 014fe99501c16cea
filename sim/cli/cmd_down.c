/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim down: end a session, or remove the files of a stale one. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/base/session_client.h"
#include "sim/base/shell_quote.h"
#include "sim/protocol/session_dir.h"
#include "sim/protocol/wire.h"

#define END_TIMEOUT_MS   10000
#define POLL_INTERVAL_MS 5

static int report_timeout(const char *dir)
{
	char *quoted = sim_shell_quote(dir);

	cli_fail("the daemon of session %s has not ended for %d s: fuser %s/lock names it; kill it", dir,
		 END_TIMEOUT_MS / 1000, quoted ? quoted : dir);
	free(quoted);
	return CLI_FAILED;
}

/* The daemon replies before it ends. The session has ended when its lock is free. */
static int wait_for_end(int dir_fd, const char *dir)
{
	struct timespec pause = { .tv_nsec = POLL_INTERVAL_MS * 1000000L };

	for (int waited_ms = 0; sim_session_dir_is_live(dir_fd); waited_ms += POLL_INTERVAL_MS) {
		if (waited_ms >= END_TIMEOUT_MS)
			return report_timeout(dir);
		nanosleep(&pause, NULL);
	}
	return CLI_OK;
}

static int clean_stale_session(int dir_fd, const char *dir)
{
	int lock_fd = sim_session_dir_lock(dir_fd);

	if (lock_fd < 0)
		return cli_fail("cannot remove the stale session in %s: %s", dir, sim_session_dir_strerror(lock_fd));
	sim_session_dir_remove_files(dir_fd);
	close(lock_fd);
	return CLI_OK;
}

/* Whether the daemon ended, or was killed, while it was spoken to. */
static bool is_dying(int rc)
{
	return rc == -EPIPE || rc == -ECONNRESET || rc == -ECONNREFUSED;
}

static int end_live_session(int dir_fd, const char *dir)
{
	struct sim_msg msg = { .type = SIM_MSG_SHUTDOWN };
	int rc = sim_control_exchange(dir_fd, &msg, -1, NULL);

	if (rc == -EPROTO) /* a daemon of another version */
		rc = sim_control_terminate(dir_fd);
	else if (rc == 0)
		rc = msg.status;
	if (is_dying(rc))
		return wait_for_end(dir_fd, dir) == CLI_OK ? clean_stale_session(dir_fd, dir) : CLI_FAILED;
	if (rc < 0) {
		cli_session_report_error(dir, rc);
		return CLI_FAILED;
	}
	return wait_for_end(dir_fd, dir);
}

static int end_session(int dir_fd, const char *dir)
{
	if (dir_fd < 0 && dir_fd != -ENOENT)
		return cli_fail("cannot open the session directory %s: %s", dir, sim_session_dir_strerror(dir_fd));
	if (dir_fd >= 0 && sim_session_dir_is_live(dir_fd))
		return end_live_session(dir_fd, dir);
	if (dir_fd >= 0 && faccessat(dir_fd, "lock", F_OK, 0) == 0)
		return clean_stale_session(dir_fd, dir);
	return cli_fail("no session in %s: nothing to end; name another with --session", dir);
}

struct options {
	struct cli_session_opt session;
};

int cli_down(int argc, char **argv)
{
	static const struct cli_args args = {
		.parts = { CLI_PART(struct options, session, cli_session_args) },
		.doc = "End a session. If its daemon has died, remove its files.",
	};
	struct options options = { 0 };
	int dir_fd, status;

	cli_args_parse(&args, argc, argv, 0, &options);
	dir_fd = sim_session_dir_open(options.session.dir, false);
	status = end_session(dir_fd, options.session.dir);
	if (dir_fd >= 0)
		close(dir_fd);
	return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/session_make.h - making a session: its directory, its daemon.
 *
 *   prepare --> (directory) --> start --> (a daemon that can be used)
 *      ^                          | failed: the reason is on standard error,
 *      +-------- unmake ----------+ and nothing is left behind
 */
#ifndef SIM_CLI_SESSION_MAKE_H
#define SIM_CLI_SESSION_MAKE_H

#include <stdbool.h>
#include <sys/types.h>

#include "sim/clock/clock.h"

struct cli_session_place {
	char *dir;     /* absolute; the caller's: cli_session_place_fini() */
	bool made;     /* the directory is ours to remove */
};

/* Take DIR for a new session, making it when it does not exist. Refuses, with
 * the reason on standard error, a live session's directory and one that holds
 * somebody else's topology.yaml. Returns 0, or -1 with nothing to release. */
int cli_session_prepare(const char *dir, struct cli_session_place *ret_place);

/* Make a new directory with a name of its own. Returns 0, or -1 as above. */
int cli_session_prepare_temporary(struct cli_session_place *ret_place);

/* Remove what a session left in its directory, unless a daemon lives there, and the
 * directory if it was made for it. */
void cli_session_unmake(const struct cli_session_place *place);

void cli_session_place_fini(struct cli_session_place *place);

struct cli_daemon_cfg {
	const struct cli_session_place *place;
	const char *topology;  /* file, or NULL for the built-in one */
	enum sim_clock_mode clock;
	bool temporary;        /* ends with this process, and removes a directory that was made for it;
				* speaks on our standard error. Else it logs to DIR/bfsimd.log. */
};

/* Start a daemon and wait until its session can be used. Returns its process
 * id, or -1: then the reason was said and the session is unmade. */
pid_t cli_daemon_start(const struct cli_daemon_cfg *cfg);

#endif

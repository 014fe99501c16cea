/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/control/session_dir_claim.h - the directory of a session whose daemon is not started yet.
 *
 *   claim, create_temporary --> (directory) --> launch (launch.h) --> (a daemon that can be used)
 *                                   ^              | failed
 *                                   +--- remove ---+
 *
 * Errors are -errno; sim_last_error() has the reason.
 */
#ifndef SIM_SESSION_DIR_CLAIM_H
#define SIM_SESSION_DIR_CLAIM_H

#include <stdbool.h>

struct sim_session_dir {
	char *dir;    /* absolute; sim_session_dir_fini() frees it */
	bool created; /* this process made the directory and may remove it */
};

/* Claim DIR for a new session, and create DIR if it does not exist. Refuses the directory of a live session (-EBUSY)
 * and one with a topology.yaml of the user (-EEXIST). Returns 0, or -errno with nothing to release. */
int sim_session_dir_claim(const char *dir, struct sim_session_dir *ret_dir);

/* Create a directory with a unique name in $TMPDIR or /tmp. Returns 0, or -errno as above. */
int sim_session_dir_create_temporary(struct sim_session_dir *ret_dir);

/* Remove a session's files, unless a daemon lives there, and the directory if it was created for the session. */
void sim_session_dir_remove(const struct sim_session_dir *session_dir);

void sim_session_dir_fini(struct sim_session_dir *session_dir);

#endif

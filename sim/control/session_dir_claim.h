/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/control/session_dir_claim.h - the directory of a session that is about to be.
 *
 *   take, temporary --> (directory) --> launch (launch.h) --> (a daemon that can be used)
 *                            ^              | failed
 *                            +--- unmake ---+
 *
 * Errors are -errno; sim_last_error() says what was wrong.
 */
#ifndef SIM_SESSION_DIR_CLAIM_H
#define SIM_SESSION_DIR_CLAIM_H

#include <stdbool.h>

struct sim_session_dir {
	char *dir;    /* absolute; the caller's: sim_session_dir_fini() */
	bool created; /* the directory is ours to remove */
};

/* Take DIR for a new session, making it when it does not exist. Refuses a live
 * session's directory (-EBUSY) and one that holds somebody else's topology.yaml
 * (-EEXIST). Returns 0, or -errno with nothing to release. */
int sim_session_dir_claim(const char *dir, struct sim_session_dir *ret_dir);

/* Make a new directory with a name of its own, in $TMPDIR or /tmp. Returns 0, or -errno as above. */
int sim_session_dir_create_temporary(struct sim_session_dir *ret_dir);

/* Remove what a session left in its directory, unless a daemon lives there, and the
 * directory if it was made for it. */
void sim_session_dir_remove(const struct sim_session_dir *session_dir);

void sim_session_dir_fini(struct sim_session_dir *session_dir);

#endif

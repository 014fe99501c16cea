/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/control/session_dir_claim.h - the directory of a session that is about to be.
 *
 *   take, temporary --> (directory) --> launch (launch.h) --> (a daemon that can be used)
 *                            ^              | failed
 *                            +--- unmake ---+
 *
 * Errors are -errno; sim_why() says what was wrong.
 */
#ifndef SIM_SESSION_PLACE_H
#define SIM_SESSION_PLACE_H

#include <stdbool.h>

struct sim_place {
	char *dir;     /* absolute; the caller's: sim_place_fini() */
	bool made;     /* the directory is ours to remove */
};

/* Take DIR for a new session, making it when it does not exist. Refuses a live
 * session's directory (-EBUSY) and one that holds somebody else's topology.yaml
 * (-EEXIST). Returns 0, or -errno with nothing to release. */
int sim_place_take(const char *dir, struct sim_place *ret_place);

/* Make a new directory with a name of its own, in $TMPDIR or /tmp. Returns 0, or -errno as above. */
int sim_place_temporary(struct sim_place *ret_place);

/* Remove what a session left in its directory, unless a daemon lives there, and the
 * directory if it was made for it. */
void sim_place_unmake(const struct sim_place *place);

void sim_place_fini(struct sim_place *place);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/current_session.h - the session that this process is in: which one, and what it sees of it.
 *
 *   attached to a daemon        dir and shared state
 *   on a private card           shared state alone: the process's own, from before it attaches to after it detached
 *   not attached yet            dir of $BFSIM_SESSION; without that it will get a private card
 *
 * For the public header, whose functions take no session. A forked child is where
 * its environment says, until it attaches.
 */
#ifndef SIM_CURRENT_SESSION_H
#define SIM_CURRENT_SESSION_H

#include <stdbool.h>

#include "sim/state/shared_state.h"
#include "pcie_model/topology/topology.h"

struct sim_current_session {
	const char *dir;                      /* of a session with a daemon; NULL = a private card */
	const char *side;                     /* on which it is attached, else NULL */
	const struct pcie_topology *topology; /* of the card, while it is attached, else NULL */
	struct sim_shared_state *shared;      /* NULL = of a daemon to which we are not attached */
	bool attached;
};

/* Look, and keep it as it is until unlocked; no fork and no attaching comes in
 * between. Returns 0; on failure -errno, unlocked. */
int sim_current_session_lock(struct sim_current_session *ret_current);
void sim_current_session_unlock(void);

/* Called by the session. @dir is copied; NULL = a private card; @side and @topology stay until it is detached. Returns 0
 * or -ENOMEM. */
int sim_current_session_set(const char *dir, const char *side, const struct pcie_topology *topology,
			    struct sim_shared_state *shared);
void sim_current_session_clear(const struct sim_shared_state *shared);

/* Called by whoever uses the session: @detach_hook is how the process can be asked to detach. It says whether
 * the process is attached no more; it stays as long as something of the card is in use. */
void sim_current_session_set_detach_hook(bool (*detach_hook)(void));

/* Ask. Whether the process is on no card now. */
bool sim_current_session_detach(void);

#endif

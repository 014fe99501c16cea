/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/current_session.h - the session of this process, and the parts of it that this process can access.
 *
 *   attached to a daemon        dir and shared state
 *   on a private card           shared state alone: it belongs to the process and exists before attach and after detach
 *   not attached yet            dir of $BFSIM_SESSION; without that variable the process will get a private card
 *
 * The functions of the public header use this, as they take no session. A forked child is in the session of its
 * environment until it attaches.
 */
#ifndef SIM_CURRENT_SESSION_H
#define SIM_CURRENT_SESSION_H

#include <stdbool.h>

#include "sim/state/shared_state.h"
#include "pcie_model/topology/topology.h"

struct sim_current_session {
	const char *dir;                      /* of a session with a daemon; NULL = a private card */
	const char *side;                     /* the attached side, else NULL */
	const struct pcie_topology *topology; /* the card's topology while attached, else NULL */
	struct sim_shared_state *shared;      /* NULL = the session of a daemon to which this process is not attached */
	bool attached;
};

/* Get the current session and lock it. No fork, attach or detach happens until the unlock. Returns 0; on failure
 * -errno, unlocked. */
int sim_current_session_lock(struct sim_current_session *ret_current);
void sim_current_session_unlock(void);

/* The shared state, of which no detach takes the memory away before it is given back by the same thread. NULL = not attached, and nothing
 * to give back. Takes no lock. */
struct sim_shared_state *sim_current_session_borrow(void);
void sim_current_session_give_back(void);

/* The session calls these when it attaches and detaches. @dir is copied; NULL = a private card. @side and @topology
 * must exist until the detach. Returns 0 or -ENOMEM. */
int sim_current_session_set(const char *dir, const char *side, const struct pcie_topology *topology,
			    struct sim_shared_state *shared);
void sim_current_session_clear(const struct sim_shared_state *shared);

/* The user of the session sets @detach_hook, which tries to detach the process. The hook returns whether the process is
 * detached; the process stays attached while objects of the card are in use. */
void sim_current_session_set_detach_hook(bool (*detach_hook)(void));

/* Call the detach hook. Returns whether the process is detached from all cards. */
bool sim_current_session_detach(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/rdma/unpolled.h - queue pairs that the program does not progress are served by the engine's thread.
 *
 *   requester                                      responder
 *   a message is not answered --kick-->            the engine's thread ticks: messages go into posted receives
 *   (peer.c, or a tick of its own engine)          the program's next progress completes the receives
 *
 * The engine's thread does no more than a card does by itself: completions are the program's, and so is the queue of requests. It
 * ticks while there is traffic, and sleeps otherwise (sim/engine/engine.h). A tick looks at the queue pairs that have a message under
 * way, or that it has served in the last tick; after a kick, at all of the group. In virtual time it serves a queue pair when the
 * peer has kicked (sim/session/kick.h), and the peer waits for it.
 *
 * A fork waits until the thread is outside of all groups, so that a child can stop a context that it has from its parent. A group's
 * lock is free in the child, whichever thread held it, and its engine does not serve the group.
 */
#ifndef SIM_RDMA_UNPOLLED_H
#define SIM_RDMA_UNPOLLED_H

#include "qp_group.h"

/* From now on the thread of the session's engine serves the group, which has no queue pair yet. */
void sim_unpolled_begin(struct sim_qp_group *group, struct sim_session *session);

/* No longer; the thread is outside of the group on return. No effect on a group that it does not serve. */
void sim_unpolled_end(struct sim_qp_group *group);

/* A message is under way, as @num_begun says: if the group is served, have the engine's thread watch the peer, in case that the
 * program does not. */
void sim_unpolled_keep_watch(struct sim_qp *qp);

#endif

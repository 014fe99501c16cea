/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/mirror.h - the inbox of a queue pair on another machine, as its requester here sees it (sim/rdma/inbox.h).
 *
 *   requester --records--> [mirror] ==RECORDS==> [outlet] --records--> inbox of the responder
 *             <--answers--          <==ANSWERS==          <--answers--
 *
 * The requester uses the mirror like any inbox. The gateway takes its records, at most MIRROR_MAX_AHEAD more than the responder has
 * taken, and writes the responder's answers into the mirror. A requester that gives a message up does so in the mirror; the
 * responder may have taken the message by then, as on a network whose answer is lost.
 */
#ifndef SIM_GATEWAY_MIRROR_H
#define SIM_GATEWAY_MIRROR_H

#include "far.h"

#define MIRROR_MAX_AHEAD 16

/* Make the mirror of an inbox. *ret_fd is its memory, and the caller's. Returns 0 or -errno. */
int mirror_create(struct far *far, int *ret_fd);

/* NULL is fine. The requester keeps the memory. */
void mirror_destroy(struct mirror *mirror);

void mirror_take_answers(struct mirror *mirror, const struct gateway_answers *answers);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/queues.h - requests of programs for memory of other machines (sim/rdma/far_queue.h).
 *
 *   program --slot--> [posted] --taken--> [pending] ==READ, WRITE, OPERATE==> the memory's machine
 *                         ^--returned--------'       <========= DONE =========
 *
 * A request's id names the queue, its stream, its slot and its use of the slot, so that no answer is taken for another one's. The
 * requests for a machine that are under way have at most QUEUES_MAX_BYTES: more of them wait in their slots.
 *
 * A queue ends with its export. It is freed when no request of it is pending.
 */
#ifndef SIM_GATEWAY_QUEUES_H
#define SIM_GATEWAY_QUEUES_H

#include "gateway.h"

#define QUEUES_MAX       4095
#define QUEUES_MAX_BYTES (4u << 20)

struct sim_remote;

/* Returns 0 or -ENOMEM. */
int queues_open(struct gateway *gateway);

/* Whether the queue with that key is there. In any thread. */
bool queues_has(struct gateway *gateway, uint64_t key);

/* Serve a queue, whose memory and descriptor are its own from now on. They are released at once if it is there, or there are too many. */
void queues_add(struct gateway *gateway, struct sim_remote *remote, int wake_fd);

/* Whether the memory is one of a queue. */
bool queues_is_valid(const struct sim_remote *remote);

/* Take what was posted. Returns whether there was something. */
bool queues_poll(struct gateway *gateway);

/* Whether a request has been posted that may be taken. */
bool queues_have_posts(const struct gateway *gateway);

/* Before a sleep. Returns whether there is something already. After it, programs need not wake the gateway. */
bool queues_arm(struct gateway *gateway);
void queues_disarm(struct gateway *gateway);

/* End queues whose exports have ended. */
void queues_end_revoked(struct gateway *gateway);

/* Answers; false: it is not of a queue. */
bool queues_on_done(struct gateway *gateway, const struct gateway_frame *frame);
void queues_machine_lost(struct gateway *gateway, uint32_t machine);

#endif

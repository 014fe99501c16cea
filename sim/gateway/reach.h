/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/reach.h - commands of one machine that act on another (sim/control/reach.h).
 *
 *   of a command here       the daemon passes the command's socket on: REACH ==>
 *   of one elsewhere        REACH starts a helper, a process of bfsim with a socket, if this machine permits the service
 *   both                    packets of the socket <==PACKET==> ; an end that has passed some on returns GRANT
 *                           a socket that closes, or a machine that is lost: END
 *
 * A sender has REACH_WINDOW bytes under way at the most, so that an end which does not read fills no memory of this process.
 */
#ifndef SIM_GATEWAY_REACH_H
#define SIM_GATEWAY_REACH_H

#include "gateway.h"
#include "sim/control/reach.h"

#define REACH_WINDOW      262144u
#define REACH_MAX_CLIENTS 64 /* commands of this machine that are connected */
#define REACH_MAX_HELPERS 32 /* for one other machine, with those that are about to end */

struct sim_msg;

/* Returns 0 or -errno. */
int reach_open(struct gateway *gateway);
void reach_close(struct gateway *gateway);

/* A command of this machine, whose socket this call takes. */
void reach_begin(struct gateway *gateway, const struct sim_msg *msg, int sock);

void reach_on_frame(struct gateway *gateway, const struct gateway_frame *frame);

/* Look at the sockets. Returns whether something was found. */
bool reach_poll(struct gateway *gateway);

/* Wait for helpers that have ended; end those that have not, though their connection has. */
void reach_tick(struct gateway *gateway, uint64_t now_ns);

void reach_machine_lost(struct gateway *gateway, uint32_t machine);

/* ---- reach_helper.c ---- */

/* Start a helper. Returns its pid, and the gateway's end of its socket, or -errno. */
pid_t reach_start_helper(const struct gateway *gateway, enum sim_reach_service service, int *ret_sock);

#endif

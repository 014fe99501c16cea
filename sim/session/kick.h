/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/kick.h - a process tells another one that there is work for the thread of its engine.
 *
 *   peer:   get --> [held] --kick--> ...                   ... put
 *                               '--> the target's helper --> its engine's thread ticks (sim/engine/engine.h)
 *
 * A process opens a pair of sockets (sim/shm/wake.h) when the first peer asks for it, and keeps it open while the process is
 * attached. A process asks a peer at the first kick, however many users hold the target, and does not wait for the answer: with
 * that comes the kick. A kick is one packet; a process that kicks itself sends none. Peers that shut the sockets down end them for all;
 * the next kick asks again.
 *
 * Any thread may call; errors are -errno.
 */
#ifndef SIM_SESSION_KICK_H
#define SIM_SESSION_KICK_H

#include <stdbool.h>
#include <stdint.h>

struct sim_engine;
struct sim_remote;
struct sim_session;
struct sim_kick_target;

/* ---- the peer ---- */

/* Get the process that exported @memory as a target. Returns NULL without memory for it: a kick has no effect then. */
struct sim_kick_target *sim_session_get_kick_target(struct sim_session *session, const struct sim_remote *memory);

/* NULL is fine. */
void sim_session_put_kick_target(struct sim_session *session, struct sim_kick_target *target);

/* Waits for no peer. @memory is imported from the target. NULL is fine as @target. */
void sim_session_kick(struct sim_session *session, struct sim_kick_target *target, const struct sim_remote *memory);

/* ---- the owner ---- */

struct sim_kicks;

/* @engine and @epoll_fd are borrowed; the kicks' descriptor is added with SIM_OWNER_KICK_TAG. Returns 0 or -ENOMEM. */
int sim_kicks_create(struct sim_engine *engine, int epoll_fd, struct sim_kicks **ret_kicks);

/* No kick reaches the engine any more. NULL is fine. */
void sim_kicks_close(struct sim_kicks *kicks);

/* NULL is fine. */
void sim_kicks_destroy(struct sim_kicks *kicks);

/* In a forked child: close the descriptors, and change nothing else. */
void sim_kicks_abandon(struct sim_kicks *kicks);

/* A peer asks for the socket of its kicks. *ret_fd is the caller's. Returns 0 or -errno. */
int sim_kicks_describe(struct sim_kicks *kicks, int *ret_fd);

/* How many kicks have come to this process. A kick is counted before the engine's thread ticks for it. */
uint64_t sim_session_num_kicks(const struct sim_session *session);

/* The kicks' descriptor is readable. */
void sim_kicks_answer(struct sim_kicks *kicks);

#endif

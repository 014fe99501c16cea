/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/engine/engine.h - the engine's thread in this process: runs jobs that no owner polls.
 *
 * An owner that polls runs its own jobs. The engine's thread runs a job that
 * no thread has polled for a tick. The first doorbell starts the thread. The thread
 * ticks while there is traffic and sleeps after IDLE_TICKS ticks without a queued
 * job. A doorbell makes a system call only when the thread sleeps. In virtual time owners run their own jobs, and the thread
 * ticks rarely: the ticks of many processes would leave the one that runs no CPU.
 *
 * A member of the engine has a tick function: a queue has one (queue.h), and so has any other object whose work must be done
 * though no thread of the program calls. The engine's thread calls it once a tick, with the member pinned: a member that is
 * pinned stays in the list, and no lock is held during the call. A thread that is about to block in virtual time does the work of
 * its members itself (sim_engine_advance_own()).
 */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct sim_engine;

struct sim_engine_member {
	/* Returns whether the member has work for the next tick, and lowers *next_ns to the CLOCK_MONOTONIC time at which it needs
	 * a tick in any case. Engine's thread only. */
	bool (*tick)(struct sim_engine_member *member, uint64_t *next_ns);
	/* Do what is due in virtual time, if the calling thread is the member's owner. Returns the session time of its next work, or
	 * SIM_CLOCK_NEVER_NS. NULL = nothing ever is. */
	uint64_t (*advance_own)(struct sim_engine_member *member);
	LIST_ENTRY(sim_engine_member) link;
	unsigned int num_pins;
};

/* Create an engine without queues. Returns 0 or -ENOMEM. */
int sim_engine_create(struct sim_engine **ret_engine);

/* The session's time is virtual. Before the first doorbell. */
void sim_engine_set_virtual(struct sim_engine *engine);

/* Stop the thread and free the engine; all queues are destroyed by then. NULL is fine. */
void sim_engine_destroy(struct sim_engine *engine);

/* Add @member, whose tick function is set. */
void sim_engine_add(struct sim_engine *engine, struct sim_engine_member *member);

/* Remove @member; waits until it is not pinned. */
void sim_engine_remove(struct sim_engine *engine, struct sim_engine_member *member);

/* There is work for ticks: wake the engine's thread if it sleeps. A member stores the work before this call, and loads it in its
 * tick, both seq_cst: the thread finds the work before it sleeps, or is woken. */
void sim_engine_keep_awake(struct sim_engine *engine);

/* In virtual time, by a thread that is about to block: do the due work of the members of which it is the owner. Returns the
 * session time of the next, or SIM_CLOCK_NEVER_NS. */
uint64_t sim_engine_advance_own(struct sim_engine *engine);

/* Have the engine's thread tick at CLOCK_MONOTONIC @when_ns at the latest, once; 0 = now. */
void sim_engine_wake_at(struct sim_engine *engine, uint64_t when_ns);

#endif

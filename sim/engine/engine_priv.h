/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/engine/engine_priv.h - the engine as its queues see it.
 *
 * A member of the engine has a tick function. The engine's thread calls that
 * function once a tick, with the member pinned: a member that is pinned stays in
 * the list, and no lock is held during the call.
 */
#ifndef SIM_ENGINE_PRIV_H
#define SIM_ENGINE_PRIV_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "engine.h"

#define SIM_ENGINE_NO_ALARM UINT64_MAX

struct sim_engine_member {
	/* Returns whether the member has work left, and lowers *next_ns to the
	 * CLOCK_MONOTONIC time at which it needs a tick. Engine's thread only. */
	bool (*tick)(struct sim_engine_member *member, uint64_t *next_ns);
	LIST_ENTRY(sim_engine_member) link;
	bool pinned;
};

struct sim_engine {
	atomic_bool awake;    /* the thread ticks, or will soon */
	pthread_mutex_t lock; /* protects the members and their pins; not held while jobs run */
	pthread_cond_t unpinned;
	LIST_HEAD(, sim_engine_member) members;
	pthread_mutex_t sleep_lock; /* protects the fields below */
	pthread_cond_t wake;
	pthread_t thread;
	bool started, stop;
	uint64_t alarm_ns; /* the thread ticks at this time at the latest; SIM_ENGINE_NO_ALARM = at the next tick */
};

/* Add @member, whose tick function is set. */
void sim_engine_add(struct sim_engine *engine, struct sim_engine_member *member);

/* Remove @member; waits until the engine's thread has unpinned it. */
void sim_engine_remove(struct sim_engine *engine, struct sim_engine_member *member);

/* Lock the members, with @member not pinned; the caller unlocks engine->lock. */
void sim_engine_lock_unpinned(struct sim_engine *engine, struct sim_engine_member *member);

/* Start the engine's thread if there is none, and wake it. The caller has set engine->awake. */
void sim_engine_wake(struct sim_engine *engine);

/* Have the engine's thread tick at CLOCK_MONOTONIC @when_ns at the latest, once. */
void sim_engine_wake_at(struct sim_engine *engine, uint64_t when_ns);

#endif

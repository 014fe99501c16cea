/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/engine/engine_priv.h - the engine as its queues see it. */
#ifndef SIM_ENGINE_PRIV_H
#define SIM_ENGINE_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine.h"

#define SIM_ENGINE_NO_ALARM UINT64_MAX
#define SIM_ENGINE_TICK_NS  1000000u
#define SIM_ENGINE_RARE_TICK_NS \
	50000000u /* in virtual time, while no member has work for a tick, or it is left to its owner */

struct sim_engine {
	atomic_bool awake;    /* the thread ticks, or will soon */
	pthread_mutex_t lock; /* protects the members and their pins; not held while jobs run */
	pthread_cond_t unpinned;
	LIST_HEAD(, sim_engine_member) members;
	pthread_mutex_t sleep_lock; /* protects the fields below */
	pthread_cond_t wake;
	pthread_t thread;
	bool started, stop;
	uint32_t idle_tick_ns; /* the interval while no member has work */
	uint64_t alarm_ns;     /* the thread ticks at this time at the latest; SIM_ENGINE_NO_ALARM = at the next tick */
};

/* Lock the members, with @member not pinned; the caller unlocks engine->lock. */
void sim_engine_lock_unpinned(struct sim_engine *engine, struct sim_engine_member *member);

/* Start the engine's thread if there is none, and wake it. The caller has set engine->awake. */
void sim_engine_wake(struct sim_engine *engine);

#endif

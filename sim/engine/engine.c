/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine's thread: ticks, and sleeps when there is no traffic. */
#include "engine_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "pcie_model/arith.h"
#include "sim/base/log.h"
#include "sim/base/memory_signals.h"
#include "sim/base/monotonic.h"
#include "sim/base/thread.h"
#include "sim/clock/clock.h"

#define IDLE_TICKS 20

int sim_engine_create(struct sim_engine **ret_engine)
{
	struct sim_engine *engine = calloc(1, sizeof(*engine));
	pthread_condattr_t monotonic;

	if (!engine)
		return -ENOMEM;
	engine->alarm_ns = SIM_ENGINE_NO_ALARM;
	engine->idle_tick_ns = SIM_ENGINE_TICK_NS;
	LIST_INIT(&engine->members);
	pthread_mutex_init(&engine->lock, NULL);
	pthread_cond_init(&engine->unpinned, NULL);
	pthread_mutex_init(&engine->sleep_lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&engine->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	*ret_engine = engine;
	return 0;
}

void sim_engine_set_virtual(struct sim_engine *engine)
{
	engine->idle_tick_ns = SIM_ENGINE_RARE_TICK_NS;
}

void sim_engine_destroy(struct sim_engine *engine)
{
	if (!engine)
		return;
	pthread_mutex_lock(&engine->sleep_lock);
	engine->stop = true;
	pthread_cond_signal(&engine->wake);
	pthread_mutex_unlock(&engine->sleep_lock);
	if (engine->started)
		pthread_join(engine->thread, NULL);
	pthread_cond_destroy(&engine->wake);
	pthread_cond_destroy(&engine->unpinned);
	pthread_mutex_destroy(&engine->sleep_lock);
	pthread_mutex_destroy(&engine->lock);
	free(engine);
}

void sim_engine_add(struct sim_engine *engine, struct sim_engine_member *member)
{
	pthread_mutex_lock(&engine->lock);
	LIST_INSERT_HEAD(&engine->members, member, link);
	pthread_mutex_unlock(&engine->lock);
}

void sim_engine_lock_unpinned(struct sim_engine *engine, struct sim_engine_member *member)
{
	pthread_mutex_lock(&engine->lock);
	while (member->num_pins > 0)
		pthread_cond_wait(&engine->unpinned, &engine->lock);
}

void sim_engine_remove(struct sim_engine *engine, struct sim_engine_member *member)
{
	sim_engine_lock_unpinned(engine, member);
	LIST_REMOVE(member, link);
	pthread_mutex_unlock(&engine->lock);
}

/* Returns whether that is earlier than the alarm was. */
static bool set_alarm(struct sim_engine *engine, uint64_t when_ns)
{
	bool is_earlier;

	pthread_mutex_lock(&engine->sleep_lock);
	is_earlier = when_ns < engine->alarm_ns;
	engine->alarm_ns = min_u64(engine->alarm_ns, when_ns);
	pthread_mutex_unlock(&engine->sleep_lock);
	return is_earlier;
}

/* @member's owner or remover waits until nobody is in it. Under the lock, which is released meanwhile. */
static void pin(struct sim_engine *engine, struct sim_engine_member *member)
{
	member->num_pins++;
	pthread_mutex_unlock(&engine->lock);
}

static void unpin(struct sim_engine *engine, struct sim_engine_member *member)
{
	pthread_mutex_lock(&engine->lock);
	member->num_pins--;
	pthread_cond_broadcast(&engine->unpinned);
}

enum work {
	NO_WORK,
	WORK_AT_ALARM,
	WORK_FOR_TICK,
};

static enum work tick(struct sim_engine *engine)
{
	uint64_t next_ns = SIM_ENGINE_NO_ALARM;
	struct sim_engine_member *member;
	bool busy = false;

	sim_memory_signals_install(); /* the program may have installed handlers of its own */
	pthread_mutex_lock(&engine->lock);
	LIST_FOREACH(member, &engine->members, link) {
		pin(engine, member);
		busy |= member->tick(member, &next_ns); /* may take long: other members come and go meanwhile */
		unpin(engine, member);
	}
	pthread_mutex_unlock(&engine->lock);
	set_alarm(engine, next_ns);
	return busy ? WORK_FOR_TICK : next_ns != SIM_ENGINE_NO_ALARM ? WORK_AT_ALARM : NO_WORK;
}

uint64_t sim_engine_advance_own(struct sim_engine *engine)
{
	uint64_t next_ns = SIM_CLOCK_NEVER_NS;
	struct sim_engine_member *member;

	pthread_mutex_lock(&engine->lock);
	LIST_FOREACH(member, &engine->members, link) {
		if (!member->advance_own)
			continue;
		pin(engine, member);
		next_ns = min_u64(next_ns, member->advance_own(member));
		unpin(engine, member);
	}
	pthread_mutex_unlock(&engine->lock);
	return next_ns;
}

/* Returns whether a signal ended the wait before @when_ns. */
static bool wait_until(struct sim_engine *engine, uint64_t when_ns)
{
	const struct timespec until = sim_timespec_from_ns(when_ns);

	return pthread_cond_timedwait(&engine->wake, &engine->sleep_lock, &until) == 0;
}

/* Wait for the next tick, at which there is @work, or while the engine sleeps. Returns false when the thread has to end. */
static bool wait_for_tick(struct sim_engine *engine, enum work work)
{
	uint64_t tick_ns;
	bool keep_running;

	pthread_mutex_lock(&engine->sleep_lock);
	while (!engine->stop && !atomic_load(&engine->awake))
		pthread_cond_wait(&engine->wake, &engine->sleep_lock);
	tick_ns = sim_monotonic_ns() + (work == WORK_FOR_TICK ? SIM_ENGINE_TICK_NS : engine->idle_tick_ns);
	while (!engine->stop && wait_until(engine, min_u64(tick_ns, engine->alarm_ns)))
		;
	engine->alarm_ns = SIM_ENGINE_NO_ALARM;
	keep_running = !engine->stop;
	pthread_mutex_unlock(&engine->sleep_lock);
	return keep_running;
}

static void *engine_thread(void *arg)
{
	struct sim_engine *engine = arg;
	unsigned int idle_ticks = 0;
	enum work work = WORK_FOR_TICK;

	prctl(PR_SET_TIMERSLACK, 1ul); /* completions may be due in some microseconds */
	while (wait_for_tick(engine, work)) {
		work = tick(engine);
		if (work != NO_WORK) {
			idle_ticks = 0;
		} else if (++idle_ticks >= IDLE_TICKS) {
			idle_ticks = 0;
			atomic_store(&engine->awake, false);
			/* A job may have been queued between the tick and the store: tick once more. */
			work = tick(engine);
			if (work != NO_WORK)
				atomic_store(&engine->awake, true);
		}
	}
	return NULL;
}

void sim_engine_wake(struct sim_engine *engine)
{
	pthread_mutex_lock(&engine->sleep_lock);
	if (!engine->started) {
		int rc = sim_thread_start(&engine->thread, "bfsim-engine", engine_thread, engine);

		if (rc < 0)
			sim_err("cannot start the engine's thread (error %d): jobs run only while the application polls; raise its limit of threads",
				-rc);
		engine->started = rc == 0;
		if (rc < 0)
			atomic_store(&engine->awake, false); /* the next doorbell tries again */
	}
	pthread_cond_signal(&engine->wake);
	pthread_mutex_unlock(&engine->sleep_lock);
}

void sim_engine_keep_awake(struct sim_engine *engine)
{
	if (!atomic_load(&engine->awake) && !atomic_exchange(&engine->awake, true))
		sim_engine_wake(engine);
}

void sim_engine_wake_at(struct sim_engine *engine, uint64_t when_ns)
{
	bool is_earlier = set_alarm(engine, when_ns);

	if (!atomic_exchange(&engine->awake, true) || is_earlier) /* else the thread wakes in time by itself */
		sim_engine_wake(engine);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "engine_priv.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"
#include "sim/base/thread.h"

#define TICK_NS    1000000u
#define IDLE_TICKS 20

int sim_engine_create(struct sim_engine **ret_engine)
{
	struct sim_engine *engine = calloc(1, sizeof(*engine));
	pthread_condattr_t monotonic;

	if (!engine)
		return -ENOMEM;
	engine->alarm_ns = SIM_JOB_NEVER_DUE;
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

/* Run what is queued by now: an owner that goes on submitting must not keep the other queues waiting. */
static void run_unpolled(struct sim_queue *queue)
{
	uint32_t reported = atomic_load_explicit(&queue->reported, memory_order_relaxed);
	uint32_t end = atomic_load_explicit(&queue->tail, memory_order_acquire);

	while ((int32_t)(end - atomic_load_explicit(&queue->run, memory_order_relaxed)) > 0)
		if (!sim_queue_run_some(queue))
			break; /* the owner is at it */
	if (atomic_load_explicit(&queue->reported, memory_order_relaxed) != reported)
		sim_queue_notify(queue);
}

static uint64_t release_due(struct sim_queue *queue)
{
	uint32_t reported = atomic_load_explicit(&queue->reported, memory_order_relaxed);
	uint64_t due_ns;

	if (queue_time_is_virtual(queue->time))
		return SIM_JOB_NEVER_DUE; /* who waits for it moves that time, and lets go */
	due_ns = sim_queue_release(queue);
	if (atomic_load_explicit(&queue->reported, memory_order_relaxed) != reported)
		sim_queue_notify(queue);
	return due_ns;
}

/* Whether the queue holds jobs; those that no poll has moved since the last tick are
 * run, ends that are due are let go. *next_ns is lowered to when the next one is. */
static bool tick_queue(struct sim_queue *queue, uint64_t *next_ns)
{
	uint64_t due_ns;
	uint32_t run = atomic_load_explicit(&queue->run, memory_order_acquire);
	bool pending = sim_queue_has_pending(queue);

	if (pending && queue->seen_pending && queue->seen_run == run)
		run_unpolled(queue);
	queue->seen_pending = pending;
	queue->seen_run = run;
	due_ns = release_due(queue);
	if (due_ns != 0 && due_ns < *next_ns)
		*next_ns = due_ns;
	return pending || due_ns != SIM_JOB_NEVER_DUE;
}

static void set_alarm(struct sim_engine *engine, uint64_t when_ns)
{
	pthread_mutex_lock(&engine->sleep_lock);
	if (when_ns < engine->alarm_ns)
		engine->alarm_ns = when_ns;
	pthread_mutex_unlock(&engine->sleep_lock);
}

static bool tick(struct sim_engine *engine)
{
	uint64_t next_ns = SIM_JOB_NEVER_DUE;
	bool busy = false;

	pthread_mutex_lock(&engine->lock);
	for (struct sim_queue *queue = engine->queues; queue; queue = queue->next) {
		queue->pinned = true;
		pthread_mutex_unlock(&engine->lock);
		busy |= tick_queue(queue, &next_ns); /* may take long: other queues come and go meanwhile */
		pthread_mutex_lock(&engine->lock);
		queue->pinned = false;
		pthread_cond_broadcast(&engine->unpinned);
	}
	pthread_mutex_unlock(&engine->lock);
	set_alarm(engine, next_ns);
	return busy;
}

/* Returns whether it is earlier still. */
static bool wait_until(struct sim_engine *engine, uint64_t when_ns)
{
	const struct timespec until = { .tv_sec = (time_t)(when_ns / SIM_NS_PER_S),
					.tv_nsec = (long)(when_ns % SIM_NS_PER_S) };

	return pthread_cond_timedwait(&engine->wake, &engine->sleep_lock, &until) == 0;
}

/* Wait for the next tick, or while the engine sleeps; false when it shall end. */
static bool wait_for_tick(struct sim_engine *engine)
{
	uint64_t tick_ns;
	bool keep_running;

	pthread_mutex_lock(&engine->sleep_lock);
	while (!engine->stop && !atomic_load(&engine->awake))
		pthread_cond_wait(&engine->wake, &engine->sleep_lock);
	tick_ns = sim_monotonic_ns() + TICK_NS;
	while (!engine->stop && wait_until(engine, tick_ns < engine->alarm_ns ? tick_ns : engine->alarm_ns))
		;
	engine->alarm_ns = SIM_JOB_NEVER_DUE;
	keep_running = !engine->stop;
	pthread_mutex_unlock(&engine->sleep_lock);
	return keep_running;
}

static void *engine_thread(void *arg)
{
	struct sim_engine *engine = arg;
	unsigned int idle_ticks = 0;

	prctl(PR_SET_TIMERSLACK, 1ul); /* ends that are due in some microseconds */
	while (wait_for_tick(engine)) {
		if (tick(engine)) {
			idle_ticks = 0;
		} else if (++idle_ticks >= IDLE_TICKS) {
			idle_ticks = 0;
			atomic_store(&engine->awake, false);
			/* A job may have come between the look and the store: look once more. */
			if (tick(engine))
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

void sim_engine_wake_at(struct sim_engine *engine, uint64_t when_ns)
{
	set_alarm(engine, when_ns);
	atomic_store(&engine->awake, true);
	sim_engine_wake(engine);
}

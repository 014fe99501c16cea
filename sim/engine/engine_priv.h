/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by engine.c, queue.c and queue_time.c only. */
#ifndef SIM_ENGINE_PRIV_H
#define SIM_ENGINE_PRIV_H

#include <pthread.h>

#include "engine.h"
#include "queue.h"

#define CACHE_LINE 64

struct sim_engine {
	atomic_bool awake;    /* the thread ticks, or will soon */
	pthread_mutex_t lock; /* protects the list of queues and their pins; not held while jobs run */
	pthread_cond_t unpinned;
	struct sim_queue *queues;
	pthread_mutex_t sleep_lock; /* protects what follows */
	pthread_cond_t wake;
	pthread_t thread;
	bool started, stop;
	uint64_t alarm_ns; /* tick then, if not before; UINT64_MAX = no need */
};

struct queue_time;

struct sim_queue {
	struct sim_engine *engine;
	struct sim_queue *next, **prev_link; /* in the engine's list */
	struct sim_job **ring;
	uint32_t mask;
	uint32_t max_jobs;
	void (*notify)(void *arg);
	void *notify_arg;
	struct queue_time *time; /* NULL = no clock */
	/* Free-running counters; the ring's slot is counter & mask. */
	_Alignas(CACHE_LINE) uint32_t head;        /* reaped; the owner's */
	uint32_t staged;                           /* submitted; the owner's */
	_Atomic uint32_t tail;                     /* queued; written by the owner */
	_Alignas(CACHE_LINE) _Atomic uint32_t run; /* ran; written under the lock */
	_Atomic uint32_t done;                     /* ran, and not held back any more; written under the lock */
	_Atomic uint32_t reported;                 /* done and reported; written under the lock */
	atomic_flag running;                       /* the lock: who holds it runs jobs */
	atomic_bool failed;                        /* jobs no longer run: error or flush */
	atomic_bool flushed;                       /* ends are no longer held back */
	atomic_bool notify_wanted;
	bool pinned;       /* the engine's thread is at it: it stays in the list */
	uint32_t seen_run; /* the engine thread's note of the last tick */
	bool seen_pending;
};

/* Make the engine's thread tick. */
void sim_engine_wake(struct sim_engine *engine);

/* Make it tick at @when_ns at the latest, once. */
void sim_engine_wake_at(struct sim_engine *engine, uint64_t when_ns);

/* Lock the engine's list, with its thread not at @queue. */
void sim_queue_lock_engine(struct sim_queue *queue);

/* Run the oldest queued job if there is one and nobody else runs, and those behind it while they are brief; whether any ran. */
bool sim_queue_run_some(struct sim_queue *queue);

bool sim_queue_has_pending(const struct sim_queue *queue);

/* The end of @job, number @done, the first that is not done yet. */
void sim_queue_complete_job(struct sim_queue *queue, const struct sim_job *job, uint32_t done);

/* Let go of the ends that are due. Returns when, by CLOCK_MONOTONIC, the next one
 * is: 0 = look again soon, SIM_JOB_NEVER_DUE = nothing is held back until a time. */
uint64_t sim_queue_release(struct sim_queue *queue);

/* queue_time.c: the queue's clock. Of these the last two are called by who runs the queue. */
void queue_time_free(struct queue_time *time);
bool queue_time_is_virtual(const struct queue_time *time); /* NULL is fine */
uint64_t queue_time_now_ns(const struct queue_time *time);
uint64_t queue_time_real_ns(const struct queue_time *time, uint64_t ns); /* by CLOCK_MONOTONIC; not of virtual time */
void queue_time_enqueue(struct sim_queue *queue, uint32_t from, uint32_t to); /* jobs of these numbers are queued */
void queue_time_job_ran(struct sim_queue *queue, uint32_t number, uint64_t begun_ns);
uint64_t queue_time_release(struct sim_queue *queue); /* returns session time */

#endif

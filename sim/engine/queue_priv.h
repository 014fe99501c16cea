/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/engine/queue_priv.h - the inside of a queue, shared by queue.c, queue_clock.c, queue_life.c and queue_shuffle.c. */
#ifndef SIM_ENGINE_QUEUE_PRIV_H
#define SIM_ENGINE_QUEUE_PRIV_H

#include "engine_priv.h"
#include "queue.h"
#include "sim/base/memory_guard.h"

#define CACHE_LINE 64

struct queue_clock;

/* Order of accesses. The owner submits and reaps; the holder of the lock runs, and is the owner or the engine's thread.
 *
 *   submit     the job, its slot --> tail (seq_cst)          the holder: tail (acquire) --> slot, job
 *   lock       running: acquire when taken, release when given back; @run, @done and held jobs are under it
 *   reap       the job's status --> done, reported (release)         the owner: reported (acquire) --> job, slot
 *   wake-up    owner: tail, then awake     engine's thread: awake = false, then tail     all seq_cst (sim_queue_doorbell())
 *   count      owner: staged --> head (release)              any thread: head --> fence (acquire) --> staged
 */
struct sim_queue {
	struct sim_engine *engine;
	struct sim_engine_member member;
	struct sim_job **ring;
	uint32_t mask;
	uint32_t max_jobs;
	void (*notify)(void *arg);
	void *notify_arg;
	struct queue_clock *clock; /* NULL = no clock */
	/* Free-running counters; the ring's slot is counter & mask. */
	/* What the owner writes, what is written under the lock, and the members above are on lines of their own. */
	char room_before_owner[CACHE_LINE];
	_Atomic uint32_t head;   /* reaped; written by the owner */
	_Atomic uint32_t staged; /* submitted; written by the owner */
	_Atomic uint32_t tail;   /* queued; written by the owner */
	char room_behind_owner[CACHE_LINE];
	_Atomic uint32_t run;      /* ran; written under the lock */
	_Atomic uint32_t done;     /* ran and no longer held; written under the lock */
	_Atomic uint32_t reported; /* done and reported; written under the lock */
	atomic_flag running;       /* the lock: its holder runs jobs */
	atomic_bool failed;        /* jobs no longer run: error or flush */
	atomic_bool flushed;       /* completions are no longer held */
	atomic_bool notify_wanted;
	struct sim_guard guard;                /* of the job that runs; under the lock */
	const struct sim_queue_memory *memory; /* NULL = jobs access none */
	uint64_t shuffle_run;        /* state of the random order, under the lock; 0 = jobs run in their order */
	uint64_t shuffle_poll;       /* state of the random polls, the owner's */
	bool was_pending;            /* at the engine's last tick, as are the next two */
	uint32_t last_tick_run;      /* run */
	uint64_t last_tick_ns;       /* by CLOCK_MONOTONIC */
	uint32_t num_unpolled_ticks; /* for so many ticks jobs have waited for the owner's poll */
	uint64_t unpolled_ns;        /* and for so long */
};

/* A counter that this thread, the owner, writes alone. */
static inline uint32_t sim_queue_own(const _Atomic uint32_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Add one to it; returns its value before. Another thread that sees the new value sees the counters that were written before
 * it (release), so that sim_queue_count() never finds more returned than submitted. */
static inline uint32_t sim_queue_add_own(_Atomic uint32_t *counter)
{
	uint32_t before = sim_queue_own(counter);

	atomic_store_explicit(counter, before + 1, memory_order_release);
	return before;
}

/* Complete @job, number @done, the oldest job that is not done yet. */
static inline void sim_queue_complete_job(struct sim_queue *queue, const struct sim_job *job, uint32_t done)
{
	bool report = !job->unsignaled || job->status < 0;

	atomic_store_explicit(&queue->done, done + 1, memory_order_release);
	if (report) /* from here on the job may be the owner's again */
		atomic_store_explicit(&queue->reported, done + 1, memory_order_release);
}

/* queue.c: what a queue is for its engine, and for the guard of its jobs' memory. */

/* Run the jobs that no poll has run for a tick, and complete those that are due. */
bool queue_tick(struct sim_engine_member *member, uint64_t *next_ns);

uint64_t queue_advance_own(struct sim_engine_member *member);
bool queue_find_memory(const struct sim_guard *guard, uintptr_t addr, struct sim_guarded_memory *ret_memory);

/* queue_shuffle.c: exchange job number @run, the next, with one of those before number @end. Under the queue's lock. */
void queue_shuffle_next(struct sim_queue *queue, uint32_t run, uint32_t end);

/* queue_shuffle.c: returns whether this poll finds nothing. */
bool queue_shuffle_poll_is_empty(struct sim_queue *queue);

/* queue_clock.c: the jobs of a queue in model time. */

/* Returns 0 or -ENOMEM; the caller frees *ret_clock with free(). */
int queue_clock_create(const struct sim_queue_time *cfg, uint32_t num_slots, struct queue_clock **ret_clock);

/* Give *@clock, the clock of @queue, @num_slots slots, and keep the times of its jobs. Returns 0 or -ENOMEM. */
int queue_clock_grow(struct queue_clock **clock, const struct sim_queue *queue, uint32_t num_slots);

bool queue_clock_is_virtual(const struct queue_clock *clock); /* NULL is fine */

/* In virtual time: sim_queue_time.is_own(), patience_ns(). */
bool queue_clock_is_own(const struct sim_queue *queue);
uint64_t queue_clock_patience_ns(const struct sim_queue *queue);

uint64_t queue_clock_now_ns(const struct queue_clock *clock);

/* Session time @ns by CLOCK_MONOTONIC; not for virtual time. */
uint64_t queue_clock_real_ns(const struct queue_clock *clock, uint64_t ns);

/* The jobs numbered from @from to @to (excluded) are queued. The owner calls this. */
void queue_clock_enqueue(struct sim_queue *queue, uint32_t from, uint32_t to);

/* Job @number ran; it began at session time @begun_ns. Under the queue's lock. */
void queue_clock_job_ran(struct sim_queue *queue, uint32_t number, uint64_t begun_ns);

/* Complete the jobs that are due. Returns the session time of the next step, or
 * SIM_JOB_NEVER_DUE. Under the queue's lock. */
uint64_t queue_clock_release(struct sim_queue *queue);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "engine_priv.h"
#include "sim/base/monotonic.h"

#define MAX_JOBS  (UINT32_C(1) << 30) /* counters are compared by their difference */
#define MAX_BRIEF 16                  /* brief jobs that run under one lock */

/* @max_jobs is MAX_JOBS at most. */
static uint32_t ring_size(uint32_t max_jobs)
{
	uint32_t size = 1;

	while (size < max_jobs)
		size <<= 1;
	return size;
}

static void engine_add(struct sim_engine *engine, struct sim_queue *queue)
{
	pthread_mutex_lock(&engine->lock);
	queue->next = engine->queues;
	if (queue->next)
		queue->next->prev_link = &queue->next;
	queue->prev_link = &engine->queues;
	engine->queues = queue;
	pthread_mutex_unlock(&engine->lock);
}

void sim_queue_lock_engine(struct sim_queue *queue)
{
	pthread_mutex_lock(&queue->engine->lock);
	while (queue->pinned)
		pthread_cond_wait(&queue->engine->unpinned, &queue->engine->lock);
}

static void engine_remove(struct sim_queue *queue)
{
	sim_queue_lock_engine(queue);
	*queue->prev_link = queue->next;
	if (queue->next)
		queue->next->prev_link = queue->prev_link;
	pthread_mutex_unlock(&queue->engine->lock);
}

int sim_queue_create(struct sim_engine *engine, uint32_t max_jobs, void (*notify)(void *arg), void *arg,
		     struct sim_queue **ret_queue)
{
	uint32_t size = max_jobs <= MAX_JOBS ? ring_size(max_jobs) : 0;
	struct sim_queue *queue = size ? aligned_alloc(CACHE_LINE, sizeof(*queue)) : NULL;

	if (!queue)
		return -ENOMEM;
	*queue = (struct sim_queue){
		.engine = engine,
		.ring = calloc(size, sizeof(*queue->ring)),
		.mask = size - 1,
		.max_jobs = max_jobs,
		.notify = notify,
		.notify_arg = arg,
		.running = ATOMIC_FLAG_INIT,
	};
	if (!queue->ring) {
		free(queue);
		return -ENOMEM;
	}
	engine_add(engine, queue);
	*ret_queue = queue;
	return 0;
}

void sim_queue_destroy(struct sim_queue *queue)
{
	if (!queue)
		return;
	engine_remove(queue); /* waits until the engine's thread has let go of it */
	queue_time_free(queue->time);
	free(queue->ring);
	free(queue);
}

uint32_t sim_queue_in_flight(const struct sim_queue *queue)
{
	return queue->staged - queue->head;
}

int sim_queue_submit(struct sim_queue *queue, struct sim_job *job)
{
	if (queue->staged - queue->head >= queue->max_jobs)
		return -EAGAIN;
	queue->ring[queue->staged++ & queue->mask] = job;
	return 0;
}

void sim_queue_doorbell(struct sim_queue *queue)
{
	struct sim_engine *engine = queue->engine;

	if (queue->time)
		queue_time_enqueue(queue, atomic_load_explicit(&queue->tail, memory_order_relaxed), queue->staged);
	/* Pairs with the thread going to sleep: we write tail and look at awake, it clears
	 * awake and looks at tail; all four in one order (seq_cst), so that one sees the other. */
	atomic_store(&queue->tail, queue->staged);
	if (!atomic_load(&engine->awake) && !atomic_exchange(&engine->awake, true))
		sim_engine_wake(engine);
}

bool sim_queue_has_pending(const struct sim_queue *queue)
{
	return atomic_load(&queue->tail) != atomic_load_explicit(&queue->run, memory_order_acquire);
}

bool sim_queue_has_done(const struct sim_queue *queue)
{
	/* A queue in error reports everything, the quiet ones too. */
	const _Atomic uint32_t *end =
		atomic_load_explicit(&queue->failed, memory_order_relaxed) ? &queue->done : &queue->reported;

	return (int32_t)(atomic_load_explicit(end, memory_order_acquire) - queue->head) > 0;
}

static inline bool has_held(const struct sim_queue *queue)
{
	return atomic_load_explicit(&queue->run, memory_order_relaxed) !=
	       atomic_load_explicit(&queue->done, memory_order_relaxed);
}

static inline void complete_job(struct sim_queue *queue, const struct sim_job *job, uint32_t done)
{
	bool report = !job->quiet || job->status < 0;

	atomic_store_explicit(&queue->done, done + 1, memory_order_release);
	if (report) /* from here on the job may be the owner's again */
		atomic_store_explicit(&queue->reported, done + 1, memory_order_release);
}

void sim_queue_complete_job(struct sim_queue *queue, const struct sim_job *job, uint32_t done)
{
	complete_job(queue, job, done);
}

/* Whether the end of @job still has to wait. */
static bool is_held(const struct sim_queue *queue, struct sim_job *job, uint64_t now_ns)
{
	if (!job->held || now_ns >= job->due_ns)
		return false;
	if (!atomic_load_explicit(&queue->flushed, memory_order_relaxed))
		return true;
	if (job->due_ns == SIM_JOB_NEVER_DUE)
		job->status = -ECANCELED;
	return false;
}

static uint64_t release_unclocked(struct sim_queue *queue)
{
	uint32_t run = atomic_load_explicit(&queue->run, memory_order_relaxed);
	uint32_t done = atomic_load_explicit(&queue->done, memory_order_relaxed);
	uint64_t now_ns = sim_monotonic_ns();

	for (; done != run; done++) {
		struct sim_job *job = queue->ring[done & queue->mask];

		if (is_held(queue, job, now_ns))
			return job->due_ns;
		complete_job(queue, job, done);
	}
	return SIM_JOB_NEVER_DUE;
}

/* By CLOCK_MONOTONIC. */
static uint64_t release_locked(struct sim_queue *queue)
{
	uint64_t due_ns;

	if (!queue->time)
		return release_unclocked(queue);
	due_ns = queue_time_release(queue);
	return due_ns == SIM_JOB_NEVER_DUE || queue_time_is_virtual(queue->time) ?
		       SIM_JOB_NEVER_DUE :
		       queue_time_real_ns(queue->time, due_ns);
}

static inline void run_job(struct sim_queue *queue, struct sim_job *job)
{
	job->held = job->brief = false;
	if (atomic_load_explicit(&queue->failed, memory_order_relaxed)) {
		job->status = -ECANCELED;
	} else {
		job->status = job->run(job);
		if (job->status < 0)
			atomic_store_explicit(&queue->failed, true, memory_order_relaxed);
	}
}

static __attribute__((noinline)) void run_timed(struct sim_queue *queue, uint32_t run)
{
	uint64_t begun_ns = queue_time_now_ns(queue->time);

	run_job(queue, queue->ring[run & queue->mask]);
	queue_time_job_ran(queue, run, begun_ns);
	atomic_store_explicit(&queue->run, run + 1, memory_order_release);
}

/* Whether it was brief. */
static inline bool run_locked(struct sim_queue *queue, uint32_t run)
{
	struct sim_job *job = queue->ring[run & queue->mask];
	bool in_order = !has_held(queue), brief;

	if (__builtin_expect(queue->time != NULL, 0)) {
		run_timed(queue, run);
		return false;
	}
	run_job(queue, job);
	brief = job->brief;
	in_order &= !job->held;
	atomic_store_explicit(&queue->run, run + 1, memory_order_release);
	if (in_order)
		complete_job(queue, job, run);
	return brief;
}

static inline __attribute__((always_inline)) bool run_some(struct sim_queue *queue)
{
	uint32_t run, first, end;

	if (!sim_queue_has_pending(queue) || atomic_flag_test_and_set_explicit(&queue->running, memory_order_acquire))
		return false;
	first = run = atomic_load_explicit(&queue->run, memory_order_relaxed);
	end = atomic_load_explicit(&queue->tail, memory_order_acquire);
	if ((int32_t)(end - first) > MAX_BRIEF)
		end = first + MAX_BRIEF;
	while (run != end && run_locked(queue, run++))
		;
	atomic_flag_clear_explicit(&queue->running, memory_order_release);
	return run != first;
}

bool sim_queue_run_some(struct sim_queue *queue)
{
	return run_some(queue);
}

uint64_t sim_queue_release(struct sim_queue *queue)
{
	uint64_t due_ns;

	if (!has_held(queue))
		return SIM_JOB_NEVER_DUE;
	if (atomic_flag_test_and_set_explicit(&queue->running, memory_order_acquire))
		return 0; /* somebody is at it: look again soon */
	due_ns = release_locked(queue);
	atomic_flag_clear_explicit(&queue->running, memory_order_release);
	return due_ns;
}

struct sim_job *sim_queue_poll(struct sim_queue *queue)
{
	if (!sim_queue_has_done(queue)) {
		run_some(queue);
		if (has_held(queue))
			sim_queue_release(queue);
		if (!sim_queue_has_done(queue))
			return NULL;
	}
	return queue->ring[queue->head++ & queue->mask];
}

void sim_queue_drain(struct sim_queue *queue)
{
	while (sim_queue_has_pending(queue))
		if (!sim_queue_run_some(queue))
			sched_yield(); /* the engine's thread is at it */
}

uint64_t sim_queue_advance(struct sim_queue *queue)
{
	uint64_t due_ns;

	if (!queue->time)
		return SIM_JOB_NEVER_DUE;
	sim_queue_drain(queue);
	if (!has_held(queue))
		return SIM_JOB_NEVER_DUE;
	while (atomic_flag_test_and_set_explicit(&queue->running, memory_order_acquire))
		sched_yield(); /* the engine's thread is at it */
	due_ns = queue_time_release(queue);
	atomic_flag_clear_explicit(&queue->running, memory_order_release);
	return due_ns;
}

void sim_queue_flush(struct sim_queue *queue)
{
	atomic_store(&queue->flushed, true);
	atomic_store(&queue->failed, true);
	atomic_store(&queue->tail, queue->staged);
	if (sim_queue_in_flight(queue) > 0)
		sim_queue_notify(queue); /* a poll will find them, if not at once */
}

void sim_queue_set_notify(struct sim_queue *queue, bool wanted)
{
	/* An exchange, here and in notify: who comes second sees what the first did before,
	 * the owner the job's end, or the engine's thread the wish. */
	atomic_exchange(&queue->notify_wanted, wanted);
}

void sim_queue_arm_timer(struct sim_queue *queue)
{
	uint64_t due_ns = sim_queue_release(queue);

	if (due_ns != SIM_JOB_NEVER_DUE)
		sim_engine_wake_at(queue->engine, due_ns);
}

void sim_queue_notify(struct sim_queue *queue)
{
	if (atomic_exchange(&queue->notify_wanted, false))
		queue->notify(queue->notify_arg);
}

uint64_t sim_queue_now_ns(const struct sim_queue *queue)
{
	return queue->time ? queue_time_now_ns(queue->time) : sim_monotonic_ns();
}

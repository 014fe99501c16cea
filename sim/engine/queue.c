/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue's counters: submit, run, hold, complete, reap; and the engine's tick. */
#include "queue_priv.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>

#include "pcie_model/arith.h"
#include "sim/base/monotonic.h"

#define MAX_SHORT 16 /* short jobs that run under one lock */

uint32_t sim_queue_in_flight(const struct sim_queue *queue)
{
	return sim_queue_own(&queue->staged) - sim_queue_own(&queue->head);
}

void sim_queue_count(const struct sim_queue *queue, uint32_t *ret_submitted, uint32_t *ret_returned)
{
	*ret_returned = sim_queue_own(&queue->head); /* first, so that it is not the larger one */
	atomic_thread_fence(memory_order_acquire);
	*ret_submitted = sim_queue_own(&queue->staged);
}

uint32_t sim_queue_num_staged(const struct sim_queue *queue)
{
	return sim_queue_own(&queue->staged) - atomic_load_explicit(&queue->tail, memory_order_relaxed);
}

uint32_t sim_queue_num_withheld(const struct sim_queue *queue)
{
	uint32_t reported = atomic_load_explicit(&queue->reported, memory_order_acquire);

	return atomic_load_explicit(&queue->done, memory_order_relaxed) - reported;
}

static inline __attribute__((always_inline)) int stage(struct sim_queue *queue, struct sim_job *job)
{
	uint32_t staged = sim_queue_own(&queue->staged);

	if (staged - sim_queue_own(&queue->head) >= queue->max_jobs)
		return -EAGAIN;
	queue->ring[staged & queue->mask] = job;
	atomic_store_explicit(&queue->staged, staged + 1, memory_order_release); /* as sim_queue_add_own() */
	return 0;
}

int sim_queue_submit(struct sim_queue *queue, struct sim_job *job)
{
	return stage(queue, job);
}

static inline __attribute__((always_inline)) void ring(struct sim_queue *queue)
{
	struct sim_engine *engine = queue->engine;

	/* The doorbell writes tail and then reads awake; the engine's thread, before it sleeps, clears
	 * awake and then reads tail. All four are seq_cst, so at least one side sees the other's write. */
	atomic_store(&queue->tail, sim_queue_own(&queue->staged));
	if (!atomic_load(&engine->awake) && !atomic_exchange(&engine->awake, true))
		sim_engine_wake(engine);
}

static __attribute__((noinline)) void ring_clocked(struct sim_queue *queue)
{
	queue_clock_enqueue(queue, atomic_load_explicit(&queue->tail, memory_order_relaxed),
			    sim_queue_own(&queue->staged));
	ring(queue);
}

static inline __attribute__((always_inline)) void ring_doorbell(struct sim_queue *queue)
{
	if (__builtin_expect(queue->clock != NULL, 0))
		ring_clocked(queue);
	else
		ring(queue);
}

void sim_queue_doorbell(struct sim_queue *queue)
{
	ring_doorbell(queue);
}

int sim_queue_submit_now(struct sim_queue *queue, struct sim_job *job)
{
	int rc = stage(queue, job);

	if (rc == 0)
		ring_doorbell(queue);
	return rc;
}

static bool has_pending(const struct sim_queue *queue)
{
	return atomic_load(&queue->tail) != atomic_load_explicit(&queue->run, memory_order_acquire);
}

static inline bool has_reported(const struct sim_queue *queue)
{
	return (int32_t)(atomic_load_explicit(&queue->reported, memory_order_acquire) - sim_queue_own(&queue->head)) >
	       0;
}

bool sim_queue_has_done(const struct sim_queue *queue)
{
	/* A queue in error reports every job, the unsignaled ones too. */
	const _Atomic uint32_t *end =
		atomic_load_explicit(&queue->failed, memory_order_relaxed) ? &queue->done : &queue->reported;

	return (int32_t)(atomic_load_explicit(end, memory_order_acquire) - sim_queue_own(&queue->head)) > 0;
}

static inline bool has_held(const struct sim_queue *queue)
{
	return atomic_load_explicit(&queue->run, memory_order_relaxed) !=
	       atomic_load_explicit(&queue->done, memory_order_relaxed);
}

static inline bool try_lock(struct sim_queue *queue)
{
	return !atomic_flag_test_and_set_explicit(&queue->running, memory_order_acquire);
}

static inline void unlock(struct sim_queue *queue)
{
	atomic_flag_clear_explicit(&queue->running, memory_order_release);
}

/* Whether the completion of @job is still held; a flush ends that. */
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
		sim_queue_complete_job(queue, job, done);
	}
	return SIM_JOB_NEVER_DUE;
}

/* Returns as release(). */
static uint64_t release_locked(struct sim_queue *queue)
{
	uint64_t due_ns;

	if (!queue->clock)
		return release_unclocked(queue);
	due_ns = queue_clock_release(queue);
	return due_ns == SIM_JOB_NEVER_DUE || queue_clock_is_virtual(queue->clock) ?
		       SIM_JOB_NEVER_DUE :
		       queue_clock_real_ns(queue->clock, due_ns);
}

bool queue_find_memory(const struct sim_guard *guard, uintptr_t addr, struct sim_guarded_memory *ret_memory)
{
	const struct sim_queue *queue =
		(const struct sim_queue *)((const char *)guard - offsetof(struct sim_queue, guard));
	uint32_t run = atomic_load_explicit(&queue->run, memory_order_relaxed);

	return queue->memory && queue->memory->find(queue->ring[run & queue->mask], addr, ret_memory);
}

void sim_queue_set_memory(struct sim_queue *queue, const struct sim_queue_memory *memory)
{
	queue->memory = memory;
}

/* The job ran, and memory of it was not there, or protected. */
static __attribute__((noinline, cold)) void settle_faults(struct sim_queue *queue, struct sim_job *job)
{
	const struct sim_guard guard = queue->guard;

	sim_guard_settle(&queue->guard);
	if (guard.is_lost)
		job->status = -EIO;
	queue->memory->has_faulted(job, &guard);
}

static inline void run_job(struct sim_queue *queue, struct sim_job *job)
{
	job->held = job->is_short = false;
	if (atomic_load_explicit(&queue->failed, memory_order_relaxed)) {
		job->status = -ECANCELED;
	} else {
		job->status = job->run(job);
		if (__builtin_expect(queue->guard.has_faulted, 0))
			settle_faults(queue, job);
		if (job->status < 0)
			atomic_store_explicit(&queue->failed, true, memory_order_relaxed);
	}
}

static __attribute__((noinline)) void run_clocked(struct sim_queue *queue, uint32_t run)
{
	uint64_t begun_ns = queue_clock_now_ns(queue->clock);

	run_job(queue, queue->ring[run & queue->mask]);
	queue_clock_job_ran(queue, run, begun_ns);
	atomic_store_explicit(&queue->run, run + 1, memory_order_release);
}

/* *in_order: all jobs before it are done; of the next job, when this returns. Returns whether the job was short. */
static inline bool run_locked(struct sim_queue *queue, uint32_t run, bool *in_order)
{
	struct sim_job *job = queue->ring[run & queue->mask];
	bool is_short;

	if (__builtin_expect(queue->clock != NULL, 0)) {
		run_clocked(queue, run);
		return false;
	}
	run_job(queue, job);
	is_short = job->is_short;
	*in_order &= !job->held;
	atomic_store_explicit(&queue->run, run + 1, memory_order_release);
	if (*in_order)
		sim_queue_complete_job(queue, job, run);
	return is_short;
}

/* Run the oldest queued job, unless another thread runs the queue, and the jobs behind it as long as
 * they are short. Returns whether any ran. */
static inline __attribute__((always_inline)) bool run_some(struct sim_queue *queue)
{
	uint32_t run, first, end;
	bool in_order;

	if (!has_pending(queue) || !try_lock(queue))
		return false;
	first = run = atomic_load_explicit(&queue->run, memory_order_relaxed);
	end = atomic_load_explicit(&queue->tail, memory_order_acquire);
	if ((int32_t)(end - first) > MAX_SHORT)
		end = first + MAX_SHORT;
	if (__builtin_expect(queue->shuffle_run != 0, 0) && run != end) { /* the other thread may have run all */
		queue_shuffle_next(queue, run, atomic_load_explicit(&queue->tail, memory_order_acquire));
		end = run + 1; /* the next job is chosen anew */
	}
	in_order = !has_held(queue);
	sim_guard_begin(&queue->guard);
	while (run != end && run_locked(queue, run++, &in_order))
		;
	sim_guard_end();
	unlock(queue);
	return run != first;
}

/* Complete the jobs that are due. Returns when, by CLOCK_MONOTONIC, the next one is
 * due: 0 = try again soon, SIM_JOB_NEVER_DUE = no job is held until a time. */
static uint64_t release(struct sim_queue *queue)
{
	uint64_t due_ns;

	if (!has_held(queue))
		return SIM_JOB_NEVER_DUE;
	if (!try_lock(queue))
		return 0; /* another thread runs the queue */
	due_ns = release_locked(queue);
	unlock(queue);
	return due_ns;
}

static inline struct sim_job *reap(struct sim_queue *queue)
{
	return queue->ring[sim_queue_add_own(&queue->head) & queue->mask];
}

static __attribute__((noinline)) struct sim_job *run_and_poll(struct sim_queue *queue)
{
	if (sim_queue_has_done(queue))
		return reap(queue);
	if (__builtin_expect(queue->shuffle_poll != 0, 0) && queue_shuffle_poll_is_empty(queue))
		return NULL;
	run_some(queue);
	if (has_held(queue))
		release(queue);
	return sim_queue_has_done(queue) ? reap(queue) : NULL;
}

struct sim_job *sim_queue_poll(struct sim_queue *queue)
{
	return __builtin_expect(has_reported(queue), 1) ? reap(queue) : run_and_poll(queue);
}

static void lock(struct sim_queue *queue)
{
	while (!try_lock(queue))
		sched_yield(); /* the engine's thread runs the queue */
}

void sim_queue_drain(struct sim_queue *queue)
{
	while (has_pending(queue))
		if (!run_some(queue))
			sched_yield(); /* the engine's thread runs the queue */
	/* A job has run before it is done: the engine's thread may be between the two. */
	lock(queue);
	unlock(queue);
}

uint64_t sim_queue_advance(struct sim_queue *queue)
{
	uint64_t due_ns;

	if (!queue->clock)
		return SIM_JOB_NEVER_DUE;
	sim_queue_drain(queue);
	if (!has_held(queue))
		return SIM_JOB_NEVER_DUE;
	lock(queue);
	due_ns = queue_clock_release(queue);
	unlock(queue);
	return due_ns;
}

void sim_queue_fail(struct sim_queue *queue)
{
	atomic_store(&queue->failed, true);
}

void sim_queue_flush(struct sim_queue *queue)
{
	atomic_store(&queue->flushed, true);
	sim_queue_fail(queue);
	atomic_store(&queue->tail, sim_queue_own(&queue->staged));
	if (sim_queue_in_flight(queue) > 0)
		sim_queue_notify(queue); /* the owner's next polls return the jobs */
}

void sim_queue_set_notify(struct sim_queue *queue, bool wanted)
{
	/* Both sides exchange, here and in notify: the second one sees what the first one wrote before,
	 * so that the owner sees the completion or the engine's thread sees notify_wanted. */
	atomic_exchange(&queue->notify_wanted, wanted);
}

void sim_queue_arm_timer(struct sim_queue *queue)
{
	uint64_t due_ns = release(queue);

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
	return queue->clock ? queue_clock_now_ns(queue->clock) : sim_monotonic_ns();
}

/* ---- the engine's tick ---- */

/* Run what was queued when @tail was read: an owner that goes on submitting must not keep the other queues waiting. */
static void run_unpolled(struct sim_queue *queue, uint32_t tail)
{
	uint32_t reported = atomic_load_explicit(&queue->reported, memory_order_relaxed);

	while ((int32_t)(tail - atomic_load_explicit(&queue->run, memory_order_relaxed)) > 0)
		if (!run_some(queue))
			break; /* the owner runs the queue */
	if (atomic_load_explicit(&queue->reported, memory_order_relaxed) != reported)
		sim_queue_notify(queue);
}

/* Returns as release(). In virtual time the owner releases, as it moves that time. */
static uint64_t release_on_tick(struct sim_queue *queue)
{
	uint32_t reported = atomic_load_explicit(&queue->reported, memory_order_relaxed);
	uint64_t due_ns;

	if (queue_clock_is_virtual(queue->clock))
		return SIM_JOB_NEVER_DUE;
	due_ns = release(queue);
	if (atomic_load_explicit(&queue->reported, memory_order_relaxed) != reported)
		sim_queue_notify(queue);
	return due_ns;
}

/* In virtual time the owner runs its jobs itself, however long the machine keeps it from its CPU: what a job does, and its
 * recording, are in the order of virtual time. */
static bool is_left_to_owner(const struct sim_queue *queue)
{
	return queue_clock_is_virtual(queue->clock) && queue->unpolled_ns < queue_clock_patience_ns(queue);
}

/* How many ticks in a row have found the same jobs, and for how long: a machine that stood still is no reason to count more than
 * a tick. */
static void count_unpolled(struct sim_queue *queue, bool is_same)
{
	uint64_t now_ns = sim_monotonic_ns();

	if (is_same) {
		queue->num_unpolled_ticks++;
		queue->unpolled_ns += min_u64(now_ns - queue->last_tick_ns, SIM_ENGINE_RARE_TICK_NS);
	} else {
		queue->num_unpolled_ticks = 0;
		queue->unpolled_ns = 0;
	}
	queue->last_tick_ns = now_ns;
}

bool queue_tick(struct sim_engine_member *member, uint64_t *next_ns)
{
	struct sim_queue *queue = (struct sim_queue *)((char *)member - offsetof(struct sim_queue, member));
	uint32_t tail = atomic_load(&queue->tail); /* before the look at the owner, who may be about to submit more */
	uint32_t run = atomic_load_explicit(&queue->run, memory_order_acquire);
	bool pending = tail != run;
	uint64_t due_ns;

	count_unpolled(queue, pending && queue->was_pending && queue->last_tick_run == run);
	queue->last_tick_run = run;
	queue->was_pending = pending;
	if (pending && is_left_to_owner(queue)) {
		*next_ns = min_u64(*next_ns, queue->last_tick_ns + SIM_ENGINE_RARE_TICK_NS);
		return false;
	}
	if (pending && queue->num_unpolled_ticks > 0)
		run_unpolled(queue, tail);
	due_ns = release_on_tick(queue);
	if (due_ns != 0)
		*next_ns = min_u64(*next_ns, due_ns);
	return pending || due_ns != SIM_JOB_NEVER_DUE;
}

/* Whether all queued jobs are done. If not, another thread that is the owner can't be about to change what is_own() reads. */
static bool is_done(const struct sim_queue *queue)
{
	return atomic_load_explicit(&queue->tail, memory_order_acquire) ==
	       atomic_load_explicit(&queue->done, memory_order_relaxed);
}

uint64_t queue_advance_own(struct sim_engine_member *member)
{
	struct sim_queue *queue = (struct sim_queue *)((char *)member - offsetof(struct sim_queue, member));

	if (!queue_clock_is_virtual(queue->clock) || is_done(queue) || !queue_clock_is_own(queue))
		return SIM_JOB_NEVER_DUE;
	return sim_queue_advance(queue);
}

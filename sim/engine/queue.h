/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/engine/queue.h - one job queue of a card's engine: jobs run and complete in order.
 *
 *   submit --> [staged] --doorbell--> [queued] --> [running] --> [ran] --due--> [done] --> reaped by the owner
 *
 * Jobs are staged until the owner rings the doorbell, as on hardware. An
 * unsignaled job is reported only together with a later job that is signaled. A
 * job that sets a due time is held until then, and the jobs behind it as well.
 *
 * The owner (one thread at a time) submits and reaps. The owner's thread runs a
 * job when it polls; the engine's thread (engine.h) runs jobs that the owner does
 * not poll for a while; in virtual time, that it can't be expected to run
 * (sim_queue_time.patience_ns()). An owner that blocks in virtual time runs them first (sim_engine_advance_own()). The queue's lock admits one of the two. While the owner
 * polls, submit and reap allocate nothing and make no system call.
 *
 * The first job that fails puts the queue into error: jobs behind it do not run
 * and complete with -ECANCELED, as do all jobs that sim_queue_flush() finds.
 * After a flush no job is held; a job that is never due is canceled as well.
 *
 * With a clock (sim_queue_set_clock()) jobs also take model time. A job moves its
 * bytes at once, but arrives at the card's engine when the model says, and is
 * held until the model's end of it. A delay that the job sets itself is added.
 *
 * A shuffled queue (sim_queue_set_shuffle()) takes any of the waiting jobs next: jobs complete in the order in which
 * they ran, which is not that of their submission.
 */
#ifndef SIM_ENGINE_QUEUE_H
#define SIM_ENGINE_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pcie_job;
struct sim_clock;
struct sim_guard;
struct sim_guarded_memory;
struct sim_engine;
struct sim_queue;

#define SIM_JOB_NEVER_DUE UINT64_MAX

/* A job: embedded in the task of the library that submits it. */
struct sim_job {
	/* Do the work; returns 0 or -errno. Called once, in any thread. */
	int (*run)(struct sim_job *job);
	int status;      /* 0 or -errno; valid once reaped */
	bool unsignaled; /* set before submit: report the job only together with a later one */
	bool is_short;   /* set by run: the next job may run before the owner looks at this one's completion */
	bool held;       /* set by run: the completion is held until due_ns */
	uint64_t due_ns; /* by sim_queue_now_ns(), or SIM_JOB_NEVER_DUE */
};

/* Create a queue for up to @max_jobs in flight (any number > 0). @engine outlives
 * the queue. The engine's thread calls @notify(@arg) when it reports a job and the
 * owner asked for that (sim_queue_set_notify()); see also sim_queue_notify().
 * Returns 0 or -ENOMEM. */
int sim_queue_create(struct sim_engine *engine, uint32_t max_jobs, void (*notify)(void *arg), void *arg,
		     struct sim_queue **ret_queue);

/* The model time of jobs. */
struct sim_queue_time {
	const struct sim_clock *clock; /* borrowed */
	uint32_t function;             /* through which jobs reach the card */
	/* Get the work of @job when it is queued, and again when it has run if the work says so (is_sized_by_run).
	 * Returns false if the job takes no model time. */
	bool (*work)(const struct sim_job *job, struct pcie_job *ret_work);
	/* In virtual time, called with notify's argument before jobs are queued. */
	void (*mark_busy)(void *arg);
	/* In virtual time, called with notify's argument by a thread that is about to block: whether it is the owner. */
	bool (*is_own)(void *arg);
	/* In virtual time, called with notify's argument while jobs are queued: how long, in real time, the engine's thread leaves
	 * them to the owner. Engine's thread. */
	uint64_t (*patience_ns)(void *arg);
	/* In timed mode, called with notify's argument when the completion of a job comes @late_ns after the model's time: by
	 * more than SIM_LATE_NS and a tenth of what the model takes. Any thread; not twice at once. May be NULL. */
	void (*is_late)(void *arg, uint64_t late_ns);
};

#define SIM_LATE_NS 1000

/* Give the queue a clock, before the first job. A functional clock, or NULL, changes
 * nothing. Returns 0 or -ENOMEM. */
int sim_queue_set_clock(struct sim_queue *queue, const struct sim_queue_time *cfg);

/* The memory that jobs access (sim/base/memory_guard.h). */
struct sim_queue_memory {
	/* In a signal handler: returns false if the job has no business at @addr. */
	bool (*find)(const struct sim_job *job, uintptr_t addr, struct sim_guarded_memory *ret_memory);
	/* The job ran, and met faults: memory was protected, or was not there and the job fails. */
	void (*has_faulted)(const struct sim_job *job, const struct sim_guard *guard);
};

/* Guard the accesses of jobs, before the first job. @memory is borrowed. */
void sim_queue_set_memory(struct sim_queue *queue, const struct sim_queue_memory *memory);

/* Run jobs that wait in a random order, and now and then find none, as a card may; before the first job. The same
 * @seed and the same calls give the same order. Seed 0, or a queue with a clock: nothing changes. */
void sim_queue_set_shuffle(struct sim_queue *queue, uint64_t seed);

/* Free the queue; jobs still in it get no completion. NULL is fine. */
void sim_queue_destroy(struct sim_queue *queue);

/* Allow up to @max_jobs in flight, more than before. The owner calls this; jobs may be in flight. Returns 0 or -ENOMEM,
 * with nothing changed. */
int sim_queue_grow(struct sim_queue *queue, uint32_t max_jobs);

/* Stage @job behind the others. Returns 0, or -EAGAIN when max_jobs are in flight. */
int sim_queue_submit(struct sim_queue *queue, struct sim_job *job);

/* Queue the staged jobs; they run even if the owner does not poll. */
void sim_queue_doorbell(struct sim_queue *queue);

/* Both in one call. Returns as sim_queue_submit(). */
int sim_queue_submit_now(struct sim_queue *queue, struct sim_job *job);

/* Run a job if none is done. Returns the oldest job that is reported and reaps it, or NULL. */
struct sim_job *sim_queue_poll(struct sim_queue *queue);

/* Run all queued jobs, in this thread. */
void sim_queue_drain(struct sim_queue *queue);

/* From now on, jobs that have not started complete with -ECANCELED, those that
 * are submitted later included. For the owner. */
void sim_queue_fail(struct sim_queue *queue);

/* From now on, jobs that have not started, staged ones included, complete with
 * -ECANCELED, unsignaled jobs are reported and no job is held. If a job is in
 * flight, notify is called as by sim_queue_notify(). */
void sim_queue_flush(struct sim_queue *queue);

/* Whether a reported job waits to be reaped. */
bool sim_queue_has_done(const struct sim_queue *queue);

/* Ask (or no longer ask) for a call of notify when the next job is reported. */
void sim_queue_set_notify(struct sim_queue *queue, bool wanted);

/* After sim_queue_set_notify() and sim_queue_drain(): have the engine's thread complete held jobs. */
void sim_queue_arm_timer(struct sim_queue *queue);

/* In virtual time: run all queued jobs and complete those that are due. Returns the
 * session time of the next step, or SIM_JOB_NEVER_DUE. */
uint64_t sim_queue_advance(struct sim_queue *queue);

/* Call notify now, if the owner asked for it. */
void sim_queue_notify(struct sim_queue *queue);

/* The time to which due_ns refers: the clock's, or CLOCK_MONOTONIC. */
uint64_t sim_queue_now_ns(const struct sim_queue *queue);

/* Jobs submitted and not yet reaped. */
uint32_t sim_queue_in_flight(const struct sim_queue *queue);

/* The numbers of jobs that were ever submitted and reaped, modulo 2^32, as another thread sees them. */
void sim_queue_count(const struct sim_queue *queue, uint32_t *ret_submitted, uint32_t *ret_returned);

/* Jobs that wait for a doorbell; the owner calls this. */
uint32_t sim_queue_num_staged(const struct sim_queue *queue);

/* Unsignaled jobs that are done, and wait for a signaled one; the owner calls this. */
uint32_t sim_queue_num_withheld(const struct sim_queue *queue);

#endif

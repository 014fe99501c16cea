/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/engine/queue.h - one job queue of a card's engine: jobs run and complete in order.
 *
 *   submit --> [staged] --doorbell--> [queued] --> [running] --> [ran] --due--> [done] --> reaped by the owner
 *
 * Jobs are staged until the owner rings the doorbell, as on hardware. A job
 * marked quiet reports its end only together with a later job that is not. One
 * that says when it is due has its end held back until then, and with it the
 * ends of those behind it.
 *
 * The owner (one thread at a time) submits and reaps. A job runs in whichever
 * thread comes first: the owner's, when it polls, or the engine's (engine.h), when
 * the owner does not poll for a while; the queue's lock lets one of them in.
 * Nothing is allocated and no system call is made between submit and reap
 * while the owner polls.
 *
 * The first job that fails puts the queue into error: jobs behind it do not run
 * and complete with -ECANCELED, as does all that sim_queue_flush() meets.
 * After a flush no end is held back, and what would never have been due is
 * canceled, too.
 *
 * With a clock (sim_queue_set_clock()) jobs take model time as well. Their bytes
 * move as soon as ever, but each arrives at the card's engine when the model says,
 * and its end is held back until it could be known; what the job itself adds to
 * that comes on top.
 */
#ifndef SIM_ENGINE_QUEUE_H
#define SIM_ENGINE_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pcie_job;
struct sim_clock;
struct sim_engine;
struct sim_queue;

#define SIM_JOB_NEVER_DUE UINT64_MAX

/* A job: embedded in the task of the library that submits it. */
struct sim_job {
	/* Do the work; returns 0 or -errno. Runs in any thread, never in two. */
	int (*run)(struct sim_job *job);
	int status;      /* 0 or -errno; valid once reaped */
	bool quiet;      /* set before submit: do not report this one's end by itself */
	bool brief;      /* set by run: it took so little that another may run before anyone looks at its end */
	bool held;       /* set by run: its end is held back until ... */
	uint64_t due_ns; /* ... this, by sim_queue_now_ns(), or SIM_JOB_NEVER_DUE */
};

/* Create a queue for up to @max_jobs in flight (any number > 0). When a job
 * finishes and is reported while the owner sleeps (sim_queue_set_notify()),
 * @notify(arg) is called in the engine's thread; see sim_queue_notify() too.
 * @engine outlives the queue. 0 or -ENOMEM. */
int sim_queue_create(struct sim_engine *engine, uint32_t max_jobs, void (*notify)(void *arg), void *arg,
		     struct sim_queue **ret_queue);

/* How jobs take time. */
struct sim_queue_time {
	const struct sim_clock *clock; /* borrowed */
	uint32_t function;             /* by way of which they reach the card */
	/* What @job asks of the card, as it is when it is queued; false: it takes no time. */
	bool (*work)(const struct sim_job *job, struct pcie_job *ret_work);
	/* Called with notify's argument before jobs are queued, in virtual time. */
	void (*mark_busy)(void *arg);
};

/* Before the first job: give the queue a clock. A functional one, and NULL, change nothing. 0 or -ENOMEM. */
int sim_queue_set_clock(struct sim_queue *queue, const struct sim_queue_time *cfg);

/* Free the queue; jobs still in it are forgotten. NULL is fine. */
void sim_queue_destroy(struct sim_queue *queue);

/* Stage @job behind the others. Returns 0, or -EAGAIN when max_jobs are in flight. */
int sim_queue_submit(struct sim_queue *queue, struct sim_job *job);

/* Queue what is staged; it runs even if nobody polls. */
void sim_queue_doorbell(struct sim_queue *queue);

/* Run a job if none is done, and take the oldest one whose end is reported; NULL: none. */
struct sim_job *sim_queue_poll(struct sim_queue *queue);

/* Run all that is queued, in this thread. */
void sim_queue_drain(struct sim_queue *queue);

/* Jobs that have not started, the staged ones too, complete with -ECANCELED from
 * now on, quiet ones are reported, and no end is held back. If any is in flight, notify is called as by
 * sim_queue_notify(). */
void sim_queue_flush(struct sim_queue *queue);

/* Whether a job whose end is reported waits to be reaped. */
bool sim_queue_has_done(const struct sim_queue *queue);

/* Want (or no longer want) a call of notify for the next job that finishes and is reported. */
void sim_queue_set_notify(struct sim_queue *queue, bool wanted);

/* With that wanted and the queue drained: have the engine's thread see to ends that are held back. */
void sim_queue_arm_timer(struct sim_queue *queue);

/* In virtual time: run all that is queued and let go of the ends that are due. Returns
 * when there is next something to do for the clock, SIM_JOB_NEVER_DUE = there is not. */
uint64_t sim_queue_advance(struct sim_queue *queue);

/* Call notify now if that is wanted: the owner has news for itself. */
void sim_queue_notify(struct sim_queue *queue);

/* The time by which ends are due: the clock's, or CLOCK_MONOTONIC. */
uint64_t sim_queue_now_ns(const struct sim_queue *queue);

/* Jobs submitted and not yet reaped. */
uint32_t sim_queue_in_flight(const struct sim_queue *queue);

#endif

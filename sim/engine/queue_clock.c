/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue's jobs in model time.
 *
 *   queued --arrival--> [at the card's engine] --end, and what the job itself adds--> due
 *
 * Jobs are handed to the model in the order of the queue, each when its arrival
 * has come and not before: so that jobs of others that arrive earlier are served
 * earlier.
 */
#include <errno.h>
#include <stdlib.h>

#include "engine_priv.h"
#include "pcie_model/arith.h"
#include "sim/clock/clock.h"

struct job_time {
	struct pcie_job work;
	bool takes_time;
	uint64_t arrival_ps;
	uint64_t delay_ns; /* what it adds */
	uint64_t due_ns;   /* once it has arrived */
};

struct queue_time {
	struct sim_queue_time cfg;
	struct pcie_queue_state issuer; /* the owner's */
	uint32_t arrived;               /* counts on as the queue's do; under its lock */
	struct job_time jobs[];         /* by the ring's slots */
};

int sim_queue_set_clock(struct sim_queue *queue, const struct sim_queue_time *cfg)
{
	struct queue_time *time;
	size_t slots = (size_t)queue->mask + 1;

	if (!cfg->clock || sim_clock_mode(cfg->clock) == SIM_CLOCK_FUNCTIONAL)
		return 0;
	time = calloc(1, sizeof(*time) + slots * sizeof(time->jobs[0]));
	if (!time)
		return -ENOMEM;
	time->cfg = *cfg;
	sim_queue_lock_engine(queue);
	queue->time = time;
	pthread_mutex_unlock(&queue->engine->lock);
	return 0;
}

void queue_time_free(struct queue_time *time)
{
	free(time);
}

bool queue_time_is_virtual(const struct queue_time *time)
{
	return time && sim_clock_mode(time->cfg.clock) == SIM_CLOCK_VIRTUAL;
}

uint64_t queue_time_now_ns(const struct queue_time *time)
{
	return sim_clock_now_ns(time->cfg.clock);
}

uint64_t queue_time_real_ns(const struct queue_time *time, uint64_t ns)
{
	return sim_clock_real_ns(time->cfg.clock, ns);
}

void queue_time_enqueue(struct sim_queue *queue, uint32_t from, uint32_t to)
{
	struct queue_time *time = queue->time;

	if (queue_time_is_virtual(time) && from != to)
		time->cfg.mark_busy(queue->notify_arg);
	for (; from != to; from++) {
		const struct sim_job *job = queue->ring[from & queue->mask];
		struct job_time *timing = &time->jobs[from & queue->mask];

		*timing = (struct job_time){ .work = { .unsignaled = job->quiet } };
		timing->takes_time = time->cfg.work(job, &timing->work);
		if (timing->takes_time)
			timing->arrival_ps =
				sim_clock_arrival_ps(time->cfg.clock, time->cfg.function, &timing->work, &time->issuer);
	}
}

void queue_time_job_ran(struct sim_queue *queue, uint32_t number, uint64_t begun_ns)
{
	const struct sim_job *job = queue->ring[number & queue->mask];
	struct job_time *timing = &queue->time->jobs[number & queue->mask];

	if (job->status == -ECANCELED)
		timing->takes_time = false; /* it never got there */
	timing->delay_ns = !job->held                       ? 0 :
			   job->due_ns == SIM_JOB_NEVER_DUE ? SIM_JOB_NEVER_DUE :
			   job->due_ns > begun_ns           ? job->due_ns - begun_ns :
							      0;
}

static uint64_t arrival_ns(const struct job_time *timing)
{
	return timing->takes_time ? sim_clock_ns(timing->arrival_ps) : 0;
}

static void compute_due_time(const struct queue_time *time, struct job_time *timing, uint64_t now_ns)
{
	uint64_t end_ns = now_ns;

	if (timing->takes_time)
		end_ns = sim_clock_ns(
			sim_clock_end_ps(time->cfg.clock, time->cfg.function, &timing->work, timing->arrival_ps));
	timing->due_ns = add_saturating_u64(end_ns, timing->delay_ns);
}

/* All that ran ends, now. */
static void release_flushed(struct sim_queue *queue, uint32_t run)
{
	struct queue_time *time = queue->time;

	for (uint32_t done = atomic_load_explicit(&queue->done, memory_order_relaxed); done != run; done++) {
		struct sim_job *job = queue->ring[done & queue->mask];

		if (time->jobs[done & queue->mask].delay_ns == SIM_JOB_NEVER_DUE)
			job->status = -ECANCELED;
		sim_queue_complete_job(queue, job, done);
	}
	time->arrived = run;
}

uint64_t queue_time_release(struct sim_queue *queue)
{
	struct queue_time *time = queue->time;
	uint32_t run = atomic_load_explicit(&queue->run, memory_order_relaxed);
	uint32_t done = atomic_load_explicit(&queue->done, memory_order_relaxed);
	uint64_t now_ns, next_ns = SIM_JOB_NEVER_DUE;

	if (atomic_load_explicit(&queue->flushed, memory_order_relaxed)) {
		release_flushed(queue, run);
		return SIM_JOB_NEVER_DUE;
	}
	now_ns = sim_clock_now_ns(time->cfg.clock);
	for (; time->arrived != run; time->arrived++) {
		struct job_time *timing = &time->jobs[time->arrived & queue->mask];

		if (arrival_ns(timing) > now_ns) {
			next_ns = arrival_ns(timing);
			break;
		}
		compute_due_time(time, timing, now_ns);
	}
	for (; done != time->arrived; done++) {
		uint64_t due_ns = time->jobs[done & queue->mask].due_ns;

		if (due_ns > now_ns)
			return due_ns < next_ns ? due_ns : next_ns;
		sim_queue_complete_job(queue, queue->ring[done & queue->mask], done);
	}
	return next_ns;
}

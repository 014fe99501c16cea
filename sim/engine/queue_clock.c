/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue's jobs in model time.
 *
 *   queued --arrival--> [at the card's engine] --end, plus the job's own delay--> due
 *
 * Jobs reach the model in the order of the queue, each one when its arrival time
 * has come and not before: jobs of other queues that arrive earlier are served
 * earlier. The thread that rings the doorbells spends the issuer's time on one job
 * after the other, whichever the queue: its jobs arrive in the order of its doorbells.
 */
#include "queue_priv.h"

#include <errno.h>
#include <stdlib.h>

#include "pcie_model/arith.h"
#include "sim/clock/clock.h"

struct job_time {
	struct pcie_job work;
	bool takes_time;
	uint64_t arrival_ps;
	uint64_t delay_ns; /* what the job itself adds */
	uint64_t due_ns;   /* valid once the job has arrived */
};

struct queue_clock {
	struct sim_queue_time cfg;
	uint64_t last_arrival_ps; /* of the queue's jobs: threads may take turns with it */
	uint32_t arrived;         /* free-running, as the queue's counters; under the queue's lock */
	struct job_time jobs[];   /* by the ring's slots */
};

/* What the calling thread submits, to all queues of one clock. */
static _Thread_local struct {
	uint64_t clock_number; /* sim_clock_number(); 0 = none yet */
	struct pcie_queue_state state;
} issuer;

static uint64_t submit_job(struct queue_clock *clock, const struct pcie_job *job)
{
	const struct sim_queue_time *cfg = &clock->cfg;
	uint64_t arrival_ps;

	if (issuer.clock_number != sim_clock_number(cfg->clock)) {
		issuer.clock_number = sim_clock_number(cfg->clock);
		issuer.state = (struct pcie_queue_state){ 0 };
	}
	arrival_ps = sim_clock_arrival_ps(cfg->clock, cfg->function, job, &issuer.state);
	clock->last_arrival_ps = max_u64(clock->last_arrival_ps, arrival_ps);
	return clock->last_arrival_ps;
}

int queue_clock_create(const struct sim_queue_time *cfg, uint32_t num_slots, struct queue_clock **ret_clock)
{
	struct queue_clock *clock = calloc(1, sizeof(*clock) + num_slots * sizeof(clock->jobs[0]));

	if (!clock)
		return -ENOMEM;
	clock->cfg = *cfg;
	*ret_clock = clock;
	return 0;
}

int queue_clock_grow(struct queue_clock **clock, const struct sim_queue *queue, uint32_t num_slots)
{
	const struct queue_clock *old = *clock;
	struct queue_clock *grown;

	if (queue_clock_create(&old->cfg, num_slots, &grown) < 0)
		return -ENOMEM;
	grown->last_arrival_ps = old->last_arrival_ps;
	grown->arrived = old->arrived;
	for (uint32_t n = sim_queue_own(&queue->head); n != sim_queue_own(&queue->staged); n++)
		grown->jobs[n & (num_slots - 1)] = old->jobs[n & queue->mask];
	free(*clock);
	*clock = grown;
	return 0;
}

bool queue_clock_is_virtual(const struct queue_clock *clock)
{
	return clock && sim_clock_mode(clock->cfg.clock) == SIM_CLOCK_VIRTUAL;
}

bool queue_clock_is_own(const struct sim_queue *queue)
{
	return queue->clock->cfg.is_own(queue->notify_arg);
}

uint64_t queue_clock_patience_ns(const struct sim_queue *queue)
{
	return queue->clock->cfg.patience_ns(queue->notify_arg);
}

uint64_t queue_clock_now_ns(const struct queue_clock *clock)
{
	return sim_clock_now_ns(clock->cfg.clock);
}

uint64_t queue_clock_real_ns(const struct queue_clock *clock, uint64_t ns)
{
	return sim_clock_real_ns(clock->cfg.clock, ns);
}

void queue_clock_enqueue(struct sim_queue *queue, uint32_t from, uint32_t to)
{
	struct queue_clock *clock = queue->clock;

	if (queue_clock_is_virtual(clock) && from != to)
		clock->cfg.mark_busy(queue->notify_arg);
	for (; from != to; from++) {
		const struct sim_job *job = queue->ring[from & queue->mask];
		struct job_time *timing = &clock->jobs[from & queue->mask];

		*timing = (struct job_time){ .work = { .unsignaled = job->unsignaled } };
		timing->takes_time = clock->cfg.work(job, &timing->work);
		if (timing->takes_time)
			timing->arrival_ps = submit_job(clock, &timing->work);
	}
}

static uint64_t own_delay_ns(const struct sim_job *job, uint64_t begun_ns)
{
	if (!job->held)
		return 0;
	if (job->due_ns == SIM_JOB_NEVER_DUE)
		return SIM_JOB_NEVER_DUE;
	return job->due_ns > begun_ns ? job->due_ns - begun_ns : 0;
}

void queue_clock_job_ran(struct sim_queue *queue, uint32_t number, uint64_t begun_ns)
{
	const struct sim_job *job = queue->ring[number & queue->mask];
	struct job_time *timing = &queue->clock->jobs[number & queue->mask];

	if (job->status == -ECANCELED)
		timing->takes_time = false; /* the job never reached the card */
	else if (timing->work.is_sized_by_run)
		queue->clock->cfg.work(job, &timing->work);
	timing->delay_ns = own_delay_ns(job, begun_ns);
}

static uint64_t arrival_ns(const struct job_time *timing)
{
	return timing->takes_time ? sim_clock_ns(timing->arrival_ps) : 0;
}

static void compute_due_time(const struct queue_clock *clock, struct job_time *timing, uint64_t now_ns)
{
	uint64_t end_ns = now_ns;

	if (timing->takes_time)
		end_ns = sim_clock_ns(
			sim_clock_end_ps(clock->cfg.clock, clock->cfg.function, &timing->work, timing->arrival_ps));
	timing->due_ns = add_saturating_u64(end_ns, timing->delay_ns);
}

/* Complete all jobs that ran, whenever they are due. */
static void release_flushed(struct sim_queue *queue, uint32_t run)
{
	struct queue_clock *clock = queue->clock;

	for (uint32_t done = atomic_load_explicit(&queue->done, memory_order_relaxed); done != run; done++) {
		struct sim_job *job = queue->ring[done & queue->mask];

		if (clock->jobs[done & queue->mask].delay_ns == SIM_JOB_NEVER_DUE)
			job->status = -ECANCELED;
		sim_queue_complete_job(queue, job, done);
	}
	clock->arrived = run;
}

static void note_late(struct sim_queue *queue, const struct job_time *timing, uint64_t now_ns)
{
	const struct sim_queue_time *cfg = &queue->clock->cfg;
	uint64_t late_ns = now_ns - timing->due_ns;

	if (cfg->is_late && timing->takes_time && late_ns > SIM_LATE_NS &&
	    late_ns > (timing->due_ns - sim_clock_ns(timing->arrival_ps)) / 10)
		cfg->is_late(queue->notify_arg, late_ns);
}

uint64_t queue_clock_release(struct sim_queue *queue)
{
	struct queue_clock *clock = queue->clock;
	uint32_t run = atomic_load_explicit(&queue->run, memory_order_relaxed);
	uint32_t done = atomic_load_explicit(&queue->done, memory_order_relaxed);
	uint64_t now_ns, next_ns = SIM_JOB_NEVER_DUE;

	if (atomic_load_explicit(&queue->flushed, memory_order_relaxed)) {
		release_flushed(queue, run);
		return SIM_JOB_NEVER_DUE;
	}
	now_ns = sim_clock_now_ns(clock->cfg.clock);
	for (; clock->arrived != run; clock->arrived++) {
		struct job_time *timing = &clock->jobs[clock->arrived & queue->mask];

		if (arrival_ns(timing) > now_ns) {
			next_ns = arrival_ns(timing);
			break;
		}
		compute_due_time(clock, timing, now_ns);
	}
	for (; done != clock->arrived; done++) {
		const struct job_time *timing = &clock->jobs[done & queue->mask];

		if (timing->due_ns > now_ns)
			return min_u64(timing->due_ns, next_ns);
		note_late(queue, timing, now_ns);
		sim_queue_complete_job(queue, queue->ring[done & queue->mask], done);
	}
	return next_ns;
}

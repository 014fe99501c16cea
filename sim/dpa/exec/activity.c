/* SPDX-License-Identifier: BSD-3-Clause */
/* States of activities. */
#include "activity.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "process_priv.h"
#include "sim/clock/call_mark.h"

enum state {
	STARTED,
	STARTED_PENDING,
	ARMED,
	QUEUED,
	RUNNING,
	RUNNING_PENDING,
	FINISHED,
	STOPPED,
	NUM_STATES,
};

struct sim_dpa_activity {
	struct sim_dpa_work work; /* first */
	struct sim_dpa_process *process;
	struct sim_dpa_activity_cfg cfg;
	struct sim_dpa_call_trace trace; /* of the event that runs the kernel */
	uint32_t id;
	enum state state; /* written by go() alone */
	uint64_t args[];  /* the kernel's block */
};

static const bool edges[NUM_STATES][NUM_STATES] = {
	[STARTED] = { [STARTED_PENDING] = true, [ARMED] = true, [STOPPED] = true },
	[STARTED_PENDING] = { [QUEUED] = true, [STOPPED] = true },
	[ARMED] = { [QUEUED] = true, [STOPPED] = true },
	[QUEUED] = { [RUNNING] = true, [STOPPED] = true },
	[RUNNING] = { [RUNNING_PENDING] = true, [ARMED] = true, [FINISHED] = true, [STOPPED] = true },
	[RUNNING_PENDING] = { [QUEUED] = true, [FINISHED] = true, [STOPPED] = true },
	[FINISHED] = { [STOPPED] = true },
};

static void go(struct sim_dpa_activity *activity, enum state to)
{
	assert(edges[activity->state][to]);
	activity->state = to;
}

static void queue(struct sim_dpa_activity *activity)
{
	go(activity, QUEUED);
	sim_dpa_trace_submit(&activity->trace, &activity->process->trace.activation);
	sim_dpa_submit(activity->process, &activity->work);
}

/* The work is ended: in its queue (state QUEUED), or behind its run. */
static void end_run(struct sim_dpa_work *work, enum sim_dpa_end end)
{
	struct sim_dpa_activity *activity = (struct sim_dpa_activity *)work;

	sim_dpa_trace_done(&activity->trace, sim_dpa_trace_reason(end));
	if (activity->state == STOPPED)
		return;
	if (end == SIM_DPA_STOPPED || end == SIM_DPA_FATAL)
		go(activity, STOPPED);
	else if (end != SIM_DPA_RESCHEDULED)
		go(activity, FINISHED);
	else if (activity->state == RUNNING_PENDING)
		queue(activity);
	else
		go(activity, ARMED);
}

/* The EU has taken the work. */
static void begin_run(struct sim_dpa_work *work)
{
	struct sim_dpa_activity *activity = (struct sim_dpa_activity *)work;

	if (activity->state == QUEUED)
		go(activity, RUNNING);
}

int sim_dpa_activity_start(struct sim_dpa_process *process, const struct sim_dpa_activity_cfg *cfg,
			   struct sim_dpa_activity **ret_activity)
{
	struct sim_dpa_activity *activity = calloc(1, sizeof(*activity) + cfg->kernel->args_bytes);

	if (!activity)
		return -ENOMEM;
	activity->process = process;
	activity->cfg = *cfg;
	if (cfg->kernel->args_bytes >= sizeof(cfg->arg))
		memcpy(activity->args, &cfg->arg, sizeof(cfg->arg));
	activity->work = (struct sim_dpa_work){ .kernel = cfg->kernel,
						.args = activity->args,
						.fixed_eu = cfg->eu == SIM_DPA_RELAXED ? SIM_DPA_ANY_EU : cfg->eu,
						.rank = cfg->rank,
						.num_ranks = cfg->num_ranks,
						.delay_ns = process->cfg.activation_ns,
						.activity = activity,
						.trace = &activity->trace,
						.begins = begin_run,
						.ended = end_run };
	pthread_mutex_lock(&process->lock);
	activity->id = ++process->next_activity_id;
	pthread_mutex_unlock(&process->lock);
	*ret_activity = activity;
	return 0;
}

/* The kernel may be in the queue, or run. */
static void end_work(struct sim_dpa_activity *activity, bool is_queued)
{
	struct sim_dpa_process *process = activity->process;
	struct sim_dpa_work *work = &activity->work;
	bool marked;

	if (is_queued && !work->eu)
		sim_dpa_take(work->fixed_eu == SIM_DPA_ANY_EU ? &process->queue : &process->eus[work->fixed_eu].queue,
			     work);
	if (is_queued && !work->eu)
		sim_dpa_trace_done(&activity->trace, sim_dpa_trace_reason(SIM_DPA_STOPPED));
	if (work->eu) {
		work->is_stopping = true;
		sim_dpa_thread_stop(&work->eu->guarded);
		sim_dpa_turn_interrupt(&work->eu->turn, &work->eu->wake);
	}
	marked = sim_clock_begin_wait();
	while (work->eu)
		pthread_cond_wait(&process->changed, &process->lock);
	sim_clock_end_wait(marked);
}

void sim_dpa_activity_stop(struct sim_dpa_activity *activity)
{
	bool is_queued;

	if (!activity)
		return;
	pthread_mutex_lock(&activity->process->lock);
	is_queued = activity->state == QUEUED;
	if (activity->state != STOPPED)
		go(activity, STOPPED);
	end_work(activity, is_queued);
	pthread_mutex_unlock(&activity->process->lock);
	free(activity);
}

int sim_dpa_activity_run(struct sim_dpa_activity *activity)
{
	struct sim_dpa_process *process = activity->process;
	int rc = 0;

	pthread_mutex_lock(&process->lock);
	if (atomic_load(&process->is_over))
		rc = -EIO;
	else if (activity->state == STARTED)
		go(activity, ARMED);
	else if (activity->state == STARTED_PENDING)
		queue(activity);
	pthread_mutex_unlock(&process->lock);
	return rc;
}

uint32_t sim_dpa_activity_id(const struct sim_dpa_activity *activity)
{
	return activity->id;
}

void sim_dpa_activity_set_rank(struct sim_dpa_activity *activity, uint32_t rank, uint32_t num_ranks)
{
	pthread_mutex_lock(&activity->process->lock);
	activity->work.rank = rank;
	activity->work.num_ranks = num_ranks;
	pthread_mutex_unlock(&activity->process->lock);
}

void sim_dpa_activity_wake(struct sim_dpa_activity *activity)
{
	switch (activity->state) {
	case STARTED:
		go(activity, STARTED_PENDING);
		break;
	case ARMED:
		queue(activity);
		break;
	case RUNNING:
		go(activity, RUNNING_PENDING);
		break;
	default: /* one is remembered; finished and stopped ones do not run */
		break;
	}
}

void sim_dpa_activity_delay(struct sim_dpa_activity *activity, uint64_t ns)
{
	activity->work.fault_ns = ns;
}

uint64_t sim_dpa_activity_local_storage(const struct sim_dpa_activity *activity)
{
	return activity->cfg.local_storage;
}

bool sim_dpa_activity_has_finished(const struct sim_dpa_activity *activity)
{
	return activity->state == FINISHED;
}

bool sim_dpa_activity_sleeps(const struct sim_dpa_activity *activity)
{
	return activity->state == ARMED;
}

bool sim_dpa_activity_waits_for_run(const struct sim_dpa_activity *activity)
{
	return activity->state == STARTED_PENDING;
}

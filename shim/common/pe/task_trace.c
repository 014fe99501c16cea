/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks in the recording: sampled tasks with their times, and all that failed. */
#include "shim/common/process/runtime.h"
#include "task_trace.h"

#include <stdlib.h>

/* The times of a timed task, kept apart so that tasks stay small. */
struct shim_task_times {
	struct sim_trace_task_times trace;
	int (*run)(struct sim_job *job); /* the job's run() before run_timed */
};

static struct shim_task_times *task_times(const struct doca_task *task)
{
	const struct shim_task_pool *pool = task->pool;

	return &pool->times[(size_t)((const char *)task - pool->tasks) / pool->type->size];
}

/* Run the job and record its begin and its end. */
static int run_timed(struct sim_job *job)
{
	struct shim_task_times *times = task_times(shim_task_from_job(job));
	int rc;

	times->trace.began_ns = sim_trace_now_ns();
	rc = times->run(job);
	times->trace.ended_ns = sim_trace_now_ns();
	return rc;
}

/* The direction on the link, where the task takes model time. */
static enum sim_trace_direction task_direction(const struct doca_task *task)
{
	static const enum sim_trace_direction directions[] = { [PCIE_READ] = SIM_TRACE_DIRECTION_TO_CARD,
							       [PCIE_WRITE] = SIM_TRACE_DIRECTION_TO_HOST,
							       [PCIE_LOCAL] = SIM_TRACE_DIRECTION_NONE,
							       [PCIE_HOST] = SIM_TRACE_DIRECTION_HOST_TO_HOST };
	struct pcie_job work;

	if (sim_clock_mode(sim_session_clock(shim_session())) == SIM_CLOCK_FUNCTIONAL ||
	    !shim_task_get_pcie_job(&task->job, &work))
		return SIM_TRACE_DIRECTION_NONE;
	return directions[work.direction];
}

void shim_task_trace_begin(struct doca_task *task)
{
	struct shim_task_pool *pool = task->pool;

	if (!pool->times)
		pool->times = calloc(pool->count, sizeof(*pool->times));
	if (!pool->times)
		return;
	task->timed = true;
	sim_trace_task_submitted(&pool->stats, &task_times(task)->trace);
	task_times(task)->trace.direction = task_direction(task);
	task_times(task)->run = task->job.run;
	if (task->job.run)
		task->job.run = run_timed;
}

uint64_t shim_task_trace_submitted_ns(const struct doca_task *task)
{
	return task->timed ? task_times(task)->trace.submitted_ns : 0;
}

static void stop_timing(struct doca_task *task)
{
	task->timed = false;
	task->job.run = task->pool->type->run; /* a fault that replaced it has ended with the task */
}

void shim_task_trace_refused(struct doca_task *task)
{
	struct sim_trace_task_stats *stats = &task->pool->stats;

	if (!stats->op)
		return;
	sim_trace_counter_add(&stats->op->submitted, UINT64_MAX); /* minus 1 */
	if (!task->timed)
		return;
	stats->sampler.next =
		atomic_load_explicit(&stats->op->submitted, memory_order_relaxed); /* sample the next task instead */
	stop_timing(task);
}

void shim_task_trace_record(struct doca_task *task, doca_error_t status)
{
	static const struct sim_trace_task_times unknown;

	sim_trace_task_done(&task->pool->stats, task->timed ? &task_times(task)->trace : &unknown, task->bytes,
			    status == DOCA_SUCCESS ? NULL : doca_error_get_name(status));
	if (task->timed)
		stop_timing(task);
}

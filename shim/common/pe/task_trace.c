/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks on the record: those whose turn it is, and those that failed. */
#include "shim/common/process/runtime.h"
#include "task_priv.h"

#include <stdlib.h>

/* Of a task that is timed. They stand apart, so that tasks stay small. */
struct shim_task_times {
	struct sim_trace_task_times noted;
	int (*run)(struct sim_job *job); /* its job, as it was */
};

static struct shim_task_times *times_of(const struct doca_task *task)
{
	const struct shim_task_pool *pool = task->pool;

	return &pool->times[(size_t)((const char *)task - pool->tasks) / pool->type->size];
}

/* Instead of the job: the same, with its times. */
static int run_timed(struct sim_job *job)
{
	struct shim_task_times *times = times_of(shim_task_of(job));
	int rc;

	times->noted.began_ns = sim_trace_now_ns();
	rc = times->run(job);
	times->noted.ended_ns = sim_trace_now_ns();
	return rc;
}

/* What it asks of the link, where that takes time. */
static enum sim_trace_way way_of(const struct doca_task *task)
{
	static const enum sim_trace_way ways[] = {[PCIE_READ] = SIM_TRACE_TO_CARD, [PCIE_WRITE] = SIM_TRACE_TO_HOST,
						  [PCIE_LOCAL] = SIM_TRACE_NO_WAY, [PCIE_HOST] = SIM_TRACE_THERE_AND_BACK};
	struct pcie_job work;

	if (sim_clock_mode(sim_session_clock(shim_session())) == SIM_CLOCK_FUNCTIONAL ||
	    !shim_task_work(&task->job, &work))
		return SIM_TRACE_NO_WAY;
	return ways[work.direction];
}

void shim_task_time(struct doca_task *task)
{
	struct shim_task_pool *pool = task->pool;

	if (!pool->times)
		pool->times = calloc(pool->count, sizeof(*pool->times));
	if (!pool->times)
		return;
	task->timed = true;
	sim_trace_task_begin(&pool->pen, &times_of(task)->noted);
	times_of(task)->noted.way = way_of(task);
	times_of(task)->run = task->job.run;
	if (task->job.run)
		task->job.run = run_timed;
}

uint64_t shim_task_submitted_ns(const struct doca_task *task)
{
	return task->timed ? times_of(task)->noted.submitted_ns : 0;
}

static void forget_times(struct doca_task *task)
{
	task->timed = false;
	task->job.run = task->pool->type->run; /* who has put another there (strike.h) is done with it, or takes it back next */
}

void shim_task_refused(struct doca_task *task)
{
	struct sim_trace_pen *pen = &task->pool->pen;

	if (!pen->op)
		return;
	sim_trace_add(&pen->op->submitted, UINT64_MAX); /* one less */
	if (!task->timed)
		return;
	pen->pace.next = atomic_load_explicit(&pen->op->submitted, memory_order_relaxed); /* the turn is the next one's */
	forget_times(task);
}

void shim_task_record(struct doca_task *task, doca_error_t status)
{
	static const struct sim_trace_task_times unknown;

	sim_trace_task(&task->pool->pen, task->timed ? &times_of(task)->noted : &unknown, task->bytes,
		       status == DOCA_SUCCESS ? NULL : doca_error_get_name(status));
	if (task->timed)
		forget_times(task);
}

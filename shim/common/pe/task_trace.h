/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/pe/task_trace.h - tasks in the recording: all are counted, the sampled ones are timed.
 *
 * shim_task_trace_submit() precedes each post. Then follows shim_task_trace_refused(), if the post
 * failed, or shim_task_trace_end() at the end of the task.
 */
#ifndef SHIM_TASK_TRACE_H
#define SHIM_TASK_TRACE_H

#include "task_priv.h"

SHIM_INTERNAL_API void shim_task_trace_begin(struct doca_task *task);
SHIM_INTERNAL_API void shim_task_trace_refused(struct doca_task *task);
SHIM_INTERNAL_API void shim_task_trace_record(struct doca_task *task, doca_error_t status);

/* The submission time of a timed task in flight; 0 = not timed. */
SHIM_INTERNAL_API uint64_t shim_task_trace_submitted_ns(const struct doca_task *task);

static inline void shim_task_trace_submit(struct doca_task *task, const struct shim_task_pool *pool)
{
	const struct sim_trace_task_stats *stats = &pool->stats;

	if (!stats->op)
		return;
	task->bytes = 0;
	if (__builtin_expect(sim_trace_task_stats_should_sample(stats), 0))
		shim_task_trace_begin(task);
	sim_trace_counter_add(&stats->op->submitted, 1);
}

/* A task that was not timed ended, with success. */
static inline void shim_task_trace_count_done(const struct doca_task *task)
{
	struct sim_trace_op *op = task->pool->stats.op;

	if (!op)
		return;
	sim_trace_counter_add(&op->completed, 1);
	sim_trace_counter_add(&op->bytes, task->bytes);
}

/* The task ended with @status. */
static inline void shim_task_trace_end(struct doca_task *task, doca_error_t status)
{
	struct sim_trace_op *op = task->pool->stats.op;

	if (!op)
		return;
	if (__builtin_expect(status == DOCA_SUCCESS, 1))
		shim_task_trace_count_done(task);
	else
		sim_trace_counter_add(&op->failed, 1);
	if (__builtin_expect(task->timed || status != DOCA_SUCCESS, 0))
		shim_task_trace_record(task, status);
}

#endif

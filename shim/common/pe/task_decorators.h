/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/pe/task_decorators.h - what surrounds a task's way through its library: fault injection, tracing and the checker's hooks.
 *
 * A caller of a type's post() calls shim_task_post() instead. The end of a task passes through
 * shim_task_end() exactly once.
 */
#ifndef SHIM_TASK_DECORATORS_H
#define SHIM_TASK_DECORATORS_H

#include "shim/common/base/call_hooks.h"
#include "task_fault.h"
#include "task_submit.h"
#include "task_trace.h"

/* Post a task of @ctx and @pool, which its caller has read already. On failure the task is as before. */
static inline doca_error_t shim_task_post_as(struct doca_task *task, const struct doca_ctx *ctx,
					     const struct shim_task_pool *pool)
{
	const struct shim_task_type *type = pool->type;
	doca_error_t result = shim_task_fault_submit(task, ctx, pool);

	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	shim_task_trace_submit(task, pool);
	if (doca_unlikely(shim_call_hooks != NULL))
		shim_call_hooks->task_posted(task);
	if (doca_unlikely(task->fault_hit != NULL))
		result = shim_task_fault_post(task);
	else if (type->post == shim_task_post_job && doca_likely(sim_queue_submit(ctx->queue, &task->job) == 0))
		return DOCA_SUCCESS;
	else
		result = type->post(task);
	if (doca_unlikely(result != DOCA_SUCCESS))
		shim_task_undo_post(task);
	return result;
}

static inline doca_error_t shim_task_post(struct doca_task *task)
{
	return shim_task_post_as(task, task->ctx, task->pool);
}

/* The status of a task whose job ended with @rc, 0 or -errno. */
static inline doca_error_t shim_task_job_status(const struct doca_task *task, int rc)
{
	return doca_likely(rc == 0) ? DOCA_SUCCESS : shim_task_fault_status(task);
}

/* Whether shim_task_end() does more for a task that succeeds than shim_task_trace_count_done(). */
static inline bool shim_task_end_is_watched(const struct doca_task *task)
{
	return task->timed || task->fault_hit || !shim_hooks_are_paused();
}

/* The task ends with @status, before its user hears of it. */
static inline void shim_task_end(struct doca_task *task, doca_error_t status)
{
	shim_task_trace_end(task, status);
	if (doca_unlikely(!shim_hooks_are_paused()) || (doca_unlikely(status != DOCA_SUCCESS) && shim_call_hooks))
		shim_call_hooks->task_ended(task, status);
	if (doca_unlikely(task->fault_hit))
		shim_task_fault_finish(task);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks: submission and completion. */
#include "task_priv.h"

#include "shim/common/base/check.h"
#include "task_decorators.h"

static doca_error_t refuse_submit(const char *func, const struct doca_task *task)
{
	if (!shim_object_is(task, SHIM_TASK)) {
		sim_err("%s: the task is NULL or was freed already", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	sim_err("%s: the task %s", func,
		task->freed ?
			"was freed already, in flight" :
		task->in_flight ?
			"is in flight already: wait for its callback" :
			"belongs to a context that is not running (stopped, stopping after a failed task or its function's reset, or of the process before fork())");
	return DOCA_ERROR_BAD_STATE;
}

doca_error_t shim_task_post_job(struct doca_task *task)
{
	if (doca_likely(sim_queue_submit(task->ctx->queue, &task->job) == 0))
		return DOCA_SUCCESS;
	sim_err("doca_task_submit: the queue is full; progress its engine first");
	return DOCA_ERROR_AGAIN;
}

static inline doca_error_t submit(struct doca_task *task, uint32_t flags)
{
	struct doca_ctx *ctx = task->ctx;
	doca_error_t result = task->pool->type->check(task);

	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	task->job.unsignaled = flags & DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS;
	result = shim_task_post(task);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	task->in_flight = true;
	if (!task->job.run)
		ctx->num_posted++;
	else if (flags & DOCA_TASK_SUBMIT_FLAG_FLUSH)
		sim_queue_doorbell(ctx->queue);
	return DOCA_SUCCESS;
}

static inline bool can_submit(const struct doca_task *task)
{
	return shim_object_is(task, SHIM_TASK) && !task->in_flight && task->ctx->state == DOCA_CTX_STATE_RUNNING &&
	       shim_ctx_is_same_process(task->ctx) && !shim_ctx_is_stale(task->ctx);
}

doca_error_t doca_task_submit(struct doca_task *task)
{
	if (doca_unlikely(!can_submit(task)))
		return refuse_submit(__func__, task);
	return submit(task, DOCA_TASK_SUBMIT_FLAG_FLUSH);
}

doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags)
{
	if (doca_unlikely(flags & ~(uint32_t)(DOCA_TASK_SUBMIT_FLAG_FLUSH | DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS)))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "flags %#x has bits that enum doca_task_submit_flag lacks",
				   flags);
	if (doca_unlikely(!can_submit(task)))
		return refuse_submit(__func__, task);
	return submit(task, flags);
}

doca_error_t doca_task_try_submit(struct doca_task *task)
{
	doca_error_t result;

	if (doca_unlikely(!can_submit(task)))
		return refuse_submit(__func__, task);
	result = task->pool->type->validate(task);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	return submit(task, DOCA_TASK_SUBMIT_FLAG_FLUSH);
}

/* A task ended: call its hook or the user. A task that was freed in flight stays in flight during the callback and
 * returns to the pool behind it. */
static inline void complete_task(struct doca_task *task, doca_error_t status)
{
	struct shim_completion_hook *hook = task->hook;
	bool freed = task->freed; /* behind the callback the task may be freed or reused */

	shim_task_end(task, status);
	task->in_flight = freed;
	task->status = status;
	task->hook = NULL;
	if (doca_likely(!hook)) {
		task->pool->type->complete(task);
	} else {
		if (status == DOCA_SUCCESS && task->pool->type->apply)
			task->pool->type->apply(task);
		hook->on_complete(hook, task);
	}
	if (doca_unlikely(freed))
		shim_task_return_to_pool(task);
}

void shim_task_complete_posted(struct doca_task *task, doca_error_t status)
{
	task->ctx->num_posted--;
	complete_task(task, status);
}

void shim_task_complete_job(struct sim_job *job)
{
	struct doca_task *task = shim_task_from_job(job);
	doca_error_t status = shim_task_job_status(task, job->status);

	if (doca_unlikely(job->status < 0))
		shim_ctx_stop_on_error(task->ctx); /* calls the user, while the task is still in flight */
	complete_task(task, status);
}

doca_error_t doca_task_get_status(const struct doca_task *task)
{
	return shim_object_is(task, SHIM_TASK) ? task->status : DOCA_ERROR_INVALID_VALUE;
}

struct doca_ctx *doca_task_get_ctx(const struct doca_task *task)
{
	return shim_object_is(task, SHIM_TASK) ? task->ctx : NULL;
}

union doca_data doca_task_get_user_data(const struct doca_task *task)
{
	return shim_object_is(task, SHIM_TASK) ? task->user_data : (union doca_data){ .u64 = 0 };
}

void doca_task_set_user_data(struct doca_task *task, union doca_data user_data)
{
	if (shim_object_is(task, SHIM_TASK))
		task->user_data = user_data;
	else
		sim_err("doca_task_set_user_data: the task is NULL or was freed already");
}

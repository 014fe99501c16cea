/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks: submission and completion. */
#include "task_submit.h"

#include "call_functions.h"
#include "ctx_life.h"
#include "shim/common/base/check.h"
#include "task_decorators.h"

static __attribute__((noinline)) doca_error_t refuse_submit(const char *func, const struct doca_task *task)
{
	if (!shim_object_is(task, SHIM_TASK)) {
		sim_err("%s: the task is NULL or was freed already", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	sim_err("%s: the task %s", func,
		task->freed ?
			"was freed already, in flight" :
		!shim_ctx_is_same_process(task->ctx) ?
			"belongs to a context of the process before fork(), which a child can't use; make one in the child" :
		task->in_flight ?
			"is in flight already: wait for its callback" :
			"belongs to a context that is not running (stopped, or stopping after a failed task or its function's reset)");
	return DOCA_ERROR_BAD_STATE;
}

doca_error_t shim_task_post_job(struct doca_task *task)
{
	if (doca_likely(sim_queue_submit(task->ctx->queue, &task->job) == 0))
		return DOCA_SUCCESS;
	sim_err("doca_task_submit: the queue is full; progress its engine first");
	return DOCA_ERROR_AGAIN;
}

void shim_task_undo_post(struct doca_task *task)
{
	shim_task_trace_refused(task);
	if (shim_call_hooks)
		shim_call_hooks->task_refused(task);
	if (task->fault_hit)
		shim_task_fault_finish(task);
}

static inline doca_error_t submit(struct doca_task *task, struct doca_ctx *ctx, uint32_t flags)
{
	const struct shim_task_pool *pool = task->pool;
	doca_error_t result = pool->type->check(task);

	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	task->job.unsignaled = flags & DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS;
	result = shim_task_post_as(task, ctx, pool);
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

static __attribute__((noinline)) void report_failed_submit(uint32_t function, const void *caller,
							   const struct doca_task *task, uint32_t flags,
							   doca_error_t error)
{
	const uint64_t args[] = { (uintptr_t)task, flags };

	if (shim_call_hooks)
		shim_call_hooks->submit_failed(&(struct shim_call){
			.function = function, .args = args, .caller = caller, .result = (uint64_t)error });
}

/* The program's submission of @task by @function failed with @error, or succeeded. Returns @error. */
static inline doca_error_t end_submit(uint32_t function, const void *caller, const struct doca_task *task,
				      uint32_t flags, doca_error_t error)
{
	if (doca_unlikely(error != DOCA_SUCCESS))
		report_failed_submit(function, caller, task, flags, error);
	return error;
}

static inline doca_error_t submit_checked(const char *func, struct doca_task *task, uint32_t flags)
{
	return doca_likely(can_submit(task)) ? submit(task, task->ctx, flags) : refuse_submit(func, task);
}

doca_error_t doca_task_submit(struct doca_task *task)
{
	return end_submit(SHIM_FN_doca_task_submit, __builtin_return_address(0), task, 0,
			  submit_checked(__func__, task, DOCA_TASK_SUBMIT_FLAG_FLUSH));
}

static doca_error_t submit_ex(const char *func, struct doca_task *task, uint32_t flags)
{
	if (doca_likely(!(flags & ~(uint32_t)(DOCA_TASK_SUBMIT_FLAG_FLUSH | DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS))))
		return submit_checked(func, task, flags);
	sim_err("%s: flags %#x has bits that enum doca_task_submit_flag lacks", func, flags);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags)
{
	return end_submit(SHIM_FN_doca_task_submit_ex, __builtin_return_address(0), task, flags,
			  submit_ex(__func__, task, flags));
}

static doca_error_t try_submit(const char *func, struct doca_task *task)
{
	doca_error_t result = can_submit(task) ? task->pool->type->validate(task) : refuse_submit(func, task);

	return result == DOCA_SUCCESS ? submit(task, task->ctx, DOCA_TASK_SUBMIT_FLAG_FLUSH) : result;
}

doca_error_t doca_task_try_submit(struct doca_task *task)
{
	return end_submit(SHIM_FN_doca_task_try_submit, __builtin_return_address(0), task, 0,
			  try_submit(__func__, task));
}

static inline void call_hook(struct doca_task *task)
{
	struct shim_completion_hook *hook = task->hook;

	task->hook = NULL;
	hook->on_complete(hook, task);
}

/* Call the task's hook or the user. Behind the callback the task may be freed or reused. */
static inline void report_end(struct doca_task *task, doca_error_t status)
{
	task->status = status;
	if (doca_likely(!task->hook))
		task->pool->type->complete(task);
	else
		call_hook(task);
}

/* A task that was freed in flight stays in flight during the callback and returns to the pool behind it. */
static __attribute__((noinline)) void complete_any_task(struct doca_task *task, doca_error_t status)
{
	bool freed = task->freed;

	shim_task_end(task, status);
	task->in_flight = freed;
	report_end(task, status);
	if (doca_unlikely(freed))
		shim_task_return_to_pool(task);
}

/* A task ended. The common case is short: nothing but the recording's counters, and the hook or the user, hears of a task that
 * did well. */
static inline void complete_task(struct doca_task *task, doca_error_t status)
{
	if (doca_unlikely(status != DOCA_SUCCESS || task->freed || shim_task_end_is_watched(task))) {
		complete_any_task(task, status);
		return;
	}
	shim_task_trace_count_done(task);
	task->in_flight = false;
	report_end(task, DOCA_SUCCESS);
}

void shim_task_complete_posted(struct doca_task *task, doca_error_t status)
{
	task->ctx->num_posted--;
	complete_task(task, status);
}

static __attribute__((noinline)) void complete_failed_job(struct doca_task *task)
{
	doca_error_t status = shim_task_job_status(task, task->job.status);

	if (task->job.status < 0)
		shim_ctx_stop_on_error(task->ctx); /* calls the user, while the task is still in flight */
	complete_any_task(task, status);
}

void shim_task_complete_job(struct sim_job *job)
{
	struct doca_task *task = shim_task_from_job(job);

	if (doca_likely(job->status == 0))
		complete_task(task, DOCA_SUCCESS);
	else
		complete_failed_job(task);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "task_priv.h"

#include <assert.h>
#include <stdlib.h>

#include "shim/common/process/alloc.h"
#include "shim/common/base/check.h"
#include "shim/common/base/slab.h"
#include "shim/common/process/fault.h"

doca_error_t shim_task_pool_add(struct doca_ctx *ctx, const struct shim_task_type *type, uint32_t count,
				struct shim_task_pool **ret_pool)
{
	struct shim_task_pool *pool = shim_calloc(1, sizeof(*pool));

	assert(sim_task_kind_exists(type->name)); /* who asks for its count is told that there is none, else */
	if (pool) {
		pool->bytes = count * type->size;
		pool->tasks = shim_slab_new(pool->bytes);
	}
	if (!pool || !pool->tasks) {
		free(pool);
		sim_err("doca_ctx_start: no memory for %u %s tasks; configure fewer", count, type->name);
		return DOCA_ERROR_INITIALIZATION;
	}
	pool->type = type;
	pool->count = pool->num_never_used = count;
	sim_trace_task_stats_init(&pool->stats, ctx->trace_id, type->name);
	pool->next = ctx->pools;
	ctx->pools = pool;
	*ret_pool = pool;
	return DOCA_SUCCESS;
}

void shim_task_pools_free(struct doca_ctx *ctx)
{
	while (ctx->pools) {
		struct shim_task_pool *first = ctx->pools;

		ctx->pools = first->next;
		shim_slab_free(first->tasks, first->bytes);
		free(first->times);
		free(first);
	}
}

doca_error_t shim_task_alloc(struct shim_task_pool *pool, struct doca_ctx *ctx, union doca_data user_data,
			     struct doca_task **ret_task)
{
	struct doca_task *task;

	if (ctx->state != DOCA_CTX_STATE_RUNNING || !shim_ctx_is_same_process(ctx))
		return DOCA_ERROR_BAD_STATE;
	task = pool->free;
	if (task)
		pool->free = task->next_free;
	else if (pool->num_never_used)
		task = (struct doca_task *)(pool->tasks + --pool->num_never_used * pool->type->size);
	else
		return DOCA_ERROR_NO_MEMORY;
	task->object.magic = shim_magic(SHIM_TASK);
	task->in_flight = false;
	task->freed = false;
	task->timed = false;
	task->status = DOCA_SUCCESS;
	task->job.run = pool->type->run;
	task->pool = pool;
	task->ctx = ctx;
	task->hook = NULL;
	task->fault_hit = NULL;
	task->user_data = user_data;
	ctx->num_allocated++;
	*ret_task = task;
	return DOCA_SUCCESS;
}

static void return_to_pool(struct doca_task *task)
{
	struct shim_task_pool *pool = task->pool;

	task->object.magic = 0;
	task->next_free = pool->free;
	pool->free = task;
	task->ctx->num_allocated--;
	if (shim_ctx_can_idle(task->ctx))
		shim_pe_notify_self(task->ctx); /* progress takes it there */
}

/* The reference forbids it, but programs that get away with it on a card (they
 * free posted receives, then stop) would otherwise never see their context idle. */
static void defer_free(struct doca_task *task)
{
	task->freed = true;
	if (task->pool->has_warned)
		return;
	task->pool->has_warned = true;
	sim_warn(
		"doca_task_free: %s task %p is still in flight; it, and others like it, will be freed behind its callback",
		task->pool->type->name, (void *)task);
}

void doca_task_free(struct doca_task *task)
{
	if (doca_unlikely(!shim_object_is(task, SHIM_TASK) || task->freed))
		sim_err("doca_task_free: task %p is NULL or was freed already; nothing was freed", (void *)task);
	else if (doca_unlikely(task->in_flight))
		defer_free(task);
	else
		return_to_pool(task);
}

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

bool shim_task_get_pcie_job(const struct sim_job *job, struct pcie_job *ret_job)
{
	const struct doca_task *task = shim_task_from_job(job);

	return task->pool->type->get_pcie_job && task->pool->type->get_pcie_job(task, ret_job);
}

static inline doca_error_t submit(struct doca_task *task, uint32_t flags)
{
	struct doca_ctx *ctx = task->ctx;
	doca_error_t result = task->pool->type->check(task);

	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	result = shim_task_fault_submit(task);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	task->job.quiet = flags & DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS;
	shim_task_trace_submit(task);
	result = task->pool->type->post(task);
	if (doca_unlikely(result != DOCA_SUCCESS)) {
		shim_task_trace_refused(task);
		shim_task_fault_finish(task);
		return result;
	}
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

/* It ended: it is the user's again, or its hook's to give back. One that was freed
 * in flight stays what nobody may touch meanwhile, and goes then. */
static inline void complete_task(struct doca_task *task, doca_error_t status)
{
	struct shim_completion_hook *hook = task->hook;
	bool freed = task->freed; /* afterwards the task may be gone, or be another */

	shim_task_trace_end(task, status);
	task->in_flight = freed;
	task->status = status;
	task->hook = NULL;
	if (doca_likely(!hook))
		task->pool->type->complete(task);
	else
		hook->on_complete(hook, task);
	if (doca_unlikely(freed))
		return_to_pool(task);
}

void shim_task_complete_posted(struct doca_task *task, doca_error_t status)
{
	task->ctx->num_posted--;
	if (doca_unlikely(task->fault_hit))
		shim_task_fault_finish(task);
	complete_task(task, status);
}

void shim_task_complete_job(struct sim_job *job)
{
	struct doca_task *task = shim_task_from_job(job);
	doca_error_t status = DOCA_SUCCESS;

	if (doca_unlikely(job->status < 0 || task->fault_hit))
		status = shim_task_fault_finish(task);
	if (doca_unlikely(job->status < 0))
		shim_ctx_stop_on_error(task->ctx); /* calls the user: the task stays in flight until its own callback */
	complete_task(task, job->status == 0 ? DOCA_SUCCESS : status);
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

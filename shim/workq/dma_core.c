/* SPDX-License-Identifier: BSD-3-Clause */
/* Memcpy jobs as tasks of the core. Compiled with the core. */
#include "dma_core.h"

#include <stdlib.h>

#include "shim/common/mem/buf_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/pe/task_decorators.h"
#include "shim/dma/dma_priv.h"

struct workq_dma_core {
	struct shim_completion_hook hook; /* first; called at the completion of each task */
	struct doca_dma *dma;
	struct workq_attachment *attachment;
	int job_type;
	struct doca_task *free_tasks; /* allocated, for the next jobs; linked by next_free */
};

/* Keep a task that is not in flight for the next job. */
static inline void keep_task(struct workq_dma_core *core, struct doca_task *task)
{
	if (doca_likely(task->ctx->state == DOCA_CTX_STATE_RUNNING)) {
		task->next_free = core->free_tasks;
		core->free_tasks = task;
	} else {
		doca_task_free(task);
	}
}

static inline void complete(struct workq_dma_core *core, struct doca_task *task)
{
	union doca_data user_data = task->user_data;
	doca_error_t status = task->status;

	if (status == DOCA_SUCCESS)
		shim_dma_memcpy_apply(task);
	keep_task(core, task);
	shim_workq_complete(core->attachment, core->job_type, user_data, (union doca_data){ .u64 = status },
			    status != DOCA_SUCCESS);
}

static __attribute__((noinline)) void complete_any(struct workq_dma_core *core, struct doca_task *task)
{
	complete(core, task);
}

/* The common case without a call before the last one: a copy of one buffer to one buffer succeeded, and its task is kept. */
static void on_complete(struct shim_completion_hook *hook, struct doca_task *task)
{
	struct workq_dma_core *core = (struct workq_dma_core *)hook;

	if (doca_likely(task->status == DOCA_SUCCESS && task->ctx->state == DOCA_CTX_STATE_RUNNING &&
			shim_snapshot_is_pair(&shim_to_buf_task(task)->snapshot)))
		complete(core, task);
	else
		complete_any(core, task);
}

/* Never called: each task has the completion hook. */
static void unused_callback(struct doca_dma_task_memcpy *task, union doca_data user_data, union doca_data ctx_data)
{
	(void)task, (void)user_data, (void)ctx_data;
}

/* A stopping context waits until all tasks are freed. */
static void on_state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states from,
			     enum doca_ctx_states to)
{
	struct workq_dma_core *core = user_data.ptr;

	(void)ctx, (void)from;
	while (to == DOCA_CTX_STATE_STOPPING && core->free_tasks) {
		struct doca_task *task = core->free_tasks;

		core->free_tasks = task->next_free;
		doca_task_free(task);
	}
}

static doca_error_t configure_dma(struct workq_dma_core *core, uint32_t depth)
{
	struct doca_ctx *ctx = doca_dma_as_ctx(core->dma);
	uint32_t max;
	doca_error_t result = doca_dma_cap_get_max_num_tasks(core->dma, &max);

	if (result == DOCA_SUCCESS)
		result = doca_dma_task_memcpy_set_conf(core->dma, unused_callback, unused_callback,
						       depth < max ? depth : max);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = core });
	return result == DOCA_SUCCESS ? doca_ctx_set_state_changed_cb(ctx, on_state_changed) : result;
}

doca_error_t workq_dma_core_create(struct doca_dev *dev, uint32_t depth, struct workq_attachment *attachment,
				   int job_type, struct workq_dma_core **ret_core)
{
	struct workq_dma_core *core = calloc(1, sizeof(*core));
	doca_error_t result;

	if (!core)
		return DOCA_ERROR_NO_MEMORY;
	core->hook.on_complete = on_complete;
	core->attachment = attachment;
	core->job_type = job_type;
	result = doca_dma_create(dev, &core->dma);
	if (result == DOCA_SUCCESS) {
		core->dma->accel.ctx.is_internal = true;
		result = configure_dma(core, depth);
	}
	if (result == DOCA_SUCCESS)
		*ret_core = core;
	else
		workq_dma_core_destroy(core);
	return result;
}

void workq_dma_core_destroy(struct workq_dma_core *core)
{
	if (core && core->dma)
		doca_dma_destroy(core->dma);
	free(core);
}

struct doca_ctx *workq_dma_core_as_ctx(struct workq_dma_core *core)
{
	return doca_dma_as_ctx(core->dma);
}

static doca_error_t alloc_new_task(struct workq_dma_core *core, struct doca_task **ret_task)
{
	return shim_task_alloc(core->dma->accel.conf[0].tasks.pool, &core->dma->accel.ctx, (union doca_data){ 0 },
			       ret_task);
}

/* All tasks are in flight: have twice as many, or as many as the device allows. */
static doca_error_t grow(struct workq_dma_core *core)
{
	uint32_t max = shim_dev_function(core->dma->accel.ctx.dev)->caps.dma_max_tasks,
		 num = core->dma->accel.conf[0].tasks.num_tasks;

	return num < max ? shim_accel_grow(&core->dma->accel, 0, num < max / 2 ? 2 * num : max) : DOCA_ERROR_NO_MEMORY;
}

static doca_error_t alloc_task(struct workq_dma_core *core, struct doca_task **ret_task)
{
	doca_error_t result = alloc_new_task(core, ret_task);

	return result == DOCA_ERROR_NO_MEMORY && grow(core) == DOCA_SUCCESS ? alloc_new_task(core, ret_task) : result;
}

/* Submit a job as @task, which stays the core's on failure. */
static inline doca_error_t submit_as(struct workq_dma_core *core, struct doca_task *task, const struct doca_buf *src,
				     struct doca_buf *dst, union doca_data user_data)
{
	struct doca_ctx *ctx = &core->dma->accel.ctx;
	struct shim_buf_task *memcpy = shim_to_buf_task(task);
	doca_error_t result;

	memcpy->src = src;
	memcpy->dst = dst;
	task->user_data = user_data;
	task->hook = &core->hook;
	result = shim_dma_memcpy_take("doca_workq_submit", memcpy);
	if (doca_likely(result == DOCA_SUCCESS))
		result = shim_task_post_as(task, ctx, task->pool);
	if (doca_unlikely(result != DOCA_SUCCESS)) {
		keep_task(core, task);
		return result;
	}
	task->in_flight = true;
	sim_queue_doorbell(ctx->queue);
	return DOCA_SUCCESS;
}

/* A job whose context is stale or has no task for it yet, which is no plain copy, or that more than the queue hears of. */
static __attribute__((noinline)) doca_error_t submit_any(struct workq_dma_core *core, const struct doca_buf *src,
							 struct doca_buf *dst, union doca_data user_data)
{
	struct doca_task *task = core->free_tasks;
	doca_error_t result = DOCA_SUCCESS;

	if (shim_ctx_is_stale(&core->dma->accel.ctx)) {
		sim_err("doca_workq_submit: the function was reset, failed or was removed; close the device and open it again");
		return DOCA_ERROR_BAD_STATE;
	}
	if (task)
		core->free_tasks = task->next_free;
	else
		result = alloc_task(core, &task);
	return result == DOCA_SUCCESS ? submit_as(core, task, src, dst, user_data) : result;
}

/* Whether more than the queue and the recording hears of a submission: the checker, the fault injector. */
static inline bool is_watched(const struct doca_ctx *ctx)
{
	return shim_call_hooks || sim_injector_may_hit(ctx->faults, SIM_OP_DMA_MEMCPY) || shim_ctx_link_is_down(ctx);
}

static __attribute__((noinline)) doca_error_t take_back(struct workq_dma_core *core, struct doca_task *task)
{
	sim_err("doca_workq_submit: the queue is full; retrieve its events first");
	shim_task_trace_refused(task);
	task->in_flight = false;
	keep_task(core, task);
	return DOCA_ERROR_AGAIN;
}

/* The common case is short: a copy of one buffer to one buffer that nothing but the queue and the recording hears of. */
doca_error_t workq_dma_core_submit(struct workq_dma_core *core, const struct doca_buf *src, struct doca_buf *dst,
				   union doca_data user_data)
{
	struct doca_ctx *ctx = &core->dma->accel.ctx;
	struct doca_task *task = core->free_tasks;
	struct shim_buf_task *memcpy = shim_to_buf_task(task);

	if (doca_unlikely(!task || shim_ctx_is_stale(ctx) || is_watched(ctx) ||
			  !shim_dma_memcpy_take_pair(memcpy, core->dma, src, dst)))
		return submit_any(core, src, dst, user_data);
	core->free_tasks = task->next_free;
	memcpy->src = src;
	memcpy->dst = dst;
	task->user_data = user_data;
	task->hook = &core->hook;
	task->in_flight = true;
	shim_task_trace_submit(task, task->pool);
	return doca_likely(sim_queue_submit_now(ctx->queue, &task->job) == 0) ? DOCA_SUCCESS : take_back(core, task);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks and their pools: memory for the tasks of one type that a context has. */
#include "task_priv.h"

#include <stdlib.h>

#include "pe_priv.h"
#include "shim/common/base/alloc.h"
#include "shim/common/base/check.h"
#include "shim/common/base/slab.h"

doca_error_t shim_task_pool_add(struct doca_ctx *ctx, const struct shim_task_type *type, uint32_t count,
				struct shim_task_pool **ret_pool)
{
	struct shim_task_pool *pool = shim_malloc(sizeof(*pool));
	size_t bytes;
	char *tasks = NULL;

	if (pool && !__builtin_mul_overflow(count, type->size, &bytes))
		tasks = shim_slab_new(bytes);
	if (!tasks) {
		free(pool);
		sim_err("doca_ctx_start: no memory for %u %s tasks; configure fewer", count, type->name);
		return DOCA_ERROR_INITIALIZATION;
	}
	*pool = (struct shim_task_pool){
		.type = type,
		.tasks = tasks,
		.bytes = bytes,
		.count = count,
		.num_never_used = count,
		.next = ctx->pools,
	};
	sim_trace_task_stats_init(&pool->stats, ctx->trace_id, type->name);
	ctx->pools = pool;
	*ret_pool = pool;
	return DOCA_SUCCESS;
}

void shim_task_pools_free(struct doca_ctx *ctx)
{
	while (ctx->pools) {
		struct shim_task_pool *first = ctx->pools;

		ctx->pools = first->next;
		shim_slab_free(first->tasks, first->bytes, first->num_never_used < first->count);
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
	if (doca_unlikely(!pool))
		return DOCA_ERROR_NO_MEMORY;
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

doca_error_t shim_task_set_conf(const char *func, const struct doca_ctx *ctx, struct shim_task_conf *conf,
				void (*done)(void), void (*failed)(void), uint32_t num_tasks, uint32_t max,
				const char *limit)
{
	if (!done || !failed) {
		sim_err("%s: %s is NULL", func, done ? "task_error_cb" : "task_completion_cb");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (ctx->state != DOCA_CTX_STATE_IDLE) {
		sim_err("%s: the context is not idle; stop it first", func);
		return DOCA_ERROR_BAD_STATE;
	}
	if (num_tasks == 0 || num_tasks > max) {
		sim_err("%s: %u tasks; give 1 to %u (%s)", func, num_tasks, max, limit);
		return DOCA_ERROR_INVALID_VALUE;
	}
	conf->done = done;
	conf->failed = failed;
	conf->num_tasks = num_tasks;
	return DOCA_SUCCESS;
}

void shim_task_log_alloc(const char *func, const struct doca_ctx *ctx, doca_error_t error,
			 const struct shim_task_conf *conf)
{
	if (error == DOCA_ERROR_BAD_STATE)
		sim_err("%s: %s", func, shim_ctx_describe_not_running(ctx));
	else if (conf->num_tasks == 0)
		sim_err("%s: no such tasks are configured; call set_conf() before the start", func);
	else
		sim_err("%s: all %u configured tasks are allocated; free some", func, conf->num_tasks);
}

void shim_task_return_to_pool(struct doca_task *task)
{
	struct shim_task_pool *pool = task->pool;

	task->object.magic = 0;
	task->next_free = pool->free;
	pool->free = task;
	task->ctx->num_allocated--;
	if (shim_ctx_can_idle(task->ctx))
		shim_pe_notify_self(task->ctx); /* progress makes it idle */
}

/* The reference forbids the free of a task in flight. On a card it works: programs free posted receives, then stop.
 * Without this their contexts would never go idle. */
static void defer_free(struct doca_task *task)
{
	task->freed = true;
	if (task->pool->has_warned)
		return;
	task->pool->has_warned = true;
	sim_warn("doca_task_free: %s task %p is still in flight; it and others like it are freed after their callbacks",
		 task->pool->type->name, (void *)task);
}

void doca_task_free(struct doca_task *task)
{
	if (doca_unlikely(!shim_object_is(task, SHIM_TASK) || task->freed))
		sim_err("doca_task_free: task %p is NULL or was freed already; nothing was freed", (void *)task);
	else if (doca_unlikely(task->in_flight))
		defer_free(task);
	else
		shim_task_return_to_pool(task);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/pe/task_fault.h - fault injection into tasks: a decorator around a task's type.
 *
 *   submit --ask the injector--> refused
 *                           '--> [hit: task->fault_hit] --the decorator's post() and run()--> end, with the hit's status
 *
 * The injector is asked once for each submission (task_decorators.h). A hit stays with the task until
 * its end. A link that is down delays all tasks, as a hit does. A type without a decorator has no faults.
 */
#ifndef SHIM_TASK_FAULT_H
#define SHIM_TASK_FAULT_H

#include "shim/common/process/fault.h"
#include "task_priv.h"
#include "task_snapshot.h"

/* The decorator of a task type. */
struct shim_task_fault_ops {
	enum sim_op op;
	/* Set the task's size and the address of its data. */
	void (*site)(const struct doca_task *task, struct sim_fault_site *ret_site);
	/* For copies, which take some tens of nanoseconds: where the task has its snapshot, whose site is the bytes that a pair
	 * writes. A submission looks that up in the pool's cache itself. 0 = it has none. */
	size_t snapshot_offset;
	/* In virtual time: whether the task may be tried now, or is refused with AGAIN before the injector is asked, as how often a
	 * program polls without a turn depends on the machine. NULL: it may. */
	bool (*has_turn)(const struct doca_task *task);
	/* Instead of the type's post(), for a task that has a hit. NULL: the type's. */
	doca_error_t (*post)(struct doca_task *task, const struct sim_fault_hit *hit);
	/* Instead of the type's run(), for a job that has a hit: do the work with the faults of hit->actions.
	 * Before, the hit's delay is applied, and a job that hangs does not run. NULL in types without jobs. */
	int (*run)(struct sim_job *job, const struct sim_fault_hit *hit);
};

/* For shim_task_fault_ops: a task without a size. */
SHIM_INTERNAL_API void shim_task_fault_site_empty(const struct doca_task *task, struct sim_fault_site *ret_site);

/* Ask the injector about work of the context that is no task, as that of a kernel on a DPA (sim/dpa/queue/fault.h); the context's function is put into @site. Returns
 * whether a fault hits, or the link is down, which delays. */
SHIM_INTERNAL_API bool shim_fault_ask_for(void *ctx, struct sim_fault_site *site, struct sim_fault_hit *ret_hit);

/* Ask the injector about a task that is about to be posted. SUCCESS, or the status of a refusal. */
SHIM_INTERNAL_API doca_error_t shim_task_fault_ask(struct doca_task *task);

/* Post a task that has a hit. */
SHIM_INTERNAL_API doca_error_t shim_task_fault_post(struct doca_task *task);

/* The status of a task whose job failed. */
SHIM_INTERNAL_API doca_error_t shim_task_fault_status(const struct doca_task *task);

/* The task ended, or was not posted: forget its hit. */
SHIM_INTERNAL_API void shim_task_fault_finish(struct doca_task *task);

/* Whether the cache of the task's pool knows that no rule is for the task, a pair. */
static inline bool shim_task_fault_is_cached(const struct doca_task *task, const struct doca_ctx *ctx,
					     const struct shim_task_pool *pool, const struct shim_task_fault_ops *ops)
{
	const struct shim_snapshot *snapshot =
		(const struct shim_snapshot *)((const char *)task + ops->snapshot_offset);

	return ops->snapshot_offset && shim_snapshot_is_pair(snapshot) &&
	       sim_no_fault_cache_has_near(&pool->no_fault_cache, ctx->faults, snapshot->bytes,
					   (uintptr_t)snapshot->dst_addr);
}

static inline doca_error_t shim_task_fault_submit(struct doca_task *task, const struct doca_ctx *ctx,
						  const struct shim_task_pool *pool)
{
	const struct shim_task_fault_ops *ops = pool->type->fault_ops;

	if (doca_likely(!ops || !(sim_injector_may_hit(ctx->faults, ops->op) || shim_ctx_link_is_down(ctx))))
		return DOCA_SUCCESS;
	if (doca_likely(!shim_ctx_link_is_down(ctx) && shim_task_fault_is_cached(task, ctx, pool, ops)))
		return DOCA_SUCCESS;
	return shim_task_fault_ask(task);
}

/* Returns whether a task has this fault. */
#define shim_task_has_fault(task, act) \
	(doca_unlikely((task)->fault_hit != NULL) && SIM_FAULT_HAS_ACT((task)->fault_hit, act))

#endif

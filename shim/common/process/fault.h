/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/process/fault.h - where faults hit: at tasks, and at calls.
 *
 *   submit --ask the plan--> refused, or [in flight] --its job runs: fails, is late, hangs, writes wrong bytes--> done
 *
 * The plan is asked once for each submission. What it has in store is kept with
 * the task until its job runs, or until the library that keeps the task has
 * looked at it. A link that is down is like a delay of all tasks. Without a rule for it an
 * operation costs two loads and a branch.
 */
#ifndef SHIM_FAULT_H
#define SHIM_FAULT_H

#include "runtime.h"
#include "sim/faults/inject/injector.h"
#include "shim/common/pe/task_priv.h"

#define SHIM_HIT_HAS_ACT(hit, act) (((hit)->actions & SIM_ACT_BIT(SIM_ACT_##act)) != 0)

/* How a kind of task gets faults. */
struct shim_task_fault_ops {
	enum sim_op op;
	/* Its size, and where its data go. */
	void (*site)(const struct doca_task *task, struct sim_fault_site *ret_site);
	/* Whether it is known that nothing strikes there, which saves the ask. NULL: it never is. */
	bool (*no_fault_cached)(const struct doca_task *task);
	/* Of a job: do the work as hit->actions have it (FAIL, TEAR, FLIP, what becomes of a message); else as run() of
	 * the type. NULL in types that the library keeps: it looks at task->fault_hit itself, from post() on. */
	int (*run)(struct sim_job *job, const struct sim_fault_hit *hit);
};

/* For shim_task_fault_ops: a task without a size. */
SHIM_INTERNAL_API void shim_task_fault_site_empty(const struct doca_task *task, struct sim_fault_site *ret_site);

/* Ask the plan about a task that is about to be submitted. Returns SUCCESS, or the
 * status that refuses it. */
SHIM_INTERNAL_API doca_error_t shim_task_fault_inject(struct doca_task *task);

/* For no_fault_cached(): whether it is known by now, and then for how far around (faults.h). */
SHIM_INTERNAL_API bool shim_task_no_fault_cached(const struct doca_task *task, struct sim_no_fault_copy *ret_quiet);

static inline doca_error_t shim_task_fault_submit(struct doca_task *task)
{
	const struct shim_task_fault_ops *ops = task->pool->type->fault_ops;

	if (doca_likely(!ops ||
			!(sim_injector_may_hit(task->ctx->faults, ops->op) || shim_ctx_link_is_down(task->ctx))))
		return DOCA_SUCCESS;
	if (ops->no_fault_cached && doca_likely(ops->no_fault_cached(task) && !shim_ctx_link_is_down(task->ctx)))
		return DOCA_SUCCESS;
	return shim_task_fault_inject(task);
}

/* The job ended, or was not submitted after all: with which status, if it failed. */
SHIM_INTERNAL_API doca_error_t shim_task_fault_finish(struct doca_task *task);

/* Whether a task that the library keeps has this fault. */
#define shim_task_has_fault(task, act) \
	(doca_unlikely((task)->fault_hit != NULL) && SHIM_HIT_HAS_ACT((task)->fault_hit, act))

/* ---- calls ---- */

/* Ask about anything else; @site's operation and place are set. Whether a fault strikes; the log says so, and the
 * recording, of @object there (sim/trace/trace.h; 0 = none). */
SHIM_INTERNAL_API bool shim_fault_hits(struct sim_injector *faults, struct sim_fault_site *site, uint32_t object,
				       struct sim_fault_hit *ret_hit);

/* What it does to a call: wait for its delay, of session time; and the status that it fails with or is refused
 * with, or SUCCESS. A call that hangs does not come back. */
SHIM_INTERNAL_API void shim_fault_delay(const struct sim_fault_hit *hit);
SHIM_INTERNAL_API doca_error_t shim_fault_status(const struct sim_fault_hit *hit);

/* Ask about a call, and do that. */
SHIM_INTERNAL_API doca_error_t shim_fault_inject_call(struct sim_injector *faults, struct sim_fault_site *site,
						      uint32_t object);

/* The same of @op on @dev (or NULL), @size bytes at @addr. */
static inline doca_error_t shim_fault_inject_call_at(enum sim_op op, const struct doca_dev *dev, uint64_t size,
						     uint64_t addr)
{
	struct sim_injector *faults = shim_faults();
	struct sim_fault_site site = { .op = op, .size = size, .addr = addr };

	if (doca_likely(!sim_injector_may_hit(faults, op)))
		return DOCA_SUCCESS;
	site.function = dev ? shim_dev_function(dev)->id : SIM_NO_FUNCTION;
	return shim_fault_inject_call(faults, &site, 0);
}

/* The user starts a context of @dev, or of none (NULL). */
SHIM_INTERNAL_API doca_error_t shim_fault_inject_ctx_start(const struct doca_dev *dev);

#endif

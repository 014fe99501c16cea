/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/process/fault.h - where faults strike: at tasks, and at calls.
 *
 *   submit --ask the plan--> refused, or [in flight] --its job runs: fails, is late, hangs, writes wrong bytes--> done
 *
 * The plan is asked once for each submission. What it has in store is kept with
 * the task until its job runs, or until the library that keeps the task has
 * looked at it. A link that is down is like a delay of all tasks. Without a rule for it an
 * operation costs two loads and a branch.
 */
#ifndef SHIM_STRIKE_H
#define SHIM_STRIKE_H

#include "runtime.h"
#include "sim/faults/inject/injector.h"
#include "shim/common/pe/task_priv.h"

#define SHIM_STRIKE_DOES(strike, act) (((strike)->actions & SIM_ACT_BIT(SIM_ACT_##act)) != 0)

/* How a kind of task is struck. */
struct shim_strike_ops {
	enum sim_op op;
	/* Its size, and where its data go. */
	void (*site)(const struct doca_task *task, struct sim_site *ret_site);
	/* Whether it is known that nothing strikes there, which saves the ask. NULL: it never is. */
	bool (*is_quiet)(const struct doca_task *task);
	/* Of a job: do the work as strike->actions have it (FAIL, TEAR, FLIP, what becomes of a message); else as run() of
	 * the type. NULL in types that the library keeps: it looks at task->strike itself, from post() on. */
	int (*run)(struct sim_job *job, const struct sim_strike *strike);
};

/* For shim_strike_ops: a task without a size. */
SHIM_SHARED void shim_strike_site_nothing(const struct doca_task *task, struct sim_site *ret_site);

/* Ask the plan about a task that is about to be submitted. Returns SUCCESS, or the
 * status that refuses it. */
SHIM_SHARED doca_error_t shim_strike_ask(struct doca_task *task);

/* For is_quiet(): whether it is known by now, and then for how far around (faults.h). */
SHIM_SHARED bool shim_strike_is_quiet(const struct doca_task *task, struct sim_quiet *ret_quiet);

static inline doca_error_t shim_strike_submit(struct doca_task *task)
{
	const struct shim_strike_ops *ops = task->pool->type->strike;

	if (doca_likely(!ops || !(sim_faults_any(task->ctx->faults, ops->op) || shim_ctx_link_is_down(task->ctx))))
		return DOCA_SUCCESS;
	if (ops->is_quiet && doca_likely(ops->is_quiet(task) && !shim_ctx_link_is_down(task->ctx)))
		return DOCA_SUCCESS;
	return shim_strike_ask(task);
}

/* The job ended, or was not submitted after all: with which status, if it failed. */
SHIM_SHARED doca_error_t shim_strike_end(struct doca_task *task);

/* Whether a task that the library keeps is struck so. */
#define shim_task_is_struck(task, act) \
	(doca_unlikely((task)->strike != NULL) && SHIM_STRIKE_DOES((task)->strike, act))

/* ---- calls ---- */

/* Ask about anything else; @site's operation and place are set. Whether a fault strikes; the log says so, and the
 * recording, of @object there (sim/trace/trace.h; 0 = none). */
SHIM_SHARED bool shim_strikes(struct sim_faults *faults, struct sim_site *site, uint32_t object,
			      struct sim_strike *ret_strike);

/* What it does to a call: wait for its delay, of session time; and the status that it fails with or is refused
 * with, or SUCCESS. A call that hangs does not come back. */
SHIM_SHARED void shim_strike_delay(const struct sim_strike *strike);
SHIM_SHARED doca_error_t shim_strike_verdict(const struct sim_strike *strike);

/* Ask about a call, and do that. */
SHIM_SHARED doca_error_t shim_strike_call(struct sim_faults *faults, struct sim_site *site, uint32_t object);

/* The same of @op on @dev (or NULL), @size bytes at @addr. */
static inline doca_error_t shim_strike_call_at(enum sim_op op, const struct doca_dev *dev, uint64_t size, uint64_t addr)
{
	struct sim_faults *faults = shim_faults();
	struct sim_site site = {.op = op, .size = size, .addr = addr};

	if (doca_likely(!sim_faults_any(faults, op)))
		return DOCA_SUCCESS;
	site.function = dev ? shim_dev_function(dev)->id : SIM_NO_FUNCTION;
	return shim_strike_call(faults, &site, 0);
}

/* The user starts a context of @dev, or of none (NULL). */
SHIM_SHARED doca_error_t shim_strike_start(const struct doca_dev *dev);

#endif

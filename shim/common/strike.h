/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/strike.h - faults at tasks that run as jobs.
 *
 *   submit --ask the plan--> refused, or [in flight] --its job runs: fails, is late, hangs, writes wrong bytes--> done
 *
 * The plan is asked once for each submission. What it has in store is kept with
 * the task until its job runs.
 */
#ifndef SHIM_STRIKE_H
#define SHIM_STRIKE_H

#include "sim/faults/faults.h"
#include "task_priv.h"

/* How a kind of task is struck. */
struct shim_strike_ops {
	enum sim_op op;
	/* Its size, and where its data go. */
	void (*site)(const struct doca_task *task, struct sim_site *ret_site);
	/* Do the work as strike->actions have it (FAIL, TEAR, FLIP); else as run() of the type. */
	int (*run)(struct sim_job *job, const struct sim_strike *strike);
};

/* Ask the plan about a task that is about to be submitted. Returns SUCCESS, or the
 * status that refuses it. */
SHIM_SHARED doca_error_t shim_strike_ask(struct doca_task *task);

static inline doca_error_t shim_strike_submit(struct doca_task *task)
{
	const struct shim_strike_ops *ops = task->pool->type->strike;

	if (doca_likely(!ops || !sim_faults_any(task->ctx->faults, ops->op)))
		return DOCA_SUCCESS;
	return shim_strike_ask(task);
}

/* The job ended, or was not submitted after all: with which status, if it failed. */
SHIM_SHARED doca_error_t shim_strike_end(struct doca_task *task);

#endif

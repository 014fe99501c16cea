/* SPDX-License-Identifier: BSD-3-Clause */
#include "strike.h"

#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "runtime.h"
#include "sim/engine/queue.h"

/* The job of a task that is struck. */
static int run_struck(struct sim_job *job)
{
	struct doca_task *task = shim_task_of(job);
	const struct sim_strike *strike = task->strike;

	if (strike->actions & SIM_ACT_BIT(SIM_ACT_HANG)) {
		job->held = true;
		job->due_ns = SIM_JOB_NEVER_DUE;
		return 0;
	}
	if (strike->actions & SIM_ACT_BIT(SIM_ACT_DELAY)) {
		job->held = true;
		job->due_ns = sim_queue_now_ns(task->ctx->queue) + strike->delay_ns;
	}
	return task->pool->type->strike->run(job, strike);
}

static struct sim_site site_of(const struct doca_task *task)
{
	const struct shim_strike_ops *ops = task->pool->type->strike;
	struct sim_site site = {.op = ops->op, .function = SIM_NO_FUNCTION};

	if (task->ctx->dev)
		site.function = shim_dev_function(task->ctx->dev)->id;
	if (sim_faults_timed(task->ctx->faults, ops->op))
		site.now_ns = sim_session_now_ns(shim_session());
	ops->site(task, &site);
	return site;
}

doca_error_t shim_strike_ask(struct doca_task *task)
{
	const struct sim_site site = site_of(task);
	struct sim_strike strike;

	if (!sim_faults_strike(task->ctx->faults, &site, &strike))
		return DOCA_SUCCESS;
	sim_trace_fault(task->ctx->recorded_as, strike.rules[0]);
	sim_info("fault %u strikes a %s task of %llu bytes", strike.rules[0], task->pool->type->name,
		 (unsigned long long)site.size);
	if (strike.actions & SIM_ACT_BIT(SIM_ACT_REFUSE))
		return (doca_error_t)strike.refuse_status;
	task->strike = malloc(sizeof(strike));
	if (!task->strike)
		return DOCA_ERROR_NO_MEMORY;
	*task->strike = strike;
	task->job.run = run_struck;
	return DOCA_SUCCESS;
}

doca_error_t shim_strike_end(struct doca_task *task)
{
	/* Whatever went wrong, a card reports one thing: the job's I/O failed. */
	doca_error_t status = DOCA_ERROR_IO_FAILED;

	if (doca_likely(!task->strike))
		return status;
	if (task->strike->actions & SIM_ACT_BIT(SIM_ACT_FAIL))
		status = (doca_error_t)task->strike->status;
	free(task->strike);
	task->strike = NULL;
	task->job.run = task->pool->type->run;
	return status;
}

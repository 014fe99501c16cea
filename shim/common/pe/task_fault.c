/* SPDX-License-Identifier: BSD-3-Clause */
/* Fault injection into tasks. */
#include "task_fault.h"

#include <stdlib.h>

#include "pcie_model/arith.h"

void shim_task_fault_site_empty(const struct doca_task *task, struct sim_fault_site *ret_site)
{
	(void)task;
	(void)ret_site;
}

static uint64_t ctx_link_down_ns(const struct doca_ctx *ctx)
{
	return shim_ctx_link_is_down(ctx) ? sim_session_link_down_ns(shim_session(), shim_dev_function(ctx->dev)->id) :
					    0;
}

/* How long the link holds the task up. The model applies that to the tasks that it times. */
static uint64_t link_down_ns(const struct doca_task *task)
{
	if (task->pool->type->get_pcie_job && sim_clock_mode(sim_session_clock(shim_session())) != SIM_CLOCK_FUNCTIONAL)
		return 0;
	return ctx_link_down_ns(task->ctx);
}

static void add_delay(struct sim_fault_hit *hit, uint64_t ns)
{
	if (ns == 0 || hit->actions & (SIM_ACT_BIT(SIM_ACT_HANG) | SIM_ACT_BIT(SIM_ACT_DROP)))
		return;
	hit->actions |= SIM_ACT_BIT(SIM_ACT_DELAY);
	hit->delay_ns = add_saturating_u64(hit->delay_ns, ns);
}

static struct sim_fault_site make_site(const struct doca_task *task)
{
	const struct shim_task_fault_ops *ops = task->pool->type->fault_ops;
	struct sim_fault_site site = { .op = ops->op, .function = SIM_NO_FUNCTION };

	if (task->ctx->dev)
		site.function = shim_dev_function(task->ctx->dev)->id;
	ops->site(task, &site);
	return site;
}

/* As shim_fault_hits(). The pool's cache knows sites that no rule is for. */
static bool task_hit(struct doca_task *task, struct sim_fault_site *site, struct sim_fault_hit *ret_hit)
{
	struct sim_no_fault_cache *cache = &task->pool->no_fault_cache;
	struct sim_injector *faults = task->ctx->faults;

	if (!sim_injector_may_hit(faults, site->op) || sim_no_fault_cache_find(cache, faults, site))
		return false;
	return shim_fault_hits(faults, site, task->ctx->trace_id, ret_hit);
}

bool shim_fault_ask_for(void *arg, struct sim_fault_site *site, struct sim_fault_hit *ret_hit)
{
	const struct doca_ctx *ctx = arg;

	site->function = shim_dev_function(ctx->dev)->id;
	if (!sim_injector_may_hit(ctx->faults, site->op) || !shim_fault_hits(ctx->faults, site, ctx->trace_id, ret_hit))
		*ret_hit = (struct sim_fault_hit){ 0 };
	add_delay(ret_hit, ctx_link_down_ns(ctx));
	return ret_hit->actions != 0;
}

/* The job of a task that has a hit. */
static int run_with_fault(struct sim_job *job)
{
	struct doca_task *task = shim_task_from_job(job);
	const struct sim_fault_hit *hit = task->fault_hit;

	if (SIM_FAULT_HAS_ACT(hit, HANG)) {
		job->held = true;
		job->due_ns = SIM_JOB_NEVER_DUE;
		return 0;
	}
	if (SIM_FAULT_HAS_ACT(hit, DELAY)) {
		job->held = true;
		job->due_ns = sim_queue_now_ns(task->ctx->queue) + hit->delay_ns;
	}
	return task->pool->type->fault_ops->run(job, hit);
}

doca_error_t shim_task_fault_ask(struct doca_task *task)
{
	const struct shim_task_fault_ops *ops = task->pool->type->fault_ops;
	struct sim_fault_site site = make_site(task);
	struct sim_fault_hit hit;
	bool is_hit;

	if (ops->has_turn && !ops->has_turn(task))
		return DOCA_ERROR_AGAIN;
	is_hit = task_hit(task, &site, &hit);
	if (shim_ctx_is_stale(task->ctx) && task->ctx->queue) /* since an event that waited for this operation */
		sim_queue_fail(task->ctx->queue);
	if (!is_hit) {
		if (!shim_ctx_link_is_down(task->ctx))
			return DOCA_SUCCESS;
		hit = (struct sim_fault_hit){ 0 };
	}
	add_delay(&hit, link_down_ns(task));
	if (hit.actions == 0)
		return DOCA_SUCCESS;
	if (SIM_FAULT_HAS_ACT(&hit, REFUSE))
		return shim_fault_error(hit.refuse_status);
	task->fault_hit = malloc(sizeof(hit));
	if (!task->fault_hit)
		return DOCA_ERROR_NO_MEMORY;
	*task->fault_hit = hit;
	if (task->pool->type->fault_ops->run)
		task->job.run = run_with_fault;
	return DOCA_SUCCESS;
}

doca_error_t shim_task_fault_post(struct doca_task *task)
{
	const struct shim_task_type *type = task->pool->type;

	return type->fault_ops->post ? type->fault_ops->post(task, task->fault_hit) : type->post(task);
}

doca_error_t shim_task_fault_status(const struct doca_task *task)
{
	if (shim_task_has_fault(task, FAIL))
		return shim_fault_error(task->fault_hit->status);
	/* A card reports every other failure of a job in one way. */
	return shim_task_has_fault(task, BREAK) ? DOCA_ERROR_CONNECTION_ABORTED : DOCA_ERROR_IO_FAILED;
}

void shim_task_fault_finish(struct doca_task *task)
{
	free(task->fault_hit);
	task->fault_hit = NULL;
	task->job.run = task->pool->type->run;
}

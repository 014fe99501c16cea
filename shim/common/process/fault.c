/* SPDX-License-Identifier: BSD-3-Clause */
#include "fault.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "shim/common/base/check.h"
#include "sim/base/monotonic.h"
#include "sim/clock/vclock_sched.h"
#include "sim/engine/queue.h"

/* The job of a task that a fault hits. */
static int run_with_fault(struct sim_job *job)
{
	struct doca_task *task = shim_task_from_job(job);
	const struct sim_fault_hit *hit = task->fault_hit;

	if (SHIM_HIT_HAS_ACT(hit, HANG)) {
		job->held = true;
		job->due_ns = SIM_JOB_NEVER_DUE;
		return 0;
	}
	if (SHIM_HIT_HAS_ACT(hit, DELAY)) {
		job->held = true;
		job->due_ns = sim_queue_now_ns(task->ctx->queue) + hit->delay_ns;
	}
	return task->pool->type->fault_ops->run(job, hit);
}

/* Each rule that hit, so that the run can be repeated. */
static void trace_rule_hits(uint32_t object, const struct sim_fault_site *site, const struct sim_fault_hit *hit)
{
	for (uint32_t i = 0; i < hit->num_rules && i < SIM_FAULT_HIT_MAX_RULES; i++) {
		struct sim_trace_hit entry = { .rule = hit->rules[i],
					       .operation = sim_op_name(site->op),
					       .match = hit->matches[i],
					       .bytes = site->size,
					       .delay_ns = hit->delays_ns[i] };

		sim_trace_fault(object, &entry);
	}
}

bool shim_fault_hits(struct sim_injector *faults, struct sim_fault_site *site, uint32_t object,
		     struct sim_fault_hit *ret_hit)
{
	if (sim_injector_needs_time(faults, site->op))
		site->now_ns = sim_session_now_ns(shim_session());
	if (!sim_injector_evaluate(faults, site, ret_hit))
		return false;
	trace_rule_hits(object, site, ret_hit);
	sim_info("fault %u strikes: %s of %llu bytes", ret_hit->rules[0], sim_op_name(site->op),
		 (unsigned long long)site->size);
	return true;
}

/* ---- tasks ---- */

void shim_task_fault_site_empty(const struct doca_task *task, struct sim_fault_site *ret_site)
{
	(void)task;
	(void)ret_site;
}

/* For how long the link holds the task up; what the model times waits in the model. */
static uint64_t link_down_ns(const struct doca_task *task)
{
	struct sim_session *session = shim_session();

	if (!shim_ctx_link_is_down(task->ctx))
		return 0;
	if (task->pool->type->get_pcie_job && sim_clock_mode(sim_session_clock(session)) != SIM_CLOCK_FUNCTIONAL)
		return 0;
	return sim_session_link_down_ns(session, shim_dev_function(task->ctx->dev)->id);
}

static void add_delay(struct sim_fault_hit *hit, uint64_t ns)
{
	if (ns == 0 || hit->actions & (SIM_ACT_BIT(SIM_ACT_HANG) | SIM_ACT_BIT(SIM_ACT_DROP)))
		return;
	hit->actions |= SIM_ACT_BIT(SIM_ACT_DELAY);
	hit->delay_ns = ns < UINT64_MAX - hit->delay_ns ? hit->delay_ns + ns : UINT64_MAX;
}

static struct sim_fault_site build_site(const struct doca_task *task)
{
	const struct shim_task_fault_ops *ops = task->pool->type->fault_ops;
	struct sim_fault_site site = { .op = ops->op, .function = SIM_NO_FUNCTION };

	if (task->ctx->dev)
		site.function = shim_dev_function(task->ctx->dev)->id;
	ops->site(task, &site);
	return site;
}

bool shim_task_no_fault_cached(const struct doca_task *task, struct sim_no_fault_copy *ret_quiet)
{
	const struct sim_fault_site site = build_site(task);

	return sim_no_fault_cache_copy(task->ctx->faults, &site, ret_quiet);
}

doca_error_t shim_task_fault_inject(struct doca_task *task)
{
	const struct shim_task_fault_ops *ops = task->pool->type->fault_ops;
	struct sim_fault_site site = build_site(task);
	struct sim_fault_hit hit;

	if (!shim_fault_hits(task->ctx->faults, &site, task->ctx->trace_id, &hit))
		hit = (struct sim_fault_hit){ 0 };
	add_delay(&hit, link_down_ns(task));
	if (hit.actions == 0)
		return DOCA_SUCCESS;
	if (SHIM_HIT_HAS_ACT(&hit, REFUSE))
		return (doca_error_t)hit.refuse_status;
	task->fault_hit = malloc(sizeof(hit));
	if (!task->fault_hit)
		return DOCA_ERROR_NO_MEMORY;
	*task->fault_hit = hit;
	if (ops->run)
		task->job.run = run_with_fault;
	return DOCA_SUCCESS;
}

doca_error_t shim_task_fault_finish(struct doca_task *task)
{
	/* Whatever went wrong, a card reports one thing: the job's I/O failed. */
	doca_error_t status = DOCA_ERROR_IO_FAILED;

	if (doca_likely(!task->fault_hit))
		return status;
	if (SHIM_HIT_HAS_ACT(task->fault_hit, FAIL))
		status = (doca_error_t)task->fault_hit->status;
	else if (SHIM_HIT_HAS_ACT(task->fault_hit, BREAK))
		status = DOCA_ERROR_CONNECTION_ABORTED;
	free(task->fault_hit);
	task->fault_hit = NULL;
	task->job.run = task->pool->type->run;
	return status;
}

/* ---- calls ---- */

static void ignore_wake(void *arg)
{
	(void)arg;
}

/* The calling thread takes part in virtual time, whether it drives an engine or not, until so much of it
 * has passed. Whether it did. */
static bool wait_virtual_ns(uint64_t ns)
{
	uint64_t now_ns = shim_now_ns(),
		 due_ns = ns < SIM_CLOCK_NEVER_NS - now_ns ? now_ns + ns : SIM_CLOCK_NEVER_NS - 1;
	struct sim_vclock_source *turn;

	if (sim_vclock_source_create(shim_vclock, ignore_wake, NULL, &turn) < 0)
		return false;
	sim_vclock_source_mark_busy(turn);
	for (;;) {
		if (!sim_vclock_source_may_poll(turn))
			continue; /* has slept for a moment */
		if (shim_now_ns() >= due_ns)
			break;
		sim_vclock_source_wait_until(turn, due_ns);
	}
	sim_vclock_source_destroy(turn);
	return true;
}

static void sleep_real_ns(uint64_t ns)
{
	struct timespec left = sim_timespec_from_ns(ns);

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

void shim_fault_delay(const struct sim_fault_hit *hit)
{
	if (!SHIM_HIT_HAS_ACT(hit, DELAY) || hit->delay_ns == 0)
		return;
	if (!shim_vclock || !wait_virtual_ns(hit->delay_ns))
		sleep_real_ns(hit->delay_ns);
}

doca_error_t shim_fault_status(const struct sim_fault_hit *hit)
{
	if (SHIM_HIT_HAS_ACT(hit, HANG) && shim_vclock)
		sim_vclock_sched_detach_thread(shim_vclock); /* nobody waits for it */
	while (SHIM_HIT_HAS_ACT(hit, HANG))
		pause();
	if (SHIM_HIT_HAS_ACT(hit, REFUSE))
		return (doca_error_t)hit->refuse_status;
	return SHIM_HIT_HAS_ACT(hit, FAIL) ? (doca_error_t)hit->status : DOCA_SUCCESS;
}

doca_error_t shim_fault_inject_call(struct sim_injector *faults, struct sim_fault_site *site, uint32_t object)
{
	struct sim_fault_hit hit;

	if (!shim_fault_hits(faults, site, object, &hit))
		return DOCA_SUCCESS;
	shim_fault_delay(&hit);
	return shim_fault_status(&hit);
}

doca_error_t shim_fault_inject_ctx_start(const struct doca_dev *dev)
{
	return shim_fault_inject_call_at(SIM_OP_CTX_START, dev, 0, 0);
}

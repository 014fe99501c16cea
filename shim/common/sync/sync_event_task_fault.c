/* SPDX-License-Identifier: BSD-3-Clause */
/* Injected faults of a sync event's tasks.
 *
 * A delayed update runs when it is due. A delayed wait looks at the value at once, and its end is
 * deferred. A hanging task ends when the context stops. */
#include <errno.h>

#include "pcie_model/arith.h"
#include "sync_event_priv.h"

static void defer(struct shim_sync_task *task)
{
	uint64_t model_ns = shim_sync_kind_is_wait(task->kind) ? 0 : shim_sync_task_event(&task->task)->update_ns;
	uint64_t due_ns = add_saturating_u64(shim_now_ns(), model_ns);

	shim_sync_task_defer(task, shim_task_has_fault(&task->task, HANG) ?
					   SIM_JOB_NEVER_DUE :
					   add_saturating_u64(due_ns, task->task.fault_hit->delay_ns));
}

/* Post a task that a fault hits: deferred if @is_deferred, ended if it fails, else with @post. */
static doca_error_t post_faulted(struct shim_sync_task *task, bool is_deferred,
				 doca_error_t (*post)(struct doca_task *task))
{
	bool fails = shim_task_has_fault(&task->task, FAIL);

	if (!is_deferred && !fails)
		return post(&task->task);
	task->rc = fails ? -EIO : 0;
	if (is_deferred)
		defer(task);
	else
		shim_sync_task_end(task);
	return DOCA_SUCCESS;
}

static doca_error_t update_post_faulted(struct doca_task *task, const struct sim_fault_hit *hit)
{
	return post_faulted(shim_to_sync_task(task), SIM_FAULT_HAS_ACT(hit, HANG) || SIM_FAULT_HAS_ACT(hit, DELAY),
			    shim_sync_update_post);
}

/* A delayed wait that does not fail waits at once: its end is deferred. */
static doca_error_t wait_post_faulted(struct doca_task *task, const struct sim_fault_hit *hit)
{
	return post_faulted(shim_to_sync_task(task),
			    SIM_FAULT_HAS_ACT(hit, HANG) ||
				    (SIM_FAULT_HAS_ACT(hit, DELAY) && SIM_FAULT_HAS_ACT(hit, FAIL)),
			    shim_sync_wait_post);
}

const struct shim_task_fault_ops shim_sync_update_fault_ops = {
	.op = SIM_OP_SYNC_EVENT_UPDATE,
	.site = shim_task_fault_site_empty,
	.post = update_post_faulted,
};

const struct shim_task_fault_ops shim_sync_wait_fault_ops = {
	.op = SIM_OP_SYNC_EVENT_WAIT,
	.site = shim_task_fault_site_empty,
	.post = wait_post_faulted,
};

bool shim_sync_task_defer_wait(struct shim_sync_task *task)
{
	if (task->rc < 0 || !shim_task_has_fault(&task->task, DELAY))
		return false;
	defer(task);
	return true;
}

static void complete_deferred(struct shim_sync_task *task, bool stops)
{
	if (stops && !task->has_run)
		task->rc = -ECANCELED;
	shim_sync_task_end(task);
}

void shim_sync_event_release_due(struct doca_sync_event *event)
{
	bool stops = event->ctx.state == DOCA_CTX_STATE_STOPPING;
	struct shim_sync_task *task = TAILQ_FIRST(&event->tasks[SHIM_SYNC_TASK_DEFERRED]);
	uint64_t now_ns = shim_now_ns();

	if (stops)
		shim_sync_deferred_drop_all(event);
	else
		shim_sync_deferred_run(event, now_ns);
	while (task) {
		struct shim_sync_task *next = TAILQ_NEXT(task, link);

		if (stops || task->due_ns <= now_ns)
			complete_deferred(task, stops);
		else
			shim_ctx_set_alarm(&event->ctx, task->due_ns);
		task = next;
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at the tasks of a sync event: an update that is late is done when it is
 * due, a wait that is late has its end held back. What hangs ends when the
 * context stops. */
#include <errno.h>

#include "shim/common/base/check.h"
#include "sync_event_priv.h"

const struct shim_task_fault_ops shim_sync_update_fault_ops = {
	.op = SIM_OP_SYNC_EVENT_UPDATE,
	.site = shim_task_fault_site_empty,
};

const struct shim_task_fault_ops shim_sync_wait_fault_ops = {
	.op = SIM_OP_SYNC_EVENT_WAIT,
	.site = shim_task_fault_site_empty,
};

static bool is_wait(const struct shim_sync_task *task)
{
	return task->kind >= SHIM_SYNC_WAIT_EQ;
}

static void defer_until(struct shim_sync_task *task, uint64_t due_ns)
{
	struct doca_sync_event *event = shim_sync_task_event(&task->task);

	task->due_ns = due_ns;
	shim_sync_queue_push(&event->deferred, task);
	shim_alarm_set(&event->ctx, due_ns);
}

static uint64_t compute_due_ns(const struct shim_sync_task *task)
{
	return shim_task_has_fault(&task->task, HANG) ? SIM_JOB_NEVER_DUE :
							shim_now_ns() + task->task.fault_hit->delay_ns;
}

bool shim_sync_event_apply_fault(struct shim_sync_task *task)
{
	bool fails = shim_task_has_fault(&task->task, FAIL), is_delayed = shim_task_has_fault(&task->task, DELAY);

	task->rc = fails ? -EIO : 0;
	if (shim_task_has_fault(&task->task, HANG) || (is_delayed && (fails || !is_wait(task))))
		defer_until(task, compute_due_ns(task));
	else if (fails)
		shim_sync_event_queue_completion(task);
	else
		return false; /* a wait's end will be late */
	return true;
}

bool shim_sync_event_defer_wait(struct shim_sync_task *task)
{
	if (task->rc < 0 || !shim_task_has_fault(&task->task, DELAY))
		return false;
	defer_until(task, compute_due_ns(task));
	return true;
}

static void complete_deferred(struct doca_sync_event *event, struct shim_sync_task *task)
{
	if (event->ctx.state == DOCA_CTX_STATE_STOPPING)
		task->rc = -ECANCELED;
	else if (task->rc == 0 && !is_wait(task))
		task->rc = shim_sync_task_update(task);
	shim_sync_event_queue_completion(task);
}

void shim_sync_event_release_due(struct doca_sync_event *event)
{
	bool stops = event->ctx.state == DOCA_CTX_STATE_STOPPING;
	struct shim_sync_task *before = NULL, *task = event->deferred.first;
	uint64_t now_ns = shim_now_ns();

	while (task) {
		struct shim_sync_task *next = task->next;

		if (stops || task->due_ns <= now_ns) {
			complete_deferred(event, shim_sync_queue_remove_after(&event->deferred, before));
		} else {
			shim_alarm_set(&event->ctx, task->due_ns);
			before = task;
		}
		task = next;
	}
}

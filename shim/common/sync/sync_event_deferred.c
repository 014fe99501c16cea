/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at the tasks of a sync event: an update that is late is done when it is
 * due, a wait that is late has its end held back. What hangs ends when the
 * context stops. */
#include <errno.h>

#include "shim/common/base/check.h"
#include "sync_event_priv.h"

const struct shim_strike_ops shim_sync_update_strike = {
	.op = SIM_OP_SYNC_EVENT_UPDATE,
	.site = shim_strike_site_nothing,
};

const struct shim_strike_ops shim_sync_wait_strike = {
	.op = SIM_OP_SYNC_EVENT_WAIT,
	.site = shim_strike_site_nothing,
};

static bool is_wait(const struct shim_sync_task *task)
{
	return task->kind >= SHIM_SYNC_WAIT_EQ;
}

static void hold(struct shim_sync_task *task, uint64_t due_ns)
{
	struct doca_sync_event *event = shim_sync_event_of(&task->task);

	task->due_ns = due_ns;
	shim_sync_push(&event->late, task);
	shim_alarm_set(&event->ctx, due_ns);
}

static uint64_t due_of(const struct shim_sync_task *task)
{
	return shim_task_is_struck(&task->task, HANG) ? SIM_JOB_NEVER_DUE : shim_now_ns() + task->task.strike->delay_ns;
}

bool shim_sync_event_strike(struct shim_sync_task *task)
{
	bool fails = shim_task_is_struck(&task->task, FAIL), is_late = shim_task_is_struck(&task->task, DELAY);

	task->rc = fails ? -EIO : 0;
	if (shim_task_is_struck(&task->task, HANG) || (is_late && (fails || !is_wait(task))))
		hold(task, due_of(task));
	else if (fails)
		shim_sync_event_report(task);
	else
		return false; /* a wait's end will be late */
	return true;
}

bool shim_sync_event_delay(struct shim_sync_task *task)
{
	if (task->rc < 0 || !shim_task_is_struck(&task->task, DELAY))
		return false;
	hold(task, due_of(task));
	return true;
}

static void go_on(struct doca_sync_event *event, struct shim_sync_task *task)
{
	if (event->ctx.state == DOCA_CTX_STATE_STOPPING)
		task->rc = -ECANCELED;
	else if (task->rc == 0 && !is_wait(task))
		task->rc = shim_sync_task_update(task);
	shim_sync_event_report(task);
}

void shim_sync_event_let_go(struct doca_sync_event *event)
{
	bool stops = event->ctx.state == DOCA_CTX_STATE_STOPPING;
	struct shim_sync_task *before = NULL, *task = event->late.first;
	uint64_t now_ns = shim_now_ns();

	while (task) {
		struct shim_sync_task *next = task->next;

		if (stops || task->due_ns <= now_ns) {
			go_on(event, shim_sync_take(&event->late, before));
		} else {
			shim_alarm_set(&event->ctx, task->due_ns);
			before = task;
		}
		task = next;
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* States of a sync event's task, and the event's list of each state. */
#include "sync_event_priv.h"

#include <assert.h>

static const bool edges[SHIM_SYNC_TASK_NUM_STATES][SHIM_SYNC_TASK_NUM_STATES] = {
	/* [from][to] */
	[SHIM_SYNC_TASK_IDLE] = { [SHIM_SYNC_TASK_WAITING] = true,
				  [SHIM_SYNC_TASK_DEFERRED] = true,
				  [SHIM_SYNC_TASK_DONE] = true },
	[SHIM_SYNC_TASK_WAITING] = { [SHIM_SYNC_TASK_IDLE] = true, [SHIM_SYNC_TASK_DEFERRED] = true },
	[SHIM_SYNC_TASK_DEFERRED] = { [SHIM_SYNC_TASK_DONE] = true },
	[SHIM_SYNC_TASK_DONE] = { [SHIM_SYNC_TASK_IDLE] = true },
};

bool shim_sync_task_has_edge(enum shim_sync_task_state from, enum shim_sync_task_state to)
{
	return edges[from][to];
}

void shim_sync_task_set_state(struct shim_sync_task *task, enum shim_sync_task_state to)
{
	struct doca_sync_event *event = shim_sync_task_event(&task->task);

	assert(edges[task->state][to]);
	if (task->state != SHIM_SYNC_TASK_IDLE)
		TAILQ_REMOVE(&event->tasks[task->state], task, link);
	task->state = to;
	if (to != SHIM_SYNC_TASK_IDLE)
		TAILQ_INSERT_TAIL(&event->tasks[to], task, link);
}

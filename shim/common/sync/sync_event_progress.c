/* SPDX-License-Identifier: BSD-3-Clause */
/* How the tasks of a sync event are reported: progress, sleep, stop.
 *
 * An operation on the value fails only if the exporter is gone. Then, as on any context, the failure
 * stops the context, and the stop ends the waits. */
#include <errno.h>

#include "shim/common/base/check.h"
#include "sync_event_priv.h"

static struct shim_sync_task *first_task(const struct doca_sync_event *event, enum shim_sync_task_state state)
{
	return TAILQ_FIRST(&event->tasks[state]);
}

/* ---- waits ---- */

static bool condition_holds(const struct shim_sync_task *task, uint64_t value)
{
	struct shim_sync_condition condition = {
		.relation = task->relation,
		.to = task->operand,
		.mask = task->mask,
	};

	return shim_sync_condition_holds(&condition, value);
}

/* Return the oldest wait that is over: its condition holds, or the value is lost, or the context stops.
 * NULL = none. *ret_rc is the task's result. */
static struct shim_sync_task *find_ended_wait(struct doca_sync_event *event, int *ret_rc)
{
	struct shim_sync_task *task = first_task(event, SHIM_SYNC_TASK_WAITING);
	uint64_t value;

	if (!task)
		return NULL;
	*ret_rc = event->ctx.state == DOCA_CTX_STATE_STOPPING ? -ECANCELED : shim_sync_value_get(&event->value, &value);
	while (*ret_rc == 0 && task && !condition_holds(task, value))
		task = TAILQ_NEXT(task, link);
	return task;
}

/* ---- progress ---- */

static doca_error_t task_status(const struct shim_sync_task *task)
{
	if (task->rc == 0)
		return DOCA_SUCCESS;
	return task->rc == -ECANCELED ? DOCA_ERROR_IO_FAILED : shim_task_fault_status(&task->task);
}

static void report_task(struct doca_sync_event *event, struct shim_sync_task *task)
{
	shim_sync_task_set_state(task, SHIM_SYNC_TASK_IDLE);
	if (task->rc < 0 && task->rc != -ECANCELED) {
		if (!shim_task_has_fault(&task->task, FAIL))
			shim_sync_event_error("a sync event's task fails", task->rc);
		shim_ctx_stop_on_error(&event->ctx);
	}
	if (task->rc == 0 && task->out)
		*task->out = task->result;
	shim_task_complete_posted(&task->task, task_status(task));
}

/* Report the oldest wait that is over and not deferred. Return whether there was one. */
static bool report_wait(struct doca_sync_event *event)
{
	struct shim_sync_task *task;
	int rc;

	while ((task = find_ended_wait(event, &rc))) {
		task->rc = rc;
		if (shim_sync_task_defer_wait(task))
			continue;
		report_task(event, task);
		return true;
	}
	return false;
}

static bool report_done(struct doca_sync_event *event)
{
	struct shim_sync_task *task = first_task(event, SHIM_SYNC_TASK_DONE);

	if (task)
		report_task(event, task);
	return task != NULL;
}

static void stop_watch(struct doca_sync_event *event)
{
	if (event->is_watched)
		shim_sync_watch_remove(&event->watch);
	event->is_watched = false;
}

bool shim_sync_event_progress(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = (struct doca_sync_event *)ctx;

	stop_watch(event); /* the owner is awake */
	shim_alarm_expired(&ctx->alarm);
	if (doca_unlikely(first_task(event, SHIM_SYNC_TASK_DEFERRED) != NULL))
		shim_sync_event_release_due(event);
	event->reports_waits_first = !event->reports_waits_first;
	if (event->reports_waits_first)
		return report_wait(event) || report_done(event);
	return report_done(event) || report_wait(event);
}

/* ---- sleep ---- */

/* Have the watcher notify the sleeping owner of a change. Return false, after a log line, without a watcher. */
static bool start_watch(struct doca_sync_event *event)
{
	int rc = event->holds_watcher ? 0 : shim_sync_watcher_hold();

	if (rc < 0) {
		sim_err("doca_pe_request_notification: no thread to watch a sync event with (error %d); the engine's handle stays readable meanwhile; raise the limit of threads",
			-rc);
		return false;
	}
	event->holds_watcher = true;
	event->watch.value = &event->value;
	event->watch.notify = shim_pe_notify_external;
	event->watch.arg = &event->ctx;
	shim_sync_watch_add(&event->watch);
	event->is_watched = true;
	return true;
}

/* Start the watch before reading the value, so that no change between the two is missed. */
bool shim_sync_event_arm(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = (struct doca_sync_event *)ctx;
	int rc;

	stop_watch(event);
	if (first_task(event, SHIM_SYNC_TASK_WAITING) && ctx->state == DOCA_CTX_STATE_RUNNING && !start_watch(event))
		return true;
	return first_task(event, SHIM_SYNC_TASK_DONE) || find_ended_wait(event, &rc) ||
	       (first_task(event, SHIM_SYNC_TASK_DEFERRED) && ctx->state == DOCA_CTX_STATE_STOPPING);
}

/* ---- stop ---- */

void shim_sync_event_begin_stop(struct doca_ctx *ctx)
{
	const struct doca_sync_event *event = (const struct doca_sync_event *)ctx;

	if (first_task(event, SHIM_SYNC_TASK_WAITING) || first_task(event, SHIM_SYNC_TASK_DEFERRED))
		shim_pe_notify_self(ctx);
}

void shim_sync_event_reset_tasks(struct doca_sync_event *event)
{
	stop_watch(event);
	shim_sync_deferred_end(event);
	if (event->holds_watcher)
		shim_sync_watcher_release();
	event->holds_watcher = false;
	for (int kind = 0; kind < SHIM_SYNC_NUM_KINDS; kind++)
		event->conf[kind].pool = NULL;
}

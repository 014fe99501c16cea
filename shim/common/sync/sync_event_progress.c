/* SPDX-License-Identifier: BSD-3-Clause */
/* How the tasks of a sync event run.
 *
 * An operation on the value takes less time than handing it to an engine, so
 * get, notify_set and notify_add are done when they are submitted, and reported
 * by progress in that order. The reference names no order between tasks that
 * wait and others; here they hold up none, so that a context may well set what it
 * waits for itself.
 *
 * An operation fails only if the exporter is gone: then, as on any context, the
 * failure stops it, and the stop ends what waits. */
#include <errno.h>

#include "shim/common/base/check.h"
#include "sync_event_priv.h"

static const struct shim_task_type *const types[SHIM_SYNC_NUM_KINDS] = {
	[SHIM_SYNC_GET] = &shim_sync_get_type,           [SHIM_SYNC_SET] = &shim_sync_set_type,
	[SHIM_SYNC_ADD] = &shim_sync_add_type,           [SHIM_SYNC_WAIT_EQ] = &shim_sync_wait_eq_type,
	[SHIM_SYNC_WAIT_NEQ] = &shim_sync_wait_neq_type, [SHIM_SYNC_WAIT_GT] = &shim_sync_wait_gt_type,
};

/* ---- queues ---- */

void shim_sync_queue_push(struct shim_sync_queue *queue, struct shim_sync_task *task)
{
	task->next = NULL;
	if (queue->last)
		queue->last->next = task;
	else
		queue->first = task;
	queue->last = task;
}

struct shim_sync_task *shim_sync_queue_remove_after(struct shim_sync_queue *queue, struct shim_sync_task *before)
{
	struct shim_sync_task **link = before ? &before->next : &queue->first, *task = *link;

	if (task) {
		*link = task->next;
		if (!task->next)
			queue->last = before;
	}
	return task;
}

void shim_sync_event_queue_completion(struct shim_sync_task *task)
{
	shim_sync_queue_push(&shim_sync_task_event(&task->task)->done, task);
	shim_pe_notify_self(task->task.ctx);
}

void shim_sync_event_queue_wait(struct shim_sync_task *task)
{
	shim_sync_queue_push(&shim_sync_task_event(&task->task)->waiting, task);
	shim_pe_notify_self(task->task.ctx); /* an owner that asked to be woken before has to ask anew */
}

/* ---- waiting ---- */

static bool wait_is_over(const struct shim_sync_task *task, uint64_t value)
{
	struct shim_sync_condition condition = {
		.relation = task->relation,
		.to = task->operand,
		.mask = task->mask,
	};

	return shim_sync_condition_holds(&condition, value);
}

/* The oldest task whose wait has an end, good or bad; NULL = none. */
static struct shim_sync_task *pop_ended_wait(struct doca_sync_event *event)
{
	struct shim_sync_task *before = NULL, *task = event->waiting.first;
	uint64_t now;
	int rc;

	if (!task)
		return NULL;
	rc = event->ctx.state == DOCA_CTX_STATE_STOPPING ? -ECANCELED : shim_sync_value_get(&event->value, &now);
	for (; rc == 0 && task && !wait_is_over(task, now); task = task->next)
		before = task;
	if (task)
		task->rc = rc;
	return shim_sync_queue_remove_after(&event->waiting, before);
}

static bool has_ended_wait(struct doca_sync_event *event)
{
	uint64_t now;

	if (!event->waiting.first)
		return false;
	if (event->ctx.state == DOCA_CTX_STATE_STOPPING || shim_sync_value_get(&event->value, &now) < 0)
		return true;
	for (const struct shim_sync_task *task = event->waiting.first; task; task = task->next)
		if (wait_is_over(task, now))
			return true;
	return false;
}

/* ---- the context's operations ---- */

static doca_error_t task_status(const struct shim_sync_task *task)
{
	if (task->rc == 0)
		return DOCA_SUCCESS;
	return task->rc != -ECANCELED && shim_task_has_fault(&task->task, FAIL) ?
		       (doca_error_t)task->task.fault_hit->status :
		       DOCA_ERROR_IO_FAILED;
}

static bool finish_task(struct doca_sync_event *event, struct shim_sync_task *task)
{
	if (!task)
		return false;
	if (task->rc < 0 && task->rc != -ECANCELED) {
		if (!shim_task_has_fault(&task->task, FAIL))
			shim_sync_event_error("a sync event's task fails", task->rc);
		shim_ctx_stop_on_error(&event->ctx);
	}
	if (task->rc == 0 && task->out)
		*task->out = task->result;
	shim_task_complete_posted(&task->task, task_status(task));
	return true;
}

/* The oldest wait that ended, and is to be reported now. */
static struct shim_sync_task *pop_reportable_wait(struct doca_sync_event *event)
{
	struct shim_sync_task *task;

	do
		task = pop_ended_wait(event);
	while (task && shim_sync_event_defer_wait(task));
	return task;
}

/* The owner is awake: nobody need look for it. */
static void stop_watch(struct doca_sync_event *event)
{
	if (event->is_watched)
		shim_sync_watch_remove(&event->watch);
	event->is_watched = false;
}

bool shim_sync_event_progress(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = (struct doca_sync_event *)ctx;

	stop_watch(event);
	shim_alarm_expired(&ctx->alarm);
	if (doca_unlikely(event->deferred.first != NULL))
		shim_sync_event_release_due(event);
	event->reports_waits_first = !event->reports_waits_first;
	if (event->reports_waits_first && finish_task(event, pop_reportable_wait(event)))
		return true;
	return finish_task(event, shim_sync_queue_remove_after(&event->done, NULL)) ||
	       (!event->reports_waits_first && finish_task(event, pop_reportable_wait(event)));
}

/* Have the watcher look. False when there can't be one. */
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
	event->watch.notify = shim_pe_notify;
	event->watch.arg = &event->ctx;
	shim_sync_watch_add(&event->watch);
	event->is_watched = true;
	return true;
}

/* Watch first, then look: a change between the two is seen by one of them. */
bool shim_sync_event_arm(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = (struct doca_sync_event *)ctx;

	stop_watch(event);
	if (event->waiting.first && ctx->state == DOCA_CTX_STATE_RUNNING && !start_watch(event))
		return true;
	return event->done.first || has_ended_wait(event) ||
	       (event->deferred.first && ctx->state == DOCA_CTX_STATE_STOPPING);
}

void shim_sync_event_begin_stop(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = (struct doca_sync_event *)ctx;

	if (event->waiting.first || event->deferred.first)
		shim_pe_notify_self(ctx);
}

void shim_sync_event_reset_tasks(struct doca_sync_event *event)
{
	stop_watch(event);
	if (event->holds_watcher)
		shim_sync_watcher_release();
	event->holds_watcher = false;
	for (int kind = 0; kind < SHIM_SYNC_NUM_KINDS; kind++)
		event->pools[kind] = NULL;
}

/* ---- what all kinds share ---- */

doca_error_t shim_sync_event_make_pools(struct doca_sync_event *event)
{
	doca_error_t result = DOCA_SUCCESS;

	event->done = event->waiting = event->deferred = (struct shim_sync_queue){ 0 };
	for (int kind = 0; kind < SHIM_SYNC_NUM_KINDS && result == DOCA_SUCCESS; kind++) {
		event->pools[kind] = NULL;
		if (event->num_tasks[kind] > 0)
			result = shim_task_pool_add(&event->ctx, types[kind], event->num_tasks[kind],
						    &event->pools[kind]);
	}
	return result;
}

doca_error_t shim_sync_event_set_num_tasks(const char *func, struct doca_sync_event *event, enum shim_sync_kind kind,
					   uint32_t num_tasks)
{
	if (shim_sync_event_is_started(event)) {
		sim_err("%s: the event is not idle; stop it first", func);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	event->num_tasks[kind] = num_tasks;
	return DOCA_SUCCESS;
}

doca_error_t shim_sync_event_alloc(const char *func, struct doca_sync_event *event, enum shim_sync_kind kind,
				   union doca_data user_data, struct shim_sync_task **ret_task)
{
	bool may = event->pools[kind] || event->ctx.state != DOCA_CTX_STATE_RUNNING;
	struct doca_task *base;
	doca_error_t result =
		may ? shim_task_alloc(event->pools[kind], &event->ctx, user_data, &base) : DOCA_ERROR_NO_MEMORY;

	if (result == DOCA_ERROR_BAD_STATE)
		sim_err("%s: the event's context is not running; start it first", func);
	else if (result != DOCA_SUCCESS)
		sim_err("%s: all %u configured tasks are allocated; free some, or configure more", func,
			event->num_tasks[kind]);
	if (result != DOCA_SUCCESS)
		return result;
	*ret_task = shim_to_sync_task(base);
	(*ret_task)->kind = kind;
	(*ret_task)->out = NULL;
	return DOCA_SUCCESS;
}

bool shim_sync_task_check_settable(const char *func, const void *handle, enum shim_sync_kind kind)
{
	if (shim_sync_task_is(handle, kind) && !shim_to_sync_task(handle)->task.in_flight)
		return true;
	sim_err("%s: the task is NULL, freed, of another kind, or in flight; nothing was changed", func);
	return false;
}

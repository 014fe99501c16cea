/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks of a sync event: the parts that all kinds share.
 *
 * An operation on the value takes less time than handing it to an engine. So get, notify_set and
 * notify_add run when they are submitted, and progress reports them in that order. The reference gives
 * no order between waits and other tasks; here a wait holds up no other task, so that a context can set
 * the value that it waits for. */
#include "pcie_model/arith.h"
#include "shim/common/base/check.h"
#include "sync_event_priv.h"

doca_error_t shim_sync_event_set_task_conf(const char *func, struct doca_sync_event *event, enum shim_sync_kind kind,
					   const struct shim_task_type *type, const struct shim_task_conf *conf)
{
	if (shim_sync_event_is_started(event)) {
		sim_err("%s: the event is not idle; stop it first", func);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	event->types[kind] = type;
	event->conf[kind] = *conf;
	return DOCA_SUCCESS;
}

doca_error_t shim_sync_event_make_pools(struct doca_sync_event *event)
{
	doca_error_t result = DOCA_SUCCESS;

	for (int state = 0; state < SHIM_SYNC_TASK_NUM_STATES; state++)
		TAILQ_INIT(&event->tasks[state]);
	for (int kind = 0; kind < SHIM_SYNC_NUM_KINDS && result == DOCA_SUCCESS; kind++) {
		event->conf[kind].pool = NULL;
		if (event->conf[kind].num_tasks > 0)
			result = shim_task_pool_add(&event->ctx, event->types[kind], event->conf[kind].num_tasks,
						    &event->conf[kind].pool);
	}
	return result;
}

doca_error_t shim_sync_event_alloc_task(const char *func, struct doca_sync_event *event, enum shim_sync_kind kind,
					union doca_data user_data, struct shim_sync_task **ret_task)
{
	struct doca_task *base;
	doca_error_t result = shim_task_alloc_of(func, &event->ctx, &event->conf[kind], user_data, &base);

	if (result != DOCA_SUCCESS)
		return result;
	*ret_task = shim_to_sync_task(base);
	(*ret_task)->kind = kind;
	(*ret_task)->state = SHIM_SYNC_TASK_IDLE;
	(*ret_task)->out = NULL;
	return DOCA_SUCCESS;
}

bool shim_sync_task_is(const void *handle, enum shim_sync_kind kind)
{
	const struct shim_sync_task *task = handle;

	return shim_object_is(handle, SHIM_TASK) && shim_object_is(task->task.ctx, SHIM_SYNC_EVENT) &&
	       task->kind == kind;
}

bool shim_sync_task_check_settable(const char *func, const void *handle, enum shim_sync_kind kind)
{
	if (shim_sync_task_is(handle, kind) && !shim_to_sync_task(handle)->task.in_flight)
		return true;
	sim_err("%s: the task is NULL, freed, of another kind, or in flight; nothing was changed", func);
	return false;
}

void shim_sync_task_end(struct shim_sync_task *task)
{
	shim_sync_task_set_state(task, SHIM_SYNC_TASK_DONE);
	shim_pe_notify_self(task->task.ctx);
}

void shim_sync_task_defer(struct shim_sync_task *task, uint64_t due_ns)
{
	task->due_ns = due_ns;
	task->has_run = false;
	shim_sync_task_set_state(task, SHIM_SYNC_TASK_DEFERRED);
	shim_ctx_set_alarm(task->task.ctx, due_ns);
	if (task->rc == 0 && !shim_sync_kind_is_wait(task->kind) && due_ns != SIM_JOB_NEVER_DUE)
		shim_sync_deferred_add(task);
}

doca_error_t shim_sync_update_post(struct doca_task *task)
{
	uint64_t update_ns = shim_sync_task_event(task)->update_ns;

	if (doca_unlikely(update_ns > 0)) {
		shim_to_sync_task(task)->rc = 0;
		shim_sync_task_defer(shim_to_sync_task(task), add_saturating_u64(shim_now_ns(), update_ns));
		return DOCA_SUCCESS;
	}
	shim_to_sync_task(task)->rc = shim_sync_task_update(shim_to_sync_task(task));
	shim_sync_task_end(shim_to_sync_task(task));
	return DOCA_SUCCESS;
}

doca_error_t shim_sync_wait_post(struct doca_task *task)
{
	shim_sync_task_set_state(shim_to_sync_task(task), SHIM_SYNC_TASK_WAITING);
	shim_pe_notify_self(task->ctx); /* the owner armed before this wait: it has to arm again */
	return DOCA_SUCCESS;
}

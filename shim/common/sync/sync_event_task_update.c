/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that read and change the value of a sync event: get, notify_set, notify_add. */
#include "shim/common/base/check.h"
#include "sync_event_priv.h"

/* The value's memory map may have ended. */
static doca_error_t update_check(struct doca_task *task)
{
	return shim_sync_event_check("doca_task_submit", shim_sync_task_event(task));
}

static doca_error_t update_check_out(struct doca_task *task)
{
	if (shim_to_sync_task(task)->out)
		return update_check(task);
	sim_err("doca_task_submit: a sync event's task has no pointer for its result");
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t get_post(struct doca_task *base)
{
	struct shim_sync_task *task = shim_to_sync_task(base);

	task->rc = shim_sync_value_get(&shim_sync_task_event(base)->value, &task->result);
	shim_sync_task_end(task);
	return DOCA_SUCCESS;
}

/* ---- get ---- */

SHIM_SYNC_DEFINE_TASK(get, SHIM_SYNC_GET, get_type)
SHIM_SYNC_DEFINE_ACCESSORS(get, SHIM_SYNC_GET, ret_val_ptr, uint64_t *, out)

static const struct shim_task_type get_type = {
	.name = SIM_TASK_SYNC_GET,
	.size = sizeof(struct doca_sync_event_task_get),
	.check = update_check_out,
	.validate = update_check_out,
	.post = get_post,
	.complete = complete_get,
};

doca_error_t doca_sync_event_task_get_alloc_init(struct doca_sync_event *event, uint64_t *ret_val_ptr,
						 union doca_data user_data, struct doca_sync_event_task_get **task)
{
	struct shim_sync_task *base;
	doca_error_t result;

	SHIM_NEED_FAST(event, SHIM_SYNC_EVENT);
	SHIM_NEED_OUT(task);
	result = shim_sync_event_alloc_task(__func__, event, SHIM_SYNC_GET, user_data, &base);
	if (result != DOCA_SUCCESS)
		return result;
	base->out = ret_val_ptr;
	*task = (struct doca_sync_event_task_get *)base;
	return DOCA_SUCCESS;
}

/* ---- notify_set ---- */

SHIM_SYNC_DEFINE_TASK(notify_set, SHIM_SYNC_SET, notify_set_type)
SHIM_SYNC_DEFINE_ACCESSORS(notify_set, SHIM_SYNC_SET, set_val, uint64_t, operand)

static const struct shim_task_type notify_set_type = {
	.name = SIM_TASK_SYNC_SET,
	.size = sizeof(struct doca_sync_event_task_notify_set),
	.check = update_check,
	.validate = update_check,
	.post = shim_sync_update_post,
	.complete = complete_notify_set,
	.fault_ops = &shim_sync_update_fault_ops,
};

doca_error_t doca_sync_event_task_notify_set_alloc_init(struct doca_sync_event *event, uint64_t set_val,
							union doca_data user_data,
							struct doca_sync_event_task_notify_set **task)
{
	struct shim_sync_task *base;
	doca_error_t result;

	SHIM_NEED_FAST(event, SHIM_SYNC_EVENT);
	SHIM_NEED_OUT(task);
	result = shim_sync_event_alloc_task(__func__, event, SHIM_SYNC_SET, user_data, &base);
	if (result != DOCA_SUCCESS)
		return result;
	base->operand = set_val;
	*task = (struct doca_sync_event_task_notify_set *)base;
	return DOCA_SUCCESS;
}

/* ---- notify_add ---- */

SHIM_SYNC_DEFINE_TASK(notify_add, SHIM_SYNC_ADD, notify_add_type)
SHIM_SYNC_DEFINE_ACCESSORS(notify_add, SHIM_SYNC_ADD, inc_val, uint64_t, operand)
SHIM_SYNC_DEFINE_ACCESSORS(notify_add, SHIM_SYNC_ADD, fetched_val_ptr, uint64_t *, out)

static const struct shim_task_type notify_add_type = {
	.name = SIM_TASK_SYNC_ADD,
	.size = sizeof(struct doca_sync_event_task_notify_add),
	.check = update_check_out,
	.validate = update_check_out,
	.post = shim_sync_update_post,
	.complete = complete_notify_add,
	.fault_ops = &shim_sync_update_fault_ops,
};

doca_error_t doca_sync_event_task_notify_add_alloc_init(struct doca_sync_event *event, uint64_t inc_val,
							uint64_t *fetched_val_ptr, union doca_data user_data,
							struct doca_sync_event_task_notify_add **task)
{
	struct shim_sync_task *base;
	doca_error_t result;

	SHIM_NEED_FAST(event, SHIM_SYNC_EVENT);
	SHIM_NEED_OUT(task);
	result = shim_sync_event_alloc_task(__func__, event, SHIM_SYNC_ADD, user_data, &base);
	if (result != DOCA_SUCCESS)
		return result;
	base->operand = inc_val;
	base->out = fetched_val_ptr;
	*task = (struct doca_sync_event_task_notify_add *)base;
	return DOCA_SUCCESS;
}

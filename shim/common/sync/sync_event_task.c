/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that read and change the value: get, notify_set, notify_add. */
#include "shim/common/base/check.h"
#include "sync_event_priv.h"

struct doca_sync_event_task_get {
	struct shim_sync_task base;
};

struct doca_sync_event_task_notify_set {
	struct shim_sync_task base;
};

struct doca_sync_event_task_notify_add {
	struct shim_sync_task base;
};

#define DEFINE_CAPABILITY(function_name)                               \
	doca_error_t function_name(const struct doca_devinfo *devinfo) \
	{                                                              \
		SHIM_NEED(devinfo, SHIM_DEVINFO);                      \
		return DOCA_SUCCESS; /* no device is needed for it */  \
	}

DEFINE_CAPABILITY(doca_sync_event_cap_task_get_is_supported)
DEFINE_CAPABILITY(doca_sync_event_cap_task_notify_set_is_supported)
DEFINE_CAPABILITY(doca_sync_event_cap_task_notify_add_is_supported)

/* ---- how they run ---- */

/* The memory map of the value may have gone. */
static doca_error_t sync_task_check(const struct doca_task *task)
{
	return shim_sync_event_check("doca_task_submit", shim_sync_task_event(task));
}

static doca_error_t sync_task_check_out(const struct doca_task *task)
{
	if (shim_to_sync_task(task)->out)
		return sync_task_check(task);
	sim_err("doca_task_submit: a sync event's task has no pointer for its result");
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t get_post(struct doca_task *base)
{
	struct shim_sync_task *task = shim_to_sync_task(base);

	task->rc = shim_sync_value_get(&shim_sync_task_event(base)->value, &task->result);
	shim_sync_event_queue_completion(task);
	return DOCA_SUCCESS;
}

int shim_sync_task_update(struct shim_sync_task *task)
{
	struct shim_sync_value *value = &shim_sync_task_event(&task->task)->value;

	return task->kind == SHIM_SYNC_SET ? shim_sync_value_set(value, task->operand) :
					     shim_sync_value_add(value, task->operand, &task->result);
}

static doca_error_t update_post(struct doca_task *base)
{
	struct shim_sync_task *task = shim_to_sync_task(base);

	if (doca_unlikely(base->fault_hit) && shim_sync_event_apply_fault(task))
		return DOCA_SUCCESS;
	task->rc = shim_sync_task_update(task);
	shim_sync_event_queue_completion(task);
	return DOCA_SUCCESS;
}

static void get_complete(struct doca_task *base)
{
	struct doca_sync_event *event = shim_sync_task_event(base);
	doca_sync_event_task_get_completion_cb_t cb =
		base->status == DOCA_SUCCESS ? event->get.done : event->get.failed;

	cb((struct doca_sync_event_task_get *)base, base->user_data, event->ctx.user_data);
}

static void set_complete(struct doca_task *base)
{
	struct doca_sync_event *event = shim_sync_task_event(base);
	doca_sync_event_task_notify_set_completion_cb_t cb =
		base->status == DOCA_SUCCESS ? event->set.done : event->set.failed;

	cb((struct doca_sync_event_task_notify_set *)base, base->user_data, event->ctx.user_data);
}

static void add_complete(struct doca_task *base)
{
	struct doca_sync_event *event = shim_sync_task_event(base);
	doca_sync_event_task_notify_add_completion_cb_t cb =
		base->status == DOCA_SUCCESS ? event->add.done : event->add.failed;

	cb((struct doca_sync_event_task_notify_add *)base, base->user_data, event->ctx.user_data);
}

const struct shim_task_type shim_sync_get_type = {
	.name = SIM_TASK_SYNC_GET,
	.size = sizeof(struct doca_sync_event_task_get),
	.check = sync_task_check_out,
	.validate = sync_task_check_out,
	.post = get_post,
	.complete = get_complete,
};

const struct shim_task_type shim_sync_set_type = {
	.name = SIM_TASK_SYNC_SET,
	.size = sizeof(struct doca_sync_event_task_notify_set),
	.check = sync_task_check,
	.validate = sync_task_check,
	.post = update_post,
	.complete = set_complete,
	.fault_ops = &shim_sync_update_fault_ops,
};

const struct shim_task_type shim_sync_add_type = {
	.name = SIM_TASK_SYNC_ADD,
	.size = sizeof(struct doca_sync_event_task_notify_add),
	.check = sync_task_check_out,
	.validate = sync_task_check_out,
	.post = update_post,
	.complete = add_complete,
	.fault_ops = &shim_sync_update_fault_ops,
};

/* ---- get ---- */

doca_error_t doca_sync_event_task_get_set_conf(struct doca_sync_event *event,
					       doca_sync_event_task_get_completion_cb_t completion_cb,
					       doca_sync_event_task_get_completion_cb_t error_cb, uint32_t num_tasks)
{
	doca_error_t result;

	SHIM_NEED(event, SHIM_SYNC_EVENT);
	SHIM_NEED_OUT(completion_cb);
	SHIM_NEED_OUT(error_cb);
	result = shim_sync_event_set_num_tasks(__func__, event, SHIM_SYNC_GET, num_tasks);
	if (result != DOCA_SUCCESS)
		return result;
	event->get.done = completion_cb;
	event->get.failed = error_cb;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_task_get_alloc_init(struct doca_sync_event *event, uint64_t *ret_val_ptr,
						 union doca_data user_data, struct doca_sync_event_task_get **task)
{
	struct shim_sync_task *base;
	doca_error_t result;

	SHIM_NEED(event, SHIM_SYNC_EVENT);
	SHIM_NEED_OUT(task);
	result = shim_sync_event_alloc(__func__, event, SHIM_SYNC_GET, user_data, &base);
	if (result != DOCA_SUCCESS)
		return result;
	base->out = ret_val_ptr;
	*task = (struct doca_sync_event_task_get *)base;
	return DOCA_SUCCESS;
}

struct doca_task *doca_sync_event_task_get_as_doca_task(struct doca_sync_event_task_get *task)
{
	return shim_sync_task_is(task, SHIM_SYNC_GET) ? &task->base.task : NULL;
}

void doca_sync_event_task_get_set_ret_val_ptr(struct doca_sync_event_task_get *task, uint64_t *ret_val_ptr)
{
	if (shim_sync_task_check_settable(__func__, task, SHIM_SYNC_GET))
		task->base.out = ret_val_ptr;
}

uint64_t *doca_sync_event_task_get_get_ret_val_ptr(const struct doca_sync_event_task_get *task)
{
	return shim_sync_task_is(task, SHIM_SYNC_GET) ? task->base.out : NULL;
}

/* ---- notify_set ---- */

doca_error_t doca_sync_event_task_notify_set_set_conf(struct doca_sync_event *event,
						      doca_sync_event_task_notify_set_completion_cb_t completion_cb,
						      doca_sync_event_task_notify_set_completion_cb_t error_cb,
						      uint32_t num_tasks)
{
	doca_error_t result;

	SHIM_NEED(event, SHIM_SYNC_EVENT);
	SHIM_NEED_OUT(completion_cb);
	SHIM_NEED_OUT(error_cb);
	result = shim_sync_event_set_num_tasks(__func__, event, SHIM_SYNC_SET, num_tasks);
	if (result != DOCA_SUCCESS)
		return result;
	event->set.done = completion_cb;
	event->set.failed = error_cb;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_task_notify_set_alloc_init(struct doca_sync_event *event, uint64_t set_val,
							union doca_data user_data,
							struct doca_sync_event_task_notify_set **task)
{
	struct shim_sync_task *base;
	doca_error_t result;

	SHIM_NEED(event, SHIM_SYNC_EVENT);
	SHIM_NEED_OUT(task);
	result = shim_sync_event_alloc(__func__, event, SHIM_SYNC_SET, user_data, &base);
	if (result != DOCA_SUCCESS)
		return result;
	base->operand = set_val;
	*task = (struct doca_sync_event_task_notify_set *)base;
	return DOCA_SUCCESS;
}

struct doca_task *doca_sync_event_task_notify_set_as_doca_task(struct doca_sync_event_task_notify_set *task)
{
	return shim_sync_task_is(task, SHIM_SYNC_SET) ? &task->base.task : NULL;
}

void doca_sync_event_task_notify_set_set_set_val(struct doca_sync_event_task_notify_set *task, uint64_t set_val)
{
	if (shim_sync_task_check_settable(__func__, task, SHIM_SYNC_SET))
		task->base.operand = set_val;
}

uint64_t doca_sync_event_task_notify_set_get_set_val(const struct doca_sync_event_task_notify_set *task)
{
	return shim_sync_task_is(task, SHIM_SYNC_SET) ? task->base.operand : 0;
}

/* ---- notify_add ---- */

doca_error_t doca_sync_event_task_notify_add_set_conf(struct doca_sync_event *event,
						      doca_sync_event_task_notify_add_completion_cb_t completion_cb,
						      doca_sync_event_task_notify_add_completion_cb_t error_cb,
						      uint32_t num_tasks)
{
	doca_error_t result;

	SHIM_NEED(event, SHIM_SYNC_EVENT);
	SHIM_NEED_OUT(completion_cb);
	SHIM_NEED_OUT(error_cb);
	result = shim_sync_event_set_num_tasks(__func__, event, SHIM_SYNC_ADD, num_tasks);
	if (result != DOCA_SUCCESS)
		return result;
	event->add.done = completion_cb;
	event->add.failed = error_cb;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_task_notify_add_alloc_init(struct doca_sync_event *event, uint64_t inc_val,
							uint64_t *fetched_val_ptr, union doca_data user_data,
							struct doca_sync_event_task_notify_add **task)
{
	struct shim_sync_task *base;
	doca_error_t result;

	SHIM_NEED(event, SHIM_SYNC_EVENT);
	SHIM_NEED_OUT(task);
	result = shim_sync_event_alloc(__func__, event, SHIM_SYNC_ADD, user_data, &base);
	if (result != DOCA_SUCCESS)
		return result;
	base->operand = inc_val;
	base->out = fetched_val_ptr;
	*task = (struct doca_sync_event_task_notify_add *)base;
	return DOCA_SUCCESS;
}

struct doca_task *doca_sync_event_task_notify_add_as_doca_task(struct doca_sync_event_task_notify_add *task)
{
	return shim_sync_task_is(task, SHIM_SYNC_ADD) ? &task->base.task : NULL;
}

void doca_sync_event_task_notify_add_set_inc_val(struct doca_sync_event_task_notify_add *task, uint64_t inc_val)
{
	if (shim_sync_task_check_settable(__func__, task, SHIM_SYNC_ADD))
		task->base.operand = inc_val;
}

uint64_t doca_sync_event_task_notify_add_get_inc_val(const struct doca_sync_event_task_notify_add *task)
{
	return shim_sync_task_is(task, SHIM_SYNC_ADD) ? task->base.operand : 0;
}

void doca_sync_event_task_notify_add_set_fetched_val_ptr(struct doca_sync_event_task_notify_add *task,
							 uint64_t *fetched_val_ptr)
{
	if (shim_sync_task_check_settable(__func__, task, SHIM_SYNC_ADD))
		task->base.out = fetched_val_ptr;
}

uint64_t *doca_sync_event_task_notify_add_get_fetched_val_ptr(const struct doca_sync_event_task_notify_add *task)
{
	return shim_sync_task_is(task, SHIM_SYNC_ADD) ? task->base.out : NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that wait for a value: wait_eq, wait_neq. */
#include "shim/common/base/check.h"
#include "sync_event_priv.h"

struct doca_sync_event_task_wait_eq {
	struct shim_sync_task base;
};

struct doca_sync_event_task_wait_neq {
	struct shim_sync_task base;
};

doca_error_t doca_sync_event_cap_task_wait_eq_is_supported(const struct doca_devinfo *devinfo)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	return DOCA_SUCCESS; /* no device is needed for it */
}

doca_error_t doca_sync_event_cap_task_wait_neq_is_supported(const struct doca_devinfo *devinfo)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	return DOCA_SUCCESS;
}

/* ---- how they run ---- */

/* None, or 1, 2, 4 or 8 bytes of ones in a row. */
static bool is_valid_mask(uint64_t mask)
{
	static const uint64_t byte_masks[] = { UINT8_MAX, UINT16_MAX, UINT32_MAX, UINT64_MAX };

	if (mask == 0)
		return true;
	while ((mask & UINT8_MAX) == 0)
		mask >>= 8;
	for (size_t i = 0; i < sizeof(byte_masks) / sizeof(byte_masks[0]); i++)
		if (mask == byte_masks[i])
			return true;
	return false;
}

doca_error_t shim_sync_wait_check(const struct doca_task *task)
{
	uint64_t mask = shim_to_sync_task(task)->mask;

	if (is_valid_mask(mask))
		return shim_sync_event_check("doca_task_submit", shim_sync_task_event(task));
	sim_err("doca_task_submit: a sync event's task waits with mask %#llx; it takes none, or 1, 2, 4 or 8 bytes of 0xff in a row",
		(unsigned long long)mask);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t shim_sync_wait_post(struct doca_task *task)
{
	if (doca_likely(!task->fault_hit) || !shim_sync_event_apply_fault(shim_to_sync_task(task)))
		shim_sync_event_queue_wait(shim_to_sync_task(task));
	return DOCA_SUCCESS;
}

static void eq_complete(struct doca_task *base)
{
	struct doca_sync_event *event = shim_sync_task_event(base);
	doca_sync_event_task_wait_eq_completion_cb_t cb =
		base->status == DOCA_SUCCESS ? event->wait_eq.done : event->wait_eq.failed;

	cb((struct doca_sync_event_task_wait_eq *)base, base->user_data, event->ctx.user_data);
}

static void neq_complete(struct doca_task *base)
{
	struct doca_sync_event *event = shim_sync_task_event(base);
	doca_sync_event_task_wait_neq_completion_cb_t cb =
		base->status == DOCA_SUCCESS ? event->wait_neq.done : event->wait_neq.failed;

	cb((struct doca_sync_event_task_wait_neq *)base, base->user_data, event->ctx.user_data);
}

const struct shim_task_type shim_sync_wait_eq_type = {
	.name = SIM_TASK_SYNC_WAIT_EQ,
	.size = sizeof(struct doca_sync_event_task_wait_eq),
	.check = shim_sync_wait_check,
	.validate = shim_sync_wait_check,
	.post = shim_sync_wait_post,
	.complete = eq_complete,
	.fault_ops = &shim_sync_wait_fault_ops,
};

const struct shim_task_type shim_sync_wait_neq_type = {
	.name = SIM_TASK_SYNC_WAIT_NEQ,
	.size = sizeof(struct doca_sync_event_task_wait_neq),
	.check = shim_sync_wait_check,
	.validate = shim_sync_wait_check,
	.post = shim_sync_wait_post,
	.complete = neq_complete,
	.fault_ops = &shim_sync_wait_fault_ops,
};

/* ---- wait_eq ---- */

doca_error_t doca_sync_event_task_wait_eq_set_conf(struct doca_sync_event *event,
						   doca_sync_event_task_wait_eq_completion_cb_t completion_cb,
						   doca_sync_event_task_wait_eq_completion_cb_t error_cb,
						   uint32_t num_tasks)
{
	doca_error_t result;

	SHIM_NEED(event, SHIM_SYNC_EVENT);
	SHIM_NEED_OUT(completion_cb);
	SHIM_NEED_OUT(error_cb);
	result = shim_sync_event_set_num_tasks(__func__, event, SHIM_SYNC_WAIT_EQ, num_tasks);
	if (result != DOCA_SUCCESS)
		return result;
	event->wait_eq.done = completion_cb;
	event->wait_eq.failed = error_cb;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_task_wait_eq_alloc_init(struct doca_sync_event *event, uint64_t wait_val, uint64_t mask,
						     union doca_data user_data,
						     struct doca_sync_event_task_wait_eq **task)
{
	struct shim_sync_task *base;
	doca_error_t result;

	SHIM_NEED(event, SHIM_SYNC_EVENT);
	SHIM_NEED_OUT(task);
	result = shim_sync_event_alloc(__func__, event, SHIM_SYNC_WAIT_EQ, user_data, &base);
	if (result != DOCA_SUCCESS)
		return result;
	base->operand = wait_val;
	base->mask = mask;
	base->relation = SHIM_SYNC_EQ;
	*task = (struct doca_sync_event_task_wait_eq *)base;
	return DOCA_SUCCESS;
}

struct doca_task *doca_sync_event_task_wait_eq_as_doca_task(struct doca_sync_event_task_wait_eq *task)
{
	return shim_sync_task_is(task, SHIM_SYNC_WAIT_EQ) ? &task->base.task : NULL;
}

void doca_sync_event_task_wait_eq_set_wait_val(struct doca_sync_event_task_wait_eq *task, uint64_t wait_val)
{
	if (shim_sync_task_check_settable(__func__, task, SHIM_SYNC_WAIT_EQ))
		task->base.operand = wait_val;
}

uint64_t doca_sync_event_task_wait_eq_get_wait_val(const struct doca_sync_event_task_wait_eq *task)
{
	return shim_sync_task_is(task, SHIM_SYNC_WAIT_EQ) ? task->base.operand : 0;
}

void doca_sync_event_task_wait_eq_set_mask(struct doca_sync_event_task_wait_eq *task, uint64_t mask)
{
	if (shim_sync_task_check_settable(__func__, task, SHIM_SYNC_WAIT_EQ))
		task->base.mask = mask;
}

uint64_t doca_sync_event_task_wait_eq_get_mask(const struct doca_sync_event_task_wait_eq *task)
{
	return shim_sync_task_is(task, SHIM_SYNC_WAIT_EQ) ? task->base.mask : 0;
}

/* ---- wait_neq ---- */

doca_error_t doca_sync_event_task_wait_neq_set_conf(struct doca_sync_event *event,
						    doca_sync_event_task_wait_neq_completion_cb_t completion_cb,
						    doca_sync_event_task_wait_neq_completion_cb_t error_cb,
						    uint32_t num_tasks)
{
	doca_error_t result;

	SHIM_NEED(event, SHIM_SYNC_EVENT);
	SHIM_NEED_OUT(completion_cb);
	SHIM_NEED_OUT(error_cb);
	result = shim_sync_event_set_num_tasks(__func__, event, SHIM_SYNC_WAIT_NEQ, num_tasks);
	if (result != DOCA_SUCCESS)
		return result;
	event->wait_neq.done = completion_cb;
	event->wait_neq.failed = error_cb;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_task_wait_neq_alloc_init(struct doca_sync_event *event, uint64_t wait_val, uint64_t mask,
						      union doca_data user_data,
						      struct doca_sync_event_task_wait_neq **task)
{
	struct shim_sync_task *base;
	doca_error_t result;

	SHIM_NEED(event, SHIM_SYNC_EVENT);
	SHIM_NEED_OUT(task);
	result = shim_sync_event_alloc(__func__, event, SHIM_SYNC_WAIT_NEQ, user_data, &base);
	if (result != DOCA_SUCCESS)
		return result;
	base->operand = wait_val;
	base->mask = mask;
	base->relation = SHIM_SYNC_NEQ;
	*task = (struct doca_sync_event_task_wait_neq *)base;
	return DOCA_SUCCESS;
}

struct doca_task *doca_sync_event_task_wait_neq_as_doca_task(struct doca_sync_event_task_wait_neq *task)
{
	return shim_sync_task_is(task, SHIM_SYNC_WAIT_NEQ) ? &task->base.task : NULL;
}

void doca_sync_event_task_wait_neq_set_wait_val(struct doca_sync_event_task_wait_neq *task, uint64_t wait_val)
{
	if (shim_sync_task_check_settable(__func__, task, SHIM_SYNC_WAIT_NEQ))
		task->base.operand = wait_val;
}

uint64_t doca_sync_event_task_wait_neq_get_wait_val(const struct doca_sync_event_task_wait_neq *task)
{
	return shim_sync_task_is(task, SHIM_SYNC_WAIT_NEQ) ? task->base.operand : 0;
}

void doca_sync_event_task_wait_neq_set_mask(struct doca_sync_event_task_wait_neq *task, uint64_t mask)
{
	if (shim_sync_task_check_settable(__func__, task, SHIM_SYNC_WAIT_NEQ))
		task->base.mask = mask;
}

uint64_t doca_sync_event_task_wait_neq_get_mask(const struct doca_sync_event_task_wait_neq *task)
{
	return shim_sync_task_is(task, SHIM_SYNC_WAIT_NEQ) ? task->base.mask : 0;
}

void shim_sync_event_task_wait_for_gt(struct doca_sync_event_task_wait_neq *task)
{
	task->base.relation = SHIM_SYNC_GT;
}

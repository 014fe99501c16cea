/* SPDX-License-Identifier: BSD-3-Clause */
/* The task that waits for a greater value: releases 2.5 and 2.6 had it in the place
 * of wait_eq and wait_neq. */
#include "shim/common/base/check.h"
#include "sync_event_priv.h"

struct doca_sync_event_task_wait_gt {
	struct shim_sync_task base;
};

doca_error_t doca_sync_event_cap_task_wait_gt_is_supported(const struct doca_devinfo *devinfo)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	return DOCA_SUCCESS; /* no device is needed for it */
}

static void gt_complete(struct doca_task *base)
{
	struct doca_sync_event *event = shim_sync_task_event(base);
	doca_sync_event_task_wait_gt_completion_cb_t cb =
		base->status == DOCA_SUCCESS ? event->wait_gt.done : event->wait_gt.failed;

	cb((struct doca_sync_event_task_wait_gt *)base, base->user_data, event->ctx.user_data);
}

const struct shim_task_type shim_sync_wait_gt_type = {
	.name = SIM_TASK_SYNC_WAIT_GT,
	.size = sizeof(struct doca_sync_event_task_wait_gt),
	.check = shim_sync_wait_check,
	.validate = shim_sync_wait_check,
	.post = shim_sync_wait_post,
	.complete = gt_complete,
	.fault_ops = &shim_sync_wait_fault_ops,
};

doca_error_t doca_sync_event_task_wait_gt_set_conf(struct doca_sync_event *event,
						   doca_sync_event_task_wait_gt_completion_cb_t completion_cb,
						   doca_sync_event_task_wait_gt_completion_cb_t error_cb,
						   uint32_t num_tasks)
{
	doca_error_t result;

	SHIM_NEED(event, SHIM_SYNC_EVENT);
	SHIM_NEED_OUT(completion_cb);
	SHIM_NEED_OUT(error_cb);
	result = shim_sync_event_set_num_tasks(__func__, event, SHIM_SYNC_WAIT_GT, num_tasks);
	if (result != DOCA_SUCCESS)
		return result;
	event->wait_gt.done = completion_cb;
	event->wait_gt.failed = error_cb;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_task_wait_gt_alloc_init(struct doca_sync_event *event, uint64_t wait_val, uint64_t mask,
						     union doca_data user_data,
						     struct doca_sync_event_task_wait_gt **task)
{
	struct shim_sync_task *base;
	doca_error_t result;

	SHIM_NEED(event, SHIM_SYNC_EVENT);
	SHIM_NEED_OUT(task);
	result = shim_sync_event_alloc(__func__, event, SHIM_SYNC_WAIT_GT, user_data, &base);
	if (result != DOCA_SUCCESS)
		return result;
	base->operand = wait_val;
	base->mask = mask;
	base->relation = SHIM_SYNC_GT;
	*task = (struct doca_sync_event_task_wait_gt *)base;
	return DOCA_SUCCESS;
}

struct doca_task *doca_sync_event_task_wait_gt_as_doca_task(struct doca_sync_event_task_wait_gt *task)
{
	return shim_sync_task_is(task, SHIM_SYNC_WAIT_GT) ? &task->base.task : NULL;
}

void doca_sync_event_task_wait_gt_set_wait_val(struct doca_sync_event_task_wait_gt *task, uint64_t wait_val)
{
	if (shim_sync_task_check_settable(__func__, task, SHIM_SYNC_WAIT_GT))
		task->base.operand = wait_val;
}

uint64_t doca_sync_event_task_wait_gt_get_wait_val(const struct doca_sync_event_task_wait_gt *task)
{
	return shim_sync_task_is(task, SHIM_SYNC_WAIT_GT) ? task->base.operand : 0;
}

void doca_sync_event_task_wait_gt_set_mask(struct doca_sync_event_task_wait_gt *task, uint64_t mask)
{
	if (shim_sync_task_check_settable(__func__, task, SHIM_SYNC_WAIT_GT))
		task->base.mask = mask;
}

uint64_t doca_sync_event_task_wait_gt_get_mask(const struct doca_sync_event_task_wait_gt *task)
{
	return shim_sync_task_is(task, SHIM_SYNC_WAIT_GT) ? task->base.mask : 0;
}

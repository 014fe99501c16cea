/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs of sync events: tasks of the alias that the queue has. */
#include "shim/common/base/check.h"
#include "sync_core.h"
#include "sync_event_priv.h"

/* A sync event takes no device: its locations have the devices. */
bool workq_sync_event_supports(const struct doca_devinfo *devinfo)
{
	(void)devinfo;
	return false;
}

doca_error_t doca_sync_event_job_get_supported(struct doca_devinfo *devinfo, enum doca_sync_event_job_types type)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	switch (type) {
	case DOCA_SYNC_EVENT_JOB_WAIT_GT:
		return core_sync_event_cap_task_wait_neq_is_supported(devinfo);
	case DOCA_SYNC_EVENT_JOB_GET:
		return core_sync_event_cap_task_get_is_supported(devinfo);
	case DOCA_SYNC_EVENT_JOB_UPDATE_SET:
		return core_sync_event_cap_task_notify_set_is_supported(devinfo);
	case DOCA_SYNC_EVENT_JOB_UPDATE_ADD:
		return core_sync_event_cap_task_notify_add_is_supported(devinfo);
	}
	return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%d is no job of sync events", (int)type);
}

static void complete_job(struct doca_task *task, int type, union doca_data user_data,
			 struct workq_attachment *attachment)
{
	doca_error_t status = core_task_get_status(task);

	core_task_free(task);
	shim_workq_complete(attachment, type, user_data, (union doca_data){ .u64 = status }, status != DOCA_SUCCESS);
}

#define DEFINE_TASK_CALLBACK(kind, type)                                                                       \
	static void complete_##kind(struct doca_sync_event_task_##kind *task, union doca_data user_data,       \
				    union doca_data ctx_data)                                                  \
	{                                                                                                      \
		complete_job(core_sync_event_task_##kind##_as_doca_task(task), type, user_data, ctx_data.ptr); \
	}

DEFINE_TASK_CALLBACK(get, DOCA_SYNC_EVENT_JOB_GET)
DEFINE_TASK_CALLBACK(notify_set, DOCA_SYNC_EVENT_JOB_UPDATE_SET)
DEFINE_TASK_CALLBACK(notify_add, DOCA_SYNC_EVENT_JOB_UPDATE_ADD)
DEFINE_TASK_CALLBACK(wait_neq, DOCA_SYNC_EVENT_JOB_WAIT_GT)

static struct doca_sync_event *get_alias(const struct workq_attachment *attachment)
{
	return attachment->priv;
}

/* Each of @depth jobs in flight may be of any kind. */
doca_error_t workq_sync_event_create_core(struct workq_attachment *attachment, uint32_t depth)
{
	struct doca_sync_event *alias;
	doca_error_t result =
		workq_sync_event_create_alias(((struct doca_sync_event *)attachment->ctx)->core_event, &alias);

	if (result != DOCA_SUCCESS)
		return result;
	attachment->priv = alias;
	attachment->core_ctx = core_sync_event_as_ctx(alias);
	core_ctx_set_user_data(attachment->core_ctx, (union doca_data){ .ptr = attachment });
	result = core_sync_event_task_get_set_conf(alias, complete_get, complete_get, depth);
	if (result == DOCA_SUCCESS)
		result = core_sync_event_task_notify_set_set_conf(alias, complete_notify_set, complete_notify_set,
								  depth);
	if (result == DOCA_SUCCESS)
		result = core_sync_event_task_notify_add_set_conf(alias, complete_notify_add, complete_notify_add,
								  depth);
	if (result == DOCA_SUCCESS)
		result = core_sync_event_task_wait_neq_set_conf(alias, complete_wait_neq, complete_wait_neq, depth);
	return result;
}

void workq_sync_event_destroy_core(struct workq_attachment *attachment)
{
	if (attachment->priv)
		core_sync_event_destroy(get_alias(attachment));
}

static doca_error_t alloc_get_task(struct doca_sync_event *alias, const struct doca_job *job,
				   struct doca_task **ret_task)
{
	const struct doca_sync_event_job_get *get = (const struct doca_sync_event_job_get *)job;
	struct doca_sync_event_task_get *task;
	doca_error_t result = core_sync_event_task_get_alloc_init(alias, get->value, job->user_data, &task);

	if (result == DOCA_SUCCESS)
		*ret_task = core_sync_event_task_get_as_doca_task(task);
	return result;
}

static doca_error_t alloc_set_task(struct doca_sync_event *alias, const struct doca_job *job,
				   struct doca_task **ret_task)
{
	const struct doca_sync_event_job_update_set *set = (const struct doca_sync_event_job_update_set *)job;
	struct doca_sync_event_task_notify_set *task;
	doca_error_t result = core_sync_event_task_notify_set_alloc_init(alias, set->value, job->user_data, &task);

	if (result == DOCA_SUCCESS)
		*ret_task = core_sync_event_task_notify_set_as_doca_task(task);
	return result;
}

static doca_error_t alloc_add_task(struct doca_sync_event *alias, const struct doca_job *job,
				   struct doca_task **ret_task)
{
	const struct doca_sync_event_job_update_add *add = (const struct doca_sync_event_job_update_add *)job;
	struct doca_sync_event_task_notify_add *task;
	doca_error_t result =
		core_sync_event_task_notify_add_alloc_init(alias, add->value, add->fetched, job->user_data, &task);

	if (result == DOCA_SUCCESS)
		*ret_task = core_sync_event_task_notify_add_as_doca_task(task);
	return result;
}

static doca_error_t alloc_wait_task(struct doca_sync_event *alias, const struct doca_job *job,
				    struct doca_task **ret_task)
{
	const struct doca_sync_event_job_wait *wait = (const struct doca_sync_event_job_wait *)job;
	struct doca_sync_event_task_wait_neq *task;
	doca_error_t result =
		core_sync_event_task_wait_neq_alloc_init(alias, wait->value, wait->mask, job->user_data, &task);

	if (result != DOCA_SUCCESS)
		return result;
	workq_sync_task_wait_for_gt(task);
	*ret_task = core_sync_event_task_wait_neq_as_doca_task(task);
	return DOCA_SUCCESS;
}

static doca_error_t alloc_job_task(struct doca_sync_event *alias, const struct doca_job *job,
				   struct doca_task **ret_task)
{
	switch (job->type) {
	case DOCA_SYNC_EVENT_JOB_GET:
		return alloc_get_task(alias, job, ret_task);
	case DOCA_SYNC_EVENT_JOB_UPDATE_SET:
		return alloc_set_task(alias, job, ret_task);
	case DOCA_SYNC_EVENT_JOB_UPDATE_ADD:
		return alloc_add_task(alias, job, ret_task);
	case DOCA_SYNC_EVENT_JOB_WAIT_GT:
		return alloc_wait_task(alias, job, ret_task);
	}
	sim_err("doca_workq_submit: %d is no job of sync events", job->type);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t workq_sync_event_submit(struct workq_attachment *attachment, const struct doca_job *job)
{
	struct doca_task *task;
	doca_error_t result = alloc_job_task(get_alias(attachment), job, &task);

	if (result != DOCA_SUCCESS)
		return result;
	result = core_task_submit(task);
	if (result != DOCA_SUCCESS)
		core_task_free(task);
	return result;
}

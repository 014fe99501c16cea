/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events' jobs: each is a task of the queue's twin. */
#include "shim/common/base/check.h"
#include "sync_event_priv.h"

/* No device is of use: which ones there are is said by its locations. */
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

/* ---- ends ---- */

static void report(struct doca_task *task, int type, union doca_data user_data, struct workq_attachment *attachment)
{
	doca_error_t status = core_task_get_status(task);

	core_task_free(task);
	shim_workq_report(attachment, type, user_data, (union doca_data){.u64 = status}, status != DOCA_SUCCESS);
}

#define REPORT(kind, type)                                                                              \
	static void report_##kind(struct doca_sync_event_task_##kind *task, union doca_data user_data,  \
				  union doca_data ctx_data)                                             \
	{                                                                                               \
		report(core_sync_event_task_##kind##_as_doca_task(task), type, user_data, ctx_data.ptr); \
	}

REPORT(get, DOCA_SYNC_EVENT_JOB_GET)
REPORT(notify_set, DOCA_SYNC_EVENT_JOB_UPDATE_SET)
REPORT(notify_add, DOCA_SYNC_EVENT_JOB_UPDATE_ADD)
REPORT(wait_neq, DOCA_SYNC_EVENT_JOB_WAIT_GT)

/* ---- the twin ---- */

static struct doca_sync_event *twin_of(const struct workq_attachment *attachment)
{
	return attachment->library;
}

/* Any job in flight may be of any kind. */
doca_error_t workq_sync_event_open(struct workq_attachment *attachment, uint32_t depth)
{
	struct doca_sync_event *twin;
	doca_error_t result = shim_sync_event_create_twin(((struct doca_sync_event *)attachment->ctx)->core, &twin);

	if (result != DOCA_SUCCESS)
		return result;
	attachment->library = twin;
	attachment->core = core_sync_event_as_ctx(twin);
	core_ctx_set_user_data(attachment->core, (union doca_data){.ptr = attachment});
	result = core_sync_event_task_get_set_conf(twin, report_get, report_get, depth);
	if (result == DOCA_SUCCESS)
		result = core_sync_event_task_notify_set_set_conf(twin, report_notify_set, report_notify_set, depth);
	if (result == DOCA_SUCCESS)
		result = core_sync_event_task_notify_add_set_conf(twin, report_notify_add, report_notify_add, depth);
	if (result == DOCA_SUCCESS)
		result = core_sync_event_task_wait_neq_set_conf(twin, report_wait_neq, report_wait_neq, depth);
	return result;
}

void workq_sync_event_close(struct workq_attachment *attachment)
{
	if (attachment->library)
		core_sync_event_destroy(twin_of(attachment));
}

/* ---- jobs ---- */

static doca_error_t make_get(struct doca_sync_event *twin, const struct doca_job *job, struct doca_task **ret_task)
{
	const struct doca_sync_event_job_get *get = (const struct doca_sync_event_job_get *)job;
	struct doca_sync_event_task_get *task;
	doca_error_t result = core_sync_event_task_get_alloc_init(twin, get->value, job->user_data, &task);

	if (result == DOCA_SUCCESS)
		*ret_task = core_sync_event_task_get_as_doca_task(task);
	return result;
}

static doca_error_t make_set(struct doca_sync_event *twin, const struct doca_job *job, struct doca_task **ret_task)
{
	const struct doca_sync_event_job_update_set *set = (const struct doca_sync_event_job_update_set *)job;
	struct doca_sync_event_task_notify_set *task;
	doca_error_t result = core_sync_event_task_notify_set_alloc_init(twin, set->value, job->user_data, &task);

	if (result == DOCA_SUCCESS)
		*ret_task = core_sync_event_task_notify_set_as_doca_task(task);
	return result;
}

static doca_error_t make_add(struct doca_sync_event *twin, const struct doca_job *job, struct doca_task **ret_task)
{
	const struct doca_sync_event_job_update_add *add = (const struct doca_sync_event_job_update_add *)job;
	struct doca_sync_event_task_notify_add *task;
	doca_error_t result = core_sync_event_task_notify_add_alloc_init(twin, add->value, add->fetched,
									 job->user_data, &task);

	if (result == DOCA_SUCCESS)
		*ret_task = core_sync_event_task_notify_add_as_doca_task(task);
	return result;
}

static doca_error_t make_wait(struct doca_sync_event *twin, const struct doca_job *job, struct doca_task **ret_task)
{
	const struct doca_sync_event_job_wait *wait = (const struct doca_sync_event_job_wait *)job;
	struct doca_sync_event_task_wait_neq *task;
	doca_error_t result = core_sync_event_task_wait_neq_alloc_init(twin, wait->value, wait->mask, job->user_data,
								       &task);

	if (result != DOCA_SUCCESS)
		return result;
	shim_sync_event_task_wait_for_gt(task);
	*ret_task = core_sync_event_task_wait_neq_as_doca_task(task);
	return DOCA_SUCCESS;
}

static doca_error_t make_task(struct doca_sync_event *twin, const struct doca_job *job, struct doca_task **ret_task)
{
	switch (job->type) {
	case DOCA_SYNC_EVENT_JOB_GET:
		return make_get(twin, job, ret_task);
	case DOCA_SYNC_EVENT_JOB_UPDATE_SET:
		return make_set(twin, job, ret_task);
	case DOCA_SYNC_EVENT_JOB_UPDATE_ADD:
		return make_add(twin, job, ret_task);
	case DOCA_SYNC_EVENT_JOB_WAIT_GT:
		return make_wait(twin, job, ret_task);
	}
	sim_err("doca_workq_submit: %d is no job of sync events", job->type);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t workq_sync_event_submit(struct workq_attachment *attachment, const struct doca_job *job)
{
	struct doca_task *task;
	doca_error_t result = make_task(twin_of(attachment), job, &task);

	if (result != DOCA_SUCCESS)
		return result;
	result = core_task_submit(task);
	if (result != DOCA_SUCCESS)
		core_task_free(task);
	return result;
}

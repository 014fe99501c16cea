/* SPDX-License-Identifier: BSD-3-Clause */
/* Notification completions: device code activates a thread. */
#include "dpa_priv.h"

doca_error_t doca_dpa_notification_completion_create(struct doca_dpa *dpa, struct doca_dpa_thread *dpa_thread,
						     struct doca_dpa_notification_completion **notify_comp)
{
	struct doca_dpa_notification_completion *created;

	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED(dpa_thread, SHIM_DPA_THREAD);
	SHIM_NEED_OUT(notify_comp);
	created = dpa_object_new(__func__, SHIM_DPA_NOTIFICATION, sizeof(*created), dpa);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->dpa = dpa;
	created->thread = dpa_thread;
	dpa_thread->num_users++;
	*notify_comp = created;
	return DOCA_SUCCESS;
}

static void stop(struct doca_dpa_notification_completion *comp)
{
	if (shim_dpa_is_own(comp->dpa) && comp->is_started)
		sim_dpa_notification_stop(&comp->notification);
	comp->is_started = false;
}

doca_error_t doca_dpa_notification_completion_destroy(struct doca_dpa_notification_completion *notify_comp)
{
	SHIM_NEED(notify_comp, SHIM_DPA_NOTIFICATION);
	stop(notify_comp);
	notify_comp->thread->num_users--;
	dpa_object_free(notify_comp, SHIM_DPA_NOTIFICATION, notify_comp->dpa);
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_dpa_notification_completion_get_thread, struct doca_dpa_notification_completion, notify_comp,
		   SHIM_DPA_NOTIFICATION, struct doca_dpa_thread *, dpa_thread, notify_comp->thread)

doca_error_t doca_dpa_notification_completion_start(struct doca_dpa_notification_completion *notify_comp)
{
	doca_error_t result;

	SHIM_NEED(notify_comp, SHIM_DPA_NOTIFICATION);
	if (notify_comp->is_started)
		return DOCA_SUCCESS;
	result = shim_dpa_check_running(__func__, notify_comp->dpa);
	if (result != DOCA_SUCCESS)
		return result;
	if (!notify_comp->thread->activity)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the thread is not started");
	if (sim_dpa_notification_start(notify_comp->dpa->process, notify_comp->thread->activity,
				       &notify_comp->notification) < 0)
		return SHIM_REFUSE(DOCA_ERROR_DRIVER, "no memory for the handle");
	notify_comp->is_started = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_notification_completion_stop(struct doca_dpa_notification_completion *notify_comp)
{
	SHIM_NEED(notify_comp, SHIM_DPA_NOTIFICATION);
	stop(notify_comp);
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_notification_completion_get_dpa_handle(struct doca_dpa_notification_completion *notify_comp,
							     doca_dpa_dev_notification_completion_t *handle)
{
	SHIM_NEED(notify_comp, SHIM_DPA_NOTIFICATION);
	SHIM_NEED_OUT(handle);
	if (!notify_comp->is_started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the notification completion is not started");
	*handle = notify_comp->notification.handle;
	return DOCA_SUCCESS;
}

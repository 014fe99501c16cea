/* SPDX-License-Identifier: BSD-3-Clause */
/* Completions for kernels. */
#include "dpa_priv.h"

/* Our choice: of a completion, and of a table's entries. */
#define MAX_QUEUE_SIZE (1u << 20)

doca_error_t doca_dpa_completion_create(struct doca_dpa *dpa, unsigned int queue_size,
					struct doca_dpa_completion **dpa_comp)
{
	struct doca_dpa_completion *created;

	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(dpa_comp);
	if (queue_size == 0 || queue_size > MAX_QUEUE_SIZE)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%u completions; give 1 to %u", queue_size,
				   MAX_QUEUE_SIZE);
	created = dpa_object_new(__func__, SHIM_DPA_COMPLETION, sizeof(*created), dpa);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->dpa = dpa;
	created->queue_size = queue_size;
	*dpa_comp = created;
	return DOCA_SUCCESS;
}

static doca_error_t check_unattached(const char *func, const struct doca_dpa_completion *comp)
{
	if (comp->num_users == 0 || !shim_dpa_is_own(comp->dpa)) /* in a forked child they are the parent's */
		return DOCA_SUCCESS;
	sim_err("%s: %u contexts are attached to the completion; destroy them first", func, comp->num_users);
	return DOCA_ERROR_BAD_STATE;
}

static void stop(struct doca_dpa_completion *comp)
{
	if (shim_dpa_is_own(comp->dpa) && comp->is_started)
		sim_dpa_completion_stop(&comp->ring);
	comp->is_started = false;
}

doca_error_t doca_dpa_completion_destroy(struct doca_dpa_completion *dpa_comp)
{
	doca_error_t result;

	SHIM_NEED(dpa_comp, SHIM_DPA_COMPLETION);
	result = check_unattached(__func__, dpa_comp);
	if (result != DOCA_SUCCESS)
		return result;
	stop(dpa_comp);
	if (dpa_comp->thread)
		dpa_comp->thread->num_users--;
	dpa_object_free(dpa_comp, SHIM_DPA_COMPLETION, dpa_comp->dpa);
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_dpa_completion_get_queue_size, struct doca_dpa_completion, dpa_comp, SHIM_DPA_COMPLETION,
		   unsigned int, queue_size, dpa_comp->queue_size)

doca_error_t doca_dpa_completion_set_thread(struct doca_dpa_completion *dpa_comp, struct doca_dpa_thread *dpa_thread)
{
	SHIM_NEED(dpa_comp, SHIM_DPA_COMPLETION);
	SHIM_NEED(dpa_thread, SHIM_DPA_THREAD);
	if (dpa_comp->is_started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the completion is started; stop it first");
	if (!dpa_thread->activity)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the thread is not started");
	dpa_thread->num_users++;
	if (dpa_comp->thread)
		dpa_comp->thread->num_users--;
	dpa_comp->thread = dpa_thread;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_dpa_completion_get_thread, struct doca_dpa_completion, dpa_comp, SHIM_DPA_COMPLETION,
		   struct doca_dpa_thread *, dpa_thread, dpa_comp->thread)

doca_error_t doca_dpa_completion_start(struct doca_dpa_completion *dpa_comp)
{
	struct sim_dpa_activity *activity;
	doca_error_t result;

	SHIM_NEED(dpa_comp, SHIM_DPA_COMPLETION);
	if (dpa_comp->is_started)
		return DOCA_SUCCESS;
	result = shim_dpa_check_running(__func__, dpa_comp->dpa);
	if (result != DOCA_SUCCESS)
		return result;
	activity = dpa_comp->thread ? dpa_comp->thread->activity : NULL;
	if (sim_dpa_completion_start(dpa_comp->dpa->process, activity, SIM_DPA_COMPLETION, dpa_comp->queue_size,
				     &dpa_comp->ring) < 0)
		return SHIM_REFUSE(DOCA_ERROR_DRIVER, "no memory for %u completions", dpa_comp->queue_size);
	dpa_comp->is_started = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_completion_stop(struct doca_dpa_completion *dpa_comp)
{
	doca_error_t result;

	SHIM_NEED(dpa_comp, SHIM_DPA_COMPLETION);
	result = check_unattached(__func__, dpa_comp);
	if (result == DOCA_SUCCESS)
		stop(dpa_comp);
	return result;
}

doca_error_t doca_dpa_completion_get_dpa_handle(struct doca_dpa_completion *dpa_comp, doca_dpa_dev_completion_t *handle)
{
	SHIM_NEED(dpa_comp, SHIM_DPA_COMPLETION);
	SHIM_NEED_OUT(handle);
	if (!dpa_comp->is_started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the completion is not started");
	*handle = dpa_comp->ring.handle;
	return DOCA_SUCCESS;
}

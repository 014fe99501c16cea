/* SPDX-License-Identifier: BSD-3-Clause */
/* DPA threads. */
#include <errno.h>

#include "dpa_priv.h"

doca_error_t doca_dpa_thread_create(struct doca_dpa *dpa, struct doca_dpa_thread **dpa_thread)
{
	struct doca_dpa_thread *created;

	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(dpa_thread);
	created = dpa_object_new(__func__, SHIM_DPA_THREAD, sizeof(*created), dpa);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->dpa = dpa;
	*dpa_thread = created;
	return DOCA_SUCCESS;
}

static void stop(struct doca_dpa_thread *thread)
{
	if (shim_dpa_is_own(thread->dpa))
		sim_dpa_activity_stop(thread->activity);
	thread->activity = NULL;
}

static doca_error_t check_unattached(const char *func, const struct doca_dpa_thread *thread)
{
	if (thread->num_users == 0 && !thread->group)
		return DOCA_SUCCESS;
	sim_err("%s: %u completions and notifications are attached to the thread, or a group has it; destroy them first",
		func, thread->num_users);
	return DOCA_ERROR_BAD_STATE;
}

doca_error_t doca_dpa_thread_destroy(struct doca_dpa_thread *dpa_thread)
{
	doca_error_t result;

	SHIM_NEED(dpa_thread, SHIM_DPA_THREAD);
	result = check_unattached(__func__, dpa_thread);
	if (result != DOCA_SUCCESS)
		return result;
	stop(dpa_thread);
	if (dpa_thread->affinity)
		dpa_thread->affinity->num_users--;
	dpa_object_free(dpa_thread, SHIM_DPA_THREAD, dpa_thread->dpa);
	return DOCA_SUCCESS;
}

/* Return from the public function unless the thread can be configured. */
#define NEED_CONFIGURABLE(thread)                                                                         \
	do {                                                                                              \
		SHIM_NEED((thread), SHIM_DPA_THREAD);                                                     \
		if ((thread)->activity)                                                                   \
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the thread is started; stop it first"); \
	} while (0)

doca_error_t doca_dpa_thread_set_func_arg(struct doca_dpa_thread *dpa_thread, doca_dpa_func_t *func, uint64_t arg)
{
	NEED_CONFIGURABLE(dpa_thread);
	SHIM_NEED_OUT(func);
	dpa_thread->func = func;
	dpa_thread->arg = arg;
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_thread_get_func_arg(struct doca_dpa_thread *dpa_thread, doca_dpa_func_t **func, uint64_t *arg)
{
	SHIM_NEED(dpa_thread, SHIM_DPA_THREAD);
	SHIM_NEED_OUT(func);
	SHIM_NEED_OUT(arg);
	*func = dpa_thread->func;
	*arg = dpa_thread->arg;
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_thread_set_local_storage(struct doca_dpa_thread *dpa_thread, doca_dpa_dev_uintptr_t dev_ptr)
{
	NEED_CONFIGURABLE(dpa_thread);
	dpa_thread->local_storage = dev_ptr;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_dpa_thread_get_local_storage, struct doca_dpa_thread, dpa_thread, SHIM_DPA_THREAD,
		   doca_dpa_dev_uintptr_t, dev_ptr, dpa_thread->local_storage)

doca_error_t doca_dpa_thread_set_affinity(struct doca_dpa_thread *dpa_thread,
					  const struct doca_dpa_eu_affinity *affinity)
{
	struct doca_dpa_eu_affinity *held = (struct doca_dpa_eu_affinity *)(uintptr_t)affinity;

	NEED_CONFIGURABLE(dpa_thread);
	SHIM_NEED(affinity, SHIM_DPA_AFFINITY);
	held->num_users++;
	if (dpa_thread->affinity)
		dpa_thread->affinity->num_users--;
	dpa_thread->affinity = held;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_dpa_thread_get_affinity, struct doca_dpa_thread, dpa_thread, SHIM_DPA_THREAD,
		   const struct doca_dpa_eu_affinity *, affinity, dpa_thread->affinity)

/* Returns NULL after a log line. */
static const struct sim_dpa_kernel *find_kernel(const char *func, const struct doca_dpa_thread *thread)
{
	const struct sim_dpa_image *image = sim_dpa_process_image(thread->dpa->process);
	const struct sim_dpa_kernel *kernel = sim_dpa_image_find_kernel(image, (const void *)(uintptr_t)thread->func);

	if (!kernel || kernel->is_rpc)
		sim_err("%s: the thread's function is no kernel of the application %s that is marked __dpa_global__",
			func, sim_dpa_image_name(image));
	return kernel && !kernel->is_rpc ? kernel : NULL;
}

doca_error_t doca_dpa_thread_start(struct doca_dpa_thread *dpa_thread)
{
	struct sim_dpa_activity_cfg cfg = { .eu = SIM_DPA_RELAXED, .num_ranks = 1 };
	const struct doca_dpa *dpa;
	doca_error_t result;

	SHIM_NEED(dpa_thread, SHIM_DPA_THREAD);
	dpa = dpa_thread->dpa;
	if (dpa_thread->activity)
		return DOCA_SUCCESS;
	if (!dpa_thread->func)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,
				   "the thread has no function; call doca_dpa_thread_set_func_arg() first");
	result = shim_dpa_check_running(__func__, dpa);
	if (result != DOCA_SUCCESS)
		return result;
	if (dpa_thread->affinity && dpa_thread->affinity->is_set)
		cfg.eu = dpa_thread->affinity->eu;
	if (cfg.eu != SIM_DPA_RELAXED && cfg.eu >= dpa_caps(dpa->base)->dpa_eus)
		return SHIM_REFUSE(DOCA_ERROR_DRIVER, "execution unit %u is not in the partition, which has %u", cfg.eu,
				   dpa_caps(dpa->base)->dpa_eus);
	cfg.kernel = find_kernel(__func__, dpa_thread);
	if (!cfg.kernel)
		return DOCA_ERROR_DRIVER;
	cfg.arg = dpa_thread->arg;
	cfg.local_storage = dpa_thread->local_storage;
	return sim_dpa_activity_start(dpa->process, &cfg, &dpa_thread->activity) < 0 ? DOCA_ERROR_DRIVER : DOCA_SUCCESS;
}

doca_error_t doca_dpa_thread_stop(struct doca_dpa_thread *dpa_thread)
{
	doca_error_t result;

	SHIM_NEED(dpa_thread, SHIM_DPA_THREAD);
	result = check_unattached(__func__, dpa_thread);
	if (result == DOCA_SUCCESS)
		stop(dpa_thread);
	return result;
}

doca_error_t doca_dpa_thread_run(struct doca_dpa_thread *dpa_thread)
{
	doca_error_t result;

	SHIM_NEED(dpa_thread, SHIM_DPA_THREAD);
	if (!dpa_thread->activity)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the thread is not started");
	result = shim_dpa_check_running(__func__, dpa_thread->dpa);
	return result == DOCA_SUCCESS ? dpa_error(__func__, sim_dpa_activity_run(dpa_thread->activity)) : result;
}

doca_error_t doca_dpa_thread_get_id(struct doca_dpa_thread *dpa_thread, uint32_t *dpa_thread_id)
{
	SHIM_NEED(dpa_thread, SHIM_DPA_THREAD);
	SHIM_NEED_OUT(dpa_thread_id);
	if (!dpa_thread->activity)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the thread is not started");
	*dpa_thread_id = sim_dpa_activity_id(dpa_thread->activity);
	return DOCA_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* DPA contexts: their life, extended contexts, applications. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dpa_priv.h"
#include "shim/common/base/error.h"
#include "shim/common/mem/mmap_priv.h"
#include "shim/common/process/runtime.h"
#include "shim/common/sync/sync_event_dpa.h"
#include "sim/dpa/queue/port.h"

doca_error_t dpa_error(const char *func, int rc)
{
	if (rc == 0)
		return DOCA_SUCCESS;
	if (rc == -ENOMEM) {
		sim_err("%s: no memory", func);
		return DOCA_ERROR_NO_MEMORY;
	}
	sim_err("%s: %s", func, rc == -EIO ? "the DPA context is in a fatal state" : strerror(-rc));
	return DOCA_ERROR_DRIVER;
}

void *dpa_object_new(const char *func, enum shim_kind kind, size_t size, struct doca_dpa *dpa)
{
	void *object = shim_object_new(kind, size);

	if (!object)
		sim_err("%s: no memory", func);
	else
		dpa->base->num_users++;
	return object;
}

void dpa_object_free(void *object, enum shim_kind kind, struct doca_dpa *dpa)
{
	dpa->base->num_users--;
	shim_object_free(object, kind);
}

static uint64_t get_time_us(void *dpa)
{
	(void)dpa;
	return shim_nic_real_time_ns() / 1000;
}

static const struct sim_dpa_process_ops process_ops = {
	.log = dpa_log_line,
	.trace = dpa_trace,
	.fatal = dpa_write_crash_file,
	.time_us = get_time_us,
	.event_get = shim_sync_event_dpa_get,
	.event_set = shim_sync_event_dpa_set,
	.event_add = shim_sync_event_dpa_add,
	.event_sleep = shim_sync_event_dpa_sleep,
	.find_fault = dpa_find_fault,
};

/* ---- life ---- */

static struct doca_dpa *make_dpa(struct doca_dev *dev)
{
	struct doca_dpa *created = shim_object_new(SHIM_DPA, sizeof(*created));

	if (!created)
		return NULL;
	created->dev = dev;
	created->base = created;
	created->log_level = DOCA_DPA_DEV_LOG_LEVEL_INFO;
	shim_dev_hold(dev);
	return created;
}

doca_error_t doca_dpa_create(struct doca_dev *dev, struct doca_dpa **dpa)
{
	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(dpa);
	if (!shim_dev_function(dev)->caps.dpa)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "the device has no DPA");
	*dpa = make_dpa(dev);
	return *dpa ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

static void stop(struct doca_dpa *dpa)
{
	if (!dpa->process)
		return;
	if (shim_dpa_is_own(dpa) && dpa->base != dpa) {
		sim_dpa_process_withdraw(dpa->process, SIM_DPA_DEVICE, dpa);
	} else if (shim_dpa_is_own(dpa)) {
		shim_dpa_remove(dpa);
		shim_mmap_end_dpa_ranges(dpa);
		sim_dpa_process_destroy(dpa->process);
	}
	dpa->process = NULL;
}

doca_error_t doca_dpa_destroy(struct doca_dpa *dpa)
{
	SHIM_NEED(dpa, SHIM_DPA);
	if (dpa->num_users > 0)
		return SHIM_REFUSE(DOCA_ERROR_IN_USE,
				   "%u objects of the DPA context live: threads, completions, extended contexts; "
				   "destroy them first",
				   dpa->num_users);
	stop(dpa);
	if (dpa->base != dpa)
		dpa->base->num_users--;
	dpa_file_close(&dpa->log);
	dpa_file_close(&dpa->trace);
	shim_dev_release(dpa->dev);
	shim_object_free(dpa, SHIM_DPA);
	return DOCA_SUCCESS;
}

static doca_error_t start(const char *func, struct doca_dpa *dpa)
{
	const struct pcie_caps *caps = dpa_caps(dpa);
	const struct pcie_timing timing = shim_dev_timing(dpa->dev);
	const struct sim_dpa_process_cfg cfg = {
		.app = dpa->app,
		.port = &sim_dpa_port,
		.ops = &process_ops,
		.arg = dpa,
		.device = shim_dev_function(dpa->dev)->ibdev,
		.num_eus = caps->dpa_eus,
		.heap_bytes = caps->dpa_heap_bytes,
		.run_time_ns = caps->dpa_run_time_ms * UINT64_C(1000000),
		.clock = sim_session_clock(shim_session()),
		.vclock = shim_vclock,
		.rpc_ns = sim_clock_ns(timing.dpa_rpc_ps),
		.launch_ns = sim_clock_ns(timing.dpa_launch_ps),
		.activation_ns = sim_clock_ns(timing.dpa_activation_ps),
	};
	int rc = sim_dpa_process_create(&cfg, &dpa->process);

	if (rc < 0)
		return dpa_error(func, rc);
	dpa->handle = sim_dpa_process_export(dpa->process, SIM_DPA_DEVICE, dpa);
	if (!dpa->handle) {
		sim_dpa_process_destroy(dpa->process);
		dpa->process = NULL;
		return DOCA_ERROR_NO_MEMORY;
	}
	dpa->fork_generation = shim_fork_generation;
	shim_dpa_add(dpa);
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_start(struct doca_dpa *dpa)
{
	doca_error_t result;

	SHIM_NEED(dpa, SHIM_DPA);
	if (dpa->process)
		return DOCA_SUCCESS;
	if (!dpa->app)
		return SHIM_REFUSE(DOCA_ERROR_DRIVER,
				   "the DPA context has no application; call doca_dpa_set_app() first");
	if (shim_dev_function(dpa->dev)->type == PCIE_FUNC_SF)
		return SHIM_REFUSE(DOCA_ERROR_DRIVER,
				   "the device is an SF: start a context of its PF, and extend that by "
				   "doca_dpa_device_extend()");
	if (shim_dev_is_stale(dpa->dev))
		return SHIM_REFUSE(DOCA_ERROR_DRIVER, "the device was reset; close it and open it again");
	result = dpa_inject(dpa, SIM_OP_DPA_START, 0);
	return result == DOCA_SUCCESS ? start(__func__, dpa) : result;
}

doca_error_t doca_dpa_stop(struct doca_dpa *dpa)
{
	SHIM_NEED(dpa, SHIM_DPA);
	if (dpa->num_users > 0)
		return SHIM_REFUSE(DOCA_ERROR_IN_USE,
				   "%u objects of the DPA context live: threads, completions, extended contexts; "
				   "destroy them first",
				   dpa->num_users);
	stop(dpa);
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_device_extend(struct doca_dpa *dpa, struct doca_dev *other_dev, struct doca_dpa **extended_dpa)
{
	struct doca_dpa *created;
	doca_error_t result;

	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED(other_dev, SHIM_DEV);
	SHIM_NEED_OUT(extended_dpa);
	result = shim_dpa_check_running(__func__, dpa);
	if (result != DOCA_SUCCESS)
		return result;
	if (dpa->base != dpa)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the DPA context is an extended one; extend its base");
	if (!shim_dev_function(other_dev)->caps.dpa ||
	    shim_dev_function(other_dev)->card != shim_dev_function(dpa->dev)->card)
		return SHIM_REFUSE(DOCA_ERROR_DRIVER, "the other device has no DPA, or another card's");
	created = make_dpa(other_dev);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->base = dpa;
	created->process = dpa->process;
	created->app = dpa->app;
	created->fork_generation = dpa->fork_generation;
	dpa->num_users++;
	created->handle = sim_dpa_process_export(created->process, SIM_DPA_DEVICE, created);
	if (!created->handle) {
		doca_dpa_destroy(created);
		return DOCA_ERROR_NO_MEMORY;
	}
	*extended_dpa = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_peek_at_last_error(const struct doca_dpa *dpa)
{
	SHIM_NEED(dpa, SHIM_DPA);
	return dpa->process && sim_dpa_process_is_fatal(dpa->process) ? DOCA_ERROR_BAD_STATE : DOCA_SUCCESS;
}

doca_error_t doca_dpa_get_dpa_handle(struct doca_dpa *dpa, doca_dpa_dev_t *handle)
{
	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(handle);
	if (!dpa->process)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the DPA context is not started");
	*handle = dpa->handle;
	return DOCA_SUCCESS;
}

/* Our choice: one doorbell page for each context. */
doca_error_t doca_dpa_get_uar_id(const struct doca_dpa *dpa, uint32_t *uar_id)
{
	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(uar_id);
	if (!dpa->process)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the DPA context is not started");
	*uar_id = (uint32_t)(dpa->handle & 0xffffff);
	return DOCA_SUCCESS;
}

/* ---- application ---- */

doca_error_t doca_dpa_set_app(struct doca_dpa *dpa, struct doca_dpa_app *app)
{
	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(app);
	if (dpa->process)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the DPA context is started; stop it first");
	dpa->app = app;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_dpa_get_app, struct doca_dpa, dpa, SHIM_DPA, struct doca_dpa_app *, app, dpa->app)

doca_error_t doca_dpa_app_get_name(struct doca_dpa_app *app, char *app_name, uint32_t *app_name_len)
{
	const struct sim_dpa_app *written = (const struct sim_dpa_app *)app;
	size_t needed;

	SHIM_NEED_OUT(app);
	SHIM_NEED_OUT(app_name);
	SHIM_NEED_OUT(app_name_len);
	if (written->magic != SIM_DPA_APP_MAGIC)
		return SHIM_REFUSE(DOCA_ERROR_DRIVER, "the application is not dpacc's");
	needed = strlen(written->name) + 1;
	if (*app_name_len < needed)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the name needs %zu bytes", needed);
	memcpy(app_name, written->name, needed);
	*app_name_len = (uint32_t)needed;
	return DOCA_SUCCESS;
}

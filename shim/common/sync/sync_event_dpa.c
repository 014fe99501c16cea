/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events whose publisher or subscriber is a kernel on the DPA. */
#include "sync_event_dpa.h"

#include <errno.h>

#include "shim/common/base/check.h"
#include "shim/common/dev/dev_priv.h"
#include "shim/common/dpa/dpa.h"
#include "sync_event_priv.h"

SHIM_DEFINE_IS_SUPPORTED(doca_sync_event_cap_is_export_to_dpa_supported, devinfo->function->caps.dpa)

static doca_error_t add_location(const char *func, struct doca_sync_event *event, struct shim_sync_role *role,
				 const struct doca_dpa *dpa)
{
	if (shim_sync_event_is_started(event)) {
		sim_err("%s: the event is started", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	shim_sync_role_add(role, SHIM_SYNC_LOCATION_DPA, dpa->dev);
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_add_publisher_location_dpa(struct doca_sync_event *event, struct doca_dpa *dpa)
{
	SHIM_NEED(event, SHIM_SYNC_EVENT);
	SHIM_NEED(dpa, SHIM_DPA);
	return add_location(__func__, event, &event->publisher, dpa);
}

doca_error_t doca_sync_event_add_subscriber_location_dpa(struct doca_sync_event *event, struct doca_dpa *dpa)
{
	SHIM_NEED(event, SHIM_SYNC_EVENT);
	SHIM_NEED(dpa, SHIM_DPA);
	return add_location(__func__, event, &event->subscriber, dpa);
}

doca_error_t doca_sync_event_get_dpa_handle(struct doca_sync_event *event, struct doca_dpa *dpa,
					    doca_dpa_dev_sync_event_t *dpa_dev_se_handle)
{
	doca_error_t result;
	uint64_t handle;

	SHIM_NEED(event, SHIM_SYNC_EVENT);
	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(dpa_dev_se_handle);
	if (!shim_sync_event_is_started(event))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the event is not started; start it first");
	result = shim_dpa_check_running(__func__, dpa);
	if (result != DOCA_SUCCESS)
		return DOCA_ERROR_INVALID_VALUE;
	handle = sim_dpa_process_export(dpa->process, SIM_DPA_EVENT, event);
	if (handle == 0)
		return SHIM_REFUSE(DOCA_ERROR_NO_MEMORY, "no memory for the handle");
	event->has_dpa_handle = true;
	*dpa_dev_se_handle = handle;
	return DOCA_SUCCESS;
}

int shim_sync_event_dpa_get(void *event, uint64_t *ret_value)
{
	return shim_sync_value_get(&((struct doca_sync_event *)event)->value, ret_value);
}

int shim_sync_event_dpa_set(void *event, uint64_t value)
{
	return shim_sync_value_set(&((struct doca_sync_event *)event)->value, value);
}

int shim_sync_event_dpa_add(void *event, uint64_t count)
{
	uint64_t before;

	return shim_sync_value_add(&((struct doca_sync_event *)event)->value, count, &before);
}

/* The event may have ended meanwhile: the memory of handles has one type for ever. */
int shim_sync_event_dpa_sleep(void *handle, uint64_t value, uint64_t mask, uint64_t ns)
{
	const struct shim_sync_condition condition = { .relation = SHIM_SYNC_GT, .to = value, .mask = mask };
	struct doca_sync_event *event = handle;

	return shim_object_is(event, SHIM_SYNC_EVENT) ? shim_sync_value_sleep(&event->value, &condition, ns) :
							-ENOTCONN;
}

int shim_sync_event_dpa_wait(struct doca_sync_event *event, uint64_t threshold, const atomic_bool *is_over)
{
	const struct shim_sync_condition condition = { .relation = SHIM_SYNC_GT, .to = threshold, .mask = UINT64_MAX };

	if (!shim_object_is(event, SHIM_SYNC_EVENT))
		return -ENOTCONN;
	return shim_sync_value_wait_unless(&event->value, &condition, is_over);
}

int shim_sync_event_dpa_poll(struct doca_sync_event *event, uint64_t threshold)
{
	uint64_t value;
	int rc = shim_object_is(event, SHIM_SYNC_EVENT) ? shim_sync_value_get(&event->value, &value) : -ENOTCONN;

	if (rc < 0)
		return rc;
	return value > threshold ? 0 : -EAGAIN;
}

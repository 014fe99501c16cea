/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events between peers of the network: the export of one, and handles of peers' events. */
#include "sync_event_remote.h"

#include <errno.h>
#include <stdatomic.h>

#include "shim/common/base/check.h"
#include "shim/common/dpa/dpa.h"
#include "shim/common/process/runtime.h"
#include "shim/common/process/task_count.h"
#include "sync_event_priv.h"

struct doca_sync_event_remote_net {
	struct shim_object object;
	struct doca_dev *dev; /* held */
	struct sim_session *session;
	struct sim_remote *remote;
	struct shim_sync_value value;
	struct shim_task_count tasks;
	bool has_dpa_handle; /* kernels may use it */
};

/* ---- capabilities and configuration ---- */

SHIM_DEFINE_IS_SUPPORTED(doca_sync_event_cap_is_export_to_remote_net_supported, devinfo->function->caps.rdma)
SHIM_DEFINE_IS_SUPPORTED(doca_sync_event_cap_remote_net_is_create_from_export_supported, devinfo->function->caps.rdma)

doca_error_t doca_sync_event_add_publisher_location_remote_net(struct doca_sync_event *event)
{
	SHIM_NEED(event, SHIM_SYNC_EVENT);
	if (event->state != SHIM_SYNC_EVENT_NEW)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the event was started; set it before the start");
	event->publisher.locations |= SHIM_SYNC_LOCATION_REMOTE_NET;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_IS_SUPPORTED(doca_sync_event_cap_remote_net_is_export_to_dpa_supported,
			 devinfo->function->caps.rdma && devinfo->function->caps.dpa)

/* ---- export ---- */

/* The device that the event's publisher or subscriber on this side was given with. */
static struct doca_dev *find_dev(const struct doca_sync_event *event)
{
	return event->subscriber.dev ? event->subscriber.dev : event->publisher.dev;
}

doca_error_t doca_sync_event_export_to_remote_net(struct doca_sync_event *event, const uint8_t **data, size_t *sz)
{
	struct shim_export *made;
	struct doca_dev *dev;
	doca_error_t result;

	SHIM_NEED(event, SHIM_SYNC_EVENT);
	SHIM_NEED_OUT(data);
	SHIM_NEED_OUT(sz);
	if (event->remote)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the event was created from an export itself");
	if (!shim_sync_event_is_started(event))
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the event is not started; start it first");
	if (!(event->publisher.locations & SHIM_SYNC_LOCATION_REMOTE_NET))
		return SHIM_REFUSE(
			DOCA_ERROR_BAD_STATE,
			"the event has no publisher on the network (doca_sync_event_add_publisher_location_remote_net)");
	result = shim_sync_event_check(__func__, event);
	if (result != DOCA_SUCCESS)
		return result;
	dev = find_dev(event);
	if (!dev || !shim_dev_function(dev)->caps.rdma)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "the event's device has no RDMA");
	result = shim_sync_event_export(__func__, event, dev, true, &made);
	if (result != DOCA_SUCCESS)
		return result;
	event->session = shim_session();
	*data = made->bytes;
	*sz = sizeof(made->bytes);
	return DOCA_SUCCESS;
}

/* ---- events of peers ---- */

doca_error_t doca_sync_event_remote_net_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t sz,
							   struct doca_sync_event_remote_net **event)
{
	struct doca_sync_event_remote_net *created;
	struct sim_remote *remote;
	doca_error_t result;

	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(data);
	SHIM_NEED_OUT(event);
	result = shim_sync_event_import(__func__, data, sz, dev, true, &remote);
	if (result != DOCA_SUCCESS)
		return result;
	created = shim_object_new(SHIM_SYNC_EVENT_REMOTE, sizeof(*created));
	if (!created) {
		shim_import_release(remote, shim_session());
		return DOCA_ERROR_NO_MEMORY;
	}
	shim_dev_hold(dev);
	created->dev = dev;
	created->session = shim_session();
	created->remote = remote;
	if (!sim_remote_is_far(remote))
		shim_sync_value_open_imported(&created->value, remote);
	*event = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_remote_net_destroy(struct doca_sync_event_remote_net *event)
{
	uint32_t num_tasks;

	SHIM_NEED(event, SHIM_SYNC_EVENT_REMOTE);
	num_tasks = shim_task_count_get(&event->tasks);
	if (num_tasks > 0)
		return SHIM_REFUSE(DOCA_ERROR_IN_USE, "tasks in flight use the event: %u", num_tasks);
	if (event->has_dpa_handle)
		shim_dpa_withdraw(SIM_DPA_REMOTE_EVENT, event);
	shim_sync_value_close(&event->value);
	shim_import_release(event->remote, event->session);
	shim_dev_release(event->dev);
	shim_object_free(event, SHIM_SYNC_EVENT_REMOTE);
	return DOCA_SUCCESS;
}

/* ---- for kernels on the DPA ---- */

doca_error_t doca_sync_event_remote_net_get_dpa_handle(struct doca_sync_event_remote_net *event, struct doca_dpa *dpa,
						       doca_dpa_dev_sync_event_remote_net_t *dpa_remote_event)
{
	uint64_t handle;

	SHIM_NEED(event, SHIM_SYNC_EVENT_REMOTE);
	SHIM_NEED_OUT(dpa);
	SHIM_NEED_OUT(dpa_remote_event);
	if (!shim_dev_function(event->dev)->caps.dpa)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "the event's device has no DPA");
	SHIM_NEED(dpa, SHIM_DPA);
	if (shim_dpa_check_running(__func__, dpa) != DOCA_SUCCESS)
		return DOCA_ERROR_INVALID_VALUE;
	handle = sim_dpa_process_export(dpa->process, SIM_DPA_REMOTE_EVENT, event);
	if (handle == 0)
		return SHIM_REFUSE(DOCA_ERROR_NO_MEMORY, "no memory for the handle");
	event->has_dpa_handle = true;
	*dpa_remote_event = handle;
	return DOCA_SUCCESS;
}

/* ---- for tasks ---- */

void shim_sync_remote_begin_task(struct doca_sync_event_remote_net *event)
{
	shim_task_count_begin(&event->tasks);
}

void shim_sync_remote_end_task(struct doca_sync_event_remote_net *event)
{
	shim_task_count_end(&event->tasks);
}

static int end(int rc)
{
	return rc < 0 ? -EIO : 0;
}

/* The event's machine does the operation. */
static int operate_far(struct doca_sync_event_remote_net *event, enum sim_far_op op, uint64_t operand,
		       uint64_t *ret_before)
{
	const struct sim_far_operands operands = { .op = op, .operand = operand };
	int rc;

	if (!sim_remote_acquire(event->remote))
		return -EIO;
	rc = sim_remote_operate(event->remote, event->remote->region.addr, &operands, ret_before);
	sim_remote_release(event->remote);
	return end(rc);
}

int shim_sync_remote_get(struct doca_sync_event_remote_net *event, uint64_t *ret)
{
	if (sim_remote_is_far(event->remote))
		return operate_far(event, SIM_FAR_GET_EVENT, 0, ret);
	return end(shim_sync_value_get(&event->value, ret));
}

int shim_sync_remote_set(struct doca_sync_event_remote_net *event, uint64_t to)
{
	uint64_t before;

	if (sim_remote_is_far(event->remote))
		return operate_far(event, SIM_FAR_SET_EVENT, to, &before);
	return end(shim_sync_value_set(&event->value, to));
}

int shim_sync_remote_add(struct doca_sync_event_remote_net *event, uint64_t count, uint64_t *ret_before)
{
	if (sim_remote_is_far(event->remote))
		return operate_far(event, SIM_FAR_ADD_EVENT, count, ret_before);
	return end(shim_sync_value_add(&event->value, count, ret_before));
}

struct sim_remote *shim_sync_remote_memory(const struct doca_sync_event_remote_net *event)
{
	return event->remote;
}

uint32_t shim_sync_remote_function(const struct doca_sync_event_remote_net *event)
{
	return event->remote->region.function;
}

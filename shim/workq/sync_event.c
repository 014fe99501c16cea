/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events: configuration, start and stop, exports, and calls that return when they are done. */
#include "shim/common/base/check.h"
#include "sync_event_priv.h"

#define NEED_EVENT(event) SHIM_NEED(event, SHIM_WORKQ_SYNC_EVENT)

static doca_error_t start_event(struct workq_ctx *ctx)
{
	return core_sync_event_start(((struct doca_sync_event *)ctx)->core_event);
}

static void stop_event(struct workq_ctx *ctx)
{
	core_sync_event_stop(((struct doca_sync_event *)ctx)->core_event);
}

static const struct workq_ctx_ops event_ops = {
	.name = "sync event",
	.supports = workq_sync_event_supports,
	.start = start_event,
	.stop = stop_event,
	.create_core = workq_sync_event_create_core,
	.destroy_core = workq_sync_event_destroy_core,
	.submit = workq_sync_event_submit,
};

/* Create the event that owns @core_event. Without memory, destroy @core_event. */
static doca_error_t create_around(struct doca_sync_event *core_event, struct doca_sync_event **ret_event)
{
	struct doca_sync_event *created = shim_object_new(SHIM_WORKQ_SYNC_EVENT, sizeof(*created));

	if (!created) {
		core_sync_event_destroy(core_event);
		return DOCA_ERROR_NO_MEMORY;
	}
	shim_workq_ctx_init(&created->ctx, &event_ops);
	created->core_event = core_event;
	*ret_event = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_create(struct doca_sync_event **event)
{
	struct doca_sync_event *core_event;
	doca_error_t result;

	SHIM_NEED_OUT(event);
	result = core_sync_event_create(&core_event);
	return result == DOCA_SUCCESS ? create_around(core_event, event) : result;
}

doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t sz,
						struct doca_sync_event **event)
{
	struct doca_sync_event *core_event;
	doca_error_t result;

	SHIM_NEED_OUT(event);
	result = core_sync_event_create_from_export(dev, data, sz, &core_event);
	return result == DOCA_SUCCESS ? create_around(core_event, event) : result;
}

doca_error_t doca_sync_event_destroy(struct doca_sync_event *event)
{
	doca_error_t result;

	NEED_EVENT(event);
	result = shim_workq_ctx_fini(__func__, &event->ctx);
	if (result == DOCA_SUCCESS)
		result = core_sync_event_destroy(event->core_event);
	if (result == DOCA_SUCCESS)
		shim_object_free(event, SHIM_WORKQ_SYNC_EVENT);
	return result;
}

struct doca_ctx *doca_sync_event_as_ctx(struct doca_sync_event *event)
{
	if (!shim_handle_is(event, SHIM_WORKQ_SYNC_EVENT))
		return NULL;
	if (event->is_standalone) {
		sim_err("%s: the event is used on its own since doca_sync_event_start()", __func__);
		return NULL;
	}
	event->is_ctx = true;
	return (struct doca_ctx *)event;
}

doca_error_t doca_sync_event_start(struct doca_sync_event *event)
{
	doca_error_t result;

	NEED_EVENT(event);
	if (event->is_ctx)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,
				   "the event is a context since doca_sync_event_as_ctx(); see doca_ctx_start()");
	result = core_sync_event_start(event->core_event);
	event->is_standalone |= result == DOCA_SUCCESS;
	return result;
}

doca_error_t doca_sync_event_stop(struct doca_sync_event *event)
{
	NEED_EVENT(event);
	if (event->is_ctx)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the event is a context; see doca_ctx_stop()");
	return core_sync_event_stop(event->core_event);
}

doca_error_t doca_sync_event_set_addr(struct doca_sync_event *event, uint64_t *addr)
{
	NEED_EVENT(event);
	return core_sync_event_set_addr(event->core_event, addr);
}

doca_error_t doca_sync_event_publisher_add_location_cpu(struct doca_sync_event *event, struct doca_dev *dev)
{
	NEED_EVENT(event);
	return core_sync_event_add_publisher_location_cpu(event->core_event, dev);
}

doca_error_t doca_sync_event_subscriber_add_location_cpu(struct doca_sync_event *event, struct doca_dev *dev)
{
	NEED_EVENT(event);
	return core_sync_event_add_subscriber_location_cpu(event->core_event, dev);
}

doca_error_t doca_sync_event_publisher_add_location_dpu(struct doca_sync_event *event)
{
	NEED_EVENT(event);
	return core_sync_event_add_publisher_location_remote_pci(event->core_event);
}

doca_error_t doca_sync_event_subscriber_add_location_dpu(struct doca_sync_event *event)
{
	NEED_EVENT(event);
	return core_sync_event_add_subscriber_location_remote_pci(event->core_event);
}

doca_error_t doca_sync_event_get_create_from_export_supported(const struct doca_devinfo *devinfo)
{
	return core_sync_event_cap_is_create_from_export_supported(devinfo);
}

doca_error_t doca_sync_event_get_export_to_dpu_supported(const struct doca_devinfo *devinfo)
{
	return core_sync_event_cap_is_export_to_remote_pci_supported(devinfo);
}

doca_error_t doca_sync_event_export_to_dpu(struct doca_sync_event *event, struct doca_dev *dev, const uint8_t **data,
					   size_t *sz)
{
	NEED_EVENT(event);
	return core_sync_event_export_to_remote_pci(event->core_event, dev, data, sz);
}

doca_error_t doca_sync_event_get(struct doca_sync_event *event, uint64_t *value)
{
	NEED_EVENT(event);
	return core_sync_event_get(event->core_event, value);
}

doca_error_t doca_sync_event_update_set(struct doca_sync_event *event, uint64_t value)
{
	NEED_EVENT(event);
	return core_sync_event_update_set(event->core_event, value);
}

doca_error_t doca_sync_event_update_add(struct doca_sync_event *event, uint64_t value, uint64_t *fetched)
{
	NEED_EVENT(event);
	return core_sync_event_update_add(event->core_event, value, fetched);
}

doca_error_t doca_sync_event_wait_gt(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	NEED_EVENT(event);
	return core_sync_event_wait_gt(event->core_event, value, mask);
}

doca_error_t doca_sync_event_wait_gt_yield(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	NEED_EVENT(event);
	return core_sync_event_wait_gt_yield(event->core_event, value, mask);
}

/* The DPA, GPUs and the network are not simulated. */

doca_error_t doca_sync_event_get_export_to_dpa_supported(const struct doca_devinfo *devinfo)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_sync_event_get_export_to_gpu_supported(const struct doca_devinfo *devinfo)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	return DOCA_ERROR_NOT_SUPPORTED;
}

#define LOCATION_NOT_SIMULATED(function_name, type, place, what)                      \
	doca_error_t function_name(struct doca_sync_event *event, struct type *place) \
	{                                                                             \
		NEED_EVENT(event);                                                    \
		SHIM_NEED_OUT(place);                                                 \
		return SHIM_NOT_SIMULATED(what);                                      \
	}

LOCATION_NOT_SIMULATED(doca_sync_event_publisher_add_location_dpa, doca_dpa, dpa, "the DPA")
LOCATION_NOT_SIMULATED(doca_sync_event_subscriber_add_location_dpa, doca_dpa, dpa, "the DPA")
LOCATION_NOT_SIMULATED(doca_sync_event_publisher_add_location_gpu, doca_gpu, gpu, "GPUs")
LOCATION_NOT_SIMULATED(doca_sync_event_subscriber_add_location_gpu, doca_gpu, gpu, "GPUs")

doca_error_t doca_sync_event_export_to_dpa(struct doca_sync_event *event, struct doca_dpa *dpa,
					   doca_dpa_dev_sync_event_t *dpa_dev_se_handle)
{
	NEED_EVENT(event);
	SHIM_NEED_OUT(dpa);
	SHIM_NEED_OUT(dpa_dev_se_handle);
	return SHIM_NOT_SIMULATED("the DPA");
}

doca_error_t doca_sync_event_export_to_gpu(struct doca_sync_event *event, struct doca_gpu *gpu,
					   doca_gpu_dev_sync_event_t **gpu_dev_se)
{
	NEED_EVENT(event);
	SHIM_NEED_OUT(gpu);
	SHIM_NEED_OUT(gpu_dev_se);
	return SHIM_NOT_SIMULATED("GPUs");
}

doca_error_t doca_sync_event_export_remote(struct doca_sync_event *event, doca_sync_event_remote_t *handle)
{
	NEED_EVENT(event);
	SHIM_NEED_OUT(handle);
	return SHIM_NOT_SIMULATED("sync events of other machines");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events: life, configuration, exports, and what is done at once. */
#include "shim/common/base/check.h"
#include "sync_event_priv.h"

#define NEED_EVENT(event) SHIM_NEED(event, SHIM_WORKQ_SYNC_EVENT)

/* ---- life ---- */

static doca_error_t start(struct workq_ctx *ctx)
{
	return core_sync_event_start(((struct doca_sync_event *)ctx)->core);
}

static void stop(struct workq_ctx *ctx)
{
	core_sync_event_stop(((struct doca_sync_event *)ctx)->core);
}

static const struct workq_ctx_ops ops = {
	.name = "sync event",
	.supports = workq_sync_event_supports,
	.start = start,
	.stop = stop,
	.open = workq_sync_event_open,
	.close = workq_sync_event_close,
	.submit = workq_sync_event_submit,
};

/* Around the core's, which is destroyed if there is no memory. */
static doca_error_t wrap(struct doca_sync_event *core, struct doca_sync_event **ret_event)
{
	struct doca_sync_event *created = shim_object_new(SHIM_WORKQ_SYNC_EVENT, sizeof(*created));

	if (!created) {
		core_sync_event_destroy(core);
		return DOCA_ERROR_NO_MEMORY;
	}
	shim_workq_ctx_init(&created->ctx, &ops);
	created->core = core;
	*ret_event = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_create(struct doca_sync_event **event)
{
	struct doca_sync_event *core;
	doca_error_t result;

	SHIM_NEED_OUT(event);
	result = core_sync_event_create(&core);
	return result == DOCA_SUCCESS ? wrap(core, event) : result;
}

doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t sz,
						struct doca_sync_event **event)
{
	struct doca_sync_event *core;
	doca_error_t result;

	SHIM_NEED_OUT(event);
	result = core_sync_event_create_from_export(dev, data, sz, &core);
	return result == DOCA_SUCCESS ? wrap(core, event) : result;
}

doca_error_t doca_sync_event_destroy(struct doca_sync_event *event)
{
	doca_error_t result;

	NEED_EVENT(event);
	result = shim_workq_ctx_fini(__func__, &event->ctx);
	if (result == DOCA_SUCCESS)
		result = core_sync_event_destroy(event->core);
	if (result == DOCA_SUCCESS)
		shim_object_free(event, SHIM_WORKQ_SYNC_EVENT);
	return result;
}

struct doca_ctx *doca_sync_event_as_ctx(struct doca_sync_event *event)
{
	if (!shim_is(event, SHIM_WORKQ_SYNC_EVENT))
		return NULL;
	if (event->was_alone) {
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
	result = core_sync_event_start(event->core);
	event->was_alone |= result == DOCA_SUCCESS;
	return result;
}

doca_error_t doca_sync_event_stop(struct doca_sync_event *event)
{
	NEED_EVENT(event);
	if (event->is_ctx)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the event is a context; see doca_ctx_stop()");
	return core_sync_event_stop(event->core);
}

/* ---- configuration ---- */

doca_error_t doca_sync_event_set_addr(struct doca_sync_event *event, uint64_t *addr)
{
	NEED_EVENT(event);
	return core_sync_event_set_addr(event->core, addr);
}

doca_error_t doca_sync_event_publisher_add_location_cpu(struct doca_sync_event *event, struct doca_dev *dev)
{
	NEED_EVENT(event);
	return core_sync_event_add_publisher_location_cpu(event->core, dev);
}

doca_error_t doca_sync_event_subscriber_add_location_cpu(struct doca_sync_event *event, struct doca_dev *dev)
{
	NEED_EVENT(event);
	return core_sync_event_add_subscriber_location_cpu(event->core, dev);
}

doca_error_t doca_sync_event_publisher_add_location_dpu(struct doca_sync_event *event)
{
	NEED_EVENT(event);
	return core_sync_event_add_publisher_location_remote_pci(event->core);
}

doca_error_t doca_sync_event_subscriber_add_location_dpu(struct doca_sync_event *event)
{
	NEED_EVENT(event);
	return core_sync_event_add_subscriber_location_remote_pci(event->core);
}

/* ---- exports ---- */

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
	return core_sync_event_export_to_remote_pci(event->core, dev, data, sz);
}

/* ---- at once ---- */

doca_error_t doca_sync_event_get(struct doca_sync_event *event, uint64_t *value)
{
	NEED_EVENT(event);
	return core_sync_event_get(event->core, value);
}

doca_error_t doca_sync_event_update_set(struct doca_sync_event *event, uint64_t value)
{
	NEED_EVENT(event);
	return core_sync_event_update_set(event->core, value);
}

doca_error_t doca_sync_event_update_add(struct doca_sync_event *event, uint64_t value, uint64_t *fetched)
{
	NEED_EVENT(event);
	return core_sync_event_update_add(event->core, value, fetched);
}

doca_error_t doca_sync_event_wait_gt(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	NEED_EVENT(event);
	return core_sync_event_wait_gt(event->core, value, mask);
}

doca_error_t doca_sync_event_wait_gt_yield(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	NEED_EVENT(event);
	return core_sync_event_wait_gt_yield(event->core, value, mask);
}

/* ---- DPA, GPU and network: not simulated ---- */

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

#define LOCATION(function_name, type, place, what)                                    \
	doca_error_t function_name(struct doca_sync_event *event, struct type *place) \
	{                                                                             \
		NEED_EVENT(event);                                                    \
		SHIM_NEED_OUT(place);                                                 \
		return SHIM_NOT_SIMULATED(what);                                      \
	}

LOCATION(doca_sync_event_publisher_add_location_dpa, doca_dpa, dpa, "the DPA")
LOCATION(doca_sync_event_subscriber_add_location_dpa, doca_dpa, dpa, "the DPA")
LOCATION(doca_sync_event_publisher_add_location_gpu, doca_gpu, gpu, "GPUs")
LOCATION(doca_sync_event_subscriber_add_location_gpu, doca_gpu, gpu, "GPUs")

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

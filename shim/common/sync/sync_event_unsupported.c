/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events on a GPU, which bfsim does not simulate: each function
 * checks its arguments and returns DOCA_ERROR_NOT_SUPPORTED. */
#include "shim/common/base/check.h"
#include "sync_event_priv.h"

#define DEFINE_UNSUPPORTED_CAPABILITY(function_name)                   \
	doca_error_t function_name(const struct doca_devinfo *devinfo) \
	{                                                              \
		SHIM_NEED(devinfo, SHIM_DEVINFO);                      \
		return DOCA_ERROR_NOT_SUPPORTED;                       \
	}

DEFINE_UNSUPPORTED_CAPABILITY(doca_sync_event_cap_is_export_to_gpu_supported)
DEFINE_UNSUPPORTED_CAPABILITY(doca_sync_event_cap_remote_net_is_export_to_gpu_supported)

#define DEFINE_UNSUPPORTED_LOCATION(function_name, type, place, what)                 \
	doca_error_t function_name(struct doca_sync_event *event, struct type *place) \
	{                                                                             \
		SHIM_NEED(event, SHIM_SYNC_EVENT);                                    \
		SHIM_NEED_OUT(place);                                                 \
		return SHIM_NOT_SIMULATED(what);                                      \
	}

DEFINE_UNSUPPORTED_LOCATION(doca_sync_event_add_publisher_location_gpu, doca_gpu, gpu, "GPUs")
DEFINE_UNSUPPORTED_LOCATION(doca_sync_event_add_subscriber_location_gpu, doca_gpu, gpu, "GPUs")

doca_error_t doca_sync_event_get_gpu_handle(struct doca_sync_event *event, struct doca_gpu *gpu,
					    doca_gpu_dev_sync_event_t **gpu_dev_se)
{
	SHIM_NEED(event, SHIM_SYNC_EVENT);
	SHIM_NEED_OUT(gpu);
	SHIM_NEED_OUT(gpu_dev_se);
	return SHIM_NOT_SIMULATED("GPUs");
}

doca_error_t doca_sync_event_remote_net_get_gpu_handle(struct doca_sync_event_remote_net *event, struct doca_gpu *gpu,
						       doca_gpu_dev_sync_event_remote_net_t *gpu_remote_event)
{
	SHIM_NEED(event, SHIM_SYNC_EVENT_REMOTE);
	SHIM_NEED_OUT(gpu);
	SHIM_NEED_OUT(gpu_remote_event);
	return SHIM_NOT_SIMULATED("GPUs");
}

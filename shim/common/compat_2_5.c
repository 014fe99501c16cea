/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions under the names that they had in releases 2.5 and 2.6, for source code of these releases and for
 * programs that were linked with their libraries. They are no aliases, so that debuggers and check-binary see
 * the name that the program uses. */
#include <doca_log.h>
#include <doca_sync_event.h>

doca_error_t doca_log_backend_create_with_buffer(char *buffer, size_t capacity, log_flush_callback handler,
						 struct doca_log_backend **backend)
{
	return doca_log_backend_create_with_buf(buffer, capacity, handler, backend);
}

doca_error_t doca_log_backend_create_with_buffer_sdk(char *buffer, size_t capacity, log_flush_callback handler,
						     struct doca_log_backend **backend)
{
	return doca_log_backend_create_with_buf_sdk(buffer, capacity, handler, backend);
}

/* the other side of the card was called DPU */

doca_error_t doca_sync_event_cap_is_export_to_dpu_supported(const struct doca_devinfo *devinfo)
{
	return doca_sync_event_cap_is_export_to_remote_pci_supported(devinfo);
}

doca_error_t doca_sync_event_add_publisher_location_dpu(struct doca_sync_event *event)
{
	return doca_sync_event_add_publisher_location_remote_pci(event);
}

doca_error_t doca_sync_event_add_subscriber_location_dpu(struct doca_sync_event *event)
{
	return doca_sync_event_add_subscriber_location_remote_pci(event);
}

doca_error_t doca_sync_event_export_to_dpu(struct doca_sync_event *event, struct doca_dev *dev, const uint8_t **data,
					   size_t *sz)
{
	return doca_sync_event_export_to_remote_pci(event, dev, data, sz);
}

/* handles were called exports */

doca_error_t doca_sync_event_export_to_dpa(struct doca_sync_event *event, struct doca_dpa *dpa,
					   doca_dpa_dev_sync_event_t *dpa_dev_se_handle)
{
	return doca_sync_event_get_dpa_handle(event, dpa, dpa_dev_se_handle);
}

doca_error_t doca_sync_event_export_to_gpu(struct doca_sync_event *event, struct doca_gpu *gpu,
					   doca_gpu_dev_sync_event_t **gpu_dev_se)
{
	return doca_sync_event_get_gpu_handle(event, gpu, gpu_dev_se);
}

doca_error_t doca_sync_event_remote_net_export_to_dpa(struct doca_sync_event_remote_net *event, struct doca_dpa *dpa,
						      doca_dpa_dev_sync_event_remote_net_t *dpa_remote_event)
{
	return doca_sync_event_remote_net_get_dpa_handle(event, dpa, dpa_remote_event);
}

doca_error_t doca_sync_event_remote_net_export_to_gpu(struct doca_sync_event_remote_net *event, struct doca_gpu *gpu,
						      doca_gpu_dev_sync_event_remote_net_t *gpu_remote_event)
{
	return doca_sync_event_remote_net_get_gpu_handle(event, gpu, gpu_remote_event);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds and opens a device that can copy. */
#include "device.h"

#include <doca_dma.h>

doca_error_t device_open_for_dma(struct doca_dev **ret_dev)
{
	struct doca_devinfo **list;
	uint32_t count;
	doca_error_t result = doca_devinfo_create_list(&list, &count);

	if (result != DOCA_SUCCESS)
		return result;
	result = DOCA_ERROR_NOT_FOUND;
	for (uint32_t i = 0; i < count && result != DOCA_SUCCESS; i++) {
		if (doca_dma_cap_task_memcpy_is_supported(list[i]) == DOCA_SUCCESS)
			result = doca_dev_open(list[i], ret_dev);
	}
	doca_devinfo_destroy_list(list);
	return result;
}

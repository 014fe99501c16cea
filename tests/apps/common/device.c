/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a device by its PCI address and maps memory on it. */
#include "device.h"

#include <stdbool.h>

#include <doca_dev.h>
#include <doca_log.h>
#include <doca_mmap.h>

#include "app.h"

DOCA_LOG_REGISTER(APP::DEVICE);

static struct doca_devinfo *find(struct doca_devinfo **list, uint32_t count, const char *pci_addr)
{
	for (uint32_t i = 0; i < count; i++) {
		uint8_t is_equal = 0;

		if (doca_devinfo_is_equal_pci_addr(list[i], pci_addr, &is_equal) == DOCA_SUCCESS && is_equal)
			return list[i];
	}
	return NULL;
}

doca_error_t device_open(const char *pci_addr, struct doca_dev **ret_dev)
{
	struct doca_devinfo **list, *info;
	uint32_t count;
	doca_error_t result = app_check(doca_devinfo_create_list(&list, &count), "list the devices");

	if (result != DOCA_SUCCESS)
		return result;
	info = find(list, count, pci_addr);
	if (info) {
		result = app_check(doca_dev_open(info, ret_dev), "open the device");
	} else {
		DOCA_LOG_ERR("No device at %s; this side of the card has %u, name one with -p", pci_addr, count);
		result = DOCA_ERROR_NOT_FOUND;
	}
	doca_devinfo_destroy_list(list);
	return result;
}

static doca_error_t configure(struct doca_mmap *mmap, struct doca_dev *dev, void *addr, size_t len_bytes,
			      uint32_t access)
{
	doca_error_t result = doca_mmap_set_memrange(mmap, addr, len_bytes);

	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_permissions(mmap, access);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_add_dev(mmap, dev);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_start(mmap);
	return result;
}

doca_error_t device_map(struct doca_dev *dev, void *addr, size_t len_bytes, uint32_t access,
			struct doca_mmap **ret_mmap)
{
	struct doca_mmap *mmap;
	doca_error_t result = app_check(doca_mmap_create(&mmap), "create a memory map");

	if (result != DOCA_SUCCESS)
		return result;
	result = app_check(configure(mmap, dev, addr, len_bytes, access), "map memory for the device");
	if (result == DOCA_SUCCESS)
		*ret_mmap = mmap;
	else
		doca_mmap_destroy(mmap);
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens devices and representors by PCI address. */
#include "device.h"

#include <stdint.h>

#include <doca_dev.h>

#include "failure.h"

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
	doca_error_t result = check(doca_devinfo_create_list(&list, &count), "list the devices");

	if (result != DOCA_SUCCESS)
		return result;
	info = find(list, count, pci_addr);
	if (info)
		result = check(doca_dev_open(info, ret_dev), "open the device");
	else
		result = failure_report(DOCA_ERROR_NOT_FOUND,
					"No device at %s: this side of the card has %u, name one with -p", pci_addr,
					count);
	doca_devinfo_destroy_list(list);
	return result;
}

static struct doca_devinfo_rep *find_rep(struct doca_devinfo_rep **list, uint32_t count, const char *pci_addr)
{
	for (uint32_t i = 0; i < count; i++) {
		uint8_t is_equal = 0;

		if (doca_devinfo_rep_is_equal_pci_addr(list[i], pci_addr, &is_equal) == DOCA_SUCCESS && is_equal)
			return list[i];
	}
	return NULL;
}

doca_error_t device_open_rep(struct doca_dev *dev, const char *pci_addr, struct doca_dev_rep **ret_rep)
{
	struct doca_devinfo_rep **list, *info;
	uint32_t count;
	doca_error_t result = check(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count),
				    "list the representors");

	if (result != DOCA_SUCCESS)
		return result;
	info = find_rep(list, count, pci_addr);
	if (info)
		result = check(doca_dev_rep_open(info, ret_rep), "open the representor");
	else
		result = failure_report(DOCA_ERROR_NOT_FOUND,
					"No representor of %s: the device has %u, name one with -r", pci_addr, count);
	doca_devinfo_rep_destroy_list(list);
	return result;
}

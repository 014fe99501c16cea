/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/common/doca_device.h - open a device or representor by its PCI address; NULL = the first one.
 *
 * A failure ends the process (check.h). The caller closes what is returned.
 */
#ifndef TESTS_COMMON_DOCA_DEVICE_H
#define TESTS_COMMON_DOCA_DEVICE_H

#include <doca_dev.h>

#include "doca_check.h"

static inline struct doca_dev *device_open(const char *address)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count;

	MUST(doca_devinfo_create_list(&list, &count));
	for (uint32_t i = 0; i < count && !dev; i++) {
		uint8_t is_wanted = !address;

		if (address)
			MUST(doca_devinfo_is_equal_pci_addr(list[i], address, &is_wanted));
		if (is_wanted)
			MUST(doca_dev_open(list[i], &dev));
	}
	MUST(doca_devinfo_destroy_list(list));
	CHECK(dev);
	return dev;
}

static inline struct doca_dev_rep *device_open_rep(struct doca_dev *dev, const char *address)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep = NULL;
	uint32_t count;

	MUST(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count));
	for (uint32_t i = 0; i < count && !rep; i++) {
		uint8_t is_wanted = !address;

		if (address)
			MUST(doca_devinfo_rep_is_equal_pci_addr(list[i], address, &is_wanted));
		if (is_wanted)
			MUST(doca_dev_rep_open(list[i], &rep));
	}
	MUST(doca_devinfo_rep_destroy_list(list));
	CHECK(rep);
	return rep;
}

#endif

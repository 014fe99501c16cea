/* SPDX-License-Identifier: BSD-3-Clause */
/* device.h - the device that a PCI address names, and maps of this process's memory on it. */
#ifndef DEVICE_H
#define DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

struct doca_dev;
struct doca_mmap;

/* Open the device at @pci_addr, long or short form. The caller closes it (doca_dev_close()). */
doca_error_t device_open(const char *pci_addr, struct doca_dev **ret_dev);

/* A started map of [@addr, @addr + @len_bytes) for @dev; @access is a mask of
 * enum doca_access_flag. The caller destroys it, before the memory and @dev go. */
doca_error_t device_map(struct doca_dev *dev, void *addr, size_t len_bytes, uint32_t access,
			struct doca_mmap **ret_mmap);

#endif

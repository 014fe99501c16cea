/* SPDX-License-Identifier: BSD-3-Clause */
/* device.h - devices and representors by their PCI addresses, long ("0000:03:00.0") or short. */
#ifndef DEVICE_H
#define DEVICE_H

#include <doca_error.h>

struct doca_dev;
struct doca_dev_rep;

/* The caller closes what it gets: the representor before its device. */
doca_error_t device_open(const char *pci_addr, struct doca_dev **ret_dev);

/* The host's function at @pci_addr, which @dev manages. On the DPU only. */
doca_error_t device_open_rep(struct doca_dev *dev, const char *pci_addr, struct doca_dev_rep **ret_rep);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* device.h - a device for copies. */
#ifndef DEVICE_H
#define DEVICE_H

#include <doca_dev.h>
#include <doca_error.h>

/* Open this side's first device that can copy by DMA. The caller closes it. */
doca_error_t device_open_for_dma(struct doca_dev **ret_dev);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* earlier_names.h - functions with different names in DOCA 3.0 and 2.2, and the same meaning.
 *
 * The sources that both generations' DMA Copy is made of (../../dma_copy) speak
 * 3.0; the compiler reads this file first (-include). What has no counterpart is
 * not here: it has files of its own.
 */
#ifndef EARLIER_NAMES_H
#define EARLIER_NAMES_H

#include <doca_argp.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_config.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_types.h>

#define doca_argp_param_cb_t callback_func
#define doca_error_get_descr doca_get_error_string

/* Devices and representors. */
#define DOCA_DEVINFO_REP_FILTER_NET        DOCA_DEV_REP_FILTER_NET
#define doca_devinfo_create_list           doca_devinfo_list_create
#define doca_devinfo_destroy_list          doca_devinfo_list_destroy
#define doca_devinfo_is_equal_pci_addr     doca_devinfo_get_is_pci_addr_equal
#define doca_devinfo_rep_create_list       doca_devinfo_rep_list_create
#define doca_devinfo_rep_destroy_list      doca_devinfo_rep_list_destroy
#define doca_devinfo_rep_is_equal_pci_addr doca_devinfo_rep_get_is_pci_addr_equal

/* Maps: the names that mention the DPU became names that mention PCIe. */
#define DOCA_ACCESS_FLAG_LOCAL_READ_WRITE DOCA_ACCESS_LOCAL_READ_WRITE
#define DOCA_ACCESS_FLAG_PCI_READ_ONLY    DOCA_ACCESS_DPU_READ_ONLY
#define DOCA_ACCESS_FLAG_PCI_READ_WRITE   DOCA_ACCESS_DPU_READ_WRITE
#define doca_mmap_create(ret_mmap)        doca_mmap_create(NULL, ret_mmap)
#define doca_mmap_add_dev                 doca_mmap_dev_add
#define doca_mmap_export_pci              doca_mmap_export_dpu

/* Buffers. */
#define doca_buf_inventory_create(num_elements, ret_inventory) \
	doca_buf_inventory_create(NULL, num_elements, DOCA_BUF_EXTENSION_NONE, ret_inventory)
#define doca_buf_inventory_buf_get_by_addr doca_buf_inventory_buf_by_addr
#define doca_buf_inventory_buf_get_by_data doca_buf_inventory_buf_by_data
#define doca_buf_dec_refcount              doca_buf_refcount_rm

#endif

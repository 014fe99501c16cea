/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_dev.h - devices: PCIe functions of the card, and representors.
 *
 *   doca_devinfo_list_create() --> devinfo --doca_dev_open()--> dev
 *                                                                |
 *              doca_devinfo_rep_list_create(dev) --> devinfo_rep --doca_dev_rep_open()--> dev_rep
 *
 * A devinfo describes a local device: a function of the card that this side of
 * the PCIe bus sees. A devinfo_rep describes a representor: a function on the
 * other side (on the host, as seen by the DPU) that the local device manages.
 * An info is for queries; an open device is for work.
 *
 * Infos belong to their list and end with it. A device outlives the list that it
 * was opened from: create the list, choose, open, destroy the list is the usual
 * order, and doca_dev_as_devinfo() gives an info that lives as long as the
 * device. Close a device after everything that was created on it.
 *
 * A getter writes its answer on success only. All of them return
 * DOCA_ERROR_INVALID_VALUE for a NULL argument or a buffer that is too small;
 * further errors are named below. Flags are uint8_t: 1 yes, 0 no.
 *
 * An info may be read from several threads; a list is destroyed, and a device
 * opened or closed, by one thread at a time.
 */
#ifndef DOCA_DEV_H_
#define DOCA_DEV_H_

#include <stdint.h>
#include <doca_types.h>
#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_dev_rep;
struct doca_devinfo;
struct doca_devinfo_rep;

/* Buffer sizes in bytes; those of strings count the terminating zero. */
#define DOCA_DEVINFO_PCI_ADDR_SIZE     13 /* "0000:03:00.0" */
#define DOCA_DEVINFO_PCI_BDF_SIZE      8  /* "03:00.0" */
#define DOCA_DEVINFO_IBDEV_NAME_SIZE   64
#define DOCA_DEVINFO_IFACE_NAME_SIZE   256
#define DOCA_DEVINFO_VUID_SIZE         128
#define DOCA_DEVINFO_MAC_ADDR_SIZE     6
#define DOCA_DEVINFO_IPV4_ADDR_SIZE    4
#define DOCA_DEVINFO_IPV6_ADDR_SIZE    16
#define DOCA_DEVINFO_REP_PCI_ADDR_SIZE 13
#define DOCA_DEVINFO_REP_PCI_BDF_SIZE  8
#define DOCA_DEVINFO_REP_VUID_SIZE     128

/* --- Local devices --- */

/* All local devices: (*dev_list)[0 .. *nb_devs - 1]. The caller destroys the
 * list, which ends its infos. create: DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_FOUND
 * (no device can be listed at all). destroy: DOCA_ERROR_IN_USE. */
__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_list_create(struct doca_devinfo ***dev_list, uint32_t *nb_devs);

__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_list_destroy(struct doca_devinfo **dev_list);

/* Open for use. Opening the same device again gives the same object and counts:
 * each open needs its close, and the last one frees. open: DOCA_ERROR_NO_MEMORY,
 * DOCA_ERROR_NOT_CONNECTED (the device does not answer), DOCA_ERROR_INITIALIZATION
 * (too many open devices), DOCA_ERROR_NOT_SUPPORTED. close: DOCA_ERROR_IN_USE
 * while objects use the device, which stays open then. */
__DOCA_EXPERIMENTAL
doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev);

__DOCA_EXPERIMENTAL
doca_error_t doca_dev_close(struct doca_dev *dev);

/* The info of an open device, borrowed until it is closed; NULL for NULL. */
__DOCA_EXPERIMENTAL
struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev);

/* --- Local devices: location --- */

/* Write "domain:bus:device.function" in hexadecimal; @pci_addr_str has room for
 * DOCA_DEVINFO_PCI_ADDR_SIZE bytes. DOCA_ERROR_OPERATING_SYSTEM. */
__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo, char *pci_addr_str);

/* Compare with an address in the long or the short form (no domain: 0000). A
 * string in neither form is DOCA_ERROR_INVALID_VALUE. DOCA_ERROR_OPERATING_SYSTEM. */
__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_is_pci_addr_equal(const struct doca_devinfo *devinfo, const char *pci_addr_str,
						uint8_t *is_equal);

/* The address as numbers, as in 1.5; without the domain.
 * DOCA_ERROR_OPERATING_SYSTEM. */
__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_pci_addr(const struct doca_devinfo *devinfo, struct doca_pci_bdf *pci_addr);

/* --- Local devices: names and addresses --- */

/* The RDMA device ("mlx5_0") and the network interface ("eth2") of the function.
 * @size is the buffer's, at least the matching ..._NAME_SIZE. get_iface_name:
 * DOCA_ERROR_OPERATING_SYSTEM when there is no such interface. */
__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name, uint32_t size);

__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name, uint32_t size);

/* Addresses as bytes in network order; @size is at least the matching
 * ..._ADDR_SIZE. MAC: DOCA_ERROR_NOT_SUPPORTED unless the port is Ethernet.
 * IPv4: DOCA_ERROR_NOT_FOUND when none is assigned. IPv4, IPv6:
 * DOCA_ERROR_OPERATING_SYSTEM. */
__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo, uint8_t *mac_addr, uint32_t size);

__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo, uint8_t *ipv4_addr, uint32_t size);

__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo, uint8_t *ipv6_addr, uint32_t size);

/* The port's local identifier. DOCA_ERROR_NOT_SUPPORTED unless the port is InfiniBand; DOCA_ERROR_DRIVER. */
__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid);

/* --- Local devices: capabilities. DOCA_ERROR_DRIVER --- */

/* Can the device plug emulated functions into the host? */
__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_is_hotplug_manager_supported(const struct doca_devinfo *devinfo,
							   uint8_t *is_hotplug_manager);

/* Can memory maps on it be exported to the DPU, and maps be made from such
 * exports? Where the answer is 0, the call itself returns
 * DOCA_ERROR_NOT_SUPPORTED. */
__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_is_mmap_export_dpu_supported(const struct doca_devinfo *devinfo, uint8_t *mmap_export);

__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_is_mmap_from_export_dpu_supported(const struct doca_devinfo *devinfo,
								uint8_t *from_export);

/* The same two capabilities, in 1.5. */
__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_is_mmap_export_supported(const struct doca_devinfo *devinfo, uint8_t *mmap_export);

__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_is_mmap_from_export_supported(const struct doca_devinfo *devinfo, uint8_t *from_export);

/* --- Representors --- */

/* The representors to list; ALL excludes the others, which may be or-ed. */
enum doca_dev_rep_filter {
	DOCA_DEV_REP_FILTER_ALL = 0,
	DOCA_DEV_REP_FILTER_NET = 1 << 1,      /* network functions of the host */
	DOCA_DEV_REP_FILTER_EMULATED = 1 << 2, /* functions that the card emulates */
};

/* Can a list be made from this device with the filter in the name? Where the
 * answer is 0, the list call returns DOCA_ERROR_NOT_SUPPORTED. A device without
 * any representors may answer with that error here too. DOCA_ERROR_DRIVER. */
__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_is_list_all_supported(const struct doca_devinfo *devinfo, uint8_t *all_supported);

__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_is_list_net_supported(const struct doca_devinfo *devinfo, uint8_t *net_supported);

__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_is_list_emulated_supported(const struct doca_devinfo *devinfo,
							     uint8_t *emulated_supported);

/* The representors that @dev manages: (*dev_list_rep)[0 .. *nb_devs_rep - 1].
 * @filter is a mask of enum doca_dev_rep_filter. The caller destroys the list
 * before closing @dev. create: DOCA_ERROR_NO_MEMORY, DOCA_ERROR_DRIVER,
 * DOCA_ERROR_NOT_SUPPORTED. destroy: DOCA_ERROR_IN_USE. */
__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_list_create(struct doca_dev *dev, int filter, struct doca_devinfo_rep ***dev_list_rep,
					  uint32_t *nb_devs_rep);

__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_list_destroy(struct doca_devinfo_rep **dev_list_rep);

/* Open for use, close after use; close before the device the list came from.
 * open: DOCA_ERROR_NO_MEMORY. close: DOCA_ERROR_IN_USE while objects use it. */
__DOCA_EXPERIMENTAL
doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev_rep);

__DOCA_EXPERIMENTAL
doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev);

/* The info of an open representor, borrowed until it is closed; NULL for NULL. */
__DOCA_EXPERIMENTAL
struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *dev_rep);

/* --- Representors: the function that they represent --- */

/* The address is the one the host sees. As with local devices, the string has
 * room for DOCA_DEVINFO_REP_PCI_ADDR_SIZE bytes, both forms compare, and the
 * numbers of 1.5 lack the domain. DOCA_ERROR_NO_MEMORY, DOCA_ERROR_UNEXPECTED. */
__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep, char *pci_addr_str);

__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_is_pci_addr_equal(const struct doca_devinfo_rep *devinfo_rep,
						    const char *pci_addr_str, uint8_t *is_equal);

__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_pci_addr(const struct doca_devinfo_rep *devinfo_rep, struct doca_pci_bdf *pci_addr);

__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *devinfo_rep,
						enum doca_pci_func_type *pci_func_type);

/* A string that identifies the function across reboots and moves; @size is
 * the buffer's, DOCA_DEVINFO_REP_VUID_SIZE holds any. */
__DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep, char *rep_vuid, uint32_t size);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_dev.h - devices: PCIe functions of the card, and representors.
 *
 *   doca_devinfo_create_list() --> devinfo --doca_dev_open()--> dev
 *                                                                |
 *              doca_devinfo_rep_create_list(dev) --> devinfo_rep --doca_dev_rep_open()--> dev_rep
 *
 * A devinfo describes a local device: a function of the card that this side of
 * the PCIe bus sees. A devinfo_rep describes a representor: a function on the
 * other side (on the host, as seen by the DPU) that the local device manages.
 * An info is for queries; an open device is for work.
 *
 * Infos belong to their list and end with it. A device outlives the list that it was
 * opened from: get_list, choose, open, destroy_list is the usual order, and
 * doca_dev_as_devinfo() gives an info that lives as long as the device. Close a
 * device after everything that was created on it.
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
DOCA_STABLE
doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs);

DOCA_STABLE
doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list);

/* Open for use. Opening the same device again gives the same object and counts:
 * each open needs its close, and the last one frees. open: DOCA_ERROR_NO_MEMORY,
 * DOCA_ERROR_NOT_CONNECTED (the device does not answer), DOCA_ERROR_INITIALIZATION
 * (too many open devices), DOCA_ERROR_NOT_SUPPORTED. close: DOCA_ERROR_IN_USE
 * while objects use the device, which stays open then. */
DOCA_STABLE
doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev);

DOCA_STABLE
doca_error_t doca_dev_close(struct doca_dev *dev);

/* The info of an open device, borrowed until it is closed; NULL for NULL. */
DOCA_STABLE
struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev);

/* Keep resources at close so that a restart gets them back sooner. Call it before
 * teardown, or periodically in case of a crash. DOCA_ERROR_DRIVER,
 * DOCA_ERROR_AGAIN, DOCA_ERROR_NOT_SUPPORTED. */
DOCA_EXPERIMENTAL
doca_error_t doca_dev_accelerate_resource_reclaim(struct doca_dev *dev);

/* --- Local devices: location --- */

/* Write "domain:bus:device.function" in hexadecimal; @pci_addr_str has room for
 * DOCA_DEVINFO_PCI_ADDR_SIZE bytes. DOCA_ERROR_OPERATING_SYSTEM. */
DOCA_STABLE
doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo, char *pci_addr_str);

/* Compare with an address in the long or the short form (no domain: 0000). A
 * string in neither form is DOCA_ERROR_INVALID_VALUE. DOCA_ERROR_OPERATING_SYSTEM. */
DOCA_STABLE
doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo, const char *pci_addr_str,
					    uint8_t *is_equal);

/* The kind of the function: PF, VF or SF. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_pci_func_type(const struct doca_devinfo *devinfo, enum doca_pci_func_type *pci_func_type);

/* The number of the SF's auxiliary device (N of mlx5_core.sf.N), not the one that it was created with; an error on a PF or
 * a VF. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_sf_index(const struct doca_devinfo *devinfo, uint32_t *sf_index);

/* The function's number inside the card. DOCA_ERROR_DRIVER. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_vhca_id(const struct doca_devinfo *devinfo, uint16_t *vhca_id);

/* --- Local devices: names and addresses --- */

/* The RDMA device ("mlx5_0") and the network interface ("eth2") of the function.
 * @size is the buffer's, at least the matching ..._NAME_SIZE. get_iface_name:
 * DOCA_ERROR_OPERATING_SYSTEM when there is no such interface. */
DOCA_STABLE
doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name, uint32_t size);

DOCA_STABLE
doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name, uint32_t size);

/* Addresses as bytes in network order; @size is at least the matching
 * ..._ADDR_SIZE. MAC: DOCA_ERROR_NOT_SUPPORTED unless the port is Ethernet.
 * IPv4: DOCA_ERROR_NOT_FOUND when none is assigned. IPv4, IPv6:
 * DOCA_ERROR_OPERATING_SYSTEM. */
DOCA_STABLE
doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo, uint8_t *mac_addr, uint32_t size);

DOCA_STABLE
doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo, uint8_t *ipv4_addr, uint32_t size);

DOCA_STABLE
doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo, uint8_t *ipv6_addr, uint32_t size);

/* The port's local identifier. DOCA_ERROR_NOT_SUPPORTED unless the port is InfiniBand; DOCA_ERROR_DRIVER. */
DOCA_STABLE
doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid);

/* The port's rate in bits per second. DOCA_ERROR_DRIVER. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_active_rate(const struct doca_devinfo *devinfo, uint64_t *active_rate);

/* --- Local devices: capabilities. DOCA_ERROR_DRIVER --- */

/* Can the device plug emulated functions into the host? */
DOCA_STABLE
doca_error_t doca_devinfo_cap_is_hotplug_manager_supported(const struct doca_devinfo *devinfo,
							   uint8_t *is_hotplug_manager);

/* Can the device delay notifications to send fewer of them? */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_cap_is_notification_moderation_supported(const struct doca_devinfo *devinfo,
								   uint8_t *is_notification_moderation_supported);

/* Does the device support doca_dev_accelerate_resource_reclaim()? */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_cap_is_accelerate_resource_reclaim_supported(const struct doca_devinfo *devinfo,
								       uint8_t *is_accelerate_resource_reclaim);

/* --- Representors --- */

/* The representors to list; ALL excludes the others, which may be or-ed. */
enum doca_devinfo_rep_filter {
	DOCA_DEVINFO_REP_FILTER_ALL = 0,
	DOCA_DEVINFO_REP_FILTER_NET = 1 << 1,      /* network functions of the host */
	DOCA_DEVINFO_REP_FILTER_EMULATED = 1 << 2, /* functions that the card emulates */
};

/* Can a list be made from this device with the filter in the name? Where the
 * answer is 0, the list call returns DOCA_ERROR_NOT_SUPPORTED. A device without
 * any representors may answer with that error here too. DOCA_ERROR_DRIVER. */
DOCA_STABLE
doca_error_t doca_devinfo_rep_cap_is_filter_all_supported(const struct doca_devinfo *devinfo,
							  uint8_t *filter_all_supported);

DOCA_STABLE
doca_error_t doca_devinfo_rep_cap_is_filter_net_supported(const struct doca_devinfo *devinfo,
							  uint8_t *filter_net_supported);

DOCA_STABLE
doca_error_t doca_devinfo_rep_cap_is_filter_emulated_supported(const struct doca_devinfo *devinfo,
							       uint8_t *filter_emulated_supported);

/* The representors that @dev manages: (*dev_list_rep)[0 .. *nb_devs_rep - 1].
 * @filter is a mask of enum doca_devinfo_rep_filter. The caller destroys the
 * list before closing @dev. create: DOCA_ERROR_NO_MEMORY, DOCA_ERROR_DRIVER,
 * DOCA_ERROR_NOT_SUPPORTED. destroy: DOCA_ERROR_IN_USE. */
DOCA_STABLE
doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter, struct doca_devinfo_rep ***dev_list_rep,
					  uint32_t *nb_devs_rep);

DOCA_STABLE
doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep);

/* Open for use, close after use; close before the device the list came from.
 * open: DOCA_ERROR_NO_MEMORY. close: DOCA_ERROR_IN_USE while objects use it. */
DOCA_STABLE
doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev_rep);

DOCA_STABLE
doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev);

/* The info of an open representor, borrowed until it is closed; NULL for NULL. */
DOCA_STABLE
struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *dev_rep);

/* --- Representors: the function that they represent --- */

/* The address is the one the host sees. As with local devices, the string has
 * room for DOCA_DEVINFO_REP_PCI_ADDR_SIZE bytes, and both forms compare.
 * DOCA_ERROR_NO_MEMORY, DOCA_ERROR_UNEXPECTED. */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep, char *pci_addr_str);

DOCA_STABLE
doca_error_t doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *devinfo_rep, const char *pci_addr_str,
						uint8_t *is_equal);

DOCA_STABLE
doca_error_t doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *devinfo_rep,
						enum doca_pci_func_type *pci_func_type);

/* A string that identifies the function across reboots and moves; @size is
 * the buffer's, DOCA_DEVINFO_REP_VUID_SIZE holds any. */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep, char *rep_vuid, uint32_t size);

/* Was the function plugged at run time? */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_is_hotplug(const struct doca_devinfo_rep *devinfo_rep, uint8_t *is_hotplug);

/* The representor's own interface on this side; @size at least
 * DOCA_DEVINFO_IFACE_NAME_SIZE. DOCA_ERROR_OPERATING_SYSTEM. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_iface_name(const struct doca_devinfo_rep *devinfo_rep, char *iface_name,
					     uint32_t size);

DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_vhca_id(const struct doca_devinfo_rep *devinfo_rep, uint16_t *vhca_id);

/* The numbers of the function since 3.1: its host (0: the Arm cores, 1: the first host) and its PF there; the VF's number
 * from 0; the number that the SF was created with (sfnum). get_vf_index, get_sf_index: an error on functions of another
 * kind. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_host_index(const struct doca_devinfo_rep *devinfo_rep, uint32_t *host_index);

DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_pf_index(const struct doca_devinfo_rep *devinfo_rep, uint32_t *pf_index);

DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_vf_index(const struct doca_devinfo_rep *devinfo_rep, uint32_t *vf_index);

DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_sf_index(const struct doca_devinfo_rep *devinfo_rep, uint32_t *sf_index);

#ifdef __cplusplus
}
#endif

#endif

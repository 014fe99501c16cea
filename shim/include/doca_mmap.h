/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_mmap.h - memory maps: a range of memory and the devices that may reach it.
 *
 *   create --> [configuring] --start--> [started] ----> destroy, from anywhere
 *                set_*, add_dev <--stop-- export_*, buffers
 *
 * A map has one range, set once, and one or more devices. Buffers (doca_buf.h)
 * name pieces of a started map; tasks move bytes between buffers. The map does
 * not own the memory, unless a free callback says how it is to be freed.
 *
 * To let the other side of the card reach the memory, export a started map and
 * send the descriptor over any channel:
 *
 *   owner:  set_permissions(PCI_READ_WRITE), start, export_pci --> descriptor
 *   peer:   create_from_export(descriptor) --> a map of remote memory
 *
 * A descriptor is all that is needed to reach the memory: keep it as secret as
 * the memory's contents. An imported map is started from the beginning, has its
 * one device, and can be neither configured nor exported; its addresses are
 * the owner's and must not be dereferenced. It stops working when the owner
 * stops or destroys the map, or dies.
 *
 * Every function returns DOCA_ERROR_INVALID_VALUE for a NULL argument. What the
 * state forbids is DOCA_ERROR_BAD_STATE or DOCA_ERROR_NOT_PERMITTED, as said
 * below. Lengths are in bytes. One thread at a time, but see
 * doca_mmap_enable_thread_safety().
 */
#ifndef DOCA_MMAP_H_
#define DOCA_MMAP_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_devinfo;
struct doca_dpa;
struct doca_mmap;

/* --- Life --- */

/* Make an empty map, the caller's to destroy. DOCA_ERROR_NO_MEMORY. */
DOCA_STABLE
doca_error_t doca_mmap_create(struct doca_mmap **mmap);

/* Stop if need be, call the free callback, free. DOCA_ERROR_NOT_PERMITTED while
 * buffers of the map are out or it has a buffer pool (unless thread safety is
 * enabled). */
DOCA_STABLE
doca_error_t doca_mmap_destroy(struct doca_mmap *mmap);

/* Freeze the configuration, register the range with each device.
 * DOCA_ERROR_INVALID_VALUE also without a range or a device; DOCA_ERROR_NO_MEMORY;
 * DOCA_ERROR_NOT_PERMITTED for a map that was exported or imported. */
DOCA_STABLE
doca_error_t doca_mmap_start(struct doca_mmap *mmap);

/* Undo start, so that the map can be configured again, unless it was ever
 * exported. Descriptors exported from it are freed and maps imported from them
 * cut off. DOCA_ERROR_NOT_PERMITTED while buffers of the map are out or it has a
 * buffer pool, and for an imported map, which ends with destroy. */
DOCA_STABLE
doca_error_t doca_mmap_stop(struct doca_mmap *mmap);

/* Let several threads use the map, taking buffers included. Buffers are then no
 * longer counted. Call it before start, and neither this nor destroy beside
 * anything else. DOCA_ERROR_NOT_PERMITTED when started or buffers are out. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_enable_thread_safety(struct doca_mmap *mmap);

/* --- Configuration: before start, never on an imported map --- */

/* Give the map its range: memory of this process, a piece of a dma-buf (mapped
 * at @addr, starting @dmabuf_offset bytes into it; @dmabuf_fd stays the
 * caller's), or memory on the DPA heap. Exactly one of these, once. The memory
 * stays valid while the map is started. DOCA_ERROR_INVALID_VALUE also for a
 * range that wraps around; DOCA_ERROR_BAD_STATE when started;
 * DOCA_ERROR_NOT_PERMITTED the second time. */
DOCA_STABLE
doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len);

DOCA_STABLE
doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, void *addr, size_t dmabuf_offset,
					   size_t len);

DOCA_EXPERIMENTAL
doca_error_t doca_mmap_set_dpa_memrange(struct doca_mmap *mmap, struct doca_dpa *dpa, uint64_t dpa_addr, size_t len);

/* Called as destroy's last act with the range and the cookie given to
 * set_free_cb(), once, if the map was ever started. It must not touch the map.
 * DOCA_ERROR_BAD_STATE when started. */
typedef void doca_mmap_memrange_free_cb_t(void *addr, size_t len, void *cookie);

DOCA_STABLE
doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap, doca_mmap_memrange_free_cb_t *free_cb, void *opaque);

/* Who may do what: a mask of enum doca_access_flag. DOCA_ERROR_INVALID_VALUE
 * also for unknown flags or a pair that excludes itself; DOCA_ERROR_BAD_STATE
 * when started. */
DOCA_STABLE
doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask);

/* How many devices may be added. DOCA_ERROR_NOT_PERMITTED after the first start. */
DOCA_STABLE
doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices);

/* DOCA_ERROR_BAD_STATE when started. */
DOCA_STABLE
doca_error_t doca_mmap_set_user_data(struct doca_mmap *mmap, union doca_data user_data);

/* Add a device, remove it again. @dev is borrowed and stays open while it is in
 * the map. DOCA_ERROR_NOT_PERMITTED when started, exported or imported. add:
 * DOCA_ERROR_NO_MEMORY beyond the maximum, DOCA_ERROR_ALREADY_EXIST,
 * DOCA_ERROR_NOT_SUPPORTED. rm: DOCA_ERROR_NOT_FOUND. */
DOCA_STABLE
doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev);

DOCA_STABLE
doca_error_t doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev);

/* --- Export and import --- */

/* Can the device take part? Where the answer is 0, the call itself returns
 * DOCA_ERROR_NOT_SUPPORTED. DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_DRIVER. */
DOCA_STABLE
doca_error_t doca_mmap_cap_is_export_pci_supported(const struct doca_devinfo *devinfo, uint8_t *mmap_export);

DOCA_STABLE
doca_error_t doca_mmap_cap_is_create_from_export_pci_supported(const struct doca_devinfo *devinfo,
							       uint8_t *from_export);

/* Describe the started map, as @dev sees it, to the card's other side (pci) or
 * to another machine (rdma). The descriptor belongs to the map and lives until
 * it is stopped. @dev is one of the map's; each may be exported.
 * DOCA_ERROR_NOT_FOUND (no such device in the map), DOCA_ERROR_NOT_PERMITTED (not
 * started, no PCI or RDMA permission, or imported), DOCA_ERROR_NO_MEMORY,
 * DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_DRIVER. */
DOCA_STABLE
doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
				  size_t *export_desc_len);

DOCA_STABLE
doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
				   size_t *export_desc_len);

/* Make a map of the memory that a descriptor speaks of, the caller's to destroy.
 * The descriptor is read during the call only. @dev is on the same card as the
 * exporter's (pci) and borrowed. *@user_data, if not NULL, becomes the map's user
 * data. DOCA_ERROR_INVALID_VALUE also for a descriptor that is damaged or of
 * another session; DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_SUPPORTED,
 * DOCA_ERROR_NOT_PERMITTED, DOCA_ERROR_DRIVER. */
DOCA_STABLE
doca_error_t doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc,
					  size_t export_desc_len, struct doca_dev *dev, struct doca_mmap **mmap);

/* The started map as a DPA kernel names it. DOCA_ERROR_NOT_FOUND, DOCA_ERROR_NOT_PERMITTED (not started). */
typedef uint32_t doca_dpa_dev_mmap_t;

DOCA_EXPERIMENTAL
doca_error_t doca_mmap_dev_get_dpa_handle(struct doca_mmap *mmap, const struct doca_dev *dev,
					  doca_dpa_dev_mmap_t *dpa_mmap_handle);

/* --- Questions --- */

/* DOCA_ERROR_BAD_STATE when no range was set. */
DOCA_STABLE
doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len);

/* Zero if never set. */
DOCA_STABLE
doca_error_t doca_mmap_get_user_data(const struct doca_mmap *mmap, union doca_data *user_data);

DOCA_STABLE
doca_error_t doca_mmap_get_max_num_devices(const struct doca_mmap *mmap, uint32_t *max_num_devices);

/* Buffers that point into the map and were not returned yet. */
DOCA_STABLE
doca_error_t doca_mmap_get_num_bufs(const struct doca_mmap *mmap, uint32_t *num_bufs);

/* 1 if the map was exported; 1 if it was made from an export. */
DOCA_STABLE
doca_error_t doca_mmap_get_exported(const struct doca_mmap *mmap, uint8_t *exported);

DOCA_STABLE
doca_error_t doca_mmap_get_from_export(const struct doca_mmap *mmap, uint8_t *from_export);

#ifdef __cplusplus
}
#endif

#endif

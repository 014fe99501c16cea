/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_mmap.h - memory maps: a range of memory and the devices that may access it.
 *
 *   create --> [configurable] <--start, stop--> [started]     every state leads to destroy
 *               set_*, add_dev                   export_*, buffers
 *
 * A map has one range, set once, and one or more devices. A buffer (doca_buf.h) is a piece of a started
 * map; tasks move bytes between buffers. The map does not own the memory. A free callback can free the
 * memory after the map.
 *
 * To give the card's other side access to the memory, export a started map and send the descriptor over
 * any channel:
 *
 *   owner:  set_permissions(PCI_READ_WRITE), start, export_pci --> descriptor
 *   peer:   create_from_export(descriptor) --> a map of remote memory
 *
 * A descriptor gives access to the memory: keep it as secret as the memory's contents. An imported map is
 * started from its creation, has one device, and can't be configured. One that was exported over PCI can be exported again,
 * to the network (doca_mmap_export_rdma()). Its addresses are
 * the owner's and must not be dereferenced. Its tasks fail once the owner has stopped or destroyed the map,
 * or has died.
 *
 * Every function returns DOCA_ERROR_INVALID_VALUE for a NULL argument. A call that the state does not allow
 * returns DOCA_ERROR_BAD_STATE or DOCA_ERROR_NOT_PERMITTED, as stated for each function. Lengths are in
 * bytes. One thread at a time, unless doca_mmap_enable_thread_safety() was called.
 */
#ifndef DOCA_MMAP_H_
#define DOCA_MMAP_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_dev.h>
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

/* Create an empty map, which the caller destroys. DOCA_ERROR_NO_MEMORY. */
DOCA_STABLE
doca_error_t doca_mmap_create(struct doca_mmap **mmap);

/* Stop the map, free it, and call the free callback. DOCA_ERROR_NOT_PERMITTED while buffers of the map are in
 * use or it has a buffer pool (unless thread safety is enabled). */
DOCA_STABLE
doca_error_t doca_mmap_destroy(struct doca_mmap *mmap);

/* Fix the configuration, and register the range with each device.
 * DOCA_ERROR_INVALID_VALUE also without a range or a device; DOCA_ERROR_NO_MEMORY;
 * DOCA_ERROR_NOT_PERMITTED for a map that was exported or imported. */
DOCA_STABLE
doca_error_t doca_mmap_start(struct doca_mmap *mmap);

/* Undo start. The map can be configured again, unless it was ever exported. Its descriptors are freed, and
 * maps that were imported from them are revoked. DOCA_ERROR_NOT_PERMITTED while buffers of the map are in use
 * or it has a buffer pool, and for an imported map. */
DOCA_STABLE
doca_error_t doca_mmap_stop(struct doca_mmap *mmap);

/* Allow several threads to use the map at once, to allocate buffers as well. Buffers are not counted from
 * then on. Call this before start, or before the first buffer of an imported map. No other call on the map may run during
 * this one or during destroy.
 * DOCA_ERROR_NOT_PERMITTED when the map is started (unless it is imported) or has buffers. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_enable_thread_safety(struct doca_mmap *mmap);

/* --- Configuration: before start, never on an imported map --- */

/* Set the map's range: memory of this process, a piece of a dma-buf (at @addr for the application, from
 * @dmabuf_offset on; @dmabuf_fd stays the caller's), or memory on the DPA heap. Call one of these, once. The
 * memory has to stay valid while the map is started. DOCA_ERROR_INVALID_VALUE also for a range that wraps
 * around; DOCA_ERROR_BAD_STATE when started; DOCA_ERROR_NOT_PERMITTED if the map has a range. */
DOCA_STABLE
doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len);

DOCA_STABLE
doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, void *addr, size_t dmabuf_offset,
					   size_t len);

DOCA_EXPERIMENTAL
doca_error_t doca_mmap_set_dpa_memrange(struct doca_mmap *mmap, struct doca_dpa *dpa, uint64_t dpa_addr, size_t len);

/* Set a callback that destroy calls last, with the range and @opaque, if the map was started after this call.
 * The callback must not use the map. DOCA_ERROR_BAD_STATE when started. */
typedef void doca_mmap_memrange_free_cb_t(void *addr, size_t len, void *cookie);

DOCA_STABLE
doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap, doca_mmap_memrange_free_cb_t *free_cb, void *opaque);

/* Set the permissions: a mask of enum doca_access_flag. DOCA_ERROR_INVALID_VALUE
 * also for unknown flags and for flags that exclude each other; DOCA_ERROR_BAD_STATE
 * when started. */
DOCA_STABLE
doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask);

/* Set the maximum number of devices. DOCA_ERROR_NOT_PERMITTED after the first start. */
DOCA_STABLE
doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices);

/* DOCA_ERROR_BAD_STATE when started. */
DOCA_STABLE
doca_error_t doca_mmap_set_user_data(struct doca_mmap *mmap, union doca_data user_data);

/* Add or remove a device. @dev is borrowed and can't be closed while it is in the
 * map. DOCA_ERROR_NOT_PERMITTED when started, exported or imported. add:
 * DOCA_ERROR_NO_MEMORY beyond the maximum, DOCA_ERROR_ALREADY_EXIST,
 * DOCA_ERROR_NOT_SUPPORTED. rm: DOCA_ERROR_NOT_FOUND. */
DOCA_STABLE
doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev);

DOCA_STABLE
doca_error_t doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev);

/* --- Export and import --- */

/* Set the output to 1 if the device can export or import memory over PCI, to 0 if it can't: then export and
 * import return DOCA_ERROR_NOT_SUPPORTED. DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_DRIVER. */
DOCA_STABLE
doca_error_t doca_mmap_cap_is_export_pci_supported(const struct doca_devinfo *devinfo, uint8_t *mmap_export);

DOCA_STABLE
doca_error_t doca_mmap_cap_is_create_from_export_pci_supported(const struct doca_devinfo *devinfo,
							       uint8_t *from_export);

/* Create a descriptor of the started map for the card's other side (pci) or for another machine (rdma), which
 * access the memory through @dev, one of the map's devices. The descriptor belongs to the map and is valid
 * until the map is stopped or destroyed. rdma also takes a map that was created from the other side's pci export: the
 * descriptor then gives the rights of that export, and ends with it, too.
 * DOCA_ERROR_NOT_FOUND (no such device in the map), DOCA_ERROR_NOT_PERMITTED (not
 * started, no PCI or RDMA permission, or otherwise imported), DOCA_ERROR_NO_MEMORY,
 * DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_DRIVER. */
DOCA_STABLE
doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
				  size_t *export_desc_len);

DOCA_STABLE
doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
				   size_t *export_desc_len);

/* Create a map of the memory that a descriptor names. The caller destroys the map.
 * The descriptor is read during the call only. @dev is on the same card as the
 * exporter's (pci) and borrowed. *@user_data, if not NULL, becomes the map's user
 * data. DOCA_ERROR_INVALID_VALUE also for a descriptor that is damaged or of
 * another session; DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_SUPPORTED,
 * DOCA_ERROR_NOT_PERMITTED, DOCA_ERROR_DRIVER. */
DOCA_STABLE
doca_error_t doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc,
					  size_t export_desc_len, struct doca_dev *dev, struct doca_mmap **mmap);

/* Get the handle of a started map for DPA kernels. DOCA_ERROR_NOT_FOUND, DOCA_ERROR_NOT_PERMITTED (not started). */
typedef uint32_t doca_dpa_dev_mmap_t;

DOCA_EXPERIMENTAL
doca_error_t doca_mmap_dev_get_dpa_handle(struct doca_mmap *mmap, const struct doca_dev *dev,
					  doca_dpa_dev_mmap_t *dpa_mmap_handle);

/* Get the key under which @dev accesses the memory of a started map: never 0, another one for each device, and
 * another one after each start. DOCA_ERROR_NOT_FOUND (not a device of the map), DOCA_ERROR_NOT_PERMITTED (not started). */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_mkey(const struct doca_mmap *mmap, const struct doca_dev *dev, uint32_t *mkey);

/* --- Queries --- */

/* DOCA_ERROR_BAD_STATE when no range was set. */
DOCA_STABLE
doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len);

/* The user data is zero until it is set. */
DOCA_STABLE
doca_error_t doca_mmap_get_user_data(const struct doca_mmap *mmap, union doca_data *user_data);

DOCA_STABLE
doca_error_t doca_mmap_get_max_num_devices(const struct doca_mmap *mmap, uint32_t *max_num_devices);

/* Get the number of buffers of the map that are in use. */
DOCA_STABLE
doca_error_t doca_mmap_get_num_bufs(const struct doca_mmap *mmap, uint32_t *num_bufs);

/* Get whether the map was ever exported, and whether it was created from an export: 1 or 0. */
DOCA_STABLE
doca_error_t doca_mmap_get_exported(const struct doca_mmap *mmap, uint8_t *exported);

DOCA_STABLE
doca_error_t doca_mmap_get_from_export(const struct doca_mmap *mmap, uint8_t *from_export);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_mmap.h - memory maps: memory and the devices that may reach it.
 *
 * A map has memory and one or more devices. Buffers (doca_buf.h) name pieces of
 * a started map; jobs move bytes between buffers. The map does not own the
 * memory, unless a free callback frees it.
 *
 * The two ends of this generation order the steps differently; a map may be made
 * in either order, but not in a mixture of both:
 *
 *   2.2:  create --> set_memrange, dev_add, set_permissions --> start --> export_dpu
 *   1.5:  create --> set_max_num_chunks --> start --> dev_add, populate ... --> export
 *
 * A map of 2.2 has one range. A map of 1.5 has chunks, added while it is
 * started; every one of them can be reached by each of its devices, the card's
 * other side included. It gives buffers before it has a device; jobs need one.
 *
 * To let the other side of the card reach the memory, export a started map and
 * send the descriptor over any channel:
 *
 *   owner:  export_dpu or export --> descriptor
 *   peer:   create_from_export(descriptor) --> a map of remote memory
 *
 * A descriptor is all that is needed to reach the memory: keep it as secret as
 * the memory's contents. An imported map is started from the beginning, has its
 * one device, and can be neither configured nor exported; its addresses are
 * the owner's and must not be dereferenced. It stops working when the owner
 * stops or destroys the map, or dies.
 *
 * Every function returns DOCA_ERROR_INVALID_VALUE for a NULL argument. A call
 * in a wrong state returns DOCA_ERROR_BAD_STATE or DOCA_ERROR_NOT_PERMITTED, see
 * below. Lengths are in bytes. One thread at a time.
 */
#ifndef DOCA_MMAP_H_
#define DOCA_MMAP_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <doca_dev.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_mmap;

/* --- Creation and destruction --- */

/* Create an empty map, owned by the caller. *@user_data, if not NULL, becomes
 * the map's user data. DOCA_ERROR_NO_MEMORY. */
__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_create(const union doca_data *user_data, struct doca_mmap **mmap);

/* Stop if need be, call the free callbacks, free. DOCA_ERROR_NOT_PERMITTED while
 * the program holds buffers of the map. */
__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_destroy(struct doca_mmap *mmap);

/* Freeze the configuration and register the range, if one was set, with each
 * device. DOCA_ERROR_INVALID_VALUE also for a range without a device;
 * DOCA_ERROR_NO_MEMORY; DOCA_ERROR_NOT_PERMITTED for a map that was exported or
 * imported. */
__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_start(struct doca_mmap *mmap);

/* Undo start, so that the map can be configured again, unless it was ever
 * exported. Maps imported from its descriptors are cut off.
 * DOCA_ERROR_NOT_PERMITTED while buffers of the map are out, and for an imported
 * map, which ends with destroy. */
__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_stop(struct doca_mmap *mmap);

/* --- Configuration as of 2.2: before start, never on an imported map --- */

/* Give the map its range: memory of this process, or a piece of a dma-buf that
 * starts @offset bytes into it (@dmabuf_fd stays the caller's). One of these,
 * once. The memory stays valid while the map is started.
 * DOCA_ERROR_INVALID_VALUE also for a range that wraps around;
 * DOCA_ERROR_BAD_STATE when started; DOCA_ERROR_NOT_PERMITTED the second time. */
__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len);

__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, size_t offset, size_t len);

/* Called when memory leaves the map for good, with its range and the cookie
 * given with the callback. It must not touch the map. */
typedef void doca_mmap_memrange_free_cb_t(void *addr, size_t len, void *cookie);

/* Called at the end of destroy, once, if the map was ever started.
 * DOCA_ERROR_BAD_STATE when started. */
__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap, doca_mmap_memrange_free_cb_t *free_cb, void *opaque);

/* The permissions: a mask of enum doca_access_flags. DOCA_ERROR_INVALID_VALUE
 * also for unknown flags or a pair that excludes itself; DOCA_ERROR_BAD_STATE
 * when started. */
__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask);

/* The maximum number of devices. DOCA_ERROR_NOT_PERMITTED after the first start. */
__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices);

/* Add a device, remove it again: before start, or in 1.5's order at any time
 * when no buffers are out. @dev is borrowed and stays open while it is in the map.
 * DOCA_ERROR_NOT_PERMITTED at other times. add: DOCA_ERROR_NO_MEMORY beyond the
 * maximum, DOCA_ERROR_NOT_SUPPORTED; for a device that is there already,
 * DOCA_ERROR_ALREADY_EXIST, in 1.5's order DOCA_ERROR_IN_USE. rm: for one that is not
 * there, DOCA_ERROR_NOT_FOUND, in 1.5's order DOCA_ERROR_INVALID_VALUE. */
__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_dev_add(struct doca_mmap *mmap, struct doca_dev *dev);

__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_dev_rm(struct doca_mmap *mmap, struct doca_dev *dev);

/* --- Memory as of 1.5: chunks --- */

/* The maximum number of chunks. set: DOCA_ERROR_NOT_PERMITTED after the first start. */
__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_set_max_num_chunks(struct doca_mmap *mmap, uint32_t max_num_chunks);

__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_max_num_chunks(struct doca_mmap *mmap, uint32_t *max_num_chunks);

/* Add memory of this process to a started map. @pg_sz is the size of the pages it
 * lies in, a power of two of at least 4096. @free_cb, which may be NULL, is called
 * with @opaque when the map is destroyed. The memory stays valid until then.
 * DOCA_ERROR_NOT_PERMITTED for a range that overlaps another chunk or can't be
 * registered (not mapped, or read-only), and for a map that is not started,
 * was exported or is imported; DOCA_ERROR_NO_MEMORY beyond
 * the maximum. */
__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_populate(struct doca_mmap *mmap, void *addr, size_t len, size_t pg_sz,
				doca_mmap_memrange_free_cb_t *free_cb, void *opaque);

/* --- Export and import --- */

/* Describe the started map, as @dev sees it, to the card's other side (dpu) or
 * to another machine (rdma). The descriptor belongs to the map and lives until
 * it is stopped. @dev is one of the map's; each may be exported.
 * DOCA_ERROR_NOT_FOUND (no such device in the map), DOCA_ERROR_NOT_PERMITTED (not
 * started, no DPU or RDMA permission, several chunks, or imported), DOCA_ERROR_NO_MEMORY,
 * DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_DRIVER. */
__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_export_dpu(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
				  size_t *export_desc_len);

__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
				   size_t *export_desc_len);

/* 1.5's export to the card's other side: of a map with exactly one chunk, once.
 * The descriptor is the caller's, to be given to free(). DOCA_ERROR_INVALID_VALUE
 * also for a device that is not in the map; otherwise as above. */
__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_export(struct doca_mmap *mmap, const struct doca_dev *dev, void **export_desc,
			      size_t *export_desc_len);

/* Create a map of the memory that a descriptor describes, owned by the caller.
 * The descriptor is read during the call only. @dev is on the same card as the
 * exporter's (dpu) and borrowed. *@user_data, if not NULL, becomes the map's user
 * data. DOCA_ERROR_INVALID_VALUE also for a descriptor that is damaged or of
 * another session; DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_SUPPORTED,
 * DOCA_ERROR_NOT_PERMITTED, DOCA_ERROR_DRIVER. */
__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc,
					  size_t export_desc_len, struct doca_dev *dev, struct doca_mmap **mmap);

/* --- Queries --- */

/* DOCA_ERROR_BAD_STATE if no range was set. */
__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len);

/* Zero if never set. */
__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_user_data(struct doca_mmap *mmap, union doca_data *user_data);

__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_max_num_devices(struct doca_mmap *mmap, uint32_t *max_num_devices);

/* Buffers that point into the map and were not returned yet. */
__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_num_bufs(struct doca_mmap *mmap, uint32_t *num_bufs);

/* 1 if the map was exported; 1 if it was made from an export. */
__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_exported(struct doca_mmap *mmap, uint8_t *exported);

__DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_from_export(struct doca_mmap *mmap, uint8_t *from_export);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_bufpool.h - equal buffers over one memory map, each at a fixed place.
 *
 *   create(n, size, alignment, map) --> start --> alloc buffers, give them back --> stop --> destroy
 *
 *   map:   |..[ element 0 ]..[ element 1 ]..  ..[ element n-1 ].......|
 *           ^ up to the alignment: every element starts at a multiple of it
 *
 * An inventory (doca_buf_inventory.h) points a buffer at a place that the caller
 * names. A pool divides the range of the map into elements at its start; each buffer
 * is one of them. doca_buf_refcount_rm() gives it back. A buffer of a pool works
 * like any other, and can be duplicated into an inventory.
 *
 * The map needs its range when the pool is created, and must be started before
 * the pool is. It can be neither stopped nor destroyed while the pool exists. The
 * application owns the memory and synchronizes accesses to it. Two pools over one
 * map have the same elements.
 *
 * All functions return DOCA_ERROR_INVALID_VALUE for a NULL argument. Sizes are in
 * bytes. One thread at a time per pool; its buffers too, as giving one back
 * changes the pool.
 */
#ifndef DOCA_BUFPOOL_H_
#define DOCA_BUFPOOL_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_bufpool;
struct doca_mmap;

/* --- Creation and destruction --- */

/* A pool of @num_elements elements of @element_size bytes, neither of them 0,
 * that start at multiples of @element_alignment, a power of two, or 0 for anywhere.
 * The caller destroys it. *@user_data, if not NULL, becomes its user data;
 * @extensions is a mask of enum doca_buf_extension. DOCA_ERROR_BAD_STATE if @mmap
 * has no range yet, DOCA_ERROR_NO_MEMORY. */
__DOCA_EXPERIMENTAL
doca_error_t doca_bufpool_create(const union doca_data *user_data, size_t num_elements, uint32_t extensions,
				 size_t element_size, size_t element_alignment, const struct doca_mmap *mmap,
				 struct doca_bufpool **bufpool);

/* Stops the pool if it is started. DOCA_ERROR_IN_USE while the program holds buffers; nothing is freed then. */
__DOCA_EXPERIMENTAL
doca_error_t doca_bufpool_destroy(struct doca_bufpool *bufpool);

/* Buffers can be taken between start and stop. DOCA_ERROR_BAD_STATE when the map is
 * not started, DOCA_ERROR_INVALID_VALUE also when it has no room for all elements. */
__DOCA_EXPERIMENTAL
doca_error_t doca_bufpool_start(struct doca_bufpool *bufpool);

/* The program keeps the buffers that it holds, and can give them back. */
__DOCA_EXPERIMENTAL
doca_error_t doca_bufpool_stop(struct doca_bufpool *bufpool);

/* --- Taking buffers --- */

/* Take a buffer over a free element with an empty data segment at its start.
 * The memory is unchanged. The caller owns the one reference.
 * DOCA_ERROR_BAD_STATE when the pool is not started, DOCA_ERROR_NO_MEMORY when all
 * elements are taken. */
__DOCA_EXPERIMENTAL
doca_error_t doca_bufpool_buf_alloc(struct doca_bufpool *bufpool, struct doca_buf **buf);

/* --- Queries --- */

__DOCA_EXPERIMENTAL
doca_error_t doca_bufpool_get_num_elements(const struct doca_bufpool *bufpool, uint32_t *num_of_elements);

__DOCA_EXPERIMENTAL
doca_error_t doca_bufpool_get_num_free_elements(const struct doca_bufpool *bufpool, uint32_t *num_of_free_elements);

/* Zero if never set. */
__DOCA_EXPERIMENTAL
doca_error_t doca_bufpool_get_user_data(const struct doca_bufpool *bufpool, union doca_data *user_data);

#ifdef __cplusplus
}
#endif

#endif

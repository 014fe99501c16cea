/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_buf_pool.h - equal buffers over one memory map, each with a place of its own for good.
 *
 *   create(n, size, map) --> start --> alloc buffers, give them back --> stop --> destroy
 *
 *   map:   |..[ element 0 ]..[ element 1 ]..  ..[ element n-1 ].......|
 *           ^ up to the alignment: every element starts at a multiple of it
 *
 * Where an inventory (doca_buf_inventory.h) points a buffer at a place that the
 * caller names, a pool has cut the map's range into elements before: taking a
 * buffer is taking one of them. doca_buf_dec_refcount() gives it back. A pool's
 * buffer can be used wherever a buffer can, and duplicated into an inventory.
 *
 * The map needs its range when the pool is created, and must be started before
 * the pool is. It can be neither stopped nor destroyed while the pool exists
 * (DOCA_ERROR_NOT_PERMITTED from doca_mmap.h); with thread safety enabled it can,
 * and then the pool gives no more buffers. The memory is the application's, as is
 * keeping others off it. Two pools over one map have the same elements.
 *
 * All functions return DOCA_ERROR_INVALID_VALUE for a NULL argument. Sizes are in
 * bytes. One thread at a time per pool; its buffers too, as giving one back
 * changes the pool.
 */
#ifndef DOCA_BUF_POOL_H_
#define DOCA_BUF_POOL_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_buf_pool;
struct doca_mmap;

/* --- Life --- */

/* A pool of @num_elements elements of @element_size bytes, neither of them 0; the
 * caller's to destroy. DOCA_ERROR_INVALID_VALUE if @mmap has no range yet,
 * DOCA_ERROR_NO_MEMORY. */
DOCA_STABLE
doca_error_t doca_buf_pool_create(size_t num_elements, size_t element_size, const struct doca_mmap *mmap,
				  struct doca_buf_pool **buf_pool);

/* Stops it if need be. DOCA_ERROR_IN_USE while buffers are out; nothing is freed then. */
DOCA_STABLE
doca_error_t doca_buf_pool_destroy(struct doca_buf_pool *buf_pool);

/* Buffers can be taken between start and stop. DOCA_ERROR_BAD_STATE when the map is
 * not started, DOCA_ERROR_INITIALIZATION when it has no room for all elements. */
DOCA_STABLE
doca_error_t doca_buf_pool_start(struct doca_buf_pool *buf_pool);

/* DOCA_ERROR_IN_USE while buffers are out; the pool stays started then. */
DOCA_STABLE
doca_error_t doca_buf_pool_stop(struct doca_buf_pool *buf_pool);

/* --- Taking buffers --- */

/* Take a buffer over a free element with an empty data segment at its start: a
 * destination to fill, or to fill by hand and then doca_buf_set_data_len(). What
 * the memory holds is left as it is. Its one reference is the caller's.
 * DOCA_ERROR_BAD_STATE when the pool is not started, DOCA_ERROR_EMPTY when all its
 * elements are out. */
DOCA_STABLE
doca_error_t doca_buf_pool_buf_alloc(struct doca_buf_pool *buf_pool, struct doca_buf **buf);

/* --- Properties: set while the pool is not started, else DOCA_ERROR_BAD_STATE --- */

/* Zero if never set. */
DOCA_STABLE
doca_error_t doca_buf_pool_set_user_data(struct doca_buf_pool *buf_pool, union doca_data user_data);

DOCA_STABLE
doca_error_t doca_buf_pool_get_user_data(const struct doca_buf_pool *buf_pool, union doca_data *user_data);

/* A power of two that the address of every element is a multiple of; 1 if never
 * set. Elements are that much further apart, if their size is not a multiple. */
DOCA_STABLE
doca_error_t doca_buf_pool_set_element_alignment(struct doca_buf_pool *buf_pool, size_t element_alignment);

DOCA_STABLE
doca_error_t doca_buf_pool_get_element_alignment(const struct doca_buf_pool *buf_pool, size_t *element_alignment);

/* --- Questions --- */

DOCA_STABLE
doca_error_t doca_buf_pool_get_num_elements(const struct doca_buf_pool *buf_pool, uint32_t *num_of_elements);

DOCA_STABLE
doca_error_t doca_buf_pool_get_num_free_elements(const struct doca_buf_pool *buf_pool, uint32_t *num_of_free_elements);

#ifdef __cplusplus
}
#endif

#endif

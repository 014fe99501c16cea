/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_buf_pool.h - pools: buffers of one size in one memory map, each with a fixed piece.
 *
 *   create(n, size, map) --> start --> alloc buffers, return them --> stop --> destroy
 *
 *   map:   |..[ element 0 ]..[ element 1 ]..  ..[ element n-1 ].......|
 *           ^ each element starts at a multiple of the alignment
 *
 * The caller of an inventory (doca_buf_inventory.h) chooses the piece of a buffer; a pool divides the map's
 * range into elements and allocates a buffer for one of them. doca_buf_dec_refcount() returns the buffer. A
 * pool's buffer can be used like any other, and duplicated into an inventory.
 *
 * The map needs its range when the pool is created, and has to be started before the pool. The map can be
 * neither stopped nor destroyed while the pool exists (DOCA_ERROR_NOT_PERMITTED, see doca_mmap.h). A map with
 * thread safety can, and then the pool allocates no more buffers. The application owns the memory and has to
 * keep other users off it: two pools of one map have the same elements.
 *
 * All functions return DOCA_ERROR_INVALID_VALUE for a NULL argument. Sizes are in bytes. One thread at a time
 * for each pool and all its buffers, because a returned buffer changes the pool.
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

/* Create a pool of @num_elements elements of @element_size bytes, neither of them 0; the
 * caller destroys it. DOCA_ERROR_INVALID_VALUE if @mmap has no range yet,
 * DOCA_ERROR_NO_MEMORY. */
DOCA_STABLE
doca_error_t doca_buf_pool_create(size_t num_elements, size_t element_size, const struct doca_mmap *mmap,
				  struct doca_buf_pool **buf_pool);

/* Stop and free the pool. DOCA_ERROR_IN_USE, with nothing freed, while buffers are in use. */
DOCA_STABLE
doca_error_t doca_buf_pool_destroy(struct doca_buf_pool *buf_pool);

/* The pool allocates buffers between start and stop. DOCA_ERROR_BAD_STATE when the map is
 * not started, DOCA_ERROR_INITIALIZATION when the map has no room for all elements. */
DOCA_STABLE
doca_error_t doca_buf_pool_start(struct doca_buf_pool *buf_pool);

/* DOCA_ERROR_IN_USE, with the pool still started, while buffers are in use. */
DOCA_STABLE
doca_error_t doca_buf_pool_stop(struct doca_buf_pool *buf_pool);

/* --- Allocating buffers --- */

/* Allocate a buffer for a free element, with an empty data segment at its start and one reference of the
 * caller's. The buffer is a destination for a task, or the program writes it and calls
 * doca_buf_set_data_len(). The memory's contents are unchanged. DOCA_ERROR_BAD_STATE when the pool is not
 * started, DOCA_ERROR_EMPTY when all elements are in use. */
DOCA_STABLE
doca_error_t doca_buf_pool_buf_alloc(struct doca_buf_pool *buf_pool, struct doca_buf **buf);

/* --- Properties: set while the pool is not started, else DOCA_ERROR_BAD_STATE --- */

/* The user data is zero until it is set. */
DOCA_STABLE
doca_error_t doca_buf_pool_set_user_data(struct doca_buf_pool *buf_pool, union doca_data user_data);

DOCA_STABLE
doca_error_t doca_buf_pool_get_user_data(const struct doca_buf_pool *buf_pool, union doca_data *user_data);

/* The address of each element is a multiple of the alignment, a power of two; 1 until it is set. The distance
 * of two elements is their size, rounded up to the alignment. */
DOCA_STABLE
doca_error_t doca_buf_pool_set_element_alignment(struct doca_buf_pool *buf_pool, size_t element_alignment);

DOCA_STABLE
doca_error_t doca_buf_pool_get_element_alignment(const struct doca_buf_pool *buf_pool, size_t *element_alignment);

/* --- Queries --- */

DOCA_STABLE
doca_error_t doca_buf_pool_get_num_elements(const struct doca_buf_pool *buf_pool, uint32_t *num_of_elements);

DOCA_STABLE
doca_error_t doca_buf_pool_get_num_free_elements(const struct doca_buf_pool *buf_pool, uint32_t *num_of_free_elements);

#ifdef __cplusplus
}
#endif

#endif

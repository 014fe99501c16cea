/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_buf_inventory.h - inventories: preallocated buffers, cheap to get and to return.
 *
 *   create(n) --> start --> get buffers, return them --> stop --> destroy
 *
 * A call gets a free buffer for a piece of a started memory map (doca_mmap.h); doca_buf_dec_refcount() returns
 * the buffer. One inventory serves any number of maps. Buffers in use survive a stop, and have to be returned
 * before destroy.
 *
 * Functions that configure or query return DOCA_ERROR_INVALID_VALUE for a NULL argument. Functions that get
 * buffers are on the fast path: inventory and map must be valid and started. Lengths are in bytes. One thread
 * at a time for each inventory and all its buffers, because a returned buffer changes the inventory.
 */
#ifndef DOCA_BUF_INVENTORY_H_
#define DOCA_BUF_INVENTORY_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_buf.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_buf_inventory;
struct doca_mmap;

/* --- Life --- */

/* Create an inventory of @num_elements buffers, which the caller destroys.
 * create: DOCA_ERROR_NO_MEMORY. destroy stops the inventory; DOCA_ERROR_IN_USE,
 * with nothing freed, while buffers are in use. */
DOCA_STABLE
doca_error_t doca_buf_inventory_create(size_t num_elements, struct doca_buf_inventory **inventory);

DOCA_STABLE
doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory);

/* The inventory gives out buffers between start and stop. */
DOCA_STABLE
doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory);

DOCA_STABLE
doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory);

/* Add @num_elements buffers to a started inventory. DOCA_ERROR_BAD_STATE if the
 * inventory is not started. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_expand(struct doca_buf_inventory *inventory, uint32_t num_elements);

/* --- Getting buffers --- */

/* Get a buffer for [@addr, @addr + @len) of @mmap, with the data segment
 * [@data, @data + @data_len) in it and one reference of the caller's. For
 * an imported map the addresses are the exporter's. DOCA_ERROR_INVALID_VALUE if
 * the map has no such range, DOCA_ERROR_NO_MEMORY when no buffer is free. */
DOCA_STABLE
doca_error_t doca_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
						void *addr, size_t len, void *data, size_t data_len,
						struct doca_buf **buf);

/* The same with an empty data segment at the start, for a destination. */
static inline doca_error_t doca_buf_inventory_buf_get_by_addr(struct doca_buf_inventory *inventory,
							      struct doca_mmap *mmap, void *addr, size_t len,
							      struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inventory, mmap, addr, len, addr, 0, buf);
}

/* The same with the whole piece as data segment, for a source. */
static inline doca_error_t doca_buf_inventory_buf_get_by_data(struct doca_buf_inventory *inventory,
							      struct doca_mmap *mmap, void *data, size_t data_len,
							      struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inventory, mmap, data, data_len, data, data_len, buf);
}

/* Get a buffer for the memory of @src_buf, or a list of buffers if @src_buf is the head of
 * a list. No bytes are copied. DOCA_ERROR_INVALID_VALUE,
 * DOCA_ERROR_BAD_STATE (inventory or map not started), DOCA_ERROR_NOT_PERMITTED
 * (@src_buf is in a list but not its head), DOCA_ERROR_NO_MEMORY. */
DOCA_STABLE
doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inventory, const struct doca_buf *src_buf,
					struct doca_buf **dst_buf);

/* --- Changing the piece of a buffer --- */

/* Set a buffer in use to another piece of its map, with the data segment given, empty (by_addr) or the whole
 * piece (by_data). This is cheaper than to return the buffer and get another. A task with data outside of the
 * map fails. DOCA_ERROR_INVALID_VALUE if @buf is of a pool (doca_buf_pool.h), or its map is stopped. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_buf_reuse_by_args(struct doca_buf *buf, void *addr, size_t len, void *data,
						  size_t data_len);

DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_buf_reuse_by_addr(struct doca_buf *buf, void *addr, size_t len);

DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_buf_reuse_by_data(struct doca_buf *buf, void *data, size_t data_len);

/* --- Queries, and user data --- */

DOCA_STABLE
doca_error_t doca_buf_inventory_get_num_elements(const struct doca_buf_inventory *inventory, uint32_t *num_of_elements);

DOCA_STABLE
doca_error_t doca_buf_inventory_get_num_free_elements(const struct doca_buf_inventory *inventory,
						      uint32_t *num_of_free_elements);

/* The user data is zero until it is set; it can be set before and after the start. */
DOCA_STABLE
doca_error_t doca_buf_inventory_set_user_data(struct doca_buf_inventory *inventory, union doca_data user_data);

DOCA_STABLE
doca_error_t doca_buf_inventory_get_user_data(const struct doca_buf_inventory *inventory, union doca_data *user_data);

#ifdef __cplusplus
}
#endif

#endif

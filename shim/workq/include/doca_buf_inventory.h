/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_buf_inventory.h - a stock of buffers: allocated once, fast to take.
 *
 *   create(n) --> start --> take buffers, give them back --> stop --> destroy
 *
 * Taking a buffer points a free element at a piece of a started memory map
 * (doca_mmap.h); doca_buf_refcount_rm() gives it back. One inventory serves any
 * number of maps. Taken buffers stay valid after a stop; all must be given back
 * before destroy.
 *
 * Configuration and queries return DOCA_ERROR_INVALID_VALUE for a NULL argument.
 * The functions that take buffers are on the fast path: inventory and map must be
 * valid and started. Lengths are in bytes. One thread at a time per inventory;
 * its buffers too, as giving one back changes the inventory.
 */
#ifndef DOCA_BUF_INVENTORY_H_
#define DOCA_BUF_INVENTORY_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_buf.h>
#include <doca_mmap.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf_inventory;

/* --- Creation and destruction --- */

/* An inventory of @num_elements buffers, owned by the caller. *@user_data, if
 * not NULL, becomes its user data; @extensions is a mask of enum
 * doca_buf_extension. create: DOCA_ERROR_NO_MEMORY. destroy stops it if it is
 * started; DOCA_ERROR_IN_USE while buffers are taken, and nothing is freed then. */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_create(const union doca_data *user_data, size_t num_elements, uint32_t extensions,
				       struct doca_buf_inventory **buf_inventory);

__DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory);

/* Buffers can be taken between start and stop. */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory);

__DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory);

/* --- Taking buffers --- */

/* Take a buffer over [@addr, @addr + @len) of @mmap with the data segment
 * [@data, @data + @data_len) inside it. The caller owns its one reference. For
 * an imported map the addresses are the exporter's. DOCA_ERROR_INVALID_VALUE if
 * the map has no such range, DOCA_ERROR_NO_MEMORY when none is free. */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_buf_by_args(struct doca_buf_inventory *inventory, struct doca_mmap *mmap, void *addr,
					    size_t len, void *data, size_t data_len, struct doca_buf **buf);

/* Both functions below are as stable as the one above, of which a warning would
 * speak in every file that includes this one. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* The same with an empty data segment at the start. */
static inline doca_error_t doca_buf_inventory_buf_by_addr(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
							  void *addr, size_t len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_by_args(inventory, mmap, addr, len, addr, 0, buf);
}

/* The same with the whole piece as data segment: a source. */
static inline doca_error_t doca_buf_inventory_buf_by_data(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
							  void *data, size_t data_len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_by_args(inventory, mmap, data, data_len, data, data_len, buf);
}

#pragma GCC diagnostic pop

/* Take a buffer that names the same memory as @src_buf, or a list of them if it
 * heads a list; no bytes are copied. DOCA_ERROR_INVALID_VALUE,
 * DOCA_ERROR_BAD_STATE (inventory or map not started), DOCA_ERROR_NOT_PERMITTED
 * (@src_buf is in a list but not its head), DOCA_ERROR_NO_MEMORY. */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inventory, const struct doca_buf *src_buf,
					struct doca_buf **dst_buf);

/* --- Queries --- */

__DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_get_num_elements(struct doca_buf_inventory *inventory, uint32_t *num_of_elements);

__DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_get_num_free_elements(struct doca_buf_inventory *inventory,
						      uint32_t *num_of_free_elements);

/* Zero if never set. */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_inventory_get_user_data(struct doca_buf_inventory *inventory, union doca_data *user_data);

#ifdef __cplusplus
}
#endif

#endif

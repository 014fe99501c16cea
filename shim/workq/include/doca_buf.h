/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_buf.h - buffers: the sources and destinations of jobs.
 *
 *   head                data                                    head + len
 *    |-------------------|=========data_len=========|--------------|
 *
 * A buffer names a piece of a memory map, [head, head + len), and inside it the
 * data segment, [data, data + data_len), which must lie within the piece;
 * the functions here do not check that. The header of a job describes its use
 * of the segments.
 *
 * Buffers come from an inventory (doca_buf_inventory.h) or a pool
 * (doca_bufpool.h) with a reference count of 1 and go back to it when the count
 * reaches 0. Buffers can be chained: the first buffer, the head, then names the list
 * and alone has a count; returning the head returns all of them.
 *
 * Unless stated otherwise, buffer arguments and outputs must not be NULL: for speed
 * these functions may not check that. A function with no error listed always
 * succeeds. Lengths are in bytes. One thread at a time uses a buffer, and none while
 * a submitted job uses it.
 */
#ifndef DOCA_BUF_H_
#define DOCA_BUF_H_

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;

/* Extensions of the buffers of an inventory or a pool: none exist. */
enum doca_buf_extension {
	DOCA_BUF_EXTENSION_NONE = 0,
};

/* --- References --- */

/* Take or drop a reference. *@refcount, which may be NULL, gets the count from
 * before the call. Dropping the last one gives the buffer, or the whole list,
 * back to its inventory or pool. DOCA_ERROR_NOT_PERMITTED for a member of a list
 * other than its head. */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_refcount_add(struct doca_buf *buf, uint16_t *refcount);

__DOCA_EXPERIMENTAL
doca_error_t doca_buf_refcount_rm(struct doca_buf *buf, uint16_t *refcount);

__DOCA_EXPERIMENTAL
doca_error_t doca_buf_get_refcount(struct doca_buf *buf, uint16_t *refcount);

/* --- The piece of memory and its data segment --- */

/* Start and length of the piece: fixed when the buffer was taken. */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_get_head(const struct doca_buf *buf, void **head);

__DOCA_EXPERIMENTAL
doca_error_t doca_buf_get_len(const struct doca_buf *buf, size_t *len);

/* Start and length of the data segment. */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_get_data(const struct doca_buf *buf, void **data);

__DOCA_EXPERIMENTAL
doca_error_t doca_buf_get_data_len(const struct doca_buf *buf, size_t *data_len);

/* Move the data segment: both ends, or its length to 0. */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data, size_t data_len);

__DOCA_EXPERIMENTAL
doca_error_t doca_buf_reset_data_len(struct doca_buf *buf);

/* --- Lists --- */

/* Append @list2 to @list1, both heads (a single buffer is a list of one). The
 * head @list2 becomes a member: its reference belongs to the list.
 * DOCA_ERROR_NOT_PERMITTED unless @list2's count is 1. */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_list_chain(struct doca_buf *list1, struct doca_buf *list2);

/* Cut the list of head @list1 before its member @list2, which becomes the head
 * of the rest with a count of 1, which the caller drops. DOCA_ERROR_INVALID_VALUE
 * if @list2 is not a member or is @list1. */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_list_unchain(struct doca_buf *list1, struct doca_buf *list2);

/* The next buffer, NULL after the last. */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_list_next(struct doca_buf *buf, struct doca_buf **next_buf);

/* The last buffer, perhaps @buf itself. DOCA_ERROR_INVALID_VALUE. */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_list_last(struct doca_buf *buf, struct doca_buf **last_buf);

/* Members of the list of head @buf. DOCA_ERROR_INVALID_VALUE;
 * DOCA_ERROR_NOT_PERMITTED if @buf is no head. */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_list_num_elements(const struct doca_buf *buf, uint32_t *num_elements);

/* A buffer on its own is first and last, and in no list. */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_list_is_first(const struct doca_buf *buf, bool *is_first);

__DOCA_EXPERIMENTAL
doca_error_t doca_buf_list_is_last(const struct doca_buf *buf, bool *is_last);

/* 1 or 0. */
__DOCA_EXPERIMENTAL
doca_error_t doca_buf_is_in_list(const struct doca_buf *buf, uint8_t *is_in_list);

#ifdef __cplusplus
}
#endif

#endif

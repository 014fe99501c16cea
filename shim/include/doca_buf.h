/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_buf.h - buffers: what a task reads from and writes to.
 *
 *   head                data                                    head + len
 *    |-------------------|=========data_len=========|--------------|
 *
 * A buffer names a piece of a memory map, [head, head + len), and inside it the
 * data segment, [data, data + data_len). A source is read from its data segment.
 * A destination is written behind its data segment, which then grows to cover
 * what was written. The segment must lie within the piece; nothing checks that
 * on the way.
 *
 * Buffers come from an inventory (doca_buf_inventory.h) or a pool
 * (doca_buf_pool.h) with a reference count of 1 and go back to it when the count
 * reaches 0. They can be chained: the list is then named by its first buffer, its
 * head, which alone carries the count; returning the head returns them all.
 *
 * Buffer arguments must not be NULL, and outputs neither, unless said so: for
 * speed these functions may trust that. A function with no error listed always
 * succeeds. Lengths are in bytes. One thread at a time per buffer, and hands off
 * while a submitted task uses it.
 */
#ifndef DOCA_BUF_H_
#define DOCA_BUF_H_

#include <stdint.h>
#include <stddef.h>
#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;

/* --- References --- */

/* Take or drop a reference. *@refcount, which may be NULL, gets the count from
 * before the call. Dropping the last one gives the buffer, or the whole list,
 * back to where it came from. DOCA_ERROR_NOT_PERMITTED for a member of a list other
 * than its head. inc: DOCA_ERROR_TOO_BIG beyond UINT16_MAX. dec: DOCA_ERROR_BAD_STATE at 0. */
DOCA_STABLE
doca_error_t doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount);

DOCA_STABLE
doca_error_t doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount);

DOCA_STABLE
doca_error_t doca_buf_get_refcount(const struct doca_buf *buf, uint16_t *refcount);

/* --- The piece of memory and its data segment --- */

/* Where the piece starts and how long it is: fixed when the buffer was taken. */
DOCA_STABLE
doca_error_t doca_buf_get_head(const struct doca_buf *buf, void **head);

DOCA_STABLE
doca_error_t doca_buf_get_len(const struct doca_buf *buf, size_t *len);

/* Where the data segment starts and how long it is. */
DOCA_STABLE
doca_error_t doca_buf_get_data(const struct doca_buf *buf, void **data);

DOCA_STABLE
doca_error_t doca_buf_get_data_len(const struct doca_buf *buf, size_t *data_len);

/* Move the data segment: both ends, its length alone, or its length to 0. */
DOCA_STABLE
doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data, size_t data_len);

DOCA_STABLE
doca_error_t doca_buf_set_data_len(struct doca_buf *buf, size_t data_len);

DOCA_STABLE
doca_error_t doca_buf_reset_data_len(struct doca_buf *buf);

/* --- Lists --- */

/* Append @list2 to @list1, both heads (a single buffer is a list of one). What
 * @list2 named is now a member: its reference becomes the list's.
 * chain_list_tail() is told where @list1 ends and need not walk it.
 * DOCA_ERROR_NOT_PERMITTED unless @list2's count is 1. */
DOCA_STABLE
doca_error_t doca_buf_chain_list(struct doca_buf *list1, struct doca_buf *list2);

DOCA_EXPERIMENTAL
doca_error_t doca_buf_chain_list_tail(struct doca_buf *list1_head, struct doca_buf *list1_tail, struct doca_buf *list2);

/* Cut the list of head @list1 before its member @list2, which becomes the head
 * of the rest with a count of 1, the caller's to drop. DOCA_ERROR_INVALID_VALUE
 * if @list2 is not a member or is @list1. */
DOCA_STABLE
doca_error_t doca_buf_unchain_list(struct doca_buf *list1, struct doca_buf *list2);

/* The next buffer, NULL behind the last. */
DOCA_STABLE
doca_error_t doca_buf_get_next_in_list(struct doca_buf *buf, struct doca_buf **next_buf);

/* The last buffer, @buf itself perhaps. DOCA_ERROR_INVALID_VALUE. */
DOCA_STABLE
doca_error_t doca_buf_get_last_in_list(struct doca_buf *buf, struct doca_buf **last_buf);

/* Members of the list of head @buf. DOCA_ERROR_INVALID_VALUE;
 * DOCA_ERROR_NOT_PERMITTED if @buf is no head. */
DOCA_STABLE
doca_error_t doca_buf_get_list_len(const struct doca_buf *buf, uint32_t *num_elements);

/* 1 or 0. A buffer on its own is first and last, and in no list. */
DOCA_STABLE
doca_error_t doca_buf_is_first_in_list(const struct doca_buf *buf, uint8_t *is_first);

DOCA_STABLE
doca_error_t doca_buf_is_last_in_list(const struct doca_buf *buf, uint8_t *is_last);

DOCA_STABLE
doca_error_t doca_buf_is_in_list(const struct doca_buf *buf, uint8_t *is_in_list);

#ifdef __cplusplus
}
#endif

#endif

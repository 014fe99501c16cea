/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_buf.h - buffers: the memory that a task reads or writes.
 *
 *   head                data                                    head + len
 *    |-------------------|=========data_len=========|--------------|
 *
 * A buffer is a piece of a memory map, [head, head + len), with a data segment in it,
 * [data, data + data_len). A task reads a source's data segment, and appends to a destination's data
 * segment, which grows by the bytes written. The data segment has to be inside the piece.
 *
 * An inventory (doca_buf_inventory.h) or a pool (doca_buf_pool.h) allocates a buffer with a reference count of
 * 1, and gets it back when the count reaches 0. Buffers can be chained into a list, whose handle is its first
 * buffer, the head. The head's count is the list's: its last reference returns all buffers of the list.
 *
 * Buffer and output arguments must not be NULL unless stated: for speed these functions may not check them. A
 * function with no error listed always succeeds. Lengths are in bytes. One thread at a time for each buffer;
 * no call while a submitted task uses the buffer.
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

/* --- References --- */

/* Take or drop a reference. *@refcount, which may be NULL, is set to the count before
 * the call. Dropping the last reference returns the buffer, or the whole list, to its
 * inventory or pool. DOCA_ERROR_NOT_PERMITTED for a member of a list other than its
 * head. inc: DOCA_ERROR_TOO_BIG beyond UINT16_MAX. dec: DOCA_ERROR_BAD_STATE at 0. */
DOCA_STABLE
doca_error_t doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount);

DOCA_STABLE
doca_error_t doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount);

DOCA_STABLE
doca_error_t doca_buf_get_refcount(const struct doca_buf *buf, uint16_t *refcount);

/* --- The piece of memory and its data segment --- */

/* Get the start and the length of the piece, which are fixed at allocation. */
DOCA_STABLE
doca_error_t doca_buf_get_head(const struct doca_buf *buf, void **head);

DOCA_STABLE
doca_error_t doca_buf_get_len(const struct doca_buf *buf, size_t *len);

/* Get the start and the length of the data segment. */
DOCA_STABLE
doca_error_t doca_buf_get_data(const struct doca_buf *buf, void **data);

DOCA_STABLE
doca_error_t doca_buf_get_data_len(const struct doca_buf *buf, size_t *data_len);

/* Set the data segment: start and length, the length alone, or the length to 0. The data may lie outside of the buffer, anywhere
 * in its memory map; tasks use the room behind it to the end of the buffer, or of the map if the data ends behind the buffer. A
 * task with data outside of the map fails with DOCA_ERROR_IO_FAILED. */
DOCA_STABLE
doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data, size_t data_len);

DOCA_STABLE
doca_error_t doca_buf_set_data_len(struct doca_buf *buf, size_t data_len);

DOCA_STABLE
doca_error_t doca_buf_reset_data_len(struct doca_buf *buf);

/* --- Lists --- */

/* Append the list of head @list2 to the list of head @list1 (a single buffer is a list of one). @list2 becomes a
 * member, and its reference becomes the list's. chain_list_tail() takes the last buffer of @list1, too, and
 * walks no list. DOCA_ERROR_NOT_PERMITTED unless @list2's count is 1. */
DOCA_STABLE
doca_error_t doca_buf_chain_list(struct doca_buf *list1, struct doca_buf *list2);

DOCA_EXPERIMENTAL
doca_error_t doca_buf_chain_list_tail(struct doca_buf *list1_head, struct doca_buf *list1_tail, struct doca_buf *list2);

/* Split the list of head @list1 before its member @list2, which becomes the head
 * of the rest, with one reference of the caller's. DOCA_ERROR_INVALID_VALUE
 * if @list2 is not a member or is @list1. */
DOCA_STABLE
doca_error_t doca_buf_unchain_list(struct doca_buf *list1, struct doca_buf *list2);

/* Get the next buffer; NULL after the last. */
DOCA_STABLE
doca_error_t doca_buf_get_next_in_list(struct doca_buf *buf, struct doca_buf **next_buf);

/* Get the last buffer, which may be @buf. DOCA_ERROR_INVALID_VALUE. */
DOCA_STABLE
doca_error_t doca_buf_get_last_in_list(struct doca_buf *buf, struct doca_buf **last_buf);

/* Get the number of buffers in the list of head @buf. DOCA_ERROR_INVALID_VALUE;
 * DOCA_ERROR_NOT_PERMITTED if @buf is not a head. */
DOCA_STABLE
doca_error_t doca_buf_get_list_len(const struct doca_buf *buf, uint32_t *num_elements);

/* 1 or 0. A single buffer is first and last, and in no list. */
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers: data, and lists of buffers. */
#include "buf_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/base/compat.h"

#define BUF_GETTER(name, type, out, value) \
	SHIM_DEFINE_GETTER(name, const struct doca_buf, buf, SHIM_BUF, type, out, value)

BUF_GETTER(doca_buf_get_head, void *, head, doca_unlikely(buf->is_moved) ? buf->own.head : buf->head)
BUF_GETTER(doca_buf_get_len, size_t, len, doca_unlikely(buf->is_moved) ? buf->own.len : buf->len)
BUF_GETTER(doca_buf_get_data, void *, data, buf->data)
BUF_GETTER(doca_buf_get_data_len, size_t, data_len, buf->data_len)
BUF_GETTER(doca_buf_get_refcount, uint16_t, refcount, buf->refcount)
BUF_GETTER(doca_buf_is_last_in_list, uint8_t, is_last, buf->next == NULL)
BUF_GETTER(doca_buf_is_first_in_list, uint8_t, is_first, !buf->is_inner)
BUF_GETTER(doca_buf_is_in_list, uint8_t, is_in_list, buf->is_inner || buf->next)

static inline bool is_within(const uint8_t *inner, size_t inner_len, const uint8_t *outer, size_t outer_len)
{
	uintptr_t start = (uintptr_t)inner, head = (uintptr_t)outer;

	return start >= head && inner_len <= outer_len && start - head <= outer_len - inner_len;
}

void shim_buf_place(struct doca_buf *buf, uint8_t *head, size_t len, uint8_t *data, size_t data_len)
{
	const struct doca_mmap *mmap = buf->mmap;
	uintptr_t end = (uintptr_t)head + len, data_end = (uintptr_t)data + data_len;
	uintptr_t map_end = (uintptr_t)mmap->addr + mmap->len_bytes;

	buf->is_moved = !is_within(data, data_len, head, len) || !is_within(head, len, mmap->addr, mmap->len_bytes);
	shim_buf_set_range(buf, head, len, data, data_len);
	if (!buf->is_moved)
		return;
	buf->own.head = head;
	buf->own.len = len;
	if (!is_within(data, data_len, mmap->addr, mmap->len_bytes))
		end = data_end; /* no room */
	else if (data_end > end || end > map_end)
		end = map_end;
	buf->head = data;
	buf->len = (size_t)(end - (uintptr_t)data);
}

/* Headers of 2.5 to 2.10: the call always succeeds. */
static __attribute__((noinline)) doca_error_t move_data(const char *func, struct doca_buf *buf, uint8_t *data,
							size_t data_len)
{
	uint8_t *head = buf->is_moved ? buf->own.head : buf->head;
	size_t len = buf->is_moved ? buf->own.len : buf->len;
	bool may_move = !shim_compat->pins_buffers;

	if (!may_move || !shim_buf_has_usable_mmap(buf)) {
		sim_err("%s: data %p, %zu bytes, is not inside the buffer %p, %zu bytes%s; nothing was changed", func,
			data, data_len, head, len, may_move ? ", whose memory map is stopped or destroyed" : "");
		return DOCA_ERROR_INVALID_VALUE;
	}
	shim_buf_place(buf, head, len, data, data_len);
	return DOCA_SUCCESS;
}

static doca_error_t set_data(const char *func, struct doca_buf *buf, uint8_t *data, size_t data_len)
{
	if (doca_unlikely(!is_within(data, data_len, buf->head, buf->len) || buf->is_moved))
		return move_data(func, buf, data, data_len);
	buf->data = data;
	buf->data_len = data_len;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data, size_t data_len)
{
	SHIM_NEED(buf, SHIM_BUF);
	return set_data(__func__, buf, data, data_len);
}

doca_error_t doca_buf_set_data_len(struct doca_buf *buf, size_t data_len)
{
	SHIM_NEED(buf, SHIM_BUF);
	return set_data(__func__, buf, buf->data, data_len);
}

doca_error_t doca_buf_reset_data_len(struct doca_buf *buf)
{
	SHIM_NEED(buf, SHIM_BUF);
	if (doca_unlikely(buf->is_moved))
		return move_data(__func__, buf, buf->data, 0);
	buf->data_len = 0;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_buf_get_next_in_list, struct doca_buf, buf, SHIM_BUF, struct doca_buf *, next_buf, buf->next)

doca_error_t doca_buf_get_last_in_list(struct doca_buf *buf, struct doca_buf **last_buf)
{
	SHIM_NEED(buf, SHIM_BUF);
	SHIM_NEED_OUT(last_buf);
	while (buf->next)
		buf = buf->is_inner ? buf->next : buf->tail;
	*last_buf = buf;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_list_len(const struct doca_buf *buf, uint32_t *num_elements)
{
	uint32_t count = 0;

	SHIM_NEED(buf, SHIM_BUF);
	SHIM_NEED_OUT(num_elements);
	if (buf->is_inner)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the buffer is not the head of its list");
	for (; buf; buf = buf->next)
		count++;
	*num_elements = count;
	return DOCA_SUCCESS;
}

static doca_error_t append_list(const char *func, struct doca_buf *list1, struct doca_buf *list2)
{
	if (list1 == list2 || list1->is_inner || list2->is_inner) {
		sim_err("%s: %s", func,
			list1 == list2 ? "a list can't be appended to itself" :
					 "both buffers must be heads of their lists");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (list2->refcount != 1) {
		sim_err("%s: the list to append has %u references; it must have one", func, list2->refcount);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	list1->tail->next = list2;
	list1->tail = list2->tail;
	list2->is_inner = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_chain_list(struct doca_buf *list1, struct doca_buf *list2)
{
	SHIM_NEED(list1, SHIM_BUF);
	SHIM_NEED(list2, SHIM_BUF);
	return append_list(__func__, list1, list2);
}

doca_error_t doca_buf_chain_list_tail(struct doca_buf *list1_head, struct doca_buf *list1_tail, struct doca_buf *list2)
{
	SHIM_NEED(list1_head, SHIM_BUF);
	SHIM_NEED(list1_tail, SHIM_BUF);
	SHIM_NEED(list2, SHIM_BUF);
	if (list1_head->is_inner || list1_head->tail != list1_tail)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "list1_head and list1_tail are not the ends of one list");
	return append_list(__func__, list1_head, list2);
}

doca_error_t doca_buf_unchain_list(struct doca_buf *list1, struct doca_buf *list2)
{
	struct doca_buf *before = list1;

	SHIM_NEED(list1, SHIM_BUF);
	SHIM_NEED(list2, SHIM_BUF);
	if (list1->is_inner)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "list1 is not the head of its list");
	while (before && before->next != list2)
		before = before->next;
	if (!before)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "list2 is not a later element of list1");
	list2->tail = list1->tail;
	list2->is_inner = false;
	list2->refcount = 1;
	list1->tail = before;
	before->next = NULL;
	return DOCA_SUCCESS;
}

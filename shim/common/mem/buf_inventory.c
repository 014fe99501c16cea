/* SPDX-License-Identifier: BSD-3-Clause */
/* Inventories: freelists of buffers whose range is set at allocation. */
#include <doca_buf_inventory.h>

#include "buf_priv.h"
#include "shim/common/base/check.h"

struct doca_buf_inventory {
	struct shim_object object;
	bool started;
	struct shim_buf_freelist freelist;
	union doca_data user_data;
};

doca_error_t doca_buf_inventory_create(size_t num_elements, struct doca_buf_inventory **inventory)
{
	struct doca_buf_inventory *created;

	SHIM_NEED_OUT(inventory);
	if (num_elements == 0 || num_elements > UINT32_MAX)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%zu elements; give 1 to %u", num_elements, UINT32_MAX);
	created = shim_object_new(SHIM_INVENTORY, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	if (!shim_buf_freelist_grow(&created->freelist, num_elements)) {
		shim_object_free(created, SHIM_INVENTORY);
		return SHIM_REFUSE(DOCA_ERROR_NO_MEMORY, "no memory for %zu elements", num_elements);
	}
	*inventory = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory)
{
	SHIM_NEED(inventory, SHIM_INVENTORY);
	if (shim_buf_freelist_num_in_use(&inventory->freelist) > 0)
		return SHIM_REFUSE(DOCA_ERROR_IN_USE,
				   "%u of its buffers were not returned; see doca_buf_dec_refcount()",
				   shim_buf_freelist_num_in_use(&inventory->freelist));
	shim_buf_freelist_fini(&inventory->freelist);
	shim_object_free(inventory, SHIM_INVENTORY);
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_expand(struct doca_buf_inventory *inventory, uint32_t num_elements)
{
	SHIM_NEED(inventory, SHIM_INVENTORY);
	if (num_elements == 0 || num_elements > UINT32_MAX - inventory->freelist.num_elements)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "can't add %u elements to %u", num_elements,
				   inventory->freelist.num_elements);
	if (!inventory->started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the inventory is not started");
	return shim_buf_freelist_grow(&inventory->freelist, num_elements) ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory)
{
	SHIM_NEED(inventory, SHIM_INVENTORY);
	inventory->started = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory)
{
	SHIM_NEED(inventory, SHIM_INVENTORY);
	inventory->started = false;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_buf_inventory_get_num_elements, const struct doca_buf_inventory, inventory, SHIM_INVENTORY,
		   uint32_t, num_of_elements, inventory->freelist.num_elements)
SHIM_DEFINE_GETTER(doca_buf_inventory_get_num_free_elements, const struct doca_buf_inventory, inventory, SHIM_INVENTORY,
		   uint32_t, num_of_free_elements, inventory->freelist.num_free)

doca_error_t doca_buf_inventory_set_user_data(struct doca_buf_inventory *inventory, union doca_data user_data)
{
	SHIM_NEED(inventory, SHIM_INVENTORY);
	/* The reference refuses this before the start, yet its order of calls has it there: both are allowed. */
	inventory->user_data = user_data;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_buf_inventory_get_user_data, const struct doca_buf_inventory, inventory, SHIM_INVENTORY,
		   union doca_data, user_data, inventory->user_data)

static bool range_is_within(const void *inner, size_t inner_len, const void *outer, size_t outer_len)
{
	uintptr_t in = (uintptr_t)inner, out = (uintptr_t)outer;

	return in >= out && inner_len <= outer_len && in - out <= outer_len - inner_len;
}

static doca_error_t check_buf_range(const char *func, const struct doca_mmap *mmap, void *addr, size_t len, void *data,
				    size_t data_len)
{
	if (doca_unlikely(!range_is_within(addr, len, mmap->addr, mmap->len_bytes))) {
		sim_err("%s: %p, %zu bytes, is not inside the memory map's range %p, %zu bytes", func, addr, len,
			mmap->addr, mmap->len_bytes);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (doca_unlikely(!range_is_within(data, data_len, addr, len))) {
		sim_err("%s: data %p, %zu bytes, is not inside the buffer %p, %zu bytes", func, data, data_len, addr,
			len);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
						void *addr, size_t len, void *data, size_t data_len,
						struct doca_buf **buf)
{
	struct doca_buf *new_buf;
	doca_error_t result;

	SHIM_NEED_FAST(inventory, SHIM_INVENTORY);
	SHIM_NEED_FAST(mmap, SHIM_MMAP);
	SHIM_NEED_OUT(buf);
	if (doca_unlikely(!inventory->started || !shim_mmap_is_usable(mmap)))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the %s is not started",
				   inventory->started ? "memory map" : "inventory");
	result = check_buf_range(__func__, mmap, addr, len, data, data_len);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	new_buf = shim_buf_alloc(&inventory->freelist, mmap);
	if (doca_unlikely(!new_buf))
		return SHIM_REFUSE(DOCA_ERROR_NO_MEMORY, "all %u buffers of the inventory are in use",
				   inventory->freelist.num_elements);
	shim_buf_set_range(new_buf, addr, len, data, data_len);
	*buf = new_buf;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_buf_reuse_by_args(struct doca_buf *buf, void *addr, size_t len, void *data,
						  size_t data_len)
{
	SHIM_NEED(buf, SHIM_BUF);
	if (doca_unlikely(buf->freelist->has_fixed_ranges))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the buffer is of a pool: it names the same place always");
	if (doca_unlikely(!shim_buf_has_usable_mmap(buf)))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the buffer's memory map is stopped or destroyed");
	shim_buf_place(buf, addr, len, data, data_len);
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_buf_reuse_by_addr(struct doca_buf *buf, void *addr, size_t len)
{
	return doca_buf_inventory_buf_reuse_by_args(buf, addr, len, addr, 0);
}

doca_error_t doca_buf_inventory_buf_reuse_by_data(struct doca_buf *buf, void *data, size_t data_len)
{
	return doca_buf_inventory_buf_reuse_by_args(buf, data, data_len, data, data_len);
}

static uint32_t count_bufs(const struct doca_buf *buf)
{
	uint32_t count = 0;

	for (; buf; buf = buf->next)
		count++;
	return count;
}

/* The same for all buffers of a list; a thread-safe map may end before its buffers. */
static bool list_has_usable_mmaps(const struct doca_buf *buf)
{
	while (buf && shim_buf_has_usable_mmap(buf))
		buf = buf->next;
	return !buf;
}

/* The duplicate of a list is a list of duplicates. On failure no buffer is allocated. */
doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inventory, const struct doca_buf *src_buf,
					struct doca_buf **dst_buf)
{
	struct doca_buf *head = NULL;

	SHIM_NEED_FAST(inventory, SHIM_INVENTORY);
	SHIM_NEED(src_buf, SHIM_BUF);
	SHIM_NEED_OUT(dst_buf);
	if (src_buf->is_inner)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the buffer is inside a list; duplicate the list's head");
	if (!inventory->started || !list_has_usable_mmaps(src_buf))
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the %s is not started",
				   inventory->started ? "memory map of a buffer" : "inventory");
	if (count_bufs(src_buf) > inventory->freelist.num_free)
		return SHIM_REFUSE(DOCA_ERROR_NO_MEMORY, "the inventory has %u free buffers for a list of %u",
				   inventory->freelist.num_free, count_bufs(src_buf));
	for (const struct doca_buf *from = src_buf; from; from = from->next) {
		struct doca_buf *copy = shim_buf_alloc(&inventory->freelist, from->mmap);

		shim_buf_set_range(copy, from->head, from->len, from->data, from->data_len);
		copy->is_moved = from->is_moved;
		copy->own = from->own;
		if (!head) {
			head = copy;
			continue;
		}
		copy->is_inner = true;
		head->tail->next = copy;
		head->tail = copy;
	}
	*dst_buf = head;
	return DOCA_SUCCESS;
}

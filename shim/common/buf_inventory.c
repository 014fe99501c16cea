/* SPDX-License-Identifier: BSD-3-Clause */
/* Inventories: where buffers come from and go back to. Elements lie in blocks,
 * one from creation and one for each expansion; free ones form a list. */
#include "buf_priv.h"
#include "check.h"
#include "slab.h"

struct block {
	struct block *next;
	size_t bytes; /* of the slab that it is */
	struct doca_buf bufs[];
};

struct doca_buf_inventory {
	struct shim_object object;
	bool started;
	uint32_t num_elements, num_free;
	struct doca_buf *free;
	struct block *blocks;
	uint32_t unused;  /* of the newest block's elements, those never handed out yet */
	union doca_data user_data;
};

static bool add_block(struct doca_buf_inventory *inventory, size_t count)
{
	struct block *block;

	if (count > (SIZE_MAX - sizeof(*block)) / sizeof(struct doca_buf))
		return false;
	block = shim_slab_new(sizeof(*block) + count * sizeof(struct doca_buf));
	if (!block)
		return false;
	block->bytes = sizeof(*block) + count * sizeof(struct doca_buf);
	/* What the block before had left goes to the free list. */
	for (uint32_t i = 0; i < inventory->unused; i++) {
		inventory->blocks->bufs[i].next = inventory->free;
		inventory->free = &inventory->blocks->bufs[i];
	}
	block->next = inventory->blocks;
	inventory->blocks = block;
	inventory->unused = (uint32_t)count;
	inventory->num_elements += (uint32_t)count;
	inventory->num_free += (uint32_t)count;
	return true;
}

doca_error_t doca_buf_inventory_create(size_t num_elements, struct doca_buf_inventory **inventory)
{
	struct doca_buf_inventory *created;

	SHIM_NEED_OUT(inventory);
	if (num_elements == 0 || num_elements > UINT32_MAX)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%zu elements; give 1 to %u", num_elements, UINT32_MAX);
	created = shim_object_new(SHIM_INVENTORY, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	if (!add_block(created, num_elements)) {
		shim_object_free(created, SHIM_INVENTORY);
		return SHIM_REFUSE(DOCA_ERROR_NO_MEMORY, "no memory for %zu elements", num_elements);
	}
	*inventory = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory)
{
	SHIM_NEED(inventory, SHIM_INVENTORY);
	if (inventory->num_free != inventory->num_elements)
		return SHIM_REFUSE(DOCA_ERROR_IN_USE, "%u of its buffers were not returned; see doca_buf_dec_refcount()",
				   inventory->num_elements - inventory->num_free);
	while (inventory->blocks) {
		struct block *first = inventory->blocks;

		inventory->blocks = first->next;
		shim_slab_free(first, first->bytes);
	}
	shim_object_free(inventory, SHIM_INVENTORY);
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_expand(struct doca_buf_inventory *inventory, uint32_t num_elements)
{
	SHIM_NEED(inventory, SHIM_INVENTORY);
	if (num_elements == 0 || num_elements > UINT32_MAX - inventory->num_elements)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "can't add %u elements to %u", num_elements,
				   inventory->num_elements);
	if (!inventory->started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the inventory is not started");
	return add_block(inventory, num_elements) ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
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

doca_error_t doca_buf_inventory_get_num_elements(const struct doca_buf_inventory *inventory,
						 uint32_t *num_of_elements)
{
	SHIM_NEED(inventory, SHIM_INVENTORY);
	SHIM_NEED_OUT(num_of_elements);
	*num_of_elements = inventory->num_elements;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_get_num_free_elements(const struct doca_buf_inventory *inventory,
						      uint32_t *num_of_free_elements)
{
	SHIM_NEED(inventory, SHIM_INVENTORY);
	SHIM_NEED_OUT(num_of_free_elements);
	*num_of_free_elements = inventory->num_free;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_set_user_data(struct doca_buf_inventory *inventory, union doca_data user_data)
{
	SHIM_NEED(inventory, SHIM_INVENTORY);
	/* The reference refuses this before the start, which its own order of calls asks for: allowed in both states. */
	inventory->user_data = user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_get_user_data(const struct doca_buf_inventory *inventory, union doca_data *user_data)
{
	SHIM_NEED(inventory, SHIM_INVENTORY);
	SHIM_NEED_OUT(user_data);
	*user_data = inventory->user_data;
	return DOCA_SUCCESS;
}

static struct doca_buf *take(struct doca_buf_inventory *inventory)
{
	struct doca_buf *buf = inventory->free;

	if (buf)
		inventory->free = buf->next;
	else if (inventory->unused)
		buf = &inventory->blocks->bufs[--inventory->unused];
	else
		return NULL;
	inventory->num_free--;
	return buf;
}

static void give_back(struct doca_buf *buf)
{
	struct doca_buf_inventory *inventory = buf->inventory;

	if (buf->is_counted)
		buf->mmap->num_bufs--;
	buf->object.magic = 0;
	buf->next = inventory->free;
	inventory->free = buf;
	inventory->num_free++;
}

/* Point a buffer at its place; both ranges have been checked. */
static void aim(struct doca_buf *buf, void *addr, size_t len, void *data, size_t data_len)
{
	buf->head = addr;
	buf->len = len;
	buf->data = data;
	buf->data_len = data_len;
}

static void init(struct doca_buf *buf, struct doca_buf_inventory *inventory, struct doca_mmap *mmap)
{
	buf->object.magic = shim_magic(SHIM_BUF);
	buf->refcount = 1;
	buf->is_inner = false;
	buf->mmap = mmap;
	buf->inventory = inventory;
	buf->next = NULL;
	buf->tail = buf;
	buf->mmap_serial = mmap->serial;
	buf->is_counted = !mmap->thread_safe;
	if (buf->is_counted)
		mmap->num_bufs++;
}

static bool within(const void *inner, size_t inner_len, const void *outer, size_t outer_len)
{
	uintptr_t in = (uintptr_t)inner, out = (uintptr_t)outer;

	return in >= out && inner_len <= outer_len && in - out <= outer_len - inner_len;
}

static doca_error_t check_place(const char *func, const struct doca_mmap *mmap, void *addr, size_t len, void *data,
				size_t data_len)
{
	if (doca_unlikely(!within(addr, len, mmap->addr, mmap->len_bytes))) {
		sim_err("%s: %p, %zu bytes, is not inside the memory map's range %p, %zu bytes", func, addr, len,
			mmap->addr, mmap->len_bytes);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (doca_unlikely(!within(data, data_len, addr, len))) {
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
	struct doca_buf *taken;
	doca_error_t result;

	SHIM_NEED(inventory, SHIM_INVENTORY);
	SHIM_NEED(mmap, SHIM_MMAP);
	SHIM_NEED_OUT(buf);
	if (doca_unlikely(!inventory->started || !shim_mmap_is_usable(mmap)))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the %s is not started",
				   inventory->started ? "memory map" : "inventory");
	result = check_place(__func__, mmap, addr, len, data, data_len);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	taken = take(inventory);
	if (doca_unlikely(!taken))
		return SHIM_REFUSE(DOCA_ERROR_NO_MEMORY, "all %u buffers of the inventory are in use",
				   inventory->num_elements);
	init(taken, inventory, mmap);
	aim(taken, addr, len, data, data_len);
	*buf = taken;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_buf_reuse_by_args(struct doca_buf *buf, void *addr, size_t len, void *data,
						  size_t data_len)
{
	doca_error_t result;

	SHIM_NEED(buf, SHIM_BUF);
	if (doca_unlikely(!shim_buf_has_usable_mmap(buf)))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the buffer's memory map is stopped or destroyed");
	result = check_place(__func__, buf->mmap, addr, len, data, data_len);
	if (result == DOCA_SUCCESS)
		aim(buf, addr, len, data, data_len);
	return result;
}

doca_error_t doca_buf_inventory_buf_reuse_by_addr(struct doca_buf *buf, void *addr, size_t len)
{
	return doca_buf_inventory_buf_reuse_by_args(buf, addr, len, addr, 0);
}

doca_error_t doca_buf_inventory_buf_reuse_by_data(struct doca_buf *buf, void *data, size_t data_len)
{
	return doca_buf_inventory_buf_reuse_by_args(buf, data, data_len, data, data_len);
}

static uint32_t list_length(const struct doca_buf *buf)
{
	uint32_t count = 0;

	for (; buf; buf = buf->next)
		count++;
	return count;
}

/* A list's duplicate is a list of duplicates; either all of it is made or nothing. */
doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inventory, const struct doca_buf *src_buf,
					struct doca_buf **dst_buf)
{
	struct doca_buf *head = NULL;

	SHIM_NEED(inventory, SHIM_INVENTORY);
	SHIM_NEED(src_buf, SHIM_BUF);
	SHIM_NEED_OUT(dst_buf);
	if (src_buf->is_inner)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the buffer is inside a list; duplicate the list's head");
	if (!inventory->started || !shim_buf_has_usable_mmap(src_buf))
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the %s is not started",
				   inventory->started ? "buffer's memory map" : "inventory");
	if (list_length(src_buf) > inventory->num_free)
		return SHIM_REFUSE(DOCA_ERROR_NO_MEMORY, "the inventory has %u free buffers for a list of %u",
				   inventory->num_free, list_length(src_buf));
	for (const struct doca_buf *from = src_buf; from; from = from->next) {
		struct doca_buf *copy = take(inventory);

		init(copy, inventory, from->mmap);
		aim(copy, from->head, from->len, from->data, from->data_len);
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

doca_error_t doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount)
{
	SHIM_NEED(buf, SHIM_BUF);
	if (buf->is_inner)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the buffer is inside a list; its head is counted");
	if (buf->refcount == UINT16_MAX)
		return SHIM_REFUSE(DOCA_ERROR_TOO_BIG, "the reference count is at its maximum");
	if (refcount)
		*refcount = buf->refcount;
	buf->refcount++;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount)
{
	if (doca_unlikely(!shim_is(buf, SHIM_BUF)))
		return buf ? SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the buffer was returned to its inventory already") :
			     SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "buf is NULL");
	if (buf->is_inner)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the buffer is inside a list; return the list's head");
	if (refcount)
		*refcount = buf->refcount;
	if (--buf->refcount > 0)
		return DOCA_SUCCESS;
	while (buf) {
		struct doca_buf *next = buf->next;

		give_back(buf);
		buf = next;
	}
	return DOCA_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Stocks of buffers, and the references that decide when a buffer goes back to its stock. */
#include "buf_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/base/slab.h"

struct shim_buf_block {
	struct shim_buf_block *next;
	size_t count;
	struct doca_buf bufs[];
};

static size_t block_bytes(size_t count)
{
	return sizeof(struct shim_buf_block) + count * sizeof(struct doca_buf);
}

static struct doca_buf *next_unused(struct shim_buf_stock *stock)
{
	return &stock->blocks->bufs[stock->blocks->count - stock->unused--];
}

static void put_free(struct shim_buf_stock *stock, struct doca_buf *buf)
{
	buf->next = stock->free;
	stock->free = buf;
}

bool shim_buf_stock_grow(struct shim_buf_stock *stock, size_t count)
{
	struct shim_buf_block *block;

	if (count > (SIZE_MAX - sizeof(*block)) / sizeof(struct doca_buf))
		return false;
	block = shim_slab_new(block_bytes(count));
	if (!block)
		return false;
	while (stock->unused > 0) /* of the block before */
		put_free(stock, next_unused(stock));
	block->count = count;
	block->next = stock->blocks;
	stock->blocks = block;
	stock->unused = (uint32_t)count;
	stock->num_elements += (uint32_t)count;
	stock->num_free += (uint32_t)count;
	return true;
}

void shim_buf_stock_fini(struct shim_buf_stock *stock)
{
	while (stock->blocks) {
		struct shim_buf_block *first = stock->blocks;

		stock->blocks = first->next;
		shim_slab_free(first, block_bytes(first->count));
	}
}

size_t shim_buf_stock_index(const struct shim_buf_stock *stock, const struct doca_buf *buf)
{
	return (size_t)(buf - stock->blocks->bufs);
}

static struct doca_buf *get_free(struct shim_buf_stock *stock)
{
	struct doca_buf *buf = stock->free;

	if (buf)
		stock->free = buf->next;
	else if (stock->unused > 0)
		buf = next_unused(stock);
	else
		return NULL;
	stock->num_free--;
	return buf;
}

struct doca_buf *shim_buf_take(struct shim_buf_stock *stock, struct doca_mmap *mmap)
{
	struct doca_buf *buf = get_free(stock);

	if (doca_unlikely(!buf))
		return NULL;
	buf->object.magic = shim_magic(SHIM_BUF);
	buf->refcount = 1;
	buf->is_inner = false;
	buf->mmap = mmap;
	buf->stock = stock;
	buf->next = NULL;
	buf->tail = buf;
	buf->mmap_serial = mmap->serial;
	buf->is_counted = !mmap->thread_safe;
	if (buf->is_counted)
		mmap->num_bufs++;
	return buf;
}

static void give_back(struct doca_buf *buf)
{
	if (buf->is_counted)
		buf->mmap->num_bufs--;
	buf->object.magic = 0;
	put_free(buf->stock, buf);
	buf->stock->num_free++;
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
		return buf ? SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the buffer was returned to its inventory or pool already") :
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Freelists of buffers, and reference counts: a buffer's last reference returns it to its freelist. */
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

static struct doca_buf *next_never_used(struct shim_buf_freelist *freelist)
{
	return &freelist->blocks->bufs[freelist->blocks->count - freelist->num_never_used--];
}

static void push_free(struct shim_buf_freelist *freelist, struct doca_buf *buf)
{
	buf->next = freelist->free;
	freelist->free = buf;
}

bool shim_buf_freelist_grow(struct shim_buf_freelist *freelist, size_t count)
{
	struct shim_buf_block *block;

	if (count > (SIZE_MAX - sizeof(*block)) / sizeof(struct doca_buf))
		return false;
	block = shim_slab_new(block_bytes(count));
	if (!block)
		return false;
	while (freelist->num_never_used > 0) /* of the newest block so far */
		push_free(freelist, next_never_used(freelist));
	block->count = count;
	block->next = freelist->blocks;
	freelist->blocks = block;
	freelist->num_never_used = (uint32_t)count;
	freelist->num_elements += (uint32_t)count;
	freelist->num_free += (uint32_t)count;
	return true;
}

void shim_buf_freelist_fini(struct shim_buf_freelist *freelist)
{
	while (freelist->blocks) {
		struct shim_buf_block *first = freelist->blocks;

		freelist->blocks = first->next;
		shim_slab_free(first, block_bytes(first->count), true);
	}
}

size_t shim_buf_freelist_index(const struct shim_buf_freelist *freelist, const struct doca_buf *buf)
{
	return (size_t)(buf - freelist->blocks->bufs);
}

static struct doca_buf *pop_free(struct shim_buf_freelist *freelist)
{
	struct doca_buf *buf = freelist->free;

	if (buf)
		freelist->free = buf->next;
	else if (freelist->num_never_used > 0)
		buf = next_never_used(freelist);
	else
		return NULL;
	freelist->num_free--;
	return buf;
}

/* The map has no first freelist yet, or another one. Return whether @freelist is the first one now. */
static __attribute__((noinline)) bool become_first_freelist(struct doca_mmap *mmap, struct shim_buf_freelist *freelist)
{
	struct shim_buf_freelist *first = NULL;

	return atomic_compare_exchange_strong(&mmap->first_freelist, &first, freelist);
}

static inline void count_first_buf(struct doca_mmap *mmap, uint32_t change)
{
	uint32_t count = atomic_load_explicit(&mmap->num_first_bufs, memory_order_relaxed);

	atomic_store_explicit(&mmap->num_first_bufs, count + change, memory_order_relaxed);
}

static inline enum shim_buf_count count_new_buf(struct doca_mmap *mmap, struct shim_buf_freelist *freelist)
{
	if (doca_likely(atomic_load_explicit(&mmap->first_freelist, memory_order_relaxed) == freelist) ||
	    become_first_freelist(mmap, freelist)) {
		count_first_buf(mmap, 1);
		return SHIM_BUF_COUNT_FIRST;
	}
	atomic_fetch_add_explicit(&mmap->num_other_bufs, 1, memory_order_relaxed);
	return SHIM_BUF_COUNT_OTHER;
}

struct doca_buf *shim_buf_alloc(struct shim_buf_freelist *freelist, struct doca_mmap *mmap)
{
	struct doca_buf *buf = pop_free(freelist);

	if (doca_unlikely(!buf))
		return NULL;
	buf->object.magic = shim_magic(SHIM_BUF);
	buf->refcount = 1;
	buf->is_inner = buf->is_moved = false;
	buf->mmap = mmap;
	buf->freelist = freelist;
	buf->next = NULL;
	buf->tail = buf;
	buf->mmap_serial = mmap->serial;
	buf->count = doca_likely(!mmap->thread_safe) ? count_new_buf(mmap, freelist) : SHIM_BUF_COUNT_NONE;
	return buf;
}

static void return_buf(struct doca_buf *buf)
{
	if (doca_likely(buf->count == SHIM_BUF_COUNT_FIRST))
		count_first_buf(buf->mmap, UINT32_MAX);
	else if (buf->count == SHIM_BUF_COUNT_OTHER)
		atomic_fetch_sub_explicit(&buf->mmap->num_other_bufs, 1, memory_order_relaxed);
	buf->object.magic = 0;
	push_free(buf->freelist, buf);
	buf->freelist->num_free++;
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
	if (doca_unlikely(!shim_object_is(buf, SHIM_BUF)))
		return buf ? SHIM_REFUSE(DOCA_ERROR_BAD_STATE,
					 "the buffer was returned to its inventory or pool already") :
			     SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "buf is NULL");
	if (buf->is_inner)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "the buffer is inside a list; return the list's head");
	if (refcount)
		*refcount = buf->refcount;
	if (--buf->refcount > 0)
		return DOCA_SUCCESS;
	while (buf) {
		struct doca_buf *next = buf->next;

		return_buf(buf);
		buf = next;
	}
	return DOCA_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/mem/buf_priv.h - a buffer: an element of a freelist that points into a memory map.
 *
 *   head          data         data+data_len        head+len
 *    |-------------|===============|------------------|
 *
 * Elements chain into lists through @next. The head of a list knows its tail,
 * and alone has a reference count that matters.
 *
 * A freelist is what inventories and pools have in common: elements that are taken
 * and come back. It grows by blocks. Elements that were never out are taken in the
 * order of their block, whose pages come with first use; those that came back form
 * a list, and are taken first. One thread at a time.
 */
#ifndef SHIM_BUF_PRIV_H
#define SHIM_BUF_PRIV_H

#include <doca_buf.h>

#include "mmap_priv.h"
#include "shim/common/base/object.h"

struct doca_buf {
	struct shim_object object;
	uint16_t refcount;
	bool is_inner;   /* a list's element other than its head */
	bool is_counted; /* in @mmap->num_bufs; then the map outlives it */
	struct doca_mmap *mmap;
	uint64_t mmap_serial;               /* another one at @mmap: the map is gone (a thread-safe one may) */
	struct shim_buf_freelist *freelist; /* where it goes back to */
	uint8_t *head;
	size_t len;
	uint8_t *data;
	size_t data_len;
	struct doca_buf *next; /* in the list; in the freelist's free list while free */
	struct doca_buf *tail; /* of the list, at its head only */
};

struct shim_buf_block;

struct shim_buf_freelist {
	uint32_t num_elements, num_free;
	bool has_fixed_ranges; /* a pool's: an element names the same memory always */
	struct doca_buf *free;
	struct shim_buf_block *blocks; /* the newest first */
	uint32_t num_never_used;       /* of the newest block's elements, those never taken yet */
};

/* Add @count elements. False, and nothing has changed, when there is no memory for them. */
bool shim_buf_freelist_grow(struct shim_buf_freelist *freelist, size_t count);

/* Free the elements; none is out. */
void shim_buf_freelist_fini(struct shim_buf_freelist *freelist);

static inline uint32_t shim_buf_freelist_num_in_use(const struct shim_buf_freelist *freelist)
{
	return freelist->num_elements - freelist->num_free;
}

/* Which element of the freelist's newest block it is. */
size_t shim_buf_freelist_index(const struct shim_buf_freelist *freelist, const struct doca_buf *buf);

/* Take a buffer with one reference, on its own, of @mmap but not aimed yet; NULL
 * when none is free. Dropping its last reference gives it back. */
struct doca_buf *shim_buf_alloc(struct shim_buf_freelist *freelist, struct doca_mmap *mmap);

/* Point a buffer at its place; both ranges have been checked. */
static inline void shim_buf_set_range(struct doca_buf *buf, void *addr, size_t len, void *data, size_t data_len)
{
	buf->head = addr;
	buf->len = len;
	buf->data = data;
	buf->data_len = data_len;
}

/* Whether the buffer's memory map is there, and started. */
static inline bool shim_buf_has_usable_mmap(const struct doca_buf *buf)
{
	return shim_mmap_is_same(buf->mmap, buf->mmap_serial) && shim_mmap_is_usable(buf->mmap);
}

/* The buffer's address in this process; imported memory has none. */
static inline uint64_t shim_buf_cpu_addr(const struct doca_buf *buf, const uint8_t *addr)
{
	const struct doca_mmap *mmap = buf->mmap;

	return (uintptr_t)(mmap->cpu_base ? mmap->cpu_base + (addr - mmap->addr) : addr);
}

struct doca_buf_pool;

/* For shim/workq, where a pool can be stopped while buffers are out: no more can be taken. */
void shim_buf_pool_force_stop(struct doca_buf_pool *buf_pool);

#endif

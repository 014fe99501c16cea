/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/buf_priv.h - a buffer: an element of an inventory that points into a memory map.
 *
 *   head          data         data+data_len        head+len
 *    |-------------|===============|------------------|
 *
 * Elements chain into lists through @next. The head of a list knows its tail,
 * and alone has a reference count that matters.
 */
#ifndef SHIM_BUF_PRIV_H
#define SHIM_BUF_PRIV_H

#include <doca_buf.h>
#include <doca_buf_inventory.h>

#include "mmap_priv.h"
#include "object.h"

struct doca_buf {
	struct shim_object object;
	uint16_t refcount;
	bool is_inner;        /* a list's element other than its head */
	bool is_counted;      /* in @mmap->num_bufs; then the map outlives it */
	struct doca_mmap *mmap;
	uint64_t mmap_serial; /* another one at @mmap: the map is gone (a thread-safe one may) */
	struct doca_buf_inventory *inventory;
	uint8_t *head;
	size_t len;
	uint8_t *data;
	size_t data_len;
	struct doca_buf *next; /* in the list; in the inventory's free list while free */
	struct doca_buf *tail; /* of the list, at its head only */
};

/* Whether the buffer's memory map is there, and started. */
static inline bool shim_buf_has_usable_mmap(const struct doca_buf *buf)
{
	return shim_is(buf->mmap, SHIM_MMAP) && buf->mmap->serial == buf->mmap_serial && shim_mmap_is_usable(buf->mmap);
}

/* The buffer's address in this process; imported memory has none. */
static inline uint64_t shim_buf_cpu_addr(const struct doca_buf *buf, const uint8_t *addr)
{
	const struct doca_mmap *mmap = buf->mmap;

	return (uintptr_t)(mmap->cpu_base ? mmap->cpu_base + (addr - mmap->addr) : addr);
}

#endif

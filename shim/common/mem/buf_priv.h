/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/mem/buf_priv.h - a buffer: an element of a freelist that points into a memory map.
 *
 *   head          data         data+data_len        head+len
 *    |-------------|===============|------------------|
 *
 * The program may move the data anywhere, also out of the buffer (is_moved). Then head and len are what tasks may use: from the
 * data to the end of the buffer, or to the end of the memory map if the data ends behind the buffer. A task with data outside of
 * the map fails.
 *
 * Elements chain into lists through @next. The head of a list has the list's tail, and its reference count
 * is the list's.
 *
 * Inventories and pools are built on freelists. A freelist grows by blocks. An allocation takes a returned
 * element first, then the next never used element of the newest block, whose pages come with first use. One
 * thread at a time.
 */
#ifndef SHIM_BUF_PRIV_H
#define SHIM_BUF_PRIV_H

#include <doca_buf.h>

#include "mmap_priv.h"
#include "shim/common/base/object.h"

/* Where @mmap counts the buffer; a map that counts its buffers outlives them. */
enum shim_buf_count {
	SHIM_BUF_COUNT_NONE,  /* of a thread-safe map */
	SHIM_BUF_COUNT_FIRST, /* num_first_bufs */
	SHIM_BUF_COUNT_OTHER, /* num_other_bufs */
};

struct doca_buf {
	struct shim_object object;
	uint16_t refcount;
	bool is_inner; /* a list's element other than its head */
	bool is_moved; /* its data is outside of the buffer, @own */
	uint8_t count; /* enum shim_buf_count */
	struct doca_mmap *mmap;
	uint64_t mmap_serial;               /* differs from the serial of @mmap if a thread-safe map is gone */
	struct shim_buf_freelist *freelist; /* of this element */
	uint8_t *head;
	size_t len;
	uint8_t *data;
	size_t data_len;
	struct doca_buf *next; /* in the list; in the freelist's @free while free */
	struct doca_buf *tail; /* of the list; valid at its head only */
	struct {
		uint8_t *head;
		size_t len;
	} own; /* if is_moved: the head and the length that the program knows */
};

struct shim_buf_block;

struct shim_buf_freelist {
	uint32_t num_elements, num_free;
	bool has_fixed_ranges; /* of a pool: an element always has the same memory */
	struct doca_buf *free;
	struct shim_buf_block *blocks; /* the newest first */
	uint32_t num_never_used;       /* elements of the newest block that were never allocated */
};

/* Add @count elements. Return false, with nothing changed, without memory. */
bool shim_buf_freelist_grow(struct shim_buf_freelist *freelist, size_t count);

/* Free the elements; none is in use. */
void shim_buf_freelist_fini(struct shim_buf_freelist *freelist);

static inline uint32_t shim_buf_freelist_num_in_use(const struct shim_buf_freelist *freelist)
{
	return freelist->num_elements - freelist->num_free;
}

/* Return the buffer's index in the freelist's newest block. */
size_t shim_buf_freelist_index(const struct shim_buf_freelist *freelist, const struct doca_buf *buf);

/* Allocate a buffer of @mmap, with one reference, in no list, without a range. Return NULL if none is free.
 * The buffer returns to the freelist with its last reference. */
struct doca_buf *shim_buf_alloc(struct shim_buf_freelist *freelist, struct doca_mmap *mmap);

/* Set the buffer's range and data; the caller has checked both. */
static inline void shim_buf_set_range(struct doca_buf *buf, void *addr, size_t len, void *data, size_t data_len)
{
	buf->head = addr;
	buf->len = len;
	buf->data = data;
	buf->data_len = data_len;
}

/* Set the range that the program knows, and the data, neither of which need be inside of the other or of the map, which is
 * usable. */
void shim_buf_place(struct doca_buf *buf, uint8_t *head, size_t len, uint8_t *data, size_t data_len);

/* Return whether the data is in the map, which is usable. Only data that was moved may be elsewhere. */
static inline bool shim_buf_has_data_in_map(const struct doca_buf *buf)
{
	return doca_likely(!buf->is_moved) || shim_mmap_has_range(buf->mmap, buf->data, buf->data_len);
}

/* Return whether the buffer's memory map exists and is usable. */
static inline bool shim_buf_has_usable_mmap(const struct doca_buf *buf)
{
	return buf->mmap->serial == buf->mmap_serial && shim_mmap_is_usable(buf->mmap);
}

/* Return where the buffer's room is, behind its data. Data outside of the memory map may wrap; it leaves no room. */
static inline uint8_t *shim_buf_room(const struct doca_buf *buf)
{
	return (uint8_t *)((uintptr_t)buf->data + buf->data_len);
}

static inline size_t shim_buf_room_bytes(const struct doca_buf *buf)
{
	return (uintptr_t)buf->head + buf->len - (uintptr_t)shim_buf_room(buf);
}

/* Return where the bytes at @addr are in this process; meaningless for imported memory. */
static inline uint64_t shim_buf_cpu_addr(const struct doca_buf *buf, const uint8_t *addr)
{
	return shim_mmap_cpu_addr(buf->mmap, addr);
}

struct doca_buf_pool;

/* Stop a pool whose buffers may be in use. No more can be allocated. */
void shim_buf_pool_force_stop(struct doca_buf_pool *buf_pool);

#endif

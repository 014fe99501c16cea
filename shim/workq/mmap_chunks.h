/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/mmap_chunks.h - memory maps in 1.5's order: started empty, given devices and chunks then.
 *
 * The core's map has one range. A map that is started without one gets a record
 * here: its first chunk becomes the range of the map itself, every further one a
 * map of the core's own with the same devices. While the map is started, all of
 * these are started too, be it without a device; when one comes or goes, they stop
 * for as long as that takes. A map of 2.2 has no record.
 *
 * The map's own thread rule: one thread at a time.
 */
#ifndef SHIM_WORKQ_MMAP_CHUNKS_H
#define SHIM_WORKQ_MMAP_CHUNKS_H

#include "shim/common/mem/mmap_priv.h"

struct workq_chunk {
	char *addr;
	size_t len;
	struct doca_mmap *core_mmap;
	doca_mmap_memrange_free_cb_t *free_cb; /* NULL = none */
	void *opaque;
};

struct workq_chunk_list {
	bool started;
	bool was_started;
	uint32_t max_chunks;
	uint32_t num_chunks, capacity;
	struct workq_chunk *chunks; /* the first one's core is the map itself */
};

#define WORKQ_DEFAULT_MAX_CHUNKS 64 /* our choice */

/* The record of a live map, NULL = none; and the record, made if need be (NULL = no memory). */
static inline struct workq_chunk_list *workq_chunk_list_find(const struct doca_mmap *mmap)
{
	return mmap->workq_data;
}

struct workq_chunk_list *workq_chunk_list_get_or_create(struct doca_mmap *mmap);

/* Stop the core's maps, start them again. stop: NOT_PERMITTED, and nothing happens, while
 * buffers or pools of one are out. */
doca_error_t workq_chunks_stop(const char *func, const struct workq_chunk_list *list);
doca_error_t workq_chunks_start(const char *func, const struct workq_chunk_list *list);

/* Start them again as they were before the stop, without a look at their memory. */
void workq_chunks_resume(const struct workq_chunk_list *list);

/* Whether the memory of all chunks is there to be registered: NOT_PERMITTED when it is not. */
doca_error_t workq_chunks_check_memory(const char *func, const struct workq_chunk_list *list);

/* Whether buffers of any chunk are out. */
uint32_t workq_chunks_num_bufs(const struct workq_chunk_list *list);

/* The map itself is gone: destroy the further ones, call the free callbacks. NULL is fine. */
void workq_chunk_list_destroy(struct workq_chunk_list *list);

/* The core's map that has @addr: @mmap itself, unless it has chunks. Copes with any handle. */
struct doca_mmap *workq_find_core_mmap(struct doca_mmap *mmap, const void *addr);

#endif

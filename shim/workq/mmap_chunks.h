/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/mmap_chunks.h - memory maps in the order of 1.5: started empty, then given devices and chunks.
 *
 * A map of the core has one range. A map that is started without a range gets a list
 * of chunks. The first chunk becomes the range of the map itself; each further chunk
 * is another map of the core, with the same devices. While the map is started, the
 * maps of all chunks are started, also without a device. They stop while a device is
 * added or removed. A map in the order of 2.2 has no list.
 *
 * One thread at a time uses a map, as in the core.
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
	struct workq_chunk *chunks; /* the core_mmap of the first is the map itself */
};

#define WORKQ_DEFAULT_MAX_CHUNKS 64 /* the reference documents none */

/* The list of a live map; NULL = none. */
static inline struct workq_chunk_list *workq_chunk_list_find(const struct doca_mmap *mmap)
{
	return mmap->compat;
}

/* The same, but create the list if there is none; NULL = no memory. */
struct workq_chunk_list *workq_chunk_list_get_or_create(struct doca_mmap *mmap);

/* Stop and start the maps of all chunks. The stop returns NOT_PERMITTED and does nothing while a
 * buffer or a pool uses one of them. */
doca_error_t workq_chunks_stop(const char *func, const struct workq_chunk_list *list);
doca_error_t workq_chunks_start(const char *func, const struct workq_chunk_list *list);

/* Start the maps again after a stop, without a check of their memory. */
void workq_chunks_resume(const struct workq_chunk_list *list);

/* Check that a device can register the memory of all chunks: NOT_PERMITTED if it is not mapped or read-only, or
 * NO_MEMORY. */
doca_error_t workq_chunks_check_memory(const char *func, const struct workq_chunk_list *list);

/* The number of buffers of all chunks. */
uint32_t workq_chunks_num_bufs(const struct workq_chunk_list *list);

/* After the destruction of the map itself: destroy the further maps, call the free callbacks. NULL is fine. */
void workq_chunk_list_destroy(struct workq_chunk_list *list);

/* The map of the core with @addr in its range, or @mmap if there is none. Accepts any handle. */
struct doca_mmap *workq_find_core_mmap(struct doca_mmap *mmap, const void *addr);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/chunks.h - memory maps in 1.5's order: started empty, given devices and chunks then.
 *
 * The core's map has one range. A map that is started without one gets a record
 * here: its first chunk becomes the range of the map itself, every further one a
 * map of the core's own with the same devices. A map of 2.2 has a record only
 * until it is started, and pays nothing for those that keep theirs.
 *
 * Any thread may look a chunk up; a map is changed by one thread at a time.
 */
#ifndef SHIM_WORKQ_CHUNKS_H
#define SHIM_WORKQ_CHUNKS_H

#include <doca_mmap.h>

struct workq_chunk {
	char *addr;
	size_t len;
	struct doca_mmap *core;
};

struct workq_chunked {
	struct doca_mmap *mmap;     /* as the program has it; the first chunk's core */
	bool started;
	bool exported;              /* in 1.5's way, which is possible once */
	uint32_t max_chunks;
	uint32_t num_chunks;
	struct workq_chunk *chunks; /* room for max_chunks, once started */
	uint32_t num_devs, max_devs;
	struct doca_dev **devs;
	struct workq_chunked *next;
};

#define WORKQ_DEFAULT_MAX_CHUNKS 64 /* our choice */

/* The record of a map, or NULL; and the record, made if need be (NULL = no memory). */
struct workq_chunked *workq_chunked_of(const struct doca_mmap *mmap);
struct workq_chunked *workq_chunked_get(struct doca_mmap *mmap);

/* Forget it, with its further chunks. NOT_PERMITTED, and nothing happens, while
 * buffers of one are out. NULL is fine. */
doca_error_t workq_chunked_drop(const char *func, struct workq_chunked *chunked);

/* The core's map that has @addr: @mmap itself, unless it has chunks. */
struct doca_mmap *workq_core_map(struct doca_mmap *mmap, const void *addr);

#endif

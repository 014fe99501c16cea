/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/dma/dma_snapshot.h - what a memcpy task takes from its buffers when it is submitted.
 *
 * A card reads addresses and lengths from a work request, which the submission writes: here, the snapshot. From then on
 * the program may move the buffers' data and chain lists anew, and the copy does not change. Tasks in flight that share
 * a destination write to the same bytes. Data grows when a successful task completes: to the end of the bytes that the
 * task wrote, unless the program has moved the data elsewhere. A failed task changes no buffer.
 *
 * The segments of one buffer and one buffer, the common case, are in the snapshot; those of lists in an array.
 */
#ifndef SHIM_DMA_SNAPSHOT_H
#define SHIM_DMA_SNAPSHOT_H

#include <sys/queue.h>

#include "shim/common/mem/buf_priv.h"

struct pcie_caps;

/* A buffer of a list as it was at the submission. */
struct shim_dma_segment {
	struct doca_buf *buf;
	struct doca_mmap *mmap;
	const uint8_t *addr; /* of the source's data, or of the destination's room */
	size_t bytes;
};

struct shim_dma_segment_array {
	LIST_ENTRY(shim_dma_segment_array) link; /* of the context */
	uint32_t capacity;
	struct shim_dma_segment segments[];
};

LIST_HEAD(shim_dma_segment_arrays, shim_dma_segment_array);

struct shim_dma_snapshot {
	const char *problem; /* why the task will fail, and there are no segments; or NULL */
	uint64_t bytes;      /* of the source's data */
	uint32_t num_src, num_dst;
	bool replaces_data;                   /* the copy begins at the destination's data, not behind it */
	struct shim_dma_segment pair[2];      /* of a single source and a single destination */
	struct shim_dma_segment_array *array; /* stays with the task; NULL = none was needed yet */
};

/* What a snapshot depends on besides the buffers. */
struct shim_dma_snapshot_cfg {
	const struct pcie_caps *caps;
	bool overwrites_full; /* replace the data of a destination that has too little room behind it */
	struct shim_dma_segment_arrays *arrays;
};

static inline bool shim_dma_snapshot_is_pair(const struct shim_dma_snapshot *snapshot)
{
	return snapshot->num_src + snapshot->num_dst == 2;
}

static inline const struct shim_dma_segment *shim_dma_snapshot_src(const struct shim_dma_snapshot *snapshot)
{
	return doca_likely(shim_dma_snapshot_is_pair(snapshot)) ? snapshot->pair : snapshot->array->segments;
}

static inline const struct shim_dma_segment *shim_dma_snapshot_dst(const struct shim_dma_snapshot *snapshot)
{
	return shim_dma_snapshot_src(snapshot) + snapshot->num_src;
}

/* Take the lists @src and @dst. SUCCESS, also with a problem; or NO_MEMORY. */
doca_error_t shim_dma_snapshot_take_lists(struct shim_dma_snapshot *snapshot, const struct shim_dma_snapshot_cfg *cfg,
					  const struct doca_buf *src, struct doca_buf *dst);

/* Take a single source and a single destination that have no problem with @max_bytes. Return false, with nothing
 * taken, if they are no such buffers. */
static inline bool shim_dma_snapshot_take_pair(struct shim_dma_snapshot *snapshot, uint64_t max_bytes,
					       const struct doca_buf *src, struct doca_buf *dst)
{
	const uint8_t *room = dst->data + dst->data_len;
	size_t bytes = src->data_len, room_bytes = (size_t)(dst->head + dst->len - room);

	if (doca_unlikely(src->next || dst->next || bytes == 0 || bytes > max_bytes || room_bytes < bytes))
		return false;
	snapshot->problem = NULL;
	snapshot->bytes = bytes;
	snapshot->num_src = snapshot->num_dst = 1;
	snapshot->replaces_data = false;
	snapshot->pair[0].buf = (struct doca_buf *)(uintptr_t)src;
	snapshot->pair[0].mmap = src->mmap;
	snapshot->pair[0].addr = src->data;
	snapshot->pair[0].bytes = bytes;
	snapshot->pair[1].buf = dst;
	snapshot->pair[1].mmap = dst->mmap;
	snapshot->pair[1].addr = room;
	snapshot->pair[1].bytes = room_bytes;
	return true;
}

/* The task wrote @written bytes to a destination's segment. */
static inline void shim_dma_segment_extend_data(const struct shim_dma_segment *segment, size_t written,
						bool replaces_data)
{
	const uint8_t *end = segment->addr + written;
	struct doca_buf *buf = segment->buf;

	if (doca_unlikely(!shim_object_is(buf, SHIM_BUF) || end < buf->data || end > buf->head + buf->len))
		return;
	if (end > buf->data + buf->data_len || replaces_data)
		buf->data_len = (size_t)(end - buf->data);
}

/* The task wrote @written bytes, and succeeded: add them to the data of the destination, a list. */
void shim_dma_snapshot_extend_list(const struct shim_dma_snapshot *snapshot, uint64_t written);

static inline void shim_dma_snapshot_extend_data(const struct shim_dma_snapshot *snapshot, uint64_t written)
{
	if (doca_likely(shim_dma_snapshot_is_pair(snapshot)))
		shim_dma_segment_extend_data(&snapshot->pair[1], written, snapshot->replaces_data);
	else
		shim_dma_snapshot_extend_list(snapshot, written);
}

/* Free the segments of tasks that are gone. */
void shim_dma_segment_arrays_free(struct shim_dma_segment_arrays *arrays);

#endif

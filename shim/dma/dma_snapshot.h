/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/dma/dma_snapshot.h - what a memcpy task takes from its buffers when it is submitted.
 *
 * A card reads addresses and lengths from a work request, which the submission writes: here, the snapshot. From then on
 * the program may move the buffers' data and chain lists anew, and the copy does not change. Tasks in flight that share
 * a destination write to the same bytes. Data grows when a successful task completes: to the end of the bytes that the
 * task wrote, unless the program has moved the data elsewhere. A failed task changes no buffer.
 *
 * A pair, one buffer to one buffer, is the common case: its addresses and its length are in the snapshot. The segments
 * of lists are elsewhere. The buffers of a task can't change while it is in flight, so a pair has no copy of them.
 */
#ifndef SHIM_DMA_SNAPSHOT_H
#define SHIM_DMA_SNAPSHOT_H

#include <sys/queue.h>

#include "shim/common/mem/buf_priv.h"

struct pcie_caps;

/* A buffer of a list as it was at the submission. */
struct shim_dma_segment {
	struct doca_buf *buf;
	const uint8_t *addr; /* of the source's data, or of the destination's room */
	size_t bytes;
};

/* The segments of a source and a destination. */
struct shim_dma_lists {
	LIST_ENTRY(shim_dma_lists) link; /* of the context */
	uint32_t capacity, num_src, num_dst;
	bool replaces_data;                 /* the copy begins at the destination's data, not behind it */
	struct shim_dma_segment segments[]; /* the source's, then the destination's */
};

LIST_HEAD(shim_dma_lists_head, shim_dma_lists);

struct shim_dma_snapshot {
	uint64_t bytes;          /* of the source's data */
	const uint8_t *src_addr; /* of a pair; NULL = the task has lists, or a problem */
	union {
		const uint8_t *dst_addr; /* of a pair */
		const char *problem;     /* else: why the task will fail; NULL = it has @lists */
	};
	struct shim_dma_lists *lists; /* stays with the task; NULL = none were needed yet */
};

/* What a snapshot depends on besides the buffers. */
struct shim_dma_snapshot_cfg {
	const struct pcie_caps *caps;
	bool overwrites_full; /* replace the data of a destination that has too little room behind it */
	struct shim_dma_lists_head *lists;
};

static inline bool shim_dma_snapshot_is_pair(const struct shim_dma_snapshot *snapshot)
{
	return snapshot->src_addr != NULL;
}

/* Take the lists @src and @dst. SUCCESS, also with a problem; or NO_MEMORY. */
doca_error_t shim_dma_snapshot_take_lists(struct shim_dma_snapshot *snapshot, const struct shim_dma_snapshot_cfg *cfg,
					  const struct doca_buf *src, struct doca_buf *dst);

/* Take a single source and a single destination that have no problem with @max_bytes. Return false, with nothing
 * taken, if they are no such buffers. */
static inline bool shim_dma_snapshot_take_pair(struct shim_dma_snapshot *snapshot, uint64_t max_bytes,
					       const struct doca_buf *src, const struct doca_buf *dst)
{
	const uint8_t *room = dst->data + dst->data_len;
	size_t bytes = src->data_len;

	if (doca_unlikely(src->next || dst->next || bytes == 0 || bytes > max_bytes ||
			  (size_t)(dst->head + dst->len - room) < bytes))
		return false;
	snapshot->bytes = bytes;
	snapshot->src_addr = src->data;
	snapshot->dst_addr = room;
	return true;
}

/* The segments of a snapshot; of a pair they are @pair. */
struct shim_dma_segments {
	const struct shim_dma_lists *lists;
	struct shim_dma_segment pair[2];
};

static inline struct shim_dma_segments shim_dma_snapshot_segments(const struct shim_dma_snapshot *snapshot,
								  const struct doca_buf *src, struct doca_buf *dst)
{
	if (!shim_dma_snapshot_is_pair(snapshot))
		return (struct shim_dma_segments){ .lists = snapshot->lists };
	return (struct shim_dma_segments){ .pair = { { (struct doca_buf *)(uintptr_t)src, snapshot->src_addr,
						       snapshot->bytes },
						     { dst, snapshot->dst_addr, snapshot->bytes } } };
}

static inline uint32_t shim_dma_num_src(const struct shim_dma_segments *segments)
{
	return segments->lists ? segments->lists->num_src : 1;
}

static inline uint32_t shim_dma_num_dst(const struct shim_dma_segments *segments)
{
	return segments->lists ? segments->lists->num_dst : 1;
}

static inline const struct shim_dma_segment *shim_dma_src(const struct shim_dma_segments *segments)
{
	return segments->lists ? segments->lists->segments : segments->pair;
}

static inline const struct shim_dma_segment *shim_dma_dst(const struct shim_dma_segments *segments)
{
	return shim_dma_src(segments) + shim_dma_num_src(segments);
}

/* A task wrote bytes of the buffer up to @end. */
static inline void shim_dma_extend_data(struct doca_buf *buf, const uint8_t *end, bool replaces_data)
{
	if (doca_unlikely(!shim_object_is_still(buf, SHIM_BUF) || end < buf->data || end > buf->head + buf->len))
		return;
	if (end > buf->data + buf->data_len || replaces_data)
		buf->data_len = (size_t)(end - buf->data);
}

/* The task wrote @written bytes, and succeeded: add them to the data of the destination. */
void shim_dma_lists_extend_data(const struct shim_dma_lists *lists, uint64_t written);

static inline void shim_dma_snapshot_extend_data(const struct shim_dma_snapshot *snapshot, struct doca_buf *dst,
						 uint64_t written)
{
	if (doca_likely(shim_dma_snapshot_is_pair(snapshot)))
		shim_dma_extend_data(dst, snapshot->dst_addr + written, false);
	else
		shim_dma_lists_extend_data(snapshot->lists, written);
}

/* Free the segments of tasks that are gone. */
void shim_dma_lists_free(struct shim_dma_lists_head *lists);

#endif

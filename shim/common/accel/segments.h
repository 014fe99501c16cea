/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/accel/segments.h - what a task takes from its buffers when it is submitted.
 *
 * A card reads addresses and lengths from a work request, which the submission writes: here, the snapshot (task_snapshot.h). From then on
 * the program may move the buffers' data and chain lists anew, and the task does not change. Tasks in flight that share
 * a destination write to the same bytes. Data grows when a successful task completes: to the end of the bytes that the
 * task wrote, unless the program has moved the data elsewhere. A failed task changes no buffer.
 *
 * A pair, one buffer to one buffer, is the common case of a copy: its addresses and its length are in the snapshot. The
 * segments of lists are elsewhere. The buffers of a task can't change while it is in flight, so a pair has no copy of
 * them.
 */
#ifndef SHIM_SEGMENTS_H
#define SHIM_SEGMENTS_H

#include <sys/queue.h>

#include "shim/common/mem/buf_priv.h"
#include "shim/common/pe/task_snapshot.h"

/* A buffer of a list as it was at the submission. */
struct shim_segment {
	struct doca_buf *buf;
	const uint8_t *addr; /* of the source's data, or of the destination's room */
	size_t bytes;
};

/* The segments of a source and a destination, of a snapshot that is no pair. */
struct shim_lists {
	LIST_ENTRY(shim_lists) link; /* of the context */
	uint32_t capacity, num_src, num_dst;
	bool replaces_data;             /* the output begins at the destination's data, not behind it */
	struct shim_segment segments[]; /* the source's, then the destination's */
};

LIST_HEAD(shim_lists_head, shim_lists);

/* The size of a list of buffers. */
struct shim_list_size {
	uint64_t data_bytes, room_bytes; /* room: behind the data */
	uint32_t segments;
};

SHIM_INTERNAL_API struct shim_list_size shim_list_measure_all(const struct doca_buf *buf);

static inline struct shim_list_size shim_list_measure(const struct doca_buf *buf)
{
	if (doca_unlikely(buf->next != NULL))
		return shim_list_measure_all(buf);
	return (struct shim_list_size){ .data_bytes = buf->data_len,
					.room_bytes = shim_buf_room_bytes(buf),
					.segments = 1 };
}

/* Take the lists @src and @dst, of @num_src and @num_dst buffers; what the snapshot needs to keep goes to @head.
 * SUCCESS or NO_MEMORY. */
SHIM_INTERNAL_API doca_error_t shim_snapshot_take_lists(struct shim_snapshot *snapshot, struct shim_lists_head *head,
							const struct doca_buf *src, uint32_t num_src,
							struct doca_buf *dst, uint32_t num_dst, bool replaces_data);

/* Take a single source and a single destination that have no problem with @max_bytes, and room for all of the source.
 * Return false, with nothing taken, if they are no such buffers. */
static inline bool shim_snapshot_take_pair(struct shim_snapshot *snapshot, uint64_t max_bytes,
					   const struct doca_buf *src, const struct doca_buf *dst)
{
	size_t bytes = src->data_len;

	if (doca_unlikely(src->next || dst->next || bytes == 0 || bytes > max_bytes ||
			  shim_buf_room_bytes(dst) < bytes))
		return false;
	snapshot->bytes = bytes;
	snapshot->src_addr = src->data;
	snapshot->dst_addr = shim_buf_room(dst);
	return true;
}

/* The segments of a snapshot; of a pair they are @pair. */
struct shim_segments {
	const struct shim_lists *lists;
	struct shim_segment pair[2];
};

static inline struct shim_segments shim_snapshot_segments(const struct shim_snapshot *snapshot,
							  const struct doca_buf *src, struct doca_buf *dst)
{
	if (!shim_snapshot_is_pair(snapshot))
		return (struct shim_segments){ .lists = snapshot->lists };
	return (struct shim_segments){ .pair = { { (struct doca_buf *)(uintptr_t)src, snapshot->src_addr,
						   snapshot->bytes },
						 { dst, snapshot->dst_addr, snapshot->bytes } } };
}

static inline uint32_t shim_segments_num_src(const struct shim_segments *segments)
{
	return segments->lists ? segments->lists->num_src : 1;
}

static inline uint32_t shim_segments_num_dst(const struct shim_segments *segments)
{
	return segments->lists ? segments->lists->num_dst : 1;
}

static inline const struct shim_segment *shim_segments_src(const struct shim_segments *segments)
{
	return segments->lists ? segments->lists->segments : segments->pair;
}

static inline const struct shim_segment *shim_segments_dst(const struct shim_segments *segments)
{
	return shim_segments_src(segments) + shim_segments_num_src(segments);
}

/* A task wrote bytes of the buffer up to @end. */
static inline void shim_buf_extend_data(struct doca_buf *buf, const uint8_t *end, bool replaces_data)
{
	if (doca_unlikely(!shim_object_is_still(buf, SHIM_BUF) || end < buf->data || end > buf->head + buf->len))
		return;
	if (end > buf->data + buf->data_len || replaces_data)
		buf->data_len = (size_t)(end - buf->data);
}

/* From now on, the output begins at the data of the destination. Returns whether there is more room than before. */
SHIM_INTERNAL_API bool shim_lists_replace_data(struct shim_lists *lists);

/* The task wrote @written bytes, and succeeded: add them to the data of the destination. */
SHIM_INTERNAL_API void shim_lists_extend_data(const struct shim_lists *lists, uint64_t written);

static inline void shim_snapshot_extend_data(const struct shim_snapshot *snapshot, struct doca_buf *dst,
					     uint64_t written)
{
	if (doca_likely(shim_snapshot_is_pair(snapshot)))
		shim_buf_extend_data(dst, snapshot->dst_addr + written, false);
	else
		shim_lists_extend_data(snapshot->lists, written);
}

/* Free the segments of tasks that are gone. */
SHIM_INTERNAL_API void shim_lists_free(struct shim_lists_head *lists);

struct sim_fault_hit;

/* Flip the hit's bits in the @written bytes that a task wrote to the segments @dst. 0 or what sim_copy() returned. */
SHIM_INTERNAL_API int shim_segments_flip(const struct shim_segment *dst, const struct sim_fault_hit *hit,
					 uint64_t written);

#endif

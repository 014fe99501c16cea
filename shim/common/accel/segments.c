/* SPDX-License-Identifier: BSD-3-Clause */
/* The lists of buffers that a task took when it was submitted. */
#include "segments.h"

#include <stdlib.h>

#include "pcie_model/arith.h"
#include "shim/common/base/alloc.h"
#include "sim/fabric/remote.h"
#include "sim/faults/inject/injector.h"

struct shim_list_size shim_list_measure_all(const struct doca_buf *buf)
{
	struct shim_list_size size = { 0 };

	for (; buf; buf = buf->next, size.segments++) {
		size.data_bytes += buf->data_len;
		size.room_bytes += shim_buf_room_bytes(buf);
	}
	return size;
}

/* Make room for at least @count segments. NULL without memory. */
static __attribute__((noinline)) struct shim_lists *grow_lists(struct shim_snapshot *snapshot,
							       struct shim_lists_head *head, uint32_t count)
{
	struct shim_lists *lists = snapshot->lists, *grown;

	grown = shim_malloc(sizeof(*grown) + count * sizeof(grown->segments[0]));
	if (!grown)
		return NULL;
	if (lists)
		LIST_REMOVE(lists, link);
	free(lists);
	grown->capacity = count;
	LIST_INSERT_HEAD(head, grown, link);
	snapshot->lists = grown;
	return grown;
}

void shim_lists_free(struct shim_lists_head *lists)
{
	while (!LIST_EMPTY(lists)) {
		struct shim_lists *first = LIST_FIRST(lists);

		LIST_REMOVE(first, link);
		free(first);
	}
}

static void take_data(struct shim_segment *segment, const struct doca_buf *src)
{
	for (; src; src = src->next)
		*segment++ = (struct shim_segment){ (struct doca_buf *)(uintptr_t)src, src->data, src->data_len };
}

static void take_room(struct shim_segment *segment, struct doca_buf *dst, bool with_data)
{
	for (; dst; dst = dst->next) {
		const uint8_t *addr = with_data ? dst->data : shim_buf_room(dst);

		*segment++ = (struct shim_segment){ dst, addr, (uintptr_t)dst->head + dst->len - (uintptr_t)addr };
	}
}

doca_error_t shim_snapshot_take_lists(struct shim_snapshot *snapshot, struct shim_lists_head *head,
				      const struct doca_buf *src, uint32_t num_src, struct doca_buf *dst,
				      uint32_t num_dst, bool replaces_data)
{
	struct shim_lists *lists;

	snapshot->src_addr = NULL;
	snapshot->problem = NULL;
	lists = snapshot->lists;
	if (doca_unlikely(!lists || lists->capacity < num_src + num_dst)) {
		lists = grow_lists(snapshot, head, num_src + num_dst);
		if (!lists)
			return DOCA_ERROR_NO_MEMORY;
	}
	lists->num_src = num_src;
	lists->num_dst = num_dst;
	lists->replaces_data = replaces_data;
	take_data(lists->segments, src);
	take_room(lists->segments + num_src, dst, replaces_data);
	return DOCA_SUCCESS;
}

bool shim_lists_replace_data(struct shim_lists *lists)
{
	struct shim_segment *dst = lists->segments + lists->num_src;
	bool has_more = false;

	if (lists->replaces_data)
		return false;
	for (uint32_t i = 0; i < lists->num_dst; i++) {
		const struct doca_buf *buf = dst[i].buf;

		has_more |= buf->data < dst[i].addr;
		dst[i].addr = buf->data;
		dst[i].bytes = (size_t)(buf->head + buf->len - buf->data);
	}
	lists->replaces_data = true;
	return has_more;
}

void shim_lists_extend_data(const struct shim_lists *lists, uint64_t written)
{
	const struct shim_segment *dst = lists->segments + lists->num_src;

	for (uint32_t i = 0; i < lists->num_dst; i++) {
		size_t part = min_size(dst[i].bytes, written);

		if (part > 0 || lists->replaces_data)
			shim_buf_extend_data(dst[i].buf, dst[i].addr + part, lists->replaces_data);
		written -= part;
	}
}

/* Flip bit number @bit of the bytes that a task wrote to the segments @dst. */
static int flip_bit(const struct shim_segment *dst, uint64_t bit)
{
	uint64_t at = bit / 8, addr;
	uint8_t byte;
	int rc;

	for (; at >= dst->bytes; dst++)
		at -= dst->bytes;
	addr = shim_buf_cpu_addr(dst->buf, dst->addr + at);
	rc = sim_copy(NULL, (uintptr_t)&byte, dst->buf->mmap->remote, addr, 1);
	byte ^= (uint8_t)(1u << bit % 8);
	return rc < 0 ? rc : sim_copy(dst->buf->mmap->remote, addr, NULL, (uintptr_t)&byte, 1);
}

int shim_segments_flip(const struct shim_segment *dst, const struct sim_fault_hit *hit, uint64_t written)
{
	int rc = 0;

	for (uint32_t i = 0; i < hit->flip_bits && i < written * 8 && rc == 0; i++)
		rc = flip_bit(dst, sim_fault_hit_bit(hit, i, written * 8));
	return rc;
}

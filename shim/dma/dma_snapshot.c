/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots of memcpy tasks between lists, and of tasks that have a problem. */
#include "dma_snapshot.h"

#include <stdlib.h>

#include "pcie_model/arith.h"
#include "pcie_model/profile.h"
#include "shim/common/base/alloc.h"

/* Size of a list of buffers. */
struct list_size {
	uint64_t data_bytes, room_bytes; /* room: behind the data */
	uint32_t segments;
};

static struct list_size size_of_list(const struct doca_buf *buf)
{
	struct list_size size = { 0 };

	for (; buf; buf = buf->next, size.segments++) {
		size.data_bytes += buf->data_len;
		size.room_bytes += (size_t)(buf->head + buf->len - (buf->data + buf->data_len));
	}
	return size;
}

/* Return why lists of these sizes can't be copied, or NULL. */
static const char *find_size_problem(const struct pcie_caps *caps, const struct list_size *src,
				     const struct list_size *dst, bool replaces_data)
{
	if (src->data_bytes == 0)
		return "the source has no data (doca_buf_set_data)";
	if (src->data_bytes > caps->dma_max_buf_bytes)
		return "the source is larger than doca_dma_cap_task_memcpy_get_max_buf_size()";
	if (src->segments > caps->dma_max_list_len || dst->segments > caps->dma_max_list_len)
		return "a list is longer than doca_dma_cap_task_memcpy_get_max_buf_list_len()";
	if (dst->room_bytes < src->data_bytes && !replaces_data)
		return "the destination has too little room behind its data";
	return NULL;
}

/* Make room for at least @count segments. Return false without memory. */
static bool ensure_lists(struct shim_dma_snapshot *snapshot, struct shim_dma_lists_head *head, uint32_t count)
{
	struct shim_dma_lists *lists = snapshot->lists, *grown;

	if (lists && lists->capacity >= count)
		return true;
	grown = shim_malloc(sizeof(*grown) + count * sizeof(grown->segments[0]));
	if (!grown)
		return false;
	if (lists)
		LIST_REMOVE(lists, link);
	free(lists);
	grown->capacity = count;
	LIST_INSERT_HEAD(head, grown, link);
	snapshot->lists = grown;
	return true;
}

void shim_dma_lists_free(struct shim_dma_lists_head *lists)
{
	while (!LIST_EMPTY(lists)) {
		struct shim_dma_lists *first = LIST_FIRST(lists);

		LIST_REMOVE(first, link);
		free(first);
	}
}

static void take_data(struct shim_dma_segment *segment, const struct doca_buf *src)
{
	for (; src; src = src->next)
		*segment++ = (struct shim_dma_segment){ (struct doca_buf *)(uintptr_t)src, src->data, src->data_len };
}

static void take_room(struct shim_dma_segment *segment, struct doca_buf *dst, bool with_data)
{
	for (; dst; dst = dst->next) {
		const uint8_t *addr = with_data ? dst->data : dst->data + dst->data_len;

		*segment++ = (struct shim_dma_segment){ dst, addr, (size_t)(dst->head + dst->len - addr) };
	}
}

doca_error_t shim_dma_snapshot_take_lists(struct shim_dma_snapshot *snapshot, const struct shim_dma_snapshot_cfg *cfg,
					  const struct doca_buf *src, struct doca_buf *dst)
{
	struct list_size from = size_of_list(src), to = size_of_list(dst);
	bool replaces_data = cfg->overwrites_full && to.room_bytes < from.data_bytes &&
			     to.data_bytes + to.room_bytes >= from.data_bytes;
	struct shim_dma_lists *lists;

	snapshot->bytes = from.data_bytes;
	snapshot->src_addr = NULL;
	snapshot->problem = find_size_problem(cfg->caps, &from, &to, replaces_data);
	if (snapshot->problem)
		return DOCA_SUCCESS;
	if (!ensure_lists(snapshot, cfg->lists, from.segments + to.segments))
		return DOCA_ERROR_NO_MEMORY;
	lists = snapshot->lists;
	lists->num_src = from.segments;
	lists->num_dst = to.segments;
	lists->replaces_data = replaces_data;
	take_data(lists->segments, src);
	take_room(lists->segments + from.segments, dst, replaces_data);
	return DOCA_SUCCESS;
}

void shim_dma_lists_extend_data(const struct shim_dma_lists *lists, uint64_t written)
{
	const struct shim_dma_segment *dst = lists->segments + lists->num_src;

	for (uint32_t i = 0; i < lists->num_dst; i++) {
		size_t part = min_size(dst[i].bytes, written);

		if (part > 0 || lists->replaces_data)
			shim_dma_extend_data(dst[i].buf, dst[i].addr + part, lists->replaces_data);
		written -= part;
	}
}

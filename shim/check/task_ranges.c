/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the memory of tasks, by their types. */
#include "task_ranges.h"

#include <string.h>

#include "pcie_model/arith.h"
#include "shim/dma/dma_priv.h"

struct list {
	struct check_task_range *ranges;
	size_t count, max;
};

static void add(struct list *list, const struct shim_dma_segment *segment, size_t len, bool is_write)
{
	const struct doca_mmap *mmap = segment->buf->mmap;

	if (len == 0)
		return;
	if (list->count < list->max)
		list->ranges[list->count] = (struct check_task_range){
			.mmap = mmap,
			.addr = segment->addr,
			.cpu = mmap->remote ? NULL : (uint8_t *)(uintptr_t)shim_mmap_cpu_addr(mmap, segment->addr),
			.len_bytes = len,
			.is_write = is_write,
		};
	list->count++;
}

/* A task whose maps do not permit it fails, and moves nothing. */
static bool is_permitted(const struct shim_dma_segment *segment, uint32_t count, const struct doca_dev *dev,
			 bool is_write)
{
	for (; count > 0; segment++, count--) {
		const struct doca_mmap *mmap = segment->buf->mmap;

		if (!shim_mmap_is_usable(mmap) || !shim_mmap_has_dev(mmap, dev) ||
		    (is_write && (mmap->cpu_read_only || !(mmap->access & (DOCA_ACCESS_FLAG_LOCAL_READ_WRITE |
									   DOCA_ACCESS_FLAG_PCI_READ_WRITE)))))
			return false;
	}
	return true;
}

/* Of the destination, as many bytes as the source has. */
static void add_memcpy(struct list *list, const struct doca_dma_task_memcpy *memcpy)
{
	const struct shim_dma_snapshot *snapshot = &memcpy->snapshot;
	const struct shim_dma_segments segments = shim_dma_snapshot_segments(snapshot, memcpy->src, memcpy->dst);
	const struct shim_dma_segment *src = shim_dma_src(&segments), *dst = shim_dma_dst(&segments);
	uint32_t num_src = shim_dma_num_src(&segments), num_dst = shim_dma_num_dst(&segments);
	const struct doca_dev *dev = memcpy->task.ctx->dev;
	uint64_t left = snapshot->bytes;

	if (!is_permitted(src, num_src, dev, false) || !is_permitted(dst, num_dst, dev, true))
		return;
	for (uint32_t i = 0; i < num_src; i++)
		add(list, &src[i], src[i].bytes, false);
	for (uint32_t i = 0; i < num_dst && left > 0; i++) {
		size_t len = min_size(dst[i].bytes, left);

		add(list, &dst[i], len, true);
		left -= len;
	}
}

static bool has_problem(const struct shim_dma_snapshot *snapshot)
{
	return !shim_dma_snapshot_is_pair(snapshot) && snapshot->problem;
}

size_t check_task_get_ranges(const struct doca_task *task, struct check_task_range *ranges, size_t max)
{
	struct list list = { .ranges = ranges, .max = max };

	if (strcmp(task->pool->type->name, SIM_TASK_DMA_MEMCPY) == 0 &&
	    task->pool->type->size == sizeof(struct doca_dma_task_memcpy) &&
	    !has_problem(&shim_to_dma_memcpy(task)->snapshot))
		add_memcpy(&list, shim_to_dma_memcpy(task));
	return list.count;
}

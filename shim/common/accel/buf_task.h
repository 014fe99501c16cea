/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/accel/buf_task.h - a buffer task: reads a source list, and appends to a destination list.
 *
 * The task of every library whose work an engine of the card does begins with one. A submission takes the snapshot of
 * the lists (segments.h). The job looks at maps and buffers once more before it runs, as the program may have ended
 * them in between.
 */
#ifndef SHIM_BUF_TASK_H
#define SHIM_BUF_TASK_H

#include "segments.h"
#include "shim/common/pe/task_priv.h"

struct shim_buf_task {
	struct doca_task task; /* first: a buffer task is a doca_task */
	const struct doca_buf *src;
	struct doca_buf *dst;
	struct shim_snapshot snapshot; /* while in flight */
};

/* Two cache lines of a slab: programs that copy small blocks touch all their tasks in turn. */
_Static_assert(sizeof(struct shim_buf_task) == 128, "a buffer task is two cache lines");

static inline struct shim_buf_task *shim_to_buf_task(const struct doca_task *task)
{
	return (struct shim_buf_task *)(uintptr_t)task;
}

/* Returns whether a task may have @buf as its source or destination. */
static inline bool shim_buf_is_list(const struct doca_buf *buf)
{
	return shim_object_is(buf, SHIM_BUF) && !buf->is_inner;
}

/* The segments of a submitted task that has no problem. */
static inline struct shim_segments shim_buf_task_segments(const struct shim_buf_task *task)
{
	return shim_snapshot_segments(&task->snapshot, task->src, task->dst);
}

/* One of these lets tasks write to a map's memory. */
#define SHIM_WRITE_ACCESS ((uint32_t)(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE))

/* Return why @dev may not read the map's memory (or write it, if @write), or NULL. */
static inline const char *shim_mmap_find_problem(const struct doca_mmap *mmap, const struct doca_dev *dev, bool write)
{
	if (doca_unlikely(!shim_mmap_has_dev(mmap, dev)))
		return "the device is not in a buffer's memory map (doca_mmap_add_dev)";
	if (doca_unlikely(write && !(mmap->access & SHIM_WRITE_ACCESS)))
		return shim_mmap_is_imported(mmap) ?
			       "the destination was exported read-only (the exporter's doca_mmap_set_permissions)" :
			       "the destination's memory map is read-only (doca_mmap_set_permissions)";
	return NULL;
}

/* Return why the bytes can't be accessed now, or NULL. A thread-safe map may end before its buffers. A buffer that was
 * returned may be in use again, also of another map. */
static inline const char *shim_segment_find_problem(const struct doca_buf *buf, const uint8_t *addr, size_t bytes,
						    const struct doca_dev *dev, bool write)
{
	if (doca_unlikely(!shim_object_is_still(buf, SHIM_BUF)))
		return "a buffer was returned to its inventory while the task was in flight";
	if (doca_unlikely(!shim_buf_has_usable_mmap(buf)))
		return "a buffer's memory map was stopped or destroyed";
	if (doca_unlikely(!shim_mmap_has_range(buf->mmap, addr, bytes)))
		return "the data of a buffer, or its room, is outside of its memory map's range (doca_buf_set_data), or the buffer was given memory of another map while the task was in flight";
	return shim_mmap_find_problem(buf->mmap, dev, write);
}

/* The same for all segments of a task that is no pair, or its snapshot's problem. */
SHIM_INTERNAL_API const char *shim_buf_task_find_lists_problem(const struct shim_buf_task *task);

/* Return why the submitted task could not run now, or NULL. Nothing is logged. */
static inline const char *shim_buf_task_find_problem(const struct shim_buf_task *task)
{
	const struct shim_snapshot *snapshot = &task->snapshot;
	const struct doca_dev *dev = task->task.ctx->dev;
	const char *problem;

	if (doca_unlikely(!shim_snapshot_is_pair(snapshot)))
		return shim_buf_task_find_lists_problem(task);
	problem = shim_segment_find_problem(task->src, snapshot->src_addr, snapshot->bytes, dev, false);
	return doca_likely(!problem) ?
		       shim_segment_find_problem(task->dst, snapshot->dst_addr, snapshot->bytes, dev, true) :
		       problem;
}

/* As of struct shim_task_type: in which segment @addr is. A task that has a problem accesses none. */
SHIM_INTERNAL_API bool shim_buf_task_find_memory(const struct doca_task *task, uintptr_t addr,
						 struct shim_memory *ret_memory);

/* Set the transfer that a submitted task asks of the PCIe link and the card, but for its
 * size. A list counts as memory of its first buffer's side: no time of a list over both sides was ever published. */
SHIM_INTERNAL_API void shim_buf_task_get_pcie_job(const struct shim_buf_task *task, struct pcie_job *ret_job);

#endif

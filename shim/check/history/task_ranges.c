/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the memory of tasks, by their types. */
#include "task_ranges.h"

#include <string.h>

#include "pcie_model/arith.h"
#include "tasks_in_flight.h"
#include "shim/comch/comch_inspect.h"
#include "shim/common/accel/accel.h"

struct list {
	struct check_task_range *ranges;
	size_t count, max;
};

static void add(struct list *list, const struct doca_mmap *mmap, const uint8_t *addr, size_t len, bool is_write)
{
	if (len == 0)
		return;
	if (list->count < list->max)
		list->ranges[list->count] = (struct check_task_range){
			.mmap = mmap,
			.addr = addr,
			.cpu = mmap->remote ? NULL : (uint8_t *)(uintptr_t)shim_mmap_cpu_addr(mmap, addr),
			.len_bytes = len,
			.is_write = is_write,
		};
	list->count++;
}

/* A task whose maps do not permit it fails, and moves nothing. */
static bool is_permitted(const struct shim_segment *segment, uint32_t count, const struct doca_dev *dev, bool is_write)
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

/* Of the destination, @output_bytes at most. */
static void add_lists(struct list *list, const struct shim_buf_task *task, uint64_t output_bytes)
{
	const struct shim_segments segments = shim_buf_task_segments(task);
	const struct shim_segment *src = shim_segments_src(&segments), *dst = shim_segments_dst(&segments);
	uint32_t num_src = shim_segments_num_src(&segments), num_dst = shim_segments_num_dst(&segments);
	const struct doca_dev *dev = task->task.ctx->dev;
	uint64_t left = output_bytes;

	if (!is_permitted(src, num_src, dev, false) || !is_permitted(dst, num_dst, dev, true))
		return;
	for (uint32_t i = 0; i < num_src; i++)
		add(list, src[i].buf->mmap, src[i].addr, src[i].bytes, false);
	for (uint32_t i = 0; i < num_dst && left > 0; i++) {
		size_t len = min_size(dst[i].bytes, left);

		add(list, dst[i].buf->mmap, dst[i].addr, len, true);
		left -= len;
	}
}

static bool has_problem(const struct shim_snapshot *snapshot)
{
	return !shim_snapshot_is_pair(snapshot) && snapshot->problem;
}

uint64_t check_task_output_bytes(const struct shim_accel_task *task)
{
	const struct shim_accel_type *type = shim_accel_task_type(&task->base.task);

	return type->get_output_bytes ? type->get_output_bytes(task) : UINT64_MAX;
}

const struct doca_buf *check_comch_task_buf(const struct doca_task *task)
{
	bool is_write;

	return comch_inspect_task_buf(task, &is_write);
}

/* A buffer may be changed while its task is in flight: it counts as it is at the submission. Of a receive, all of the room: the
 * length of the message is not known. */
static void add_comch_buf(struct list *list, const struct doca_task *task)
{
	bool is_write;
	const struct doca_buf *buf = comch_inspect_task_buf(task, &is_write);

	if (buf && is_write)
		add(list, buf->mmap, shim_buf_room(buf), shim_buf_room_bytes(buf), true);
	else if (buf)
		add(list, buf->mmap, buf->data, buf->data_len, false);
}

size_t check_task_get_ranges(const struct doca_task *task, struct check_task_range *ranges, size_t max)
{
	struct list list = { .ranges = ranges, .max = max };

	if (check_is_buf_task(task)) {
		if (!has_problem(&shim_to_buf_task(task)->snapshot))
			add_lists(&list, shim_to_buf_task(task),
				  check_is_accel(task) ? check_task_output_bytes((const struct shim_accel_task *)task) :
							 shim_to_buf_task(task)->snapshot.bytes);
	} else {
		add_comch_buf(&list, task);
	}
	return list.count;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that source and destination of a task have no byte in common. */
#include <inttypes.h>

#include "task_rules.h"
#include "shim/check/history/mmap_history.h"
#include "pcie_model/arith.h"

/* The part of a buffer that a task reads or writes. */
struct piece {
	const struct doca_mmap *mmap;
	const uint8_t *addr;
	uint64_t bytes;
	uint64_t task_offset; /* of the first byte, in the bytes of the task */
};

static struct piece data_of(const struct doca_buf *buf, uint64_t task_offset)
{
	return (struct piece){ buf->mmap, buf->data, buf->data_len, task_offset };
}

/* @left: bytes that the task has for this buffer and those behind it. */
static struct piece room_of(const struct doca_buf *buf, uint64_t task_offset, uint64_t left)
{
	return (struct piece){ buf->mmap, shim_buf_room(buf), min_u64(shim_buf_room_bytes(buf), left), task_offset };
}

/* Addresses of this process's memory, or addresses in one export. */
static bool has_same_addresses(const struct doca_mmap *a, const struct doca_mmap *b)
{
	return a == b || (!a->remote && !b->remote && !a->cpu_base && !b->cpu_base);
}

static bool overlaps(const struct piece *a, const struct piece *b)
{
	return has_same_addresses(a->mmap, b->mmap) && a->addr < b->addr + b->bytes && b->addr < a->addr + a->bytes;
}

static void report(const struct shim_buf_task *task, const struct piece *from, const struct piece *to)
{
	const uint8_t *start = from->addr > to->addr ? from->addr : to->addr;
	const uint8_t *from_end = from->addr + from->bytes, *to_end = to->addr + to->bytes;
	uint64_t bytes = (uint64_t)((from_end < to_end ? from_end : to_end) - start);
	struct check_hit *hit = CHECK_HIT_HERE(BFC_TASK_OVERLAPS_ITSELF,
					       "%s: %" PRIu64 " bytes from %p on are both: byte %" PRIu64
					       " of the task's source and byte %" PRIu64 " of its destination",
					       check_current_name("doca_task_submit"), bytes, (const void *)start,
					       from->task_offset + (uint64_t)(start - from->addr),
					       to->task_offset + (uint64_t)(start - to->addr));

	check_task_add_objects(hit, task);
	check_hit_end(hit);
}

static bool check_destination(const struct shim_buf_task *task, const struct piece *to)
{
	uint64_t offset = 0;

	for (const struct doca_buf *buf = task->src; buf; offset += buf->data_len, buf = buf->next) {
		struct piece from = data_of(buf, offset);

		if (!overlaps(&from, to))
			continue;
		report(task, &from, to);
		return false;
	}
	return true;
}

void check_task_overlap(const struct shim_buf_task *task, uint64_t output_bytes)
{
	uint64_t left = output_bytes, offset = 0;

	if (!shim_snapshot_is_pair(&task->snapshot) && (task->snapshot.problem || task->snapshot.lists->replaces_data))
		return;
	for (const struct doca_buf *buf = task->dst; buf && left > 0; buf = buf->next) {
		struct piece to = room_of(buf, offset, left);

		if (!check_destination(task, &to))
			return;
		offset += to.bytes;
		left -= to.bytes;
	}
}

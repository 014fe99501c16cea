/* SPDX-License-Identifier: BSD-3-Clause */
/* The source and the destination of a task while its job runs. */
#include "work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "accel.h"
#include "pcie_model/arith.h"
#include "shim/common/base/alloc.h"
#include "sim/base/log.h"
#include "sim/fabric/remote.h"

/* Of memory of another process: bytes that are copied at a time. */
#define PIECE_BYTES 65536

void shim_work_init(struct shim_work *work, struct shim_accel_task *task, uint64_t limit)
{
	const struct shim_lists *lists = task->base.snapshot.lists;
	const struct shim_segment *src_end = lists->segments + lists->num_src;

	*work = (struct shim_work){
		.accel = (struct shim_accel *)task->base.task.ctx,
		.task = task,
		.src = { .at = lists->segments, .end = src_end },
		.dst = { .at = src_end, .end = src_end + lists->num_dst },
		.src_bytes = task->base.snapshot.bytes,
		.limit = limit,
	};
	for (uint32_t i = 0; i < lists->num_dst; i++)
		work->dst_bytes += src_end[i].bytes;
}

void shim_work_memory_free(struct shim_work_memory *memory)
{
	free(memory->in.bytes);
	free(memory->out.bytes);
	*memory = (struct shim_work_memory){ 0 };
}

static int ensure_memory(uint8_t **bytes, size_t *capacity, size_t needed)
{
	uint8_t *grown;

	if (*capacity >= needed)
		return 0;
	grown = shim_realloc(*bytes, needed);
	if (!grown) {
		sim_err("a task fails: no memory for %zu bytes that an engine works on", needed);
		return -ENOMEM;
	}
	*bytes = grown;
	*capacity = needed;
	return 0;
}

static int ensure_in(struct shim_work *work, size_t needed)
{
	return ensure_memory(&work->accel->work_memory.in.bytes, &work->accel->work_memory.in.capacity, needed);
}

static int ensure_out(struct shim_work *work, size_t needed)
{
	return ensure_memory(&work->accel->work_memory.out.bytes, &work->accel->work_memory.out.capacity, needed);
}

/* The bytes that are left in the current segment, which is not done; 0 at the end of the list. */
static size_t left_in_segment(struct shim_work_cursor *cursor)
{
	while (cursor->at < cursor->end && cursor->done == cursor->at->bytes) {
		cursor->at++;
		cursor->done = 0;
	}
	return cursor->at < cursor->end ? cursor->at->bytes - cursor->done : 0;
}

static struct sim_remote *remote_of(const struct shim_work_cursor *cursor)
{
	return cursor->at->buf->mmap->remote;
}

static uint64_t cpu_addr(const struct shim_work_cursor *cursor)
{
	return shim_buf_cpu_addr(cursor->at->buf, cursor->at->addr + cursor->done);
}

/* Copy the next @len bytes of the current segment to @to. */
static int read_segment(struct shim_work *work, uint8_t *to, size_t len)
{
	work->rc = sim_copy(NULL, (uintptr_t)to, remote_of(&work->src), cpu_addr(&work->src), len);
	work->src.done += len;
	return work->rc;
}

bool shim_work_read(struct shim_work *work, const uint8_t **ret_data, size_t *ret_len)
{
	size_t left = left_in_segment(&work->src);

	if (left == 0)
		return false;
	if (doca_likely(!remote_of(&work->src))) {
		*ret_data = (const uint8_t *)(uintptr_t)cpu_addr(&work->src);
		*ret_len = left;
		work->src.done += left;
		return true;
	}
	left = min_size(left, PIECE_BYTES);
	work->rc = ensure_in(work, PIECE_BYTES);
	if (work->rc < 0 || read_segment(work, work->accel->work_memory.in.bytes, left) < 0)
		return false;
	*ret_data = work->accel->work_memory.in.bytes;
	*ret_len = left;
	return true;
}

int shim_work_read_all(struct shim_work *work, const uint8_t **ret_data)
{
	size_t left = left_in_segment(&work->src), at = 0;

	if (doca_likely(left == work->src_bytes && !remote_of(&work->src))) {
		*ret_data = (const uint8_t *)(uintptr_t)cpu_addr(&work->src);
		work->src.done += left;
		return 0;
	}
	work->rc = ensure_in(work, work->src_bytes);
	for (; left > 0 && work->rc == 0; left = left_in_segment(&work->src)) {
		read_segment(work, work->accel->work_memory.in.bytes + at, left);
		at += left;
	}
	*ret_data = work->accel->work_memory.in.bytes;
	return work->rc;
}

bool shim_work_room(struct shim_work *work, uint8_t **ret_room, size_t *ret_len)
{
	size_t left = min_size(left_in_segment(&work->dst), work->limit - work->written);

	if (left == 0)
		return false;
	if (doca_likely(!remote_of(&work->dst))) {
		*ret_room = (uint8_t *)(uintptr_t)cpu_addr(&work->dst);
		*ret_len = left;
		return true;
	}
	work->rc = ensure_out(work, PIECE_BYTES);
	*ret_room = work->accel->work_memory.out.bytes;
	*ret_len = min_size(left, PIECE_BYTES);
	return work->rc == 0;
}

int shim_work_wrote(struct shim_work *work, size_t len)
{
	if (len == 0)
		return 0;
	if (doca_unlikely(remote_of(&work->dst) != NULL))
		work->rc = sim_copy(remote_of(&work->dst), cpu_addr(&work->dst), NULL,
				    (uintptr_t)work->accel->work_memory.out.bytes, len);
	work->dst.done += len;
	work->written += len;
	return work->rc;
}

/* The usual case: the output fits in the segment, which is of local memory. */
static bool append_in_place(struct shim_work *work, const void *data, size_t len)
{
	if (doca_unlikely(work->dst.at == work->dst.end || len > work->dst.at->bytes - work->dst.done ||
			  len > work->limit - work->written || remote_of(&work->dst)))
		return false;
	memcpy((void *)(uintptr_t)cpu_addr(&work->dst), data, len);
	work->dst.done += len;
	work->written += len;
	return true;
}

int shim_work_append(struct shim_work *work, const void *data, size_t len)
{
	const uint8_t *from = data;

	if (doca_likely(append_in_place(work, data, len)))
		return 0;

	for (size_t left; len > 0; from += left, len -= left) {
		left = min_size(min_size(left_in_segment(&work->dst), work->limit - work->written), len);
		if (left == 0)
			return -ENOSPC;
		work->rc = sim_copy(remote_of(&work->dst), cpu_addr(&work->dst), NULL, (uintptr_t)from, left);
		if (work->rc < 0)
			return work->rc;
		work->dst.done += left;
		work->written += left;
	}
	return 0;
}

int shim_work_room_all(struct shim_work *work, size_t max, uint8_t **ret_room, size_t *ret_len)
{
	*ret_len = min_size(work->dst_bytes, max);
	work->rc = ensure_out(work, *ret_len ? *ret_len : 1);
	*ret_room = work->accel->work_memory.out.bytes;
	return work->rc;
}

int shim_work_wrote_all(struct shim_work *work, size_t len)
{
	return shim_work_append(work, work->accel->work_memory.out.bytes, len);
}

/* ---- blocks ---- */

/* Returns how many of the next @count blocks are one range of local memory: all, or one, or none. */
static size_t blocks_in_range(struct shim_work_cursor *cursor, size_t len, size_t count)
{
	size_t left = left_in_segment(cursor);

	if (left < len || remote_of(cursor))
		return 0;
	return doca_likely(left >= len * count) ? count : 1;
}

static void skip(struct shim_work_cursor *cursor, size_t len)
{
	for (size_t left; len > 0 && (left = left_in_segment(cursor)) > 0; len -= left) {
		left = min_size(left, len);
		cursor->done += left;
	}
}

static void read_bytes(struct shim_work *work, uint8_t *to, size_t len)
{
	for (size_t left; len > 0 && work->rc == 0; to += left, len -= left) {
		left = min_size(left_in_segment(&work->src), len);
		read_segment(work, to, left);
	}
}

int shim_work_read_blocks(struct shim_work *work, size_t len, size_t count, const uint8_t **ret_blocks)
{
	for (size_t i = 0, in_range = 0; i < count && work->rc == 0; i++) {
		if (in_range == 0)
			in_range = blocks_in_range(&work->src, len, count - i);
		if (doca_likely(in_range > 0)) {
			ret_blocks[i] = (const uint8_t *)(uintptr_t)cpu_addr(&work->src);
			work->src.done += len;
			in_range--;
			continue;
		}
		work->rc = ensure_in(work, len * count); /* for all blocks at once: copies stay where they are */
		if (work->rc < 0)
			break;
		ret_blocks[i] = work->accel->work_memory.in.bytes + i * len;
		read_bytes(work, work->accel->work_memory.in.bytes + i * len, len);
	}
	return work->rc;
}

int shim_work_room_blocks(struct shim_work *work, size_t len, size_t count, uint8_t **ret_blocks)
{
	struct shim_work_cursor cursor = work->dst;
	bool is_limited = work->limit - work->written < len * count;

	for (size_t i = 0, in_range = 0; i < count && work->rc == 0; i++) {
		if (in_range == 0 && !is_limited)
			in_range = blocks_in_range(&cursor, len, count - i);
		if (doca_likely(in_range > 0)) {
			ret_blocks[i] = (uint8_t *)(uintptr_t)cpu_addr(&cursor);
			cursor.done += len;
			in_range--;
			continue;
		}
		work->rc = ensure_out(work, len * count);
		if (work->rc == 0)
			ret_blocks[i] = work->accel->work_memory.out.bytes + i * len;
		skip(&cursor, len);
	}
	return work->rc;
}

int shim_work_wrote_blocks(struct shim_work *work, size_t len, size_t count, uint8_t *const *blocks)
{
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0;) {
		size_t in_range = blocks_in_range(&work->dst, len, count - i);

		if (doca_likely(in_range > 0 && cpu_addr(&work->dst) == (uintptr_t)blocks[i])) {
			work->dst.done += in_range * len;
			work->written += in_range * len;
			i += in_range;
		} else {
			rc = shim_work_append(work, blocks[i++], len);
		}
	}
	return rc;
}

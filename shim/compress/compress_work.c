/* SPDX-License-Identifier: BSD-3-Clause */
/* The work of compress tasks: the codecs take one range of memory and give another one. */
#include "compress_work.h"

#include <byteswap.h>
#include <errno.h>

#include "lz4.h"

/* A task's source, and the room of its destination. */
struct ranges {
	const uint8_t *src;
	uint8_t *dst;
	size_t src_bytes, room;
	bool is_cut; /* the room is larger than what a task may write */
};

static int get_ranges(struct shim_work *work, struct ranges *ret_ranges)
{
	size_t max = shim_accel_task_conf(&work->task->base.task)->caps.max_buf_bytes;
	int rc = shim_work_read_all(work, &ret_ranges->src);

	ret_ranges->src_bytes = work->src_bytes;
	ret_ranges->is_cut = work->dst_bytes > max;
	return rc == 0 ? shim_work_room_all(work, max, &ret_ranges->dst, &ret_ranges->room) : rc;
}

static struct compress_task *task_of(const struct shim_work *work)
{
	return (struct compress_task *)work->task;
}

static struct compress_codecs *codecs_of(const struct shim_work *work)
{
	return &((struct doca_compress *)work->accel)->codecs;
}

/* The codec returned @rc: end the work, whose output is @written bytes. */
static int end_work(struct shim_work *work, const struct ranges *ranges, int rc, size_t written)
{
	if (rc == 0)
		return shim_work_wrote_all(work, written);
	return rc == -ENOSPC && ranges->is_cut ? -EFBIG : rc;
}

/* Write the whole output, or nothing of it. */
static int write_output(struct shim_work *work, const struct compress_stream *stream)
{
	if (stream->len > work->dst_bytes)
		return -ENOSPC;
	if (stream->len > shim_accel_task_conf(&work->task->base.task)->caps.max_buf_bytes)
		return -EFBIG;
	return shim_work_append(work, stream->bytes, stream->len);
}

int compress_work_deflate(struct shim_work *work)
{
	struct compress_task *task = task_of(work);
	const struct compress_stream *stream;
	const uint8_t *src;
	int rc = shim_work_read_all(work, &src);

	if (rc < 0)
		return rc;
	task->crc = compress_crc32(src, work->src_bytes);
	task->adler = compress_adler32(src, work->src_bytes);
	rc = compress_deflate(codecs_of(work), src, work->src_bytes, &stream);
	return rc < 0 ? rc : write_output(work, stream);
}

int compress_work_inflate(struct shim_work *work)
{
	struct compress_task *task = task_of(work);
	size_t written = 0;
	struct ranges ranges;
	int rc = get_ranges(work, &ranges);

	if (rc < 0)
		return rc;
	rc = compress_inflate(codecs_of(work), ranges.src, ranges.src_bytes, ranges.dst, ranges.room, &written);
	task->crc = compress_crc32(ranges.dst, written);
	task->adler = compress_adler32(ranges.dst, written);
	return end_work(work, &ranges, rc, written);
}

/* The vendor's sample compares the getter's value with the bytes of a frame read as big-endian. */
static uint32_t xxh_as_reported(const uint8_t *data, size_t len)
{
	return bswap_32(compress_xxh32(data, len));
}

int compress_work_lz4_stream(struct shim_work *work)
{
	struct compress_task *task = task_of(work);
	size_t written = 0;
	struct ranges ranges;
	int rc = get_ranges(work, &ranges);

	if (rc < 0)
		return rc;
	rc = compress_lz4_stream(ranges.src, ranges.src_bytes, task->has_block_checksum, task->are_blocks_independent,
				 ranges.dst, ranges.room, &written);
	task->crc = compress_crc32(ranges.dst, written);
	task->xxh = xxh_as_reported(ranges.dst, written);
	return end_work(work, &ranges, rc, written);
}

int compress_work_lz4_block(struct shim_work *work)
{
	struct compress_task *task = task_of(work);
	size_t written = 0;
	struct ranges ranges;
	int rc = get_ranges(work, &ranges);

	if (rc < 0)
		return rc;
	rc = compress_lz4_block(ranges.src, ranges.src_bytes, ranges.dst, ranges.room, &written);
	task->crc = compress_crc32(ranges.dst, written);
	task->xxh = xxh_as_reported(ranges.dst, written);
	return end_work(work, &ranges, rc, written);
}

int compress_work_lz4(struct shim_work *work)
{
	struct compress_task *task = task_of(work);
	size_t written = 0;
	struct ranges ranges;
	int rc = get_ranges(work, &ranges);

	if (rc < 0)
		return rc;
	rc = compress_lz4_stream(ranges.src, ranges.src_bytes, false, true, ranges.dst, ranges.room, &written);
	task->crc = compress_crc32(ranges.dst, written);
	task->adler = compress_adler32(ranges.dst, written);
	return end_work(work, &ranges, rc, written);
}

void compress_spoil(struct shim_accel_task *accel_task)
{
	struct compress_task *task = (struct compress_task *)accel_task;

	task->crc ^= 1;
	task->adler ^= 1;
	task->xxh ^= 1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/accel/work.h - the bytes of a task while its job runs: what the function of a library reads and writes.
 *
 *   in pieces       while (shim_work_read(work, &data, &len)) ...        the source, piece by piece
 *                   shim_work_room(work, &room, &len); ...               the next room of the destination
 *                   shim_work_wrote(work, len)                           so much of it was written
 *   all at once     shim_work_read_all(), shim_work_room_all(), shim_work_wrote_all(): for libraries that want one
 *                   range of memory
 *   in blocks       shim_work_read_blocks(), shim_work_room_blocks(), shim_work_wrote_blocks(): blocks of one size, where they
 *                   are if they lie in one segment of local memory
 *   small output    shim_work_append()
 *
 * Local memory is accessed where it is. Memory of another process is copied (sim_copy()), as is a list when one range
 * is wanted. An output never leaves the room of the destination. A read or a write that fails makes the task
 * fail: the functions return false or -errno, and have logged it.
 */
#ifndef SHIM_WORK_H
#define SHIM_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "segments.h"

struct shim_accel;
struct shim_accel_task;

/* Memory that grows with the needs of the jobs of a context. */
struct shim_work_memory {
	struct {
		uint8_t *bytes;
		size_t capacity;
	} in, out;
};

/* A position in a list: @done bytes of the segment @at are done. */
struct shim_work_cursor {
	const struct shim_segment *at, *end;
	size_t done;
};

struct shim_work {
	struct shim_accel *accel;
	struct shim_accel_task *task;
	struct shim_work_cursor src, dst;
	uint64_t src_bytes, dst_bytes; /* of the whole lists: data, room */
	uint64_t limit;                /* of the output, besides the room; a fault sets it */
	uint64_t written;
	int rc; /* of the first read or write that failed */
};

/* Get the next piece of the source. Returns false at its end, or with @work->rc set. */
SHIM_INTERNAL_API bool shim_work_read(struct shim_work *work, const uint8_t **ret_data, size_t *ret_len);

/* Get the whole source as one range of work->src_bytes bytes. 0 or -errno. */
SHIM_INTERNAL_API int shim_work_read_all(struct shim_work *work, const uint8_t **ret_data);

/* Get the next room of the destination. Returns false if there is none left, or with @work->rc set. */
SHIM_INTERNAL_API bool shim_work_room(struct shim_work *work, uint8_t **ret_room, size_t *ret_len);

/* @len bytes of the room were written. 0 or -errno. */
SHIM_INTERNAL_API int shim_work_wrote(struct shim_work *work, size_t len);

/* Get a range as large as the destination's room, but @max bytes at most. It is a copy, since libraries that want one range
 * may write behind their output, and a card does not. 0 or -errno. */
SHIM_INTERNAL_API int shim_work_room_all(struct shim_work *work, size_t max, uint8_t **ret_room, size_t *ret_len);

/* Write the first @len bytes of that range to the destination. 0 or -errno. */
SHIM_INTERNAL_API int shim_work_wrote_all(struct shim_work *work, size_t len);

/* Get the next @count blocks of @len bytes of the source, which has them: in place, or as copies. 0 or -errno. */
SHIM_INTERNAL_API int shim_work_read_blocks(struct shim_work *work, size_t len, size_t count,
					    const uint8_t **ret_blocks);

/* Get room for @count blocks of output: in place, or memory. Blocks that the destination has no room for are memory. 0 or
 * -errno. */
SHIM_INTERNAL_API int shim_work_room_blocks(struct shim_work *work, size_t len, size_t count, uint8_t **ret_blocks);

/* Those blocks were written. 0 or -errno: -ENOSPC as of shim_work_append(). */
SHIM_INTERNAL_API int shim_work_wrote_blocks(struct shim_work *work, size_t len, size_t count, uint8_t *const *blocks);

/* Write bytes to the destination. 0 or -errno: -ENOSPC if it has too little room, with as much written as fits. */
SHIM_INTERNAL_API int shim_work_append(struct shim_work *work, const void *data, size_t len);

/* Begin the work of a task whose segments are accessible. */
void shim_work_init(struct shim_work *work, struct shim_accel_task *task, uint64_t limit);

void shim_work_memory_free(struct shim_work_memory *memory);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/pe/task_snapshot.h - addresses and lengths of a task's buffers as they were at its submission.
 *
 * A pair, one buffer to one buffer, has them here; the segments of lists are elsewhere (accel/segments.h).
 */
#ifndef SHIM_TASK_SNAPSHOT_H
#define SHIM_TASK_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shim_lists;

struct shim_snapshot {
	uint64_t bytes;          /* of the source's data */
	const uint8_t *src_addr; /* of a pair; NULL = the task has lists, or a problem */
	union {
		const uint8_t *dst_addr; /* of a pair */
		const char *problem;     /* else: why the task will fail; NULL = it has @lists */
	};
	struct shim_lists *lists; /* stays with the task; NULL = none were needed yet */
};

static inline bool shim_snapshot_is_pair(const struct shim_snapshot *snapshot)
{
	return snapshot->src_addr != NULL;
}

#endif

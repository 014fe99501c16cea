/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/shm/segment.h - memory that two processes share, for queues.
 *
 * One process creates it and passes its descriptor to the other, which maps it.
 * A segment can't shrink (its seals are checked), so that no access to it faults.
 * The other process is not trusted: it may change any byte at any time. A reader
 * copies first and checks the copy.
 */
#ifndef SIM_SHM_SEGMENT_H
#define SIM_SHM_SEGMENT_H

#include <stddef.h>

struct sim_segment {
	void *base; /* NULL = none */
	size_t len_bytes;
};

/* Create a segment of @len zero bytes. The caller passes *ret_fd on and closes it. Returns 0 or -errno. */
int sim_segment_create(size_t len, struct sim_segment *ret_segment, int *ret_fd);

/* Map another process's segment; @fd stays the caller's. Returns 0, -EPROTO (@fd is not a sealed
 * segment of at least @min_len bytes) or -errno. */
int sim_segment_map(int fd, size_t min_len, struct sim_segment *ret_segment);

/* Unmap the segment, if there is one. */
void sim_segment_unmap(struct sim_segment *segment);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/shm/segment.h - memory that two processes share, to put queues in.
 *
 * One process creates it and passes its descriptor to the other, which maps it.
 * It can never shrink (its seals are checked), so that no access to it faults.
 * What is in it may change at any time and in any way: the other process is not
 * trusted. Whoever reads from it copies first and checks the copy.
 */
#ifndef SIM_SHM_SEGMENT_H
#define SIM_SHM_SEGMENT_H

#include <stddef.h>

struct sim_segment {
	void *base; /* NULL = none */
	size_t len_bytes;
};

/* Create one of @len zero bytes. *ret_fd is the caller's, and of no use to us once
 * it is passed on. Returns 0 or -errno. */
int sim_segment_create(size_t len, struct sim_segment *ret_segment, int *ret_fd);

/* Map another process's; @fd stays the caller's. Returns 0, -EPROTO (it is no such
 * segment of at least @min_len bytes) or -errno. */
int sim_segment_map(int fd, size_t min_len, struct sim_segment *ret_segment);

/* Unmap it; nothing happens when there is none. */
void sim_segment_unmap(struct sim_segment *segment);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/self_maps.h - the mappings of this process, as /proc/self/maps lists them, for signal handlers: no allocation,
 * no lock, no C library but for system calls. A list that changes while it is read is read in part before the change and
 * in part behind it. One thread at a time uses a reader.
 */
#ifndef SIM_SELF_MAPS_H
#define SIM_SELF_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_vma {
	uintptr_t begin, end;
	int prot;        /* PROT_... */
	uint64_t offset; /* in the file */
};

struct sim_self_maps {
	int fd;
	size_t at, end; /* of the unread text */
	char text[1024];
};

/* Returns false without /proc. */
bool sim_self_maps_open(struct sim_self_maps *maps);

/* The next mapping, in the order of addresses. Returns false at the end. */
bool sim_self_maps_next(struct sim_self_maps *maps, struct sim_vma *ret_vma);

void sim_self_maps_close(struct sim_self_maps *maps);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/memory/heap.h - the heap of one DPA context: a reserved range of the process's addresses, and a table of its blocks.
 *
 *   |<------------------------------ reserved, pages on first use ------------------------------>|
 *   [ block 0 ][gap][ block 1 ][gap]          free          [ block 2 ][gap]          free
 *
 * Blocks begin at multiples of 64 bytes; behind each there is a gap of 64 bytes or more, so that an access behind the last byte of
 * a block is in no block. Heap addresses are addresses of the process: kernels use them as pointers, while the host's programs
 * copy. Any thread may call.
 */
#ifndef SIM_DPA_HEAP_H
#define SIM_DPA_HEAP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/dpa/image/port.h"

struct sim_dpa_block {
	uintptr_t begin, end; /* as the program asked for it */
};

struct sim_dpa_heap {
	pthread_mutex_t lock;
	uintptr_t begin, end;
	uintptr_t high;               /* of all blocks that there were */
	struct sim_dpa_block *blocks; /* by address */
	size_t num_blocks, max_blocks;
	uint64_t used_bytes;
};

/* Reserve @bytes of addresses. Returns 0 or -ENOMEM. */
int sim_dpa_heap_init(struct sim_dpa_heap *heap, uint64_t bytes);

/* A zeroed heap is fine. Blocks that the program did not free are gone. */
void sim_dpa_heap_fini(struct sim_dpa_heap *heap);

/* Returns 0 or -ENOMEM. */
int sim_dpa_heap_alloc(struct sim_dpa_heap *heap, uint64_t bytes, uint64_t *ret_addr);

/* @addr is the first byte of a block. Returns 0 or -ENOENT. */
int sim_dpa_heap_free(struct sim_dpa_heap *heap, uint64_t addr);

/* The block in which the range lies. Returns false if there is none. */
bool sim_dpa_heap_find(struct sim_dpa_heap *heap, uint64_t addr, uint64_t bytes, struct sim_dpa_range *ret_range);

#endif

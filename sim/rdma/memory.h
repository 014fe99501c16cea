/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/rdma/memory.h - accesses of queue pairs to memory: of this process, and of peers.
 *
 * Local memory is a list of segments. Memory that the program has taken away fails the access with -EIO (memory_guard.h).
 * Of a peer's memory, the import checks bounds (-EFAULT) and rights (-EACCES); revoked memory is -EIO. On a failure some
 * of the bytes may have moved.
 */
#ifndef SIM_RDMA_MEMORY_H
#define SIM_RDMA_MEMORY_H

#include "receive_pool.h"
#include "sim/fabric/remote.h"

/* Copy @len bytes between byte @at of the segments and a buffer. Returns 0 or -errno. */
int sim_rdma_gather(const struct sim_rdma_segment *segments, uint32_t num_segments, uint64_t at, void *to, size_t len);
int sim_rdma_scatter(const struct sim_rdma_segment *segments, uint32_t num_segments, uint64_t at, const void *from,
		     size_t len);

/* Where @len bytes from byte @at of the segments on are, if that is one place in this process; else NULL. */
const void *sim_rdma_find(const struct sim_rdma_segment *segments, uint32_t num_segments, uint64_t at, size_t len);

/* Log that memory of a task is gone. Returns -EIO. */
int sim_rdma_fail_lost(void);

/* Copy @bytes from the segments to @addr of the peer's memory, or back. Returns 0 or -errno. */
int sim_rdma_write(const struct sim_rdma_segment *segments, uint32_t num_segments, struct sim_remote *remote,
		   uint64_t addr, uint64_t bytes);
int sim_rdma_read(const struct sim_rdma_segment *segments, uint32_t num_segments, struct sim_remote *remote,
		  uint64_t addr, uint64_t bytes);

struct sim_rdma_atomic {
	bool is_swap;     /* compare and swap; else add */
	uint64_t compare; /* of a swap */
	uint64_t operand; /* the new value of a swap, or what is added */
};

struct sim_clock_lock;

/* Do an atomic operation on the 8 bytes at @addr of the peer's memory: atomic among those of all processes that take @lock.
 * Returns 0, -EINVAL (not aligned) or -errno. */
int sim_rdma_do_atomic(struct sim_clock_lock *lock, struct sim_remote *remote, uint64_t addr,
		       const struct sim_rdma_atomic *atomic, uint64_t *ret_before);

#endif

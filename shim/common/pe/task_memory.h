/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/pe/task_memory.h - memory of tasks and sync events that is gone when it is accessed.
 *
 * A card's engine works on pages that the registration pinned. Here the memory is the program's: a task whose memory was
 * unmapped or truncated fails, and one whose memory was protected goes on (sim/base/memory_guard.h).
 */
#ifndef SHIM_TASK_MEMORY_H
#define SHIM_TASK_MEMORY_H

#include "sim/base/memory_guard.h"
#include "task_priv.h"

struct doca_buf;
struct doca_mmap;
struct sim_remote;

/* A range of memory that a task, or a sync event, accesses. */
struct shim_memory {
	const char *role;             /* "source", "destination", ... */
	const struct doca_mmap *mmap; /* NULL = none */
	uint64_t addr;                /* as the program knows it */
	uint64_t cpu_addr;            /* in this process */
	size_t len_bytes;
	struct sim_mapping
		*mapping; /* the address is in this mapping of another process's memory; NULL = the program's */
};

/* Of the jobs of a context's queue. */
extern SHIM_INTERNAL_API const struct sim_queue_memory shim_task_queue_memory;

/* Returns whether @addr is in @bytes at @data of the buffer, and sets *ret_memory. In a signal handler. */
SHIM_INTERNAL_API bool shim_memory_find(const struct doca_buf *buf, const uint8_t *data, size_t bytes, const char *role,
					uintptr_t addr, struct shim_memory *ret_memory);

/* The same for ret_memory->len_bytes at ret_memory->addr of @remote: in a mapping, or in place. */
SHIM_INTERNAL_API bool shim_memory_find_remote(struct sim_remote *remote, uintptr_t addr,
					       struct shim_memory *ret_memory);

/* Log what an access met, for @who, and tell the checker. */
SHIM_INTERNAL_API void shim_memory_report(const char *who, const struct doca_task *task,
					  const struct shim_memory *memory, const struct sim_guard *guard);

/* The same behind a guard of one range that is lost: settle it, too. */
SHIM_INTERNAL_API void shim_memory_report_range(const char *who, const struct doca_task *task,
						const struct shim_memory *memory, struct sim_range_guard *range);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/process/task_count.h - how many tasks in flight use an object. In a forked child they are the parent's, and none uses
 * the child's copy. Any thread may use a count. */
#ifndef SHIM_TASK_COUNT_H
#define SHIM_TASK_COUNT_H

#include <stdatomic.h>

#include "runtime.h"

/* The generation of the process (shim_fork_generation) in the upper half, and the number in the lower one. All zeros: none. */
struct shim_task_count {
	_Atomic uint64_t word;
};

static inline uint32_t shim_task_count_get(const struct shim_task_count *count)
{
	uint64_t word = atomic_load(&count->word);

	return word >> 32 == shim_fork_generation ? (uint32_t)word : 0;
}

static inline void shim_task_count_begin(struct shim_task_count *count)
{
	uint64_t own = (uint64_t)shim_fork_generation << 32, word = atomic_load(&count->word);

	while (!atomic_compare_exchange_weak(&count->word, &word, (word >= own ? word : own) + 1))
		;
}

/* Of a task that this process has begun, or its parent before the fork. */
static inline void shim_task_count_end(struct shim_task_count *count)
{
	if (shim_task_count_get(count) > 0)
		atomic_fetch_sub(&count->word, 1);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/race/race_pool.h - memory of the detectors for a task in flight: blocks that are used again, the last first, so
 * that they are in the cache. Sanitizers and valgrind get blocks of malloc(), which they know. */
#ifndef SHIM_CHECK_RACE_POOL_H
#define SHIM_CHECK_RACE_POOL_H

#include <stdbool.h>
#include <stddef.h>

/* Before threads start; @is_used: no sanitizer watches. */
void race_pool_start(bool is_used);

/* Returns a block, which is not cleared, or NULL. Any thread may free it. */
void *race_pool_alloc(size_t bytes);

/* NULL is fine. */
void race_pool_free(void *block);

/* In a forked child: a thread of the parent may have held the lock. */
void race_pool_forked(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/mem/dma_rules.h - the rules that look at a memcpy task when it is posted.
 *
 * dma_submit.c calls them for each task that a quick look at the task did not clear. Each rule has a file of its own.
 */
#ifndef SHIM_CHECK_DMA_RULES_H
#define SHIM_CHECK_DMA_RULES_H

#include <pcie_model/profile.h>

#include "shim/check/base/check.h"
#include "shim/check/report/hit.h"
#include "shim/dma/dma_priv.h"

/* Begin a hit in the public function that this thread is in. */
#define CHECK_HIT_HERE(rule, ...)                                                            \
	(check_watched_call() ? check_hit_begin((rule), check_watched_call(), __VA_ARGS__) : \
				check_hit_begin_at((rule), NULL, __VA_ARGS__))

/* dma_report.c: the name of the public function that this thread is in, or @otherwise while the hooks rest. */
const char *check_current_name(const char *otherwise);

/* dma_report.c: add the task's context, and the maps of its first source and its first destination, as objects. */
void check_memcpy_add_objects(struct check_hit *hit, const struct shim_buf_task *memcpy);

/* dma_sizes.c: empty sources, full destinations, and the device's limits. */
void check_dma_sizes(const struct shim_buf_task *memcpy);

/* dma_access.c: what the maps of the buffers permit, and to which devices. */
void check_dma_access(const struct shim_buf_task *memcpy);

/* dma_overlap.c: source and destination have bytes in common. */
void check_dma_overlap(const struct shim_buf_task *memcpy);

/* dma_defined.c: under valgrind, source bytes that the program never wrote. */
void check_dma_defined(const struct shim_buf_task *memcpy);

/* dma_defined.c: whether check_dma_defined() can tell. */
bool check_dma_knows_defined(void);

#endif

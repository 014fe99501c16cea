/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/dma_core.h - memcpy jobs as tasks, by the shortest way.
 *
 * dma_core.c is compiled with the core, and may look into its tasks. What it does
 * could be said with core_dma_task_memcpy_alloc_init(), core_task_submit() and
 * core_task_free(), at a third more time for a small job.
 */
#ifndef SHIM_WORKQ_DMA_CORE_H
#define SHIM_WORKQ_DMA_CORE_H

#include <doca_error.h>
#include <doca_types.h>
#include <stdbool.h>

struct doca_buf;
struct doca_dma;

/* Have the core's context, which is idle, take @depth jobs at once, or as many as its device can.
 * Destinations with too little room behind their data are written anew: in programs of 1.5
 * the data is the place to write to. */
doca_error_t workq_dma_configure(struct doca_dma *core, uint32_t depth);

/* Make and submit a task. NO_MEMORY when all are in flight, BAD_STATE unless the context runs,
 * INVALID_VALUE for what are no buffers. */
doca_error_t workq_dma_submit_memcpy(struct doca_dma *core, const struct doca_buf *src, struct doca_buf *dst,
				     union doca_data user_data);

/* dma.c: a job ended; @ctx_data is the core's context's. */
void workq_dma_ended(union doca_data ctx_data, union doca_data user_data, doca_error_t status);

#endif

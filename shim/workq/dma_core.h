/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/dma_core.h - memcpy jobs as tasks, by the shortest way.
 *
 * dma_core.c is compiled with the core, and may look into its tasks. What it does
 * could be said with core_dma_task_memcpy_alloc_init(), core_task_submit() and
 * core_task_free(), at a third more time for a small job: here a task that has
 * ended is kept for the next job, until the core's context stops.
 */
#ifndef SHIM_WORKQ_DMA_CORE_H
#define SHIM_WORKQ_DMA_CORE_H

#include <doca_error.h>
#include <doca_types.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/common/base/object.h"

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct workq_attachment;
struct workq_dma_core;

/* A context of the core's for @depth jobs at once, or as many as the device can; idle. Destinations
 * with too little room behind their data are written anew: in programs of 1.5 the data is
 * the place to write to. Ends are reported as of @job_type. */
doca_error_t workq_dma_core_create(struct doca_dev *dev, uint32_t depth, struct workq_attachment *attachment,
				   int job_type, struct workq_dma_core **ret_core);

/* The context is idle. NULL is fine. */
void workq_dma_core_destroy(struct workq_dma_core *core);

struct doca_ctx *workq_dma_core_as_ctx(struct workq_dma_core *core);

/* Make and submit a task. NO_MEMORY when all are in flight, BAD_STATE unless the context runs,
 * INVALID_VALUE for what are no buffers. */
doca_error_t workq_dma_core_submit(struct workq_dma_core *core, const struct doca_buf *src, struct doca_buf *dst,
				   union doca_data user_data);

/* As in ctx_priv.h, whose other contents are of this generation's types. */
SHIM_INTERNAL_API void shim_workq_complete(struct workq_attachment *attachment, int type, union doca_data user_data,
					   union doca_data result, bool failed);

#endif

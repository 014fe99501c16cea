/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/dma_core.h - memcpy jobs as tasks of the core.
 *
 * dma_core.c is compiled with the core and accesses its task structures. The public
 * calls core_dma_task_memcpy_alloc_init(), core_task_submit() and core_task_free()
 * would take a third more time for a small job. Here a completed task is kept for
 * the next job until the context of the core stops.
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

/* Create an idle context of the core for @depth jobs in flight, or for the maximum of the device if that is
 * less. It grows up to that maximum. A job overwrites the data of a destination that has too little room behind it: in programs of 1.5
 * the data is the place to write to. Completions carry @job_type. */
doca_error_t workq_dma_core_create(struct doca_dev *dev, uint32_t depth, struct workq_attachment *attachment,
				   int job_type, struct workq_dma_core **ret_core);

/* Destroy an idle context. NULL is fine. */
void workq_dma_core_destroy(struct workq_dma_core *core);

struct doca_ctx *workq_dma_core_as_ctx(struct workq_dma_core *core);

/* Submit a task. NO_MEMORY if as many are in flight as the device allows, BAD_STATE unless the context runs, INVALID_VALUE
 * if @src or @dst is no live buffer. */
doca_error_t workq_dma_core_submit(struct workq_dma_core *core, const struct doca_buf *src, struct doca_buf *dst,
				   union doca_data user_data);

/* As in ctx_priv.h, which the core can't include: it needs the headers of the work-queue generation. */
SHIM_INTERNAL_API void shim_workq_complete(struct workq_attachment *attachment, int type, union doca_data user_data,
					   union doca_data result, bool failed);

#endif

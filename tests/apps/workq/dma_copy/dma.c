/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies are jobs of a work queue. */
#include "dma.h"

#include <stdbool.h>
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_log.h>

#include "failure.h"
#include "engine_pollers.h"
#include "loop.h"

DOCA_LOG_REGISTER(DMA_COPY::DMA);

#define TIMEOUT_S 5.0

struct dma {
	struct dma_cfg cfg;
	struct doca_workq *workq;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	bool has_dev, is_started, is_queued; /* the context */
	uint32_t num_copies;                 /* under way */
};

/* --- Copies --- */

doca_error_t dma_copy(struct dma *dma, struct doca_buf *from, struct doca_buf *to, void *copy)
{
	const struct doca_dma_job_memcpy job = {
		.base = {
			.type = DOCA_DMA_JOB_MEMCPY,
			.flags = DOCA_JOB_FLAGS_NONE,
			.ctx = dma->ctx,
			.user_data = {.ptr = copy},
		},
		.dst_buff = to,
		.src_buff = from,
	};
	doca_error_t result = doca_workq_submit(dma->workq, &job.base);

	if (result == DOCA_SUCCESS)
		dma->num_copies++;
	return result;
}

/* A failed job has an event too, with DOCA_ERROR_IO_FAILED. */
static bool retrieve(void *self)
{
	struct dma *dma = self;
	struct doca_event event = { 0 };
	doca_error_t result = doca_workq_progress_retrieve(dma->workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);

	if (result != DOCA_SUCCESS && result != DOCA_ERROR_IO_FAILED)
		return false; /* DOCA_ERROR_AGAIN: not yet */
	dma->num_copies--;
	dma->cfg.on_copied(dma->cfg.arg, event.user_data.ptr, (doca_error_t)event.result.u64);
	return true;
}

/* --- Life --- */

doca_error_t dma_get_max_bytes(struct doca_dev *dev, uint64_t *ret_bytes)
{
	struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	doca_error_t result = doca_dma_job_get_supported(info, DOCA_DMA_JOB_MEMCPY);

	return result == DOCA_SUCCESS ? doca_dma_get_max_buf_size(info, ret_bytes) : result;
}

static doca_error_t start_ctx(struct dma *dma)
{
	doca_error_t result = doca_ctx_dev_add(dma->ctx, dma->cfg.dev);

	dma->has_dev = result == DOCA_SUCCESS;
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(dma->ctx);
	dma->is_started = result == DOCA_SUCCESS;
	if (result == DOCA_SUCCESS)
		result = doca_ctx_workq_add(dma->ctx, dma->workq);
	dma->is_queued = result == DOCA_SUCCESS;
	return result;
}

static doca_error_t start(struct dma *dma)
{
	doca_error_t result = doca_workq_create(dma->cfg.max_copies, &dma->workq);

	if (result == DOCA_SUCCESS)
		result = doca_dma_create(&dma->dma);
	if (result != DOCA_SUCCESS)
		return result;
	dma->ctx = doca_dma_as_ctx(dma->dma);
	result = start_ctx(dma);
	if (result == DOCA_SUCCESS)
		engine_add(dma->cfg.loop->engine, retrieve, dma);
	return result;
}

doca_error_t dma_create(const struct dma_cfg *cfg, struct dma **ret_dma)
{
	struct dma *dma = calloc(1, sizeof(*dma));
	doca_error_t result;

	if (!dma)
		return DOCA_ERROR_NO_MEMORY;
	dma->cfg = *cfg;
	result = start(dma);
	if (result == DOCA_SUCCESS)
		*ret_dma = dma;
	else
		dma_destroy(dma);
	return result;
}

static bool has_no_copies(void *self)
{
	return ((struct dma *)self)->num_copies == 0;
}

static void stop_ctx(struct dma *dma)
{
	if (dma->is_queued)
		check(doca_ctx_workq_rm(dma->ctx, dma->workq), "take the DMA context out of its queue");
	if (dma->is_started)
		check(doca_ctx_stop(dma->ctx), "stop the DMA context");
	if (dma->has_dev)
		check(doca_ctx_dev_rm(dma->ctx, dma->cfg.dev), "take the device from the DMA context");
}

/* Jobs cannot be cancelled: wait for them. */
void dma_destroy(struct dma *dma)
{
	if (!dma)
		return;
	if (!loop_settle(dma->cfg.loop, TIMEOUT_S, has_no_copies, dma))
		DOCA_LOG_WARN("%u DMA jobs don't end; they are left as they are", dma->num_copies);
	engine_remove(dma->cfg.loop->engine, dma);
	if (dma->dma) {
		stop_ctx(dma);
		check(doca_dma_destroy(dma->dma), "destroy the DMA context");
	}
	if (dma->workq)
		check(doca_workq_destroy(dma->workq), "destroy the work queue");
	free(dma);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* DMA copies by tasks of a doca_dma context. */
#include "dma.h"

#include <stdbool.h>
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_log.h>
#include <doca_pe.h>

#include "failure.h"
#include "engine_pe.h"
#include "loop.h"

DOCA_LOG_REGISTER(DMA_COPY::DMA);

#define TIMEOUT_S 5.0

struct dma {
	struct dma_cfg cfg;
	struct doca_dma *dma;
};

/* --- Copies --- */

static void on_ended(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	struct dma *dma = ctx_data.ptr;
	doca_error_t status = doca_task_get_status(doca_dma_task_memcpy_as_task(task));

	doca_task_free(doca_dma_task_memcpy_as_task(task));
	dma->cfg.on_copied(dma->cfg.arg, task_data.ptr, status);
}

doca_error_t dma_copy(struct dma *dma, struct doca_buf *from, struct doca_buf *to, void *copy)
{
	struct doca_dma_task_memcpy *task;
	doca_error_t result =
		doca_dma_task_memcpy_alloc_init(dma->dma, from, to, (union doca_data){ .ptr = copy }, &task);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_task_submit(doca_dma_task_memcpy_as_task(task));
	if (result != DOCA_SUCCESS)
		doca_task_free(doca_dma_task_memcpy_as_task(task));
	return result;
}

/* --- Life --- */

doca_error_t dma_get_max_bytes(struct doca_dev *dev, uint64_t *ret_bytes)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	doca_error_t result = doca_dma_cap_task_memcpy_is_supported(info);

	return result == DOCA_SUCCESS ? doca_dma_cap_task_memcpy_get_max_buf_size(info, ret_bytes) : result;
}

static doca_error_t start(struct dma *dma)
{
	doca_error_t result = doca_dma_create(dma->cfg.dev, &dma->dma);
	struct doca_ctx *ctx;

	if (result != DOCA_SUCCESS)
		return result;
	ctx = doca_dma_as_ctx(dma->dma);
	result = doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = dma });
	if (result == DOCA_SUCCESS)
		result = doca_dma_task_memcpy_set_conf(dma->dma, on_ended, on_ended, dma->cfg.max_copies);
	if (result == DOCA_SUCCESS)
		result = doca_pe_connect_ctx(engine_pe(dma->cfg.loop->engine), ctx);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(ctx);
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

static bool is_idle(void *arg)
{
	enum doca_ctx_states state;

	return doca_ctx_get_state(arg, &state) == DOCA_SUCCESS && state == DOCA_CTX_STATE_IDLE;
}

/* A context with a failed task already stops. */
static void stop(struct dma *dma)
{
	struct doca_ctx *ctx = doca_dma_as_ctx(dma->dma);

	if (!is_idle(ctx))
		doca_ctx_stop(ctx);
	if (!loop_settle(dma->cfg.loop, TIMEOUT_S, is_idle, ctx))
		DOCA_LOG_WARN("The DMA context doesn't stop; it is left as it is");
}

void dma_destroy(struct dma *dma)
{
	if (!dma)
		return;
	if (dma->dma) {
		stop(dma);
		check(doca_dma_destroy(dma->dma), "destroy the DMA context");
	}
	free(dma);
}

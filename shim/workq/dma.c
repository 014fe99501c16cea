/* SPDX-License-Identifier: BSD-3-Clause */
/* libdoca_dma: memcpy jobs, which the core executes as memcpy tasks. */
#include <doca_dma.h>

#include "ctx_priv.h"
#include "dma_core.h"
#include "shim/common/base/check.h"

struct doca_dma {
	struct workq_ctx ctx; /* first */
};

static bool dma_supports(const struct doca_devinfo *devinfo)
{
	return core_dma_cap_task_memcpy_is_supported(devinfo) == DOCA_SUCCESS;
}

static doca_error_t dma_create_core(struct workq_attachment *attachment, uint32_t depth)
{
	struct workq_dma_core *core;
	doca_error_t result =
		workq_dma_core_create(attachment->ctx->dev, depth, attachment, DOCA_DMA_JOB_MEMCPY, &core);

	if (result != DOCA_SUCCESS)
		return result;
	attachment->priv = core;
	attachment->core_ctx = workq_dma_core_as_ctx(core);
	return DOCA_SUCCESS;
}

static void dma_destroy_core(struct workq_attachment *attachment)
{
	workq_dma_core_destroy(attachment->priv);
}

static doca_error_t dma_submit(struct workq_attachment *attachment, const struct doca_job *job)
{
	const struct doca_dma_job_memcpy *memcpy_job = (const struct doca_dma_job_memcpy *)job;

	if (doca_likely(job->type == DOCA_DMA_JOB_MEMCPY))
		return workq_dma_core_submit(attachment->priv, memcpy_job->src_buff, memcpy_job->dst_buff,
					     job->user_data);
	sim_err("doca_workq_submit: %d is no job of libdoca_dma; DOCA_DMA_JOB_MEMCPY is", job->type);
	return DOCA_ERROR_INVALID_VALUE;
}

static const struct workq_ctx_ops dma_ops = {
	.name = "DMA",
	.exceeds_depth = true,
	.supports = dma_supports,
	.start = shim_workq_start_with_dev,
	.stop = shim_workq_stop_nothing,
	.create_core = dma_create_core,
	.destroy_core = dma_destroy_core,
	.submit = dma_submit,
};

doca_error_t doca_dma_create(struct doca_dma **dma)
{
	struct doca_dma *created;

	SHIM_NEED_OUT(dma);
	created = shim_object_new(SHIM_WORKQ_DMA, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	shim_workq_ctx_init(&created->ctx, &dma_ops);
	*dma = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_dma_destroy(struct doca_dma *dma)
{
	doca_error_t result;

	SHIM_NEED(dma, SHIM_WORKQ_DMA);
	result = shim_workq_ctx_fini(__func__, &dma->ctx);
	if (result == DOCA_SUCCESS)
		shim_object_free(dma, SHIM_WORKQ_DMA);
	return result;
}

struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma)
{
	return shim_handle_is(dma, SHIM_WORKQ_DMA) ? (struct doca_ctx *)dma : NULL;
}

doca_error_t doca_dma_job_get_supported(struct doca_devinfo *devinfo, enum doca_dma_job_types job_type)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	if (job_type != DOCA_DMA_JOB_MEMCPY)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%d is no job of libdoca_dma", (int)job_type);
	return core_dma_cap_task_memcpy_is_supported(devinfo);
}

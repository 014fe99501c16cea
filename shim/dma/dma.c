/* SPDX-License-Identifier: BSD-3-Clause */
/* The DMA context: life, configuration, capabilities. */
#include "dma_priv.h"
#include "shim/common/base/check.h"

static const struct shim_task_type memcpy_type = {
	.name = SIM_TASK_DMA_MEMCPY,
	.size = sizeof(struct doca_dma_task_memcpy),
	.check = shim_dma_memcpy_check,
	.validate = shim_dma_memcpy_validate,
	.post = shim_task_post_job,
	.run = shim_dma_memcpy_run,
	.get_pcie_job = shim_dma_memcpy_get_pcie_job,
	.apply = shim_dma_memcpy_apply,
	.complete = shim_dma_memcpy_complete,
	.fault_ops = &shim_dma_memcpy_fault_ops,
};

static doca_error_t dma_start(struct doca_ctx *ctx)
{
	struct doca_dma *dma = (struct doca_dma *)ctx;
	doca_error_t result;

	if (!shim_dev_function(ctx->dev)->caps.dma_memcpy) {
		sim_err("doca_ctx_start: device %s has no DMA engine", shim_dev_function(ctx->dev)->ibdev);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	if (dma->num_memcpy_tasks == 0) {
		sim_err("doca_ctx_start: no task type is configured; call doca_dma_task_memcpy_set_conf() first");
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = shim_ctx_open_queue(ctx, dma->num_memcpy_tasks);
	if (result == DOCA_SUCCESS && !dma->completes_in_order)
		sim_queue_set_shuffle(ctx->queue, shim_shuffle_seed());
	if (result == DOCA_SUCCESS)
		result = shim_task_pool_add(ctx, &memcpy_type, dma->num_memcpy_tasks, &dma->memcpy_pool);
	return result;
}

/* The tasks of the pool so far are all allocated; further ones come from another pool. */
doca_error_t shim_dma_grow(struct doca_dma *dma, uint32_t num_tasks)
{
	if (sim_queue_grow(dma->ctx.queue, num_tasks) < 0 ||
	    shim_task_pool_add(&dma->ctx, &memcpy_type, num_tasks - dma->num_memcpy_tasks, &dma->memcpy_pool) !=
		    DOCA_SUCCESS)
		return DOCA_ERROR_NO_MEMORY;
	dma->num_memcpy_tasks = num_tasks;
	return DOCA_SUCCESS;
}

static void dma_stopped(struct doca_ctx *ctx)
{
	struct doca_dma *dma = (struct doca_dma *)ctx;

	dma->memcpy_pool = NULL;
	shim_dma_lists_free(&dma->lists);
}

static const struct shim_ctx_ops dma_ops = {
	.name = "dma",
	.start = dma_start,
	.may_stop = shim_ctx_may_stop_always,
	.begin_stop = shim_ctx_nop,
	.progress = shim_ctx_progress_none,
	.arm = shim_ctx_arm_none,
	.is_drained = shim_ctx_is_drained_always,
	.stopped = dma_stopped,
};

doca_error_t doca_dma_create(struct doca_dev *dev, struct doca_dma **dma)
{
	struct doca_dma *created;

	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(dma);
	created = shim_object_new(SHIM_DMA, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	shim_ctx_init(&created->ctx, &dma_ops, dev);
	*dma = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_dma_destroy(struct doca_dma *dma)
{
	doca_error_t result;

	SHIM_NEED(dma, SHIM_DMA);
	result = shim_ctx_fini(&dma->ctx);
	if (result != DOCA_SUCCESS)
		return result;
	shim_dma_lists_free(&dma->lists); /* of a parent's context that was stopped in a forked child */
	shim_object_free(dma, SHIM_DMA);
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma)
{
	return shim_handle_is(dma, SHIM_DMA) ? &dma->ctx : NULL;
}

doca_error_t doca_dma_cap_task_memcpy_is_supported(const struct doca_devinfo *devinfo)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	return devinfo->function->caps.dma_memcpy ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_dma_cap_task_memcpy_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *buf_size)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(buf_size);
	*buf_size = devinfo->function->caps.dma_max_buf_bytes;
	return DOCA_SUCCESS;
}

doca_error_t doca_dma_cap_task_memcpy_get_max_buf_list_len(const struct doca_devinfo *devinfo,
							   uint32_t *max_buf_list_len)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(max_buf_list_len);
	*max_buf_list_len = devinfo->function->caps.dma_max_list_len;
	return DOCA_SUCCESS;
}

doca_error_t doca_dma_cap_get_max_num_tasks(struct doca_dma *dma, uint32_t *max_num_tasks)
{
	SHIM_NEED(dma, SHIM_DMA);
	SHIM_NEED_OUT(max_num_tasks);
	*max_num_tasks = shim_dev_function(dma->ctx.dev)->caps.dma_max_tasks;
	return DOCA_SUCCESS;
}

doca_error_t doca_dma_get_gpu_handle(struct doca_dma *dma, struct doca_gpu_dma **gpu_dma)
{
	SHIM_NEED(dma, SHIM_DMA);
	SHIM_NEED_OUT(gpu_dma);
	/* doca_ctx_set_datapath_on_gpu() always fails here, so no context has a GPU handle. */
	return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,
			   "the context's data path is not on a GPU, which bfsim does not simulate (yet)");
}

doca_error_t doca_dma_task_memcpy_set_conf(struct doca_dma *dma,
					   doca_dma_task_memcpy_completion_cb_t task_completion_cb,
					   doca_dma_task_memcpy_completion_cb_t task_error_cb,
					   uint32_t num_memcpy_tasks)
{
	uint32_t max;

	SHIM_NEED(dma, SHIM_DMA);
	SHIM_NEED_OUT(task_completion_cb);
	SHIM_NEED_OUT(task_error_cb);
	if (dma->ctx.state != DOCA_CTX_STATE_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is not idle; stop it first");
	max = shim_dev_function(dma->ctx.dev)->caps.dma_max_tasks;
	if (num_memcpy_tasks == 0 || num_memcpy_tasks > max)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%u tasks; give 1 to %u (doca_dma_cap_get_max_num_tasks)",
				   num_memcpy_tasks, max);
	dma->memcpy_done = task_completion_cb;
	dma->memcpy_failed = task_error_cb;
	dma->num_memcpy_tasks = num_memcpy_tasks;
	return DOCA_SUCCESS;
}

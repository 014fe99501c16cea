/* SPDX-License-Identifier: BSD-3-Clause */
/* The DMA context: life, configuration, capabilities. */
#include "dma_priv.h"
#include "shim/common/base/check.h"

/* The capabilities of DMA have names of their own in topologies. */
static struct pcie_accel_caps get_memcpy_caps(const struct pcie_caps *caps)
{
	return (struct pcie_accel_caps){
		.is_supported = caps->dma_memcpy,
		.max_list_len = caps->dma_max_list_len,
		.max_tasks = caps->dma_max_tasks,
		.max_buf_bytes = caps->dma_max_buf_bytes,
	};
}

static const struct shim_accel_type memcpy_type = {
	.task = {
		.name = SIM_TASK_DMA_MEMCPY,
		.form = SHIM_TASK_COPY,
		.size = sizeof(struct doca_dma_task_memcpy),
		.check = shim_dma_memcpy_check,
		.validate = shim_dma_memcpy_validate,
		.post = shim_task_post_job,
		.run = shim_dma_memcpy_run,
		.get_pcie_job = shim_dma_memcpy_get_pcie_job,
		.find_memory = shim_buf_task_find_memory,
		.apply = shim_dma_memcpy_apply,
		.complete = shim_dma_memcpy_complete,
		.fault_ops = &shim_dma_memcpy_fault_ops,
	},
	.index = DMA_MEMCPY,
	.func = "doca_dma_task_memcpy",
	.engine = "DMA",
	.get_caps = get_memcpy_caps,
};

static doca_error_t dma_start(struct doca_ctx *ctx)
{
	doca_error_t result = shim_accel_start(ctx);

	if (result == DOCA_SUCCESS && !shim_to_dma(ctx)->completes_in_order)
		sim_queue_set_shuffle(ctx->queue, shim_to_dma(ctx)->shuffle_seed);
	return result;
}

static const struct shim_accel_lib dma_lib = {
	.ops = {
		.name = "dma",
		.start = dma_start,
		.may_stop = shim_ctx_may_stop_always,
		.begin_stop = shim_ctx_nop,
		.progress = shim_ctx_progress_none,
		.arm = shim_ctx_arm_none,
		.is_drained = shim_ctx_is_drained_always,
		.stopped = shim_accel_stopped,
	},
	.kind = SHIM_DMA,
	.num_types = 1,
	.types = { [DMA_MEMCPY] = &memcpy_type },
};

doca_error_t doca_dma_create(struct doca_dev *dev, struct doca_dma **dma)
{
	struct doca_dma *created;

	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(dma);
	created = shim_accel_new(&dma_lib, sizeof(*created), dev);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->shuffle_seed = shim_shuffle_seed();
	*dma = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_dma_destroy(struct doca_dma *dma)
{
	SHIM_NEED(dma, SHIM_DMA);
	return shim_accel_destroy(&dma->accel);
}

struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma)
{
	return shim_handle_is(dma, SHIM_DMA) ? &dma->accel.ctx : NULL;
}

SHIM_DEFINE_IS_SUPPORTED(doca_dma_cap_task_memcpy_is_supported, devinfo->function->caps.dma_memcpy)
SHIM_DEFINE_DEVINFO_GETTER(doca_dma_cap_task_memcpy_get_max_buf_size, uint64_t, buf_size,
			   devinfo->function->caps.dma_max_buf_bytes)
SHIM_DEFINE_DEVINFO_GETTER(doca_dma_cap_task_memcpy_get_max_buf_list_len, uint32_t, max_buf_list_len,
			   devinfo->function->caps.dma_max_list_len)
SHIM_DEFINE_GETTER(doca_dma_cap_get_max_num_tasks, struct doca_dma, dma, SHIM_DMA, uint32_t, max_num_tasks,
		   shim_accel_max_tasks(&dma->accel))

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
	SHIM_NEED(dma, SHIM_DMA);
	return shim_accel_set_conf(__func__, &dma->accel, DMA_MEMCPY, (void (*)(void))task_completion_cb,
				   (void (*)(void))task_error_cb, num_memcpy_tasks);
}

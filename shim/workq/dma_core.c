/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled with the core. */
#include "dma_core.h"

#include "shim/common/check.h"
#include "shim/dma/dma_priv.h"

static void on_end(struct doca_dma_task_memcpy *task, union doca_data user_data, union doca_data ctx_data)
{
	doca_error_t status = task->task.status;

	doca_task_free(&task->task);
	workq_dma_ended(ctx_data, user_data, status);
}

doca_error_t workq_dma_configure(struct doca_dma *core, uint32_t depth)
{
	uint32_t max;
	doca_error_t result = doca_dma_cap_get_max_num_tasks(core, &max);

	if (result != DOCA_SUCCESS)
		return result;
	core->overwrites_full = true;
	return doca_dma_task_memcpy_set_conf(core, on_end, on_end, depth < max ? depth : max);
}

doca_error_t workq_dma_submit_memcpy(struct doca_dma *core, const struct doca_buf *src, struct doca_buf *dst,
				     union doca_data user_data)
{
	struct doca_dma_task_memcpy *memcpy;
	struct doca_task *task;
	doca_error_t result = shim_task_alloc(core->memcpy_pool, &core->ctx, user_data, &task);

	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	memcpy = (struct doca_dma_task_memcpy *)task;
	memcpy->src = src;
	memcpy->dst = dst;
	task->job.quiet = false;
	result = shim_dma_memcpy_type.check(task);
	if (doca_likely(result == DOCA_SUCCESS))
		result = shim_task_post_job(task);
	if (doca_unlikely(result != DOCA_SUCCESS)) {
		doca_task_free(task);
		return result;
	}
	task->in_flight = true;
	sim_queue_doorbell(core->ctx.queue);
	return DOCA_SUCCESS;
}

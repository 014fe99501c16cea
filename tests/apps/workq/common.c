/* SPDX-License-Identifier: BSD-3-Clause */
/* Common parts of the work-queue programs: device, mmap, work queue. */
#include "common.h"

#include <doca_buf.h>

#define QUEUE_DEPTH 32

struct doca_dev *open_copying_device(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count;

	MUST(doca_devinfo_list_create(&list, &count));
	for (uint32_t i = 0; i < count && !dev; i++)
		if (doca_dma_job_get_supported(list[i], DOCA_DMA_JOB_MEMCPY) == DOCA_SUCCESS)
			MUST(doca_dev_open(list[i], &dev));
	MUST(doca_devinfo_list_destroy(list));
	if (!dev) {
		fprintf(stderr, "no device here can copy\n");
		exit(EXIT_FAILURE);
	}
	return dev;
}

struct engine engine_start(struct doca_dev *dev)
{
	struct engine engine = { .dev = dev };

	MUST(doca_buf_inventory_create(NULL, 2, DOCA_BUF_EXTENSION_NONE, &engine.inventory));
	MUST(doca_buf_inventory_start(engine.inventory));
	MUST(doca_workq_create(QUEUE_DEPTH, &engine.workq));
	MUST(doca_dma_create(&engine.dma));
	engine.ctx = doca_dma_as_ctx(engine.dma);
	MUST(doca_ctx_dev_add(engine.ctx, dev));
	MUST(doca_ctx_start(engine.ctx));
	MUST(doca_ctx_workq_add(engine.ctx, engine.workq));
	return engine;
}

void engine_stop(struct engine *engine)
{
	MUST(doca_ctx_workq_rm(engine->ctx, engine->workq));
	MUST(doca_ctx_stop(engine->ctx));
	MUST(doca_ctx_dev_rm(engine->ctx, engine->dev));
	MUST(doca_dma_destroy(engine->dma));
	MUST(doca_workq_destroy(engine->workq));
	MUST(doca_buf_inventory_destroy(engine->inventory));
}

doca_error_t engine_copy(struct engine *engine, struct doca_buf *to, const struct doca_buf *from)
{
	const struct doca_dma_job_memcpy job = {
		.base = { .type = DOCA_DMA_JOB_MEMCPY, .flags = DOCA_JOB_FLAGS_NONE, .ctx = engine->ctx },
		.dst_buff = to,
		.src_buff = from,
	};
	struct doca_event event = { 0 };
	doca_error_t result;

	MUST(doca_workq_submit(engine->workq, &job.base));
	do
		result = doca_workq_progress_retrieve(engine->workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
	while (result == DOCA_ERROR_AGAIN);
	if (event.type != DOCA_DMA_JOB_MEMCPY) {
		fprintf(stderr, "an event of type %d\n", event.type);
		exit(EXIT_FAILURE);
	}
	return result == DOCA_SUCCESS || result == DOCA_ERROR_IO_FAILED ? (doca_error_t)event.result.u64 : result;
}

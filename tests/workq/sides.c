/* SPDX-License-Identifier: BSD-3-Clause */
/* A host process and the objects of a DPU process, for tests with both sides. */
#include "sides.h"
#include "doca_check.h"

#include <stdlib.h>
#include <string.h>

const char *side_session;

struct doca_dev *side_enter(const char *side)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count;

	setenv("BFSIM_SESSION", side_session, 1);
	setenv("BFSIM_SIDE", side, 1);
	MUST(doca_devinfo_list_create(&list, &count));
	for (uint32_t i = 0; i < count && !dev; i++)
		if (doca_dma_job_get_supported(list[i], DOCA_DMA_JOB_MEMCPY) == DOCA_SUCCESS)
			MUST(doca_dev_open(list[i], &dev));
	MUST(doca_devinfo_list_destroy(list));
	CHECK(dev);
	return dev;
}

/* ---- host ---- */

static struct doca_mmap *map_of(struct doca_dev *dev, char *memory)
{
	struct doca_mmap *mmap;

	MUST(doca_mmap_create(NULL, &mmap));
	MUST(doca_mmap_start(mmap));
	MUST(doca_mmap_dev_add(mmap, dev));
	MUST(doca_mmap_populate(mmap, memory, SIDE_LEN, 4096, NULL, NULL));
	return mmap;
}

static struct doca_sync_event *event_of(struct doca_dev *dev)
{
	struct doca_sync_event *event;

	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_publisher_add_location_cpu(event, dev));
	MUST(doca_sync_event_subscriber_add_location_dpu(event));
	MUST(doca_sync_event_start(event));
	return event;
}

void side_be_host(int ctl, const void *arg)
{
	struct doca_dev *dev = side_enter("host");
	char *memory = malloc(SIDE_LEN), byte;
	struct doca_mmap *mmap = map_of(dev, memory);
	struct doca_sync_event *event = event_of(dev);
	struct exports exports = { .addr = (uintptr_t)memory };
	const uint8_t *bytes;
	void *descriptor;

	memset(memory, SIDE_FILL, SIDE_LEN);
	MUST(doca_mmap_export(mmap, dev, &descriptor, &exports.map_len));
	MUST(doca_sync_event_export_to_dpu(event, dev, &bytes, &exports.event_len));
	CHECK(exports.map_len <= sizeof(exports.map) && exports.event_len <= sizeof(exports.event));
	memcpy(exports.map, descriptor, exports.map_len);
	memcpy(exports.event, bytes, exports.event_len);
	free(descriptor);
	proc_send(ctl, &exports, sizeof(exports));
	proc_recv(ctl, &byte, 1); /* 'q'; the host may also be killed here */
	MUST(doca_mmap_destroy(mmap));
	MUST(doca_sync_event_destroy(event)); /* last: the DPU waits for this */
	MUST(doca_dev_close(dev));
	free(memory);
}

/* ---- DPU ---- */

static void add(struct doca_ctx *ctx, struct doca_dev *dev, struct doca_workq *workq)
{
	if (dev)
		MUST(doca_ctx_dev_add(ctx, dev));
	MUST(doca_ctx_start(ctx));
	MUST(doca_ctx_workq_add(ctx, workq));
}

struct engine engine_start(char *memory, const struct exports *exports, bool event_driven)
{
	struct engine engine = { .dev = side_enter("dpu") };
	void *remote = (void *)(uintptr_t)exports->addr;

	engine.own = map_of(engine.dev, memory);
	MUST(doca_mmap_create_from_export(NULL, exports->map, exports->map_len, engine.dev, &engine.remote));
	MUST(doca_sync_event_create_from_export(engine.dev, exports->event, exports->event_len, &engine.event));
	MUST(doca_buf_inventory_create(NULL, 3, DOCA_BUF_EXTENSION_NONE, &engine.inventory));
	MUST(doca_buf_inventory_start(engine.inventory));
	MUST(doca_workq_create(ENGINE_DEPTH, &engine.workq));
	MUST(doca_workq_set_event_driven_enable(engine.workq, event_driven));
	MUST(doca_dma_create(&engine.dma));
	add(doca_dma_as_ctx(engine.dma), engine.dev, engine.workq);
	add(doca_sync_event_as_ctx(engine.event), NULL, engine.workq);
	MUST(doca_buf_inventory_buf_by_data(engine.inventory, engine.remote, remote, SIDE_LEN / 2, &engine.from));
	MUST(doca_buf_inventory_buf_by_addr(engine.inventory, engine.own, memory, SIDE_LEN / 2, &engine.to));
	MUST(doca_buf_inventory_buf_by_data(engine.inventory, engine.own, memory + SIDE_LEN / 2, SIDE_LEN / 2,
					    &engine.local));
	return engine;
}

void engine_stop(struct engine *engine)
{
	MUST(doca_buf_refcount_rm(engine->from, NULL));
	MUST(doca_buf_refcount_rm(engine->to, NULL));
	MUST(doca_buf_refcount_rm(engine->local, NULL));
	MUST(doca_ctx_workq_rm(doca_dma_as_ctx(engine->dma), engine->workq));
	MUST(doca_ctx_workq_rm(doca_sync_event_as_ctx(engine->event), engine->workq));
	MUST(doca_workq_destroy(engine->workq));
	MUST(doca_sync_event_destroy(engine->event));
	MUST(doca_dma_destroy(engine->dma));
	MUST(doca_mmap_destroy(engine->remote));
	MUST(doca_mmap_destroy(engine->own));
	MUST(doca_buf_inventory_destroy(engine->inventory));
	MUST(doca_dev_close(engine->dev));
}

doca_error_t engine_submit(struct engine *engine, const struct doca_buf *from, uint64_t id)
{
	struct doca_dma_job_memcpy job = {
		.base = { .type = DOCA_DMA_JOB_MEMCPY, .ctx = doca_dma_as_ctx(engine->dma), .user_data.u64 = id },
		.dst_buff = engine->to,
		.src_buff = from,
	};

	return doca_workq_submit(engine->workq, &job.base);
}

void engine_submit_wait(struct engine *engine, uint64_t value)
{
	struct doca_sync_event_job_wait job = {
		.base = { .type = DOCA_SYNC_EVENT_JOB_WAIT_GT, .ctx = doca_sync_event_as_ctx(engine->event) },
		.value = value,
		.mask = UINT64_MAX,
	};

	MUST(doca_workq_submit(engine->workq, &job.base));
}

doca_error_t engine_finish(struct engine *engine, struct doca_event *ret_event)
{
	doca_error_t result;

	do
		result = doca_workq_progress_retrieve(engine->workq, ret_event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
	while (result == DOCA_ERROR_AGAIN);
	CHECK(result == DOCA_SUCCESS ? ret_event->result.u64 == DOCA_SUCCESS :
				       ret_event->result.u64 == DOCA_ERROR_IO_FAILED);
	return result;
}

doca_error_t engine_copy(struct engine *engine, const struct doca_buf *from)
{
	struct doca_event event;

	MUST(engine_submit(engine, from, 0));
	return engine_finish(engine, &event);
}

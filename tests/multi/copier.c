/* SPDX-License-Identifier: BSD-3-Clause */
/* DMA copies within one process, and the card's clock. */
#include "copier.h"

#include <stdlib.h>

#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_error.h>

static void end(struct doca_dma_task_memcpy *memcpy, struct copier *copier)
{
	struct doca_task *task = doca_dma_task_memcpy_as_task(memcpy);

	MUST(doca_task_get_status(task));
	MUST(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(memcpy), NULL));
	MUST(doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(memcpy), NULL));
	doca_task_free(task);
	copier->done++;
	if (copier->on_done)
		copier->on_done(copier);
}

static void on_end(struct doca_dma_task_memcpy *memcpy, union doca_data user_data, union doca_data ctx_data)
{
	end(memcpy, ctx_data.ptr);
}

void copier_open(struct copier *copier, struct loop *loop, struct doca_dev *dev, uint32_t num_tasks)
{
	union doca_data self = { .ptr = copier };

	*copier = (struct copier){ .loop = loop, .memory = calloc(2, COPIER_BYTES) };
	CHECK(copier->memory);
	MUST(doca_clock_create(dev, &copier->clock));
	MUST(doca_mmap_create(&copier->mmap));
	MUST(doca_mmap_set_memrange(copier->mmap, copier->memory, 2 * COPIER_BYTES));
	MUST(doca_mmap_add_dev(copier->mmap, dev));
	MUST(doca_mmap_start(copier->mmap));
	MUST(doca_buf_inventory_create(2 * num_tasks, &copier->inventory));
	MUST(doca_buf_inventory_start(copier->inventory));
	MUST(doca_dma_create(dev, &copier->dma));
	MUST(doca_pe_connect_ctx(loop->pe, doca_dma_as_ctx(copier->dma)));
	MUST(doca_ctx_set_user_data(doca_dma_as_ctx(copier->dma), self));
	MUST(doca_dma_task_memcpy_set_conf(copier->dma, on_end, on_end, num_tasks));
	MUST(doca_ctx_start(doca_dma_as_ctx(copier->dma)));
}

void copier_close(struct copier *copier)
{
	MUST(doca_ctx_stop(doca_dma_as_ctx(copier->dma)));
	MUST(doca_dma_destroy(copier->dma));
	MUST(doca_buf_inventory_destroy(copier->inventory));
	MUST(doca_mmap_destroy(copier->mmap));
	MUST(doca_clock_destroy(copier->clock));
	free(copier->memory);
}

void copier_submit(struct copier *copier, size_t len)
{
	struct doca_dma_task_memcpy *task;
	struct doca_buf *src, *dst;
	union doca_data none = { .u64 = 0 };

	MUST(doca_buf_inventory_buf_get_by_data(copier->inventory, copier->mmap, copier->memory, len, &src));
	MUST(doca_buf_inventory_buf_get_by_addr(copier->inventory, copier->mmap, copier->memory + COPIER_BYTES, len,
						&dst));
	MUST(doca_dma_task_memcpy_alloc_init(copier->dma, src, dst, none, &task));
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
}

uint64_t copier_now_ns(const struct copier *copier)
{
	union doca_clock_timespec_t now;

	MUST(doca_clock_get_timestamp(copier->clock, DOCA_CLOCK_NIC_FREE_RUNNING, &now));
	return (uint64_t)now.ts.tv_sec * 1000000000u + (uint64_t)now.ts.tv_nsec;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A DMA context that copies. */
#include "copier.h"

#include <string.h>

static void give_back(struct doca_dma_task_memcpy *task)
{
	struct doca_buf *src = (struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task);
	struct doca_buf *dst = doca_dma_task_memcpy_get_dst(task);

	doca_task_free(doca_dma_task_memcpy_as_task(task));
	OK(doca_buf_dec_refcount(src, NULL));
	OK(doca_buf_dec_refcount(dst, NULL));
}

static void on_done(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	struct copier *copier = ctx_data.ptr;

	copier->done++;
	if (!copier->keeps_tasks)
		give_back(task);
}

static void on_failed(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	struct copier *copier = ctx_data.ptr;

	HOLDS(doca_task_get_status(doca_dma_task_memcpy_as_task(task)) != DOCA_SUCCESS);
	copier->failed++;
	give_back(task);
}

static void open_memory(struct copier *copier)
{
	copier->memory = aligned_alloc(64, 2 * COPIER_ROOM);
	HOLDS(copier->memory);
	memset(copier->memory, 7, 2 * COPIER_ROOM);
	OK(doca_mmap_create(&copier->mmap));
	OK(doca_mmap_add_dev(copier->mmap, copier->dev));
	OK(doca_mmap_set_memrange(copier->mmap, copier->memory, 2 * COPIER_ROOM));
	OK(doca_mmap_set_permissions(copier->mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	OK(doca_mmap_start(copier->mmap));
	OK(doca_buf_inventory_create(2 * COPIER_NUM_TASKS, &copier->inventory));
	OK(doca_buf_inventory_start(copier->inventory));
}

void copier_open(struct copier *copier, const char *pci_addr, struct doca_pe *pe)
{
	*copier = (struct copier){ .dev = report_open_dev(pci_addr), .pe = pe, .shares_pe = pe };
	if (!pe)
		OK(doca_pe_create(&copier->pe));
	OK(doca_dma_create(copier->dev, &copier->dma));
	copier->ctx = doca_dma_as_ctx(copier->dma);
	OK(doca_dma_task_memcpy_set_conf(copier->dma, on_done, on_failed, COPIER_NUM_TASKS));
	OK(doca_ctx_set_user_data(copier->ctx, (union doca_data){ .ptr = copier }));
	OK(doca_pe_connect_ctx(copier->pe, copier->ctx));
	OK(doca_ctx_start(copier->ctx));
	open_memory(copier);
}

void copier_close(struct copier *copier)
{
	report_stop(copier->pe, copier->ctx);
	OK(doca_dma_destroy(copier->dma));
	OK(doca_buf_inventory_destroy(copier->inventory));
	OK(doca_mmap_destroy(copier->mmap));
	if (!copier->shares_pe)
		OK(doca_pe_destroy(copier->pe));
	OK(doca_dev_close(copier->dev));
	free(copier->memory);
}

struct doca_task *copier_task(struct copier *copier, size_t from, size_t to, size_t len)
{
	struct doca_dma_task_memcpy *task;
	struct doca_buf *src, *dst;

	OK(doca_buf_inventory_buf_get_by_data(copier->inventory, copier->mmap, copier->memory + from, len, &src));
	OK(doca_buf_inventory_buf_get_by_addr(copier->inventory, copier->mmap, copier->memory + to, len, &dst));
	OK(doca_dma_task_memcpy_alloc_init(copier->dma, src, dst, (union doca_data){ .u64 = 0 }, &task));
	return doca_dma_task_memcpy_as_task(task);
}

void copier_submit(struct copier *copier)
{
	OK(doca_task_submit(copier_task(copier, 0, COPIER_ROOM + copier->next++ % 16 * 4096, 4096)));
}

void copier_free(struct doca_task *task)
{
	give_back((struct doca_dma_task_memcpy *)task);
}

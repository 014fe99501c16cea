/* SPDX-License-Identifier: BSD-3-Clause */
/* Memcpy tasks through the public API, for comparisons. */
#include "dma.h"

#include <doca_error.h>
#include <stdlib.h>

#include "measure.h"

static int fail(const char *what, doca_error_t result)
{
	return bench_fail("%s: %s", what, doca_error_get_descr(result));
}

int bench_dev_open(const char *pci, struct doca_dev **ret_dev)
{
	struct doca_devinfo **list;
	doca_error_t result;
	uint32_t count;

	result = doca_devinfo_create_list(&list, &count);
	if (result != DOCA_SUCCESS)
		return fail("doca_devinfo_create_list", result);
	result = DOCA_ERROR_NOT_FOUND;
	for (uint32_t i = 0; i < count && result == DOCA_ERROR_NOT_FOUND; i++) {
		uint8_t equal = 0;

		if (doca_devinfo_is_equal_pci_addr(list[i], pci, &equal) == DOCA_SUCCESS && equal)
			result = doca_dev_open(list[i], ret_dev);
	}
	doca_devinfo_destroy_list(list);
	return result == DOCA_SUCCESS ? 0 : fail(pci, result);
}

int bench_map(struct doca_dev *dev, void *addr, size_t len, bool export, struct doca_mmap **ret_mmap)
{
	uint32_t access = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | (export ? DOCA_ACCESS_FLAG_PCI_READ_WRITE : 0);
	doca_error_t result = doca_mmap_create(ret_mmap);

	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_permissions(*ret_mmap, access);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_memrange(*ret_mmap, addr, len);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_add_dev(*ret_mmap, dev);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_start(*ret_mmap);
	return result == DOCA_SUCCESS ? 0 : fail("a memory map", result);
}

static int open_maps(struct bench_dma *dma)
{
	const struct bench_dma_cfg *cfg = &dma->cfg;
	size_t len = (size_t)cfg->block_bytes * cfg->num_blocks;
	doca_error_t result;

	if (bench_map(dma->dev, cfg->target, len, false, &dma->target) < 0)
		return -1;
	if (cfg->source)
		return bench_map(dma->dev, cfg->source, len, false, &dma->source);
	result = doca_mmap_create_from_export(NULL, cfg->import->desc, cfg->import->desc_len, dma->dev, &dma->source);
	return result == DOCA_SUCCESS ? 0 : fail("doca_mmap_create_from_export", result);
}

static void on_done(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	struct bench_dma *dma = ctx_data.ptr;

	dma->done++;
}

static void on_failed(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	struct bench_dma *dma = ctx_data.ptr;

	dma->done++;
	dma->failed++;
}

static int start_context(struct bench_dma *dma)
{
	doca_error_t result = doca_pe_create(&dma->pe);
	struct doca_ctx *ctx;

	if (result == DOCA_SUCCESS)
		result = doca_dma_create(dma->dev, &dma->dma);
	if (result != DOCA_SUCCESS)
		return fail("a DMA context", result);
	ctx = doca_dma_as_ctx(dma->dma);
	result = doca_dma_task_memcpy_set_conf(dma->dma, on_done, on_failed, dma->cfg.num_blocks);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = dma });
	if (result == DOCA_SUCCESS)
		result = doca_pe_connect_ctx(dma->pe, ctx);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(ctx);
	return result == DOCA_SUCCESS ? 0 : fail("a DMA context", result);
}

static int make_task(struct bench_dma *dma, uint8_t *source, uint32_t i)
{
	size_t offset = (size_t)i * dma->cfg.block_bytes, len = dma->cfg.block_bytes;
	uint8_t *target = (uint8_t *)dma->cfg.target + offset;
	struct doca_dma_task_memcpy *task;
	doca_error_t result;

	result = doca_buf_inventory_buf_get_by_data(dma->inventory, dma->source, source + offset, len, &dma->src[i]);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_buf_get_by_addr(dma->inventory, dma->target, target, len, &dma->dst[i]);
	if (result == DOCA_SUCCESS)
		result = doca_dma_task_memcpy_alloc_init(dma->dma, dma->src[i], dma->dst[i],
							 (union doca_data){ .u64 = i }, &task);
	if (result != DOCA_SUCCESS)
		return fail("a task", result);
	dma->tasks[i] = doca_dma_task_memcpy_as_task(task);
	return 0;
}

static int make_tasks(struct bench_dma *dma)
{
	uint32_t count = dma->cfg.num_blocks;
	doca_error_t result;
	void *source;
	size_t len;

	dma->src = calloc(count, sizeof(*dma->src));
	dma->dst = calloc(count, sizeof(*dma->dst));
	dma->tasks = calloc(count, sizeof(*dma->tasks));
	if (!dma->src || !dma->dst || !dma->tasks)
		return bench_fail("out of memory");
	result = doca_buf_inventory_create(2 * count, &dma->inventory);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_start(dma->inventory);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_get_memrange(dma->source, &source, &len);
	if (result != DOCA_SUCCESS)
		return fail("an inventory", result);
	for (uint32_t i = 0; i < count; i++)
		if (make_task(dma, source, i) < 0)
			return -1;
	return 0;
}

int bench_dma_open(const struct bench_dma_cfg *cfg, struct bench_dma *ret_dma)
{
	*ret_dma = (struct bench_dma){ .cfg = *cfg };
	if (bench_dev_open(cfg->pci, &ret_dma->dev) < 0 || open_maps(ret_dma) < 0 || start_context(ret_dma) < 0)
		return -1;
	return make_tasks(ret_dma);
}

static void free_tasks(struct bench_dma *dma)
{
	for (uint32_t i = 0; i < dma->cfg.num_blocks; i++) {
		if (dma->tasks && dma->tasks[i])
			doca_task_free(dma->tasks[i]);
		if (dma->src && dma->src[i])
			doca_buf_dec_refcount(dma->src[i], NULL);
		if (dma->dst && dma->dst[i])
			doca_buf_dec_refcount(dma->dst[i], NULL);
	}
	free(dma->tasks);
	free(dma->src);
	free(dma->dst);
}

void bench_dma_close(struct bench_dma *dma)
{
	free_tasks(dma);
	if (dma->inventory)
		doca_buf_inventory_destroy(dma->inventory);
	if (dma->dma) {
		doca_ctx_stop(doca_dma_as_ctx(dma->dma));
		doca_dma_destroy(dma->dma);
	}
	if (dma->pe)
		doca_pe_destroy(dma->pe);
	if (dma->source)
		doca_mmap_destroy(dma->source);
	if (dma->target)
		doca_mmap_destroy(dma->target);
	if (dma->dev)
		doca_dev_close(dma->dev);
}

/* The target's buffer is emptied first: a copy appends. */
static inline doca_error_t submit(struct bench_dma *dma, uint32_t block, uint32_t flags)
{
	doca_buf_reset_data_len(dma->dst[block]);
	return doca_task_submit_ex(dma->tasks[block], flags);
}

static int all_well(const struct bench_dma *dma, doca_error_t result)
{
	if (result != DOCA_SUCCESS)
		return fail("doca_task_submit_ex", result);
	return dma->failed == 0 ? 0 : bench_fail("%u tasks failed", dma->failed);
}

int bench_dma_copy(struct bench_dma *dma, uint32_t first, uint32_t count)
{
	uint32_t num_blocks = dma->cfg.num_blocks, depth = dma->cfg.depth;
	uint32_t block = first % num_blocks, sent = 0;
	doca_error_t result = DOCA_SUCCESS;

	dma->done = 0;
	while (dma->done < count && result == DOCA_SUCCESS && dma->failed == 0) {
		while (sent < count && sent - dma->done < depth && result == DOCA_SUCCESS) {
			result = submit(dma, block, DOCA_TASK_SUBMIT_FLAG_FLUSH);
			block = block + 1 == num_blocks ? 0 : block + 1;
			sent++;
		}
		doca_pe_progress(dma->pe);
	}
	return all_well(dma, result);
}

int bench_dma_copy_batches(struct bench_dma *dma, uint32_t count)
{
	uint32_t num_blocks = dma->cfg.num_blocks, depth = dma->cfg.depth, block = 0;
	doca_error_t result = DOCA_SUCCESS;

	while (count-- > 0 && result == DOCA_SUCCESS && dma->failed == 0) {
		dma->done = 0;
		for (uint32_t i = 0; i < depth && result == DOCA_SUCCESS; i++) {
			result = submit(dma, block,
					i + 1 < depth ? DOCA_TASK_SUBMIT_FLAG_NONE : DOCA_TASK_SUBMIT_FLAG_FLUSH);
			block = block + 1 == num_blocks ? 0 : block + 1;
		}
		while (dma->done < depth && result == DOCA_SUCCESS)
			doca_pe_progress(dma->pe);
	}
	return all_well(dma, result);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/bench/dma.h - our side of a comparison: memcpy tasks through the public API.
 *
 *   source  [block 0][block 1] ... [block n-1]      local, or imported
 *                |       |             |            a task each, made once
 *   target  [block 0][block 1] ... [block n-1]      local
 *
 * Block i of the source is copied to block i of the target by task i, which is
 * submitted again for each copy of the block. One thread, polling.
 */
#ifndef TESTS_BENCH_DMA_H
#define TESTS_BENCH_DMA_H

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_DESC_SIZE 1024 /* bytes of an export descriptor, at most */

/* Memory that another process exported. */
struct bench_export {
	size_t desc_len;
	uint8_t desc[BENCH_DESC_SIZE];
	int32_t pid;   /* the owner of the memory */
	uint64_t addr; /* there */
};

struct bench_dma_cfg {
	const char *pci;                   /* of the device to open */
	void *source;                      /* local, or NULL */
	const struct bench_export *import; /* when source is NULL */
	void *target;
	uint32_t block_bytes, num_blocks;
	uint32_t depth; /* tasks in flight at most */
};

struct bench_dma {
	struct bench_dma_cfg cfg;
	struct doca_dev *dev;
	struct doca_mmap *source, *target;
	struct doca_buf_inventory *inventory;
	struct doca_pe *pe;
	struct doca_dma *dma;
	struct doca_buf **src, **dst;
	struct doca_task **tasks;
	uint32_t done, failed; /* counted by callbacks */
};

/* Open the device at @pci on this process's side. Returns 0 or -1. */
int bench_dev_open(const char *pci, struct doca_dev **ret_dev);

/* A started map of [addr, addr + len), for local writing and with @export for the DPU's reading. 0 or -1. */
int bench_map(struct doca_dev *dev, void *addr, size_t len, bool export, struct doca_mmap **ret_mmap);

/* Attach, open everything, make the tasks. Returns 0 or -1; close it in both cases. */
int bench_dma_open(const struct bench_dma_cfg *cfg, struct bench_dma *ret_dma);
void bench_dma_close(struct bench_dma *dma);

/* Copy @count blocks from block @first on, round and round, each task as soon as there is room. Returns 0, or -1
 * when a task failed. */
int bench_dma_copy(struct bench_dma *dma, uint32_t first, uint32_t count);

/* Copy @count batches of cfg.depth blocks: a batch is staged, sent off as one, and all of it awaited. 0 or -1. */
int bench_dma_copy_batches(struct bench_dma *dma, uint32_t count);

#endif

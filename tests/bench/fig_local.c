/* SPDX-License-Identifier: BSD-3-Clause */
/* Figure: local memcpy tasks against memcpy(). */
#include <string.h>

#include "card.h"
#include "dma.h"
#include "fig.h"
#include "memory.h"

#define LEN   ((size_t)BENCH_BLOCK_BYTES * BENCH_NUM_BLOCKS)
#define DEPTH 4
#define SEED  1

struct local {
	const struct bench_report *report;
	struct bench_walk walk;
	struct bench_dma dma;
	uint8_t *source, *target;
};

static int run_ours(void *arg, uint32_t count, uint64_t *ret_ns)
{
	struct local *local = arg;
	uint64_t start = bench_now_ns();
	int rc = bench_dma_copy(&local->dma, bench_walk(&local->walk, count), count);

	*ret_ns = bench_now_ns() - start;
	return rc;
}

static int run_memcpy(void *arg, uint32_t count, uint64_t *ret_ns)
{
	struct local *local = arg;
	uint32_t block = bench_walk(&local->walk, count);
	uint64_t start = bench_now_ns();

	for (uint32_t i = 0; i < count; i++) {
		size_t offset = (size_t)((block + i) % BENCH_NUM_BLOCKS) * BENCH_BLOCK_BYTES;

		memcpy(local->target + offset, local->source + offset, BENCH_BLOCK_BYTES);
	}
	*ret_ns = bench_now_ns() - start;
	return 0;
}

static int measure(struct local *local)
{
	const struct bench_row row = {
		.name = "local 1 MiB", .baseline_name = "memcpy", .goal = BENCH_RATIO_AT_LEAST, .limit = 0.95
	};
	const struct bench_cfg cfg = {
		.ours = { run_ours, local },
		.baseline = { run_memcpy, local },
		.warm_up = BENCH_NUM_BLOCKS,
		.rounds = 101,
	};
	struct bench_result result;

	if (bench_measure(&cfg, &result) < 0)
		return -1;
	memset(local->target, 0, LEN);
	if (bench_dma_copy(&local->dma, 0, BENCH_NUM_BLOCKS) < 0 || bench_memory_check(local->target, LEN, SEED) < 0)
		return -1;
	return bench_report_result(local->report, &row, &result, BENCH_BANDWIDTH, BENCH_BLOCK_BYTES);
}

static int run_local(void *arg)
{
	struct local *local = arg;
	struct bench_dma_cfg cfg = {
		.pci = BENCH_DPU_PCI, .block_bytes = BENCH_BLOCK_BYTES, .num_blocks = BENCH_NUM_BLOCKS, .depth = DEPTH
	};
	int rc;

	local->source = cfg.source = bench_memory_new(LEN);
	local->target = cfg.target = bench_memory_new(LEN);
	if (!cfg.source || !cfg.target)
		return -1;
	bench_memory_fill(local->source, LEN, SEED);
	rc = bench_dma_open(&cfg, &local->dma);
	if (rc == 0)
		rc = measure(local);
	bench_dma_close(&local->dma);
	return rc;
}

int bench_fig_local(const struct bench_report *report)
{
	struct local local = { .report = report, .walk.num_blocks = BENCH_NUM_BLOCKS };
	struct bench_card card;
	int rc;

	if (bench_card_up(&card) < 0)
		return -1;
	rc = bench_card_run(&card, "dpu", NULL, run_local, &local);
	return bench_card_down(&card) < 0 ? -1 : rc;
}

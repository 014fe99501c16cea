/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that copies batches of 64-byte tasks on command. */
#include "copier.h"

#include <stdlib.h>

#include "dma.h"
#include "memory.h"
#include "reference.h"

#define LEN   ((size_t)BENCH_SMALL_BYTES * BENCH_NUM_SMALL)
#define BATCH 32
#define SEED  7

/* In the copying process: executes ordered batches, and reports their duration. */
static int serve(struct bench_dma *dma, int fd)
{
	struct bench_ref_answer answer = { 0 };
	struct bench_ref_order order;

	if (bench_send(fd, &answer, sizeof(answer)) < 0)
		return -1;
	while (bench_receive(fd, &order, sizeof(order)) == 0) {
		uint64_t start = bench_now_ns();

		answer.status = bench_dma_copy_batches(dma, order.count);
		answer.ns = bench_now_ns() - start;
		if (answer.status < 0 || bench_send(fd, &answer, sizeof(answer)) < 0)
			return -1;
	}
	return bench_memory_check(dma->cfg.target, LEN, SEED);
}

static int run_copier(void *arg, int fd)
{
	const struct bench_copier *copier = arg;
	struct bench_dma_cfg cfg = {
		.pci = BENCH_DPU_PCI, .block_bytes = BENCH_SMALL_BYTES, .num_blocks = BENCH_NUM_SMALL, .depth = BATCH
	};
	struct bench_dma dma;
	int rc;

	bench_card_enter(copier->card, "dpu", NULL);
	if (copier->trace_level)
		setenv("BFSIM_TRACE", copier->trace_level, 1);
	cfg.source = bench_memory_new(LEN);
	cfg.target = bench_memory_new(LEN);
	if (!cfg.source || !cfg.target)
		return -1;
	bench_memory_fill(cfg.source, LEN, SEED);
	rc = bench_dma_open(&cfg, &dma);
	if (rc == 0)
		rc = serve(&dma, fd);
	bench_dma_close(&dma);
	return rc;
}

int bench_copier_start(struct bench_copier *copier)
{
	struct bench_ref_answer ready;

	if (bench_process_fork(run_copier, copier, &copier->process) < 0)
		return -1;
	return bench_receive(copier->process.fd, &ready, sizeof(ready)) < 0 ?
		       bench_fail("a process that copies does not start") :
		       0;
}

/* In the figure: a way's count is in batches. */
static int order_batches(void *arg, uint32_t count, uint64_t *ret_ns)
{
	const struct bench_copier *copier = arg;
	const struct bench_ref_order order = { .count = count };
	struct bench_ref_answer answer;

	if (bench_send(copier->process.fd, &order, sizeof(order)) < 0 ||
	    bench_receive(copier->process.fd, &answer, sizeof(answer)) < 0 || answer.status < 0)
		return bench_fail("a process that is to copy does not");
	*ret_ns = answer.ns;
	return 0;
}

int bench_copier_compare(const struct bench_report *report, struct bench_copier *ours, struct bench_copier *baseline,
			 const struct bench_row *row)
{
	const struct bench_cfg cfg = {
		.ours = { order_batches, ours }, .baseline = { order_batches, baseline }, .warm_up = 1000, .rounds = 151
	};
	struct bench_result result;

	if (bench_measure(&cfg, &result) < 0)
		return -1;
	result.ours_ns /= BATCH;
	result.baseline_ns /= BATCH;
	return bench_report_result(report, row, &result, BENCH_RATE, BENCH_SMALL_BYTES);
}

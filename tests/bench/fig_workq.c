/* SPDX-License-Identifier: BSD-3-Clause */
/* Figure: work-queue jobs against the tasks below them. */
#include <stdio.h>
#include <string.h>

#include "card.h"
#include "dma.h"
#include "fig.h"
#include "memory.h"
#include "reference.h"

#define SEED 5

/* One size of blocks. "Ours" is the work-queue translation; the baseline is the task generation below. */
struct workq {
	const struct bench_report *report;
	const struct bench_row *row;
	enum bench_measure measure;
	uint32_t block_bytes, num_blocks, depth;
	struct bench_dma dma;
	struct bench_process jobs;
	uint32_t block;
};

static int order(struct workq *workq, enum bench_ref_command command, uint32_t count, uint64_t *ret_ns)
{
	const struct bench_ref_order order = { .command = command, .count = count, .depth = workq->depth };
	struct bench_ref_answer answer;

	if (bench_send(workq->jobs.fd, &order, sizeof(order)) < 0 ||
	    bench_receive(workq->jobs.fd, &answer, sizeof(answer)) < 0 || answer.status < 0)
		return bench_fail("the work queue does not copy");
	*ret_ns = answer.ns;
	return 0;
}

static int run_jobs(void *arg, uint32_t count, uint64_t *ret_ns)
{
	return order(arg, BENCH_REF_MEASURE, count, ret_ns);
}

static int run_tasks(void *arg, uint32_t count, uint64_t *ret_ns)
{
	struct workq *workq = arg;
	uint64_t start = bench_now_ns();
	int rc = bench_dma_copy(&workq->dma, workq->block, count);

	*ret_ns = bench_now_ns() - start;
	workq->block = (workq->block + count) % workq->num_blocks;
	return rc;
}

static int start_jobs(struct workq *workq)
{
	struct bench_ref_answer ready;
	char bytes[16], blocks[16];
	const char *args[] = { bytes, blocks, NULL };

	snprintf(bytes, sizeof(bytes), "%u", workq->block_bytes);
	snprintf(blocks, sizeof(blocks), "%u", workq->num_blocks);
	if (bench_process_exec("bfsim_bench_workq", args, &workq->jobs) < 0)
		return -1;
	if (bench_receive(workq->jobs.fd, &ready, sizeof(ready)) < 0 || ready.status < 0)
		return bench_fail("the work queue does not start");
	return 0;
}

static int measure(struct workq *workq)
{
	const struct bench_cfg cfg = {
		.ours = { run_jobs, workq },
		.baseline = { run_tasks, workq },
		.warm_up = workq->num_blocks,
		.rounds = 101,
	};
	struct bench_result result;
	uint64_t ns;

	if (start_jobs(workq) < 0 || bench_measure(&cfg, &result) < 0 || order(workq, BENCH_REF_CHECK, 0, &ns) < 0)
		return -1;
	return bench_report_result(workq->report, workq->row, &result, workq->measure, workq->block_bytes);
}

static int run_workq(void *arg)
{
	struct workq *workq = arg;
	size_t len = (size_t)workq->block_bytes * workq->num_blocks;
	struct bench_dma_cfg cfg = { .pci = BENCH_DPU_PCI,
				     .block_bytes = workq->block_bytes,
				     .num_blocks = workq->num_blocks,
				     .depth = workq->depth };
	int rc;

	cfg.source = bench_memory_new(len);
	cfg.target = bench_memory_new(len);
	if (!cfg.source || !cfg.target)
		return -1;
	bench_memory_fill(cfg.source, len, SEED);
	rc = bench_dma_open(&cfg, &workq->dma);
	if (rc == 0)
		rc = measure(workq);
	bench_dma_close(&workq->dma);
	return bench_process_end(&workq->jobs) < 0 ? -1 : rc;
}

int bench_fig_workq(const struct bench_report *report)
{
	static const struct bench_row small = { .name = "work queue 64 B, 32 in flight",
						.baseline_name = "tasks",
						.goal = BENCH_RATIO_AT_LEAST,
						.limit = 0.92 };
	static const struct bench_row large = { .name = "work queue 1 MiB, 4 in flight",
						.baseline_name = "tasks",
						.goal = BENCH_RATIO_AT_LEAST,
						.limit = 0.98 };
	struct workq sizes[] = {
		{ .report = report,
		  .row = &small,
		  .measure = BENCH_RATE,
		  .block_bytes = BENCH_SMALL_BYTES,
		  .num_blocks = BENCH_NUM_SMALL,
		  .depth = 32 },
		{ .report = report,
		  .row = &large,
		  .measure = BENCH_BANDWIDTH,
		  .block_bytes = BENCH_BLOCK_BYTES,
		  .num_blocks = BENCH_NUM_BLOCKS,
		  .depth = 4 },
	};
	struct bench_card card;
	int rc = 0;

	if (bench_card_up(&card) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && rc == 0; i++)
		rc = bench_card_run(&card, "dpu", NULL, run_workq, &sizes[i]);
	return bench_card_down(&card) < 0 ? -1 : rc;
}

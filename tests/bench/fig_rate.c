/* SPDX-License-Identifier: BSD-3-Clause */
/* Figure: rate of small tasks against the reference programs. */
#include <string.h>

#include "card.h"
#include "dma.h"
#include "fig.h"
#include "memory.h"
#include "reference.h"

#define LEN   ((size_t)BENCH_SMALL_BYTES * BENCH_NUM_SMALL)
#define BATCH 32
#define SEED  3

struct rate {
	const struct bench_report *report;
	struct bench_dma dma;
	struct bench_process dpdk;
	bool have_dpdk;
};

/* Ways count batches here. */
static int run_ours(void *arg, uint32_t count, uint64_t *ret_ns)
{
	struct rate *rate = arg;
	uint64_t start = bench_now_ns();
	int rc = bench_dma_copy_batches(&rate->dma, count);

	*ret_ns = bench_now_ns() - start;
	return rc;
}

static int run_dpdk(void *arg, uint32_t count, uint64_t *ret_ns)
{
	struct rate *rate = arg;
	const struct bench_ref_order order = { .count = count, .bytes = BENCH_SMALL_BYTES, .depth = BATCH };
	struct bench_ref_answer answer;

	if (bench_send(rate->dpdk.fd, &order, sizeof(order)) < 0 ||
	    bench_receive(rate->dpdk.fd, &answer, sizeof(answer)) < 0 || answer.status < 0)
		return bench_fail("DPDK's DMA device does not copy");
	*ret_ns = answer.ns;
	return 0;
}

/* A batch of plain memcpy() calls: the lower bound of any engine. */
static int run_memcpy(void *arg, uint32_t count, uint64_t *ret_ns)
{
	struct rate *rate = arg;
	const struct bench_dma_cfg *cfg = &rate->dma.cfg;
	uint64_t start = bench_now_ns();

	for (uint32_t i = 0; i < count * BATCH; i++) {
		size_t offset = (size_t)(i % BENCH_NUM_SMALL) * BENCH_SMALL_BYTES;

		memcpy((uint8_t *)cfg->target + offset, (uint8_t *)cfg->source + offset, BENCH_SMALL_BYTES);
		__asm__ volatile("" ::: "memory");
	}
	*ret_ns = bench_now_ns() - start;
	return 0;
}

static int compare(struct rate *rate, struct bench_way baseline, const struct bench_row *row)
{
	const struct bench_cfg cfg = {
		.ours = { run_ours, rate }, .baseline = baseline, .warm_up = 1000, .rounds = 71
	};
	struct bench_result result;

	if (bench_measure(&cfg, &result) < 0)
		return -1;
	result.ours_ns /= BATCH;
	result.baseline_ns /= BATCH;
	return bench_report_result(rate->report, row, &result, BENCH_RATE, BENCH_SMALL_BYTES);
}

static int measure(struct rate *rate)
{
	const struct bench_row dpdk = { .name = "local 64 B, batches of 32",
					.baseline_name = "DPDK dma_skeleton, 2 cores",
					.goal = BENCH_RATIO_ABOVE,
					.limit = 1 };
	const struct bench_row bare = { .name = "local 64 B, batches of 32, floor", .baseline_name = "memcpy alone" };
	int rc;

	if (rate->have_dpdk)
		rc = compare(rate, (struct bench_way){ run_dpdk, rate }, &dpdk);
	else
		rc = bench_report_skipped(rate->report, dpdk.name, "built without DPDK (option bench_dpdk)");
	if (rc == 0)
		rc = compare(rate, (struct bench_way){ run_memcpy, rate }, &bare);
	return rc;
}

static int run_rate(void *arg)
{
	struct rate *rate = arg;
	struct bench_dma_cfg cfg = {
		.pci = BENCH_DPU_PCI, .block_bytes = BENCH_SMALL_BYTES, .num_blocks = BENCH_NUM_SMALL, .depth = BATCH
	};
	int rc;

	cfg.source = bench_memory_new(LEN);
	cfg.target = bench_memory_new(LEN);
	if (!cfg.source || !cfg.target)
		return -1;
	bench_memory_fill(cfg.source, LEN, SEED);
	rc = bench_dma_open(&cfg, &rate->dma);
	if (rc == 0)
		rc = measure(rate);
	if (rc == 0)
		rc = bench_memory_check(cfg.target, LEN, SEED);
	bench_dma_close(&rate->dma);
	return rc;
}

static int start_dpdk(struct rate *rate)
{
#ifdef BENCH_DPDK
	struct bench_ref_answer ready;

	if (bench_process_exec("bfsim_bench_dpdk", NULL, &rate->dpdk) < 0)
		return -1;
	rate->have_dpdk = true;
	if (bench_receive(rate->dpdk.fd, &ready, sizeof(ready)) < 0 || ready.status < 0)
		return bench_fail("DPDK's DMA device does not start");
#endif
	return 0;
}

int bench_fig_rate(const struct bench_report *report)
{
	struct rate rate = { .report = report };
	struct bench_card card;
	int rc;

	if (bench_card_up(&card) < 0)
		return -1;
	rc = start_dpdk(&rate);
	if (rc == 0)
		rc = bench_card_run(&card, "dpu", NULL, run_rate, &rate);
	if (bench_process_end(&rate.dpdk) < 0)
		rc = -1;
	return bench_card_down(&card) < 0 ? -1 : rc;
}

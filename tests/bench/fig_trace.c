/* SPDX-License-Identifier: BSD-3-Clause */
/* What recording costs: the same 64-byte tasks in processes that record and in one that does not. */
#include <stdlib.h>
#include <string.h>

#include "card.h"
#include "dma.h"
#include "fig.h"
#include "memory.h"
#include "reference.h"

#define LEN ((size_t)BENCH_SMALL_BYTES * BENCH_NUM_SMALL)
#define BATCH 32
#define SEED 7

/* A process that copies when it is told to, and records at a level. */
struct copier {
	const struct bench_card *card;
	const char *level;
	struct bench_process process;
};

/* In it: batches as they are ordered, and how long they took. */
static int serve(struct bench_dma *dma, int fd)
{
	struct bench_ref_answer answer = {0};
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
	const struct copier *copier = arg;
	struct bench_dma_cfg cfg = {.pci = BENCH_DPU_PCI, .block_bytes = BENCH_SMALL_BYTES,
				    .num_blocks = BENCH_NUM_SMALL, .depth = BATCH};
	struct bench_dma dma;
	int rc;

	bench_card_enter(copier->card, "dpu", NULL);
	setenv("BFSIM_TRACE", copier->level, 1);
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

/* Here: ways count batches. */
static int order_batches(void *arg, uint32_t count, uint64_t *ret_ns)
{
	const struct copier *copier = arg;
	const struct bench_ref_order order = {.count = count};
	struct bench_ref_answer answer;

	if (bench_send(copier->process.fd, &order, sizeof(order)) < 0 ||
	    bench_receive(copier->process.fd, &answer, sizeof(answer)) < 0 || answer.status < 0)
		return bench_fail("a process that records at level %s does not copy", copier->level);
	*ret_ns = answer.ns;
	return 0;
}

static int start(struct copier *copier)
{
	struct bench_ref_answer ready;

	if (bench_process_fork(run_copier, copier, &copier->process) < 0)
		return -1;
	if (bench_receive(copier->process.fd, &ready, sizeof(ready)) < 0)
		return bench_fail("a process that records at level %s does not start", copier->level);
	return 0;
}

static int compare(const struct bench_report *report, struct copier *ours, struct copier *off, const struct bench_row *row)
{
	const struct bench_cfg cfg = {.ours = {order_batches, ours}, .baseline = {order_batches, off}, .warm_up = 1000,
				      .rounds = 151};
	struct bench_result result;

	if (start(ours) < 0 || bench_measure(&cfg, &result) < 0)
		return -1;
	result.ours_ns /= BATCH;
	result.baseline_ns /= BATCH;
	return bench_report_result(report, row, &result, BENCH_RATE, BENCH_SMALL_BYTES);
}

int bench_fig_trace(const struct bench_report *report)
{
	static const struct bench_row rows[] = {
		{.name = "64 B, recording sampled", .baseline_name = "recording off", .goal = BENCH_RATIO_AT_LEAST, .limit = 0.95},
		{.name = "64 B, recording full", .baseline_name = "recording off"},
		{.name = "64 B, recording off", .baseline_name = "recording off"}, /* how exact the other two are */
	};
	static const char *const levels[] = {"sampled", "full", "off"};
	struct bench_card card;
	struct copier off = {.card = &card, .level = "off"};
	int rc;

	if (bench_card_up(&card) < 0)
		return -1;
	rc = start(&off);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && rc == 0; i++) {
		struct copier ours = {.card = &card, .level = levels[i]};

		rc = compare(report, &ours, &off, &rows[i]);
		if (bench_process_end(&ours.process) < 0)
			rc = -1;
	}
	if (bench_process_end(&off.process) < 0)
		rc = -1;
	return bench_card_down(&card) < 0 ? -1 : rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Figure: RDMA on one machine against process_vm_writev(), DMA tasks and Comch. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "comch.h"
#include "dma.h"
#include "exporter.h"
#include "fig.h"
#include "means.h"
#include "memory.h"
#include "rdma.h"

#define ROUNDS     151
#define BIG_ROUNDS 61
#define DEPTH      64 /* small writes under way */
#define BIG_BYTES  (64u << 10)
#define SEED       11

/* ---- writes into the memory of a process that sleeps: in CPU time, as one thread does all of the work ---- */

struct writes {
	struct bench_rdma_cfg cfg;
	const struct bench_report *report;
	struct bench_row row;
	enum bench_measure measure;
	uint32_t rounds;
	bool is_against_dma;
	struct bench_exporter exporter; /* of the DMA tasks' source */
	struct bench_process target;
	struct bench_rdma end;
	struct bench_dma dma;
	struct bench_walk walk;
};

static int run_writes(void *arg, uint32_t count, uint64_t *ret_ns)
{
	struct writes *writes = arg;
	uint64_t start = bench_cpu_ns();
	int rc = bench_rdma_write(&writes->end, bench_walk(&writes->walk, count), count);

	*ret_ns = bench_cpu_ns() - start;
	return rc;
}

static int run_writev(void *arg, uint32_t count, uint64_t *ret_ns)
{
	struct writes *writes = arg;
	uint32_t block = bench_walk(&writes->walk, count), bytes = writes->cfg.block_bytes;
	uint64_t start = bench_cpu_ns();

	while (count-- > 0) {
		size_t offset = (size_t)block * bytes;
		struct iovec here = { writes->end.memory + offset, bytes };
		struct iovec there = { (void *)(uintptr_t)(writes->end.other.addr + offset), bytes };

		if (process_vm_writev(writes->end.other.pid, &here, 1, &there, 1, 0) != (ssize_t)bytes)
			return bench_fail("process_vm_writev: %s", strerror(errno));
		block = block + 1 == writes->cfg.num_blocks ? 0 : block + 1;
	}
	*ret_ns = bench_cpu_ns() - start;
	return 0;
}

static int run_dma(void *arg, uint32_t count, uint64_t *ret_ns)
{
	struct writes *writes = arg;
	uint64_t start = bench_cpu_ns();
	int rc = bench_dma_copy(&writes->dma, bench_walk(&writes->walk, count), count);

	*ret_ns = bench_cpu_ns() - start;
	return rc;
}

static bool writev_works(const struct writes *writes)
{
	struct iovec here = { writes->end.memory, 1 }, there = { (void *)(uintptr_t)writes->end.other.addr, 1 };

	return process_vm_writev(writes->end.other.pid, &here, 1, &there, 1, 0) == 1;
}

static int open_dma(struct writes *writes)
{
	struct bench_dma_cfg cfg = { .pci = BENCH_DPU_PCI,
				     .import = &writes->exporter.export,
				     .block_bytes = writes->cfg.block_bytes,
				     .num_blocks = writes->cfg.num_blocks,
				     .depth = writes->cfg.depth };

	cfg.target = bench_memory_new((size_t)cfg.block_bytes * cfg.num_blocks);
	return cfg.target ? bench_dma_open(&cfg, &writes->dma) : -1;
}

static int measure(struct writes *writes)
{
	const struct bench_cfg cfg = { .ours = { run_writes, writes },
				       .baseline = { writes->is_against_dma ? run_dma : run_writev, writes },
				       .warm_up = writes->cfg.num_blocks,
				       .rounds = writes->rounds };
	struct bench_result result;

	writes->walk.num_blocks = writes->cfg.num_blocks;
	if (bench_measure(&cfg, &result) < 0)
		return -1;
	return bench_report_result(writes->report, &writes->row, &result, writes->measure, writes->cfg.block_bytes);
}

/* The bytes that a target has are those of the requester. */
static int check(const struct writes *writes, const uint8_t *mapping)
{
	size_t len = (size_t)writes->cfg.block_bytes * writes->cfg.num_blocks;

	return mapping ? bench_memory_check(mapping, len, SEED) : 0;
}

static int run_requester(void *arg)
{
	struct writes *writes = arg;
	size_t len = (size_t)writes->cfg.block_bytes * writes->cfg.num_blocks;
	struct bench_ref_answer answer;
	int rc = bench_rdma_open(&writes->cfg, "dpu", &writes->end);

	if (rc == 0)
		rc = bench_rdma_connect(&writes->end, writes->target.fd);
	if (rc == 0)
		rc = bench_receive(writes->target.fd, &answer, sizeof(answer));
	if (rc == 0)
		rc = bench_rdma_make_writes(&writes->end);
	if (rc == 0) {
		bench_memory_fill(writes->end.memory, len, SEED);
		if (writes->is_against_dma)
			rc = open_dma(writes);
		else if (!writev_works(writes))
			return bench_report_skipped(writes->report, writes->row.name,
						    "the kernel forbids process_vm_writev here");
	}
	if (rc == 0)
		rc = measure(writes);
	if (rc == 0 && writes->cfg.memfd >= 0)
		rc = check(writes, bench_memory_map(writes->cfg.memfd, len));
	if (writes->is_against_dma)
		bench_dma_close(&writes->dma);
	return bench_rdma_close(&writes->end) < 0 ? -1 : rc;
}

static int make_memfd(size_t len)
{
	int fd = memfd_create("bench", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)len) < 0)
		return bench_fail("no memfd: %s", strerror(errno));
	return fd;
}

static int compare_writes(const struct bench_card *card, const struct bench_report *report, struct writes *writes)
{
	size_t len = (size_t)writes->cfg.block_bytes * writes->cfg.num_blocks;
	bool is_mapped = writes->is_against_dma;
	int rc;

	writes->report = report;
	writes->cfg.card = card;
	writes->cfg.path = is_mapped ? "mapped" : "cma";
	writes->cfg.memfd = is_mapped ? make_memfd(len) : -1;
	writes->exporter = (struct bench_exporter){ .card = card, .len = len, .seed = SEED, .memfd = -1 };
	if (is_mapped) {
		writes->exporter.memfd = make_memfd(len);
		if (writes->cfg.memfd < 0 || writes->exporter.memfd < 0 || bench_exporter_start(&writes->exporter) < 0)
			return -1;
	}
	rc = bench_rdma_target_start(&writes->cfg, &writes->target);
	if (rc == 0)
		rc = bench_card_run(card, "dpu", writes->cfg.path, run_requester, writes);
	rc |= bench_process_end(&writes->target);
	if (!is_mapped)
		return rc;
	rc |= bench_exporter_end(&writes->exporter);
	close(writes->cfg.memfd);
	close(writes->exporter.memfd);
	return rc;
}

static int measure_writes(const struct bench_card *card, const struct bench_report *report)
{
	struct writes cases[] = {
		{ .cfg = { .block_bytes = BENCH_SMALL_BYTES, .num_blocks = BENCH_NUM_SMALL, .depth = 1 },
		  .row = { .name = "RDMA write 64 B, cma",
			   .baseline_name = "process_vm_writev",
			   .goal = BENCH_RATIO_AT_MOST,
			   .limit = 1.4 },
		  .measure = BENCH_LATENCY,
		  .rounds = ROUNDS },
		{ .cfg = { .block_bytes = BENCH_SMALL_BYTES, .num_blocks = BENCH_NUM_SMALL, .depth = 1 },
		  .row = { .name = "RDMA write 64 B, mapped",
			   .baseline_name = "a DMA task",
			   .goal = BENCH_RATIO_AT_MOST,
			   .limit = 2 },
		  .measure = BENCH_LATENCY,
		  .rounds = ROUNDS,
		  .is_against_dma = true },
		{ .cfg = { .block_bytes = BENCH_SMALL_BYTES, .num_blocks = BENCH_NUM_SMALL, .depth = DEPTH },
		  .row = { .name = "RDMA write 64 B, 64 under way, mapped",
			   .baseline_name = "DMA tasks",
			   .goal = BENCH_RATIO_AT_LEAST,
			   .limit = 0.5 },
		  .measure = BENCH_RATE,
		  .rounds = ROUNDS,
		  .is_against_dma = true },
		{ .cfg = { .block_bytes = BENCH_BLOCK_BYTES, .num_blocks = BENCH_NUM_BLOCKS, .depth = 1 },
		  .row = { .name = "RDMA write 1 MiB, cma",
			   .baseline_name = "process_vm_writev",
			   .goal = BENCH_RATIO_AT_LEAST,
			   .limit = 0.95 },
		  .measure = BENCH_BANDWIDTH,
		  .rounds = BIG_ROUNDS },
	};
	int rc = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) && rc == 0; i++)
		rc = compare_writes(card, report, &cases[i]);
	return rc;
}

/* ---- messages ---- */

static int compare_pairs(const struct bench_report *report, struct bench_pair *ours, struct bench_pair *baseline,
			 const struct bench_row *row)
{
	const struct bench_cfg cfg = { .ours = { bench_pair_run, ours },
				       .baseline = { bench_pair_run, baseline },
				       .warm_up = 256,
				       .rounds = ROUNDS };
	struct bench_result result;

	if (bench_measure(&cfg, &result) < 0)
		return -1;
	return bench_report_result(report, row, &result, BENCH_LATENCY, ours->bytes);
}

static int compare_with_comch(const struct bench_card *card, const struct bench_report *report, bool blocks)
{
	const struct bench_row rows[] = { { .name = "RDMA ping-pong 64 B",
					    .baseline_name = "the same by Comch",
					    .goal = BENCH_RATIO_AT_MOST,
					    .limit = 1.5 },
					  { .name = "RDMA ping-pong 64 B, both asleep",
					    .baseline_name = "the same by Comch" } };
	const struct bench_rdma_cfg cfg = { .card = card,
					    .memfd = -1,
					    .blocks = blocks,
					    .block_bytes = BENCH_SMALL_BYTES,
					    .num_blocks = BENCH_NUM_SMALL };
	const struct bench_comch_cfg comch = { .card = card, .name = blocks ? "blocks" : "polls", .blocks = blocks };
	struct bench_pair ours, other = { 0 };
	int rc = bench_rdma_ping_pong(&cfg, &ours);

	ours.bytes = BENCH_SMALL_BYTES;
	ours.apart = !blocks;
	if (rc == 0)
		rc = bench_comch_ping_pong(&comch, &other);
	other.bytes = BENCH_SMALL_BYTES;
	other.apart = !blocks;
	if (rc == 0)
		rc = compare_pairs(report, &ours, &other, &rows[blocks]);
	rc |= bench_pair_end(&ours);
	return bench_pair_end(&other) < 0 ? -1 : rc;
}

static int compare_large(const struct bench_card *card, const struct bench_report *report)
{
	static const struct bench_row row = { .name = "RDMA ping-pong 64 KiB", .baseline_name = "Unix socket" };
	const struct bench_rdma_cfg cfg = { .card = card, .memfd = -1, .block_bytes = BIG_BYTES, .num_blocks = 4 };
	struct bench_pair ours, other = { 0 };
	int rc = bench_rdma_ping_pong(&cfg, &ours);

	ours.bytes = BIG_BYTES;
	ours.apart = true;
	if (rc == 0)
		rc = bench_means_socket(&other);
	other.bytes = BIG_BYTES;
	if (rc == 0)
		rc = compare_pairs(report, &ours, &other, &row);
	rc |= bench_pair_end(&ours);
	return bench_pair_end(&other) < 0 ? -1 : rc;
}

static int measure_messages(const struct bench_card *card, const struct bench_report *report)
{
	int rc = compare_with_comch(card, report, false);

	if (rc == 0)
		rc = compare_with_comch(card, report, true);
	return rc == 0 ? compare_large(card, report) : rc;
}

int bench_fig_rdma(const struct bench_report *report)
{
	struct bench_card card;
	int rc;

	if (bench_card_up(&card) < 0)
		return -1;
	rc = measure_writes(&card, report);
	if (rc == 0)
		rc = measure_messages(&card, report);
	return bench_card_down(&card) < 0 ? -1 : rc;
}

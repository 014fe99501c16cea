/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that copies under the checker, as its environment says: bfsim_bench_check FD BYTES DEPTH. An order's operations
 * are batches of DEPTH tasks, on a private card. */
#include <stdlib.h>
#include <string.h>

#include "dma.h"
#include "measure.h"
#include "memory.h"
#include "process.h"
#include "reference.h"

#define DPU_PCI "03:00.0"
#define SEED    11

static int open_all(uint32_t bytes, uint32_t depth, struct bench_dma *dma)
{
	struct bench_dma_cfg cfg = { .pci = DPU_PCI, .block_bytes = bytes, .num_blocks = depth, .depth = depth };
	size_t len = (size_t)bytes * depth;

	cfg.source = bench_memory_new(len);
	cfg.target = bench_memory_new(len);
	if (!cfg.source || !cfg.target)
		return -1;
	bench_memory_fill(cfg.source, len, SEED);
	return bench_dma_open(&cfg, dma);
}

int main(int argc, char **argv)
{
	struct bench_ref_answer answer = { 0 };
	struct bench_ref_order order;
	struct bench_dma dma;
	int fd = argc == 4 ? atoi(argv[1]) : -1;

	if (fd < 0 || setenv("BFSIM_SIDE", "dpu", 1) < 0 ||
	    open_all((uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]), &dma) < 0)
		return EXIT_FAILURE;
	bench_send(fd, &answer, sizeof(answer));
	while (bench_receive(fd, &order, sizeof(order)) == 0) {
		uint64_t start = bench_now_ns();

		answer.status = bench_dma_copy_batches(&dma, order.count);
		answer.ns = bench_now_ns() - start;
		bench_send(fd, &answer, sizeof(answer));
	}
	if (bench_memory_check(dma.cfg.target, (size_t)dma.cfg.block_bytes * dma.cfg.num_blocks, SEED) < 0)
		return EXIT_FAILURE;
	bench_dma_close(&dma);
	return EXIT_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The program that bfsim bench runs on a side.
 *
 *   bfsim-bench-probe export FILE BYTES                        exports memory, until its standard input ends
 *   bfsim-bench-probe read FILE SIZE DEPTH THREADS COUNT       copies from the exporter's memory; FILE "-": from its own
 *   bfsim-bench-probe write FILE SIZE DEPTH THREADS COUNT      copies to the exporter's memory
 *   bfsim-bench-probe engine NAME DEVICE SIZE DEPTH THREADS COUNT
 *                                                              tasks of an accelerator engine, on own memory
 *   bfsim-bench-probe ping|pong SIZE DEPTH COUNT               Comch messages there and back, on the host and on the DPU
 *   bfsim-bench-probe produce|consume SIZE DEPTH COUNT         Comch's fast path
 *   bfsim-bench-probe request OP FILE SIZE DEPTH THREADS COUNT RDMA: OP is write, read or send
 *   bfsim-bench-probe serve|serve-last OP FILE SIZE DEPTH THREADS COUNT
 *                                                              the responder, on the first or the last function
 *
 * The side that measures prints one line of JSON: tasks, bytes, nanoseconds of session time, percentiles of the tasks'
 * latencies, and the data path.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"

static int export_memory(const char *path, size_t bytes)
{
	struct doca_dev *dev = probe_open_first();
	struct doca_mmap *mmap = probe_map(dev, probe_allocate(bytes), bytes, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	const void *descriptor;
	size_t len;

	probe_must(doca_mmap_export_pci(mmap, dev, &descriptor, &len), "export memory");
	probe_write_file(path, descriptor, len);
	while (getchar() != EOF)
		;
	probe_must(doca_mmap_destroy(mmap), "destroy the map");
	probe_must(doca_dev_close(dev), "close the device");
	return EXIT_SUCCESS;
}

static int run_copy(char **argv)
{
	struct probe_copy_cfg cfg = { .path = strcmp(argv[2], "-") == 0 ? NULL : argv[2],
				      .writes = strcmp(argv[1], "write") == 0,
				      .size = strtoull(argv[3], NULL, 10),
				      .depth = (unsigned int)strtoul(argv[4], NULL, 10),
				      .threads = (unsigned int)strtoul(argv[5], NULL, 10),
				      .count = strtoull(argv[6], NULL, 10) };

	return cfg.size && cfg.depth && cfg.threads && cfg.count ? probe_copy(&cfg) : -1;
}

static int run_engine(char **argv)
{
	struct probe_engine_cfg cfg = { .name = argv[2],
					.device = argv[3],
					.size = strtoull(argv[4], NULL, 10),
					.depth = (unsigned int)strtoul(argv[5], NULL, 10),
					.threads = (unsigned int)strtoul(argv[6], NULL, 10),
					.count = strtoull(argv[7], NULL, 10) };

	return cfg.size && cfg.depth && cfg.threads && cfg.count ? probe_engine(&cfg) : -1;
}

static int run_comch(char **argv)
{
	struct probe_comch_cfg cfg = { .is_fast = strcmp(argv[1], "produce") == 0 || strcmp(argv[1], "consume") == 0,
				       .size = strtoull(argv[2], NULL, 10),
				       .depth = (unsigned int)strtoul(argv[3], NULL, 10),
				       .count = strtoull(argv[4], NULL, 10) };
	bool is_host = strcmp(argv[1], "produce") == 0 || strcmp(argv[1], "ping") == 0;

	if (!cfg.size || !cfg.depth || !cfg.count)
		return -1;
	return is_host ? probe_comch_host(&cfg) : probe_comch_dpu(&cfg);
}

static int run_rdma(char **argv)
{
	struct probe_rdma_cfg cfg = { .is_last = strcmp(argv[1], "serve-last") == 0,
				      .path = argv[3],
				      .size = strtoull(argv[4], NULL, 10),
				      .depth = (unsigned int)strtoul(argv[5], NULL, 10),
				      .threads = (unsigned int)strtoul(argv[6], NULL, 10),
				      .count = strtoull(argv[7], NULL, 10) };

	if (strcmp(argv[2], "send") == 0)
		cfg.op = PROBE_RDMA_SEND;
	else
		cfg.op = strcmp(argv[2], "read") == 0 ? PROBE_RDMA_READ : PROBE_RDMA_WRITE;
	if (!cfg.size || !cfg.depth || !cfg.threads || !cfg.count)
		return -1;
	return strcmp(argv[1], "request") == 0 ? probe_rdma_request(&cfg) : probe_rdma_serve(&cfg);
}

static bool is_one_of(const char *word, const char *const *words)
{
	while (*words && strcmp(word, *words) != 0)
		words++;
	return *words;
}

int main(int argc, char **argv)
{
	static const char *const copies[] = { "read", "write", NULL };
	static const char *const channels[] = { "ping", "pong", "produce", "consume", NULL };
	static const char *const rdma[] = { "request", "serve", "serve-last", NULL };
	int status = -1;

	if (argc == 4 && strcmp(argv[1], "export") == 0)
		status = export_memory(argv[2], strtoull(argv[3], NULL, 10));
	else if (argc == 7 && is_one_of(argv[1], copies))
		status = run_copy(argv);
	else if (argc == 8 && strcmp(argv[1], "engine") == 0)
		status = run_engine(argv);
	else if (argc == 8 && is_one_of(argv[1], rdma))
		status = run_rdma(argv);
	else if (argc == 5 && is_one_of(argv[1], channels))
		status = run_comch(argv);
	if (status < 0)
		fprintf(stderr, "bfsim-bench-probe is a part of bfsim bench\n");
	return status < 0 ? EXIT_FAILURE : status;
}

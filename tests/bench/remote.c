/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares host-to-DPU copies with the bare data path. */
#include "remote.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "dma.h"
#include "exporter.h"
#include "fabric_pair.h"
#include "memory.h"

#define SEED 7

struct remote {
	const struct bench_remote_cfg *cfg;
	const struct bench_report *report;
	struct bench_exporter exporter;
	struct bench_fabric_pair pair;
	struct bench_dma dma;
	struct bench_walk walk;
	uint8_t *mapping, *target;
};

static bool is(const struct remote *remote, const char *path)
{
	return strcmp(remote->cfg->path, path) == 0;
}

static bool is_beside_fabric(const struct bench_remote_cfg *cfg)
{
	return (strcmp(cfg->path, "shm") == 0 || strcmp(cfg->path, "tcp") == 0) && !cfg->is_beside_readv;
}

static bool is_beside_readv(const struct bench_remote_cfg *cfg)
{
	return strcmp(cfg->path, "cma") == 0 || strcmp(cfg->path, "procmem") == 0 || cfg->is_beside_readv;
}

static size_t len_of(const struct bench_remote_cfg *cfg)
{
	return (size_t)cfg->block_bytes * cfg->num_blocks;
}

/* ---- the ways ---- */

static int run_after_pauses(struct remote *remote, uint32_t count, uint64_t *ret_ns,
			    int (*run)(struct remote *remote, uint32_t count))
{
	const struct timespec pause = { .tv_nsec = 1000L * remote->cfg->pause_us };
	uint32_t step = remote->cfg->pause_us ? 1 : count;
	int rc = 0;

	*ret_ns = 0;
	for (uint32_t done = 0; done < count && rc == 0; done += step) {
		uint64_t start;

		if (remote->cfg->pause_us)
			nanosleep(&pause, NULL);
		start = bench_now_ns();
		rc = run(remote, step);
		*ret_ns += bench_now_ns() - start;
	}
	return rc;
}

static int copy_by_tasks(struct remote *remote, uint32_t count)
{
	return bench_dma_copy(&remote->dma, bench_walk(&remote->walk, count), count);
}

static int run_ours(void *arg, uint32_t count, uint64_t *ret_ns)
{
	return run_after_pauses(arg, count, ret_ns, copy_by_tasks);
}

static int copy_by_readv(struct remote *remote, uint32_t count)
{
	const struct bench_export *export = &remote->exporter.export;
	uint32_t block = bench_walk(&remote->walk, count), bytes = remote->cfg->block_bytes;

	while (count-- > 0) {
		size_t offset = (size_t)block * bytes;
		struct iovec here = { remote->target + offset, bytes };
		struct iovec there = { (void *)(uintptr_t)(export->addr + offset), bytes };

		if (process_vm_readv(export->pid, &here, 1, &there, 1, 0) != (ssize_t)bytes)
			return bench_fail("process_vm_readv: %s", strerror(errno));
		block = block + 1 == remote->cfg->num_blocks ? 0 : block + 1;
	}
	return 0;
}

static int run_readv(void *arg, uint32_t count, uint64_t *ret_ns)
{
	return run_after_pauses(arg, count, ret_ns, copy_by_readv);
}

static int run_memcpy(void *arg, uint32_t count, uint64_t *ret_ns)
{
	struct remote *remote = arg;
	uint32_t block = bench_walk(&remote->walk, count), bytes = remote->cfg->block_bytes;
	uint64_t start = bench_now_ns();

	while (count-- > 0) {
		size_t offset = (size_t)block * bytes;

		memcpy(remote->target + offset, remote->mapping + offset, bytes);
		__asm__ volatile("" ::: "memory"); /* every copy counts */
		block = block + 1 == remote->cfg->num_blocks ? 0 : block + 1;
	}
	*ret_ns = bench_now_ns() - start;
	return 0;
}

static struct bench_way baseline_of(struct remote *remote)
{
	if (is_beside_readv(remote->cfg))
		return (struct bench_way){ run_readv, remote };
	if (is(remote, "mapped"))
		return (struct bench_way){ run_memcpy, remote };
	return (struct bench_way){ bench_fabric_pair_read, &remote->pair };
}

/* ---- the DPU process ---- */

static bool cma_works(struct remote *remote)
{
	uint8_t byte;
	struct iovec here = { &byte, 1 };
	struct iovec there = { (void *)(uintptr_t)remote->exporter.export.addr, 1 };

	return process_vm_readv(remote->exporter.export.pid, &here, 1, &there, 1, 0) == 1;
}

static int measure(struct remote *remote)
{
	const struct bench_remote_cfg *remote_cfg = remote->cfg;
	const struct bench_cfg cfg = {
		.ours = { run_ours, remote },
		.baseline = baseline_of(remote),
		.warm_up = remote_cfg->num_blocks,
		.slice_warm_up = remote_cfg->slice_warm_up,
		.rounds = remote_cfg->rounds,
	};
	struct bench_result result;

	if (bench_measure(&cfg, &result) < 0)
		return -1;
	memset(remote->target, 0, len_of(remote_cfg));
	if (bench_dma_copy(&remote->dma, 0, remote_cfg->num_blocks) < 0 ||
	    bench_memory_check(remote->target, len_of(remote_cfg), SEED) < 0)
		return -1;
	return bench_report_result(remote->report, &remote_cfg->row, &result, remote_cfg->measure,
				   remote_cfg->block_bytes);
}

static int run_dpu(void *arg)
{
	struct remote *remote = arg;
	struct bench_dma_cfg cfg = {
		.pci = BENCH_DPU_PCI,
		.import = &remote->exporter.export,
		.block_bytes = remote->cfg->block_bytes,
		.num_blocks = remote->cfg->num_blocks,
		.depth = remote->cfg->depth,
	};
	int rc;

	if (is_beside_readv(remote->cfg) && !cma_works(remote))
		return bench_report_skipped(remote->report, remote->cfg->row.name,
					    "the kernel forbids process_vm_readv here");
	if (remote->exporter.memfd >= 0)
		remote->mapping = bench_memory_map(remote->exporter.memfd, len_of(remote->cfg));
	remote->target = cfg.target = bench_memory_new(len_of(remote->cfg));
	if (!cfg.target || (remote->exporter.memfd >= 0 && !remote->mapping))
		return -1;
	rc = bench_dma_open(&cfg, &remote->dma);
	if (rc == 0)
		rc = measure(remote);
	bench_dma_close(&remote->dma);
	return rc;
}

/* ---- around the DPU process ---- */

static int run_with_exporter(struct remote *remote, const struct bench_card *card)
{
	const struct bench_remote_cfg *cfg = remote->cfg;
	int rc = 0;

	if (is_beside_fabric(cfg))
		rc = bench_fabric_pair_start(cfg->path, len_of(cfg), &remote->pair);
	remote->pair.bytes = cfg->block_bytes;
	remote->pair.depth = cfg->baseline_depth;
	if (rc == 0)
		rc = bench_card_run(card, "dpu", cfg->path, run_dpu, remote);
	else if (rc > 0)
		rc = bench_report_skipped(remote->report, cfg->row.name, "libfabric lacks the provider");
	return bench_fabric_pair_end(&remote->pair) < 0 ? -1 : rc;
}

static int run_both(struct remote *remote, const struct bench_card *card)
{
	int rc = bench_exporter_start(&remote->exporter);

	if (rc == 0)
		rc = run_with_exporter(remote, card);
	return bench_exporter_end(&remote->exporter) < 0 ? -1 : rc;
}

static int run_on_one_cpu(struct remote *remote, const struct bench_card *card)
{
	cpu_set_t before;
	int rc;

	if (bench_one_cpu_begin(&before) < 0)
		return -1;
	rc = run_both(remote, card);
	bench_one_cpu_end(&before);
	return rc;
}

int bench_remote(const struct bench_card *card, const struct bench_remote_cfg *cfg, const struct bench_report *report)
{
	struct remote remote = {
		.cfg = cfg,
		.report = report,
		.exporter = { .card = card, .len = len_of(cfg), .seed = SEED, .memfd = -1 },
		.walk.num_blocks = cfg->num_blocks,
	};
	int rc;

#ifndef BENCH_LIBFABRIC
	if (is_beside_fabric(cfg))
		return bench_report_skipped(report, cfg->row.name, "built without libfabric");
#endif
	if (is(&remote, "mapped")) {
		remote.exporter.memfd = memfd_create("bench", MFD_CLOEXEC);
		if (remote.exporter.memfd < 0 || ftruncate(remote.exporter.memfd, (off_t)len_of(cfg)) < 0)
			return bench_fail("no memfd: %s", strerror(errno));
	}
	rc = cfg->has_one_cpu ? run_on_one_cpu(&remote, card) : run_both(&remote, card);
	if (remote.exporter.memfd >= 0)
		close(remote.exporter.memfd);
	return rc;
}

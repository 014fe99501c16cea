/* SPDX-License-Identifier: BSD-3-Clause */
/* A number of operations of one kind, for a count of the instructions of each.
 *
 *   bfsim_bench_count KIND COUNT             --list names the kinds
 *   bfsim_bench_count task|bare NAME COUNT   smallest tasks of an engine (engine_kinds.c), or the work of their library
 *
 * "remote" and the messages take place in the session of BFSIM_SESSION, the others on a private card.
 */
#include "count.h"

#include <bfsim.h>
#include <doca_sync_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dma.h"
#include "exporter.h"
#include "measure.h"
#include "memory.h"

#define LEN       ((size_t)BENCH_SMALL_BYTES * BENCH_NUM_SMALL)
#define NUM_RULES 1000
#define SEED      5

/* ---- tasks of 64 bytes ---- */

static int count_tasks(const struct bench_export *import, uint32_t count)
{
	struct bench_dma_cfg cfg = { .pci = BENCH_DPU_PCI,
				     .source = import ? NULL : bench_memory_new(LEN),
				     .import = import,
				     .target = bench_memory_new(LEN),
				     .block_bytes = BENCH_SMALL_BYTES,
				     .num_blocks = BENCH_NUM_SMALL,
				     .depth = BENCH_COUNT_BATCH };
	struct bench_dma dma;
	int rc;

	if (!cfg.target || (!import && !cfg.source))
		return -1;
	if (!import)
		bench_memory_fill(cfg.source, LEN, SEED);
	rc = bench_dma_open(&cfg, &dma);
	if (rc == 0)
		rc = bench_dma_copy_batches(&dma, BENCH_NUM_SMALL / BENCH_COUNT_BATCH);
	if (rc == 0)
		rc = bench_memory_check(cfg.target, LEN, SEED);
	bench_count_toggle();
	if (rc == 0)
		rc = bench_dma_copy_batches(&dma, count / BENCH_COUNT_BATCH);
	bench_count_toggle();
	bench_dma_close(&dma);
	return rc;
}

static int count_local(uint32_t count)
{
	return count_tasks(NULL, count);
}

/* Rules for other sizes, addresses and devices: none hits. */
static int add_rule(unsigned int i)
{
	char text[128];

	if (i % 3 == 0)
		snprintf(text, sizeof(text), "dma.memcpy size=%u..%u fail=IO_FAILED", BENCH_SMALL_BYTES + 1 + i,
			 BENCH_SMALL_BYTES + 100 + i);
	else if (i % 3 == 1)
		snprintf(text, sizeof(text), "dma.memcpy addr=0x%x..0x%x fail=IO_FAILED", 4096 * i, 4096 * i + 100);
	else
		snprintf(text, sizeof(text), "dma.memcpy device=%02x:00.0 fail=IO_FAILED", 4 + i % 100);
	return bfsim_fault_add(text, NULL) == 0 ? 0 : bench_fail("%s: %s", text, bfsim_error());
}

static int count_rules(uint32_t count)
{
	int rc = 0;

	for (unsigned int i = 0; i < NUM_RULES && rc == 0; i++)
		rc = add_rule(i);
	return rc == 0 ? count_tasks(NULL, count) : rc;
}

static int count_remote(uint32_t count)
{
	struct bench_card card = { .clock = SIM_CLOCK_FUNCTIONAL };
	struct bench_exporter exporter = { .card = &card, .len = LEN, .seed = SEED, .memfd = -1 };
	int rc;

	snprintf(card.dir, sizeof(card.dir), "%s", getenv("BFSIM_SESSION"));
	exporter.memfd = memfd_create("bench", MFD_CLOEXEC);
	rc = exporter.memfd < 0 || ftruncate(exporter.memfd, (off_t)LEN) < 0 ? -1 : bench_exporter_start(&exporter);
	if (rc == 0) {
		bench_card_enter(&card, "dpu", NULL);
		rc = count_tasks(&exporter.export, count);
	}
	return bench_exporter_end(&exporter) < 0 ? -1 : rc;
}

/* ---- sync events: a value is set and read ---- */

static int open_event(struct doca_sync_event **ret_event)
{
	struct doca_dev *dev;

	if (bench_dev_open(BENCH_DPU_PCI, &dev) < 0 || doca_sync_event_create(ret_event) != DOCA_SUCCESS ||
	    doca_sync_event_add_publisher_location_cpu(*ret_event, dev) != DOCA_SUCCESS ||
	    doca_sync_event_add_subscriber_location_cpu(*ret_event, dev) != DOCA_SUCCESS ||
	    doca_sync_event_start(*ret_event) != DOCA_SUCCESS)
		return bench_fail("no sync event");
	return 0;
}

static int count_event(uint32_t count)
{
	struct doca_sync_event *event;
	uint64_t value = 0;

	if (open_event(&event) < 0)
		return -1;
	bench_count_toggle();
	for (uint64_t i = 1; i <= count && value == i - 1; i++)
		if (doca_sync_event_update_set(event, i) != DOCA_SUCCESS ||
		    doca_sync_event_get(event, &value) != DOCA_SUCCESS)
			break;
	bench_count_toggle();
	return value == count ? 0 : bench_fail("a sync event lost a value");
}

/* ---- engines ---- */

static int count_code(uint32_t count)
{
	return bench_count_engine("erasure coding", false, count);
}

static int count_code_bare(uint32_t count)
{
	return bench_count_engine("erasure coding", true, count);
}

static int count_gcm(uint32_t count)
{
	return bench_count_engine("AES-256-GCM", false, count);
}

static int count_gcm_bare(uint32_t count)
{
	return bench_count_engine("AES-256-GCM", true, count);
}

/* ---- */

static const struct kind {
	const char *name;
	int (*run)(uint32_t count);
} kinds[] = {
	{ "local", count_local },
	{ "rules", count_rules },
	{ "remote", count_remote },
	{ "sync-event", count_event },
	{ "send", bench_count_sends },
	{ "receive", bench_count_receives },
	{ "code", count_code },
	{ "code-bare", count_code_bare },
	{ "gcm", count_gcm },
	{ "gcm-bare", count_gcm_bare },
	{ "rdma-message", bench_count_rdma_messages },
	{ "rdma-write", bench_count_rdma_writes },
};

int main(int argc, char **argv)
{
	if (argc == 4)
		return bench_count_engine(argv[2], strcmp(argv[1], "bare") == 0, (uint32_t)atoi(argv[3])) == 0 ?
			       EXIT_SUCCESS :
			       EXIT_FAILURE;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (argc == 2 && strcmp(argv[1], "--list") == 0)
			puts(kinds[i].name);
		if (argc == 3 && strcmp(argv[1], kinds[i].name) == 0)
			return kinds[i].run((uint32_t)atoi(argv[2])) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	return argc == 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Figure: time to attach a process to a session, and to open a device. */
#include <stdio.h>
#include <string.h>

#include "dma.h"
#include "exporter.h"
#include "fig.h"
#include "memory.h"

#define PROGRAM       "bfsim_bench"
#define NUM_STARTS    31
#define NUM_PROCESSES 64
#define LEN           65536u
#define BLOCK         4096u

/* ---- how long it takes ---- */

int bench_attach_probe(int fd, bool attach)
{
	uint64_t start = bench_now_ns(), ns;
	struct doca_dev *dev = NULL;

	if (attach && bench_dev_open(BENCH_DPU_PCI, &dev) < 0)
		return -1;
	ns = bench_now_ns() - start;
	if (dev)
		doca_dev_close(dev);
	return bench_send(fd, &ns, sizeof(ns));
}

/* Run a fresh process; return its measurement and its total time. */
static int run_probe(const char *what, uint64_t *ret_inside_ns, uint64_t *ret_whole_ns)
{
	const char *args[] = { what, NULL };
	uint64_t start = bench_now_ns();
	struct bench_process process;

	if (bench_process_exec(PROGRAM, args, &process) < 0)
		return -1;
	if (bench_receive(process.fd, ret_inside_ns, sizeof(*ret_inside_ns)) < 0)
		return bench_fail("a process could not attach");
	if (bench_process_end(&process) < 0)
		return -1;
	*ret_whole_ns = bench_now_ns() - start;
	return 0;
}

static int measure_attach(const struct bench_report *report)
{
	struct bench_row row = { .name = "attach and open a device",
				 .baseline_name = "a process that does not",
				 .unit = "ms",
				 .goal = BENCH_OURS_BELOW,
				 .limit = 10 };
	double ours[NUM_STARTS], baseline[NUM_STARTS], ratio[NUM_STARTS], whole[NUM_STARTS];

	for (int i = 0; i < NUM_STARTS; i++) {
		uint64_t inside = 0, with = 0, unused = 0, without = 0;

		if (run_probe("--attach", &inside, &with) < 0 || run_probe("--no-attach", &unused, &without) < 0)
			return -1;
		ours[i] = (double)inside / 1e6;
		baseline[i] = (double)without / 1e6;
		whole[i] = (double)with / 1e6;
		ratio[i] = ours[i] / baseline[i];
	}
	row.ours = bench_median(ours, NUM_STARTS);
	row.baseline = bench_median(baseline, NUM_STARTS);
	row.ratio = bench_median(ratio, NUM_STARTS);
	snprintf(row.note, sizeof(row.note), "from start to exit %.2f ms, slowest %.2f ms to attach",
		 bench_median(whole, NUM_STARTS), ours[NUM_STARTS - 1]);
	return bench_report_row(report, &row);
}

/* ---- how many there can be ---- */

struct crowd {
	const struct bench_report *report;
	struct bench_card card;
	struct bench_exporter exporters[NUM_PROCESSES];
	uint64_t start_ns;
};

static int read_one(const struct bench_exporter *exporter, void *target)
{
	struct bench_dma_cfg cfg = { .pci = BENCH_DPU_PCI,
				     .import = &exporter->export,
				     .target = target,
				     .block_bytes = BLOCK,
				     .num_blocks = LEN / BLOCK,
				     .depth = 4 };
	struct bench_dma dma;
	int rc = bench_dma_open(&cfg, &dma);

	if (rc == 0)
		rc = bench_dma_copy(&dma, 0, cfg.num_blocks);
	if (rc == 0)
		rc = bench_memory_check(target, LEN, exporter->seed);
	bench_dma_close(&dma);
	return rc;
}

static int run_reader(void *arg)
{
	struct crowd *crowd = arg;
	struct bench_row row = { .name = "processes attached and read",
				 .unit = "",
				 .goal = BENCH_OURS_AT_LEAST,
				 .baseline_name = "asked for",
				 .limit = NUM_PROCESSES,
				 .baseline = NUM_PROCESSES };
	uint8_t *target = bench_memory_new(LEN);
	unsigned int count = 0;

	while (target && count < NUM_PROCESSES && read_one(&crowd->exporters[count], target) == 0)
		count++;
	row.ours = count;
	row.ratio = (double)count / NUM_PROCESSES;
	snprintf(row.note, sizeof(row.note), "started, attached, read in %.1f ms each",
		 (double)(bench_now_ns() - crowd->start_ns) / 1e6 / NUM_PROCESSES);
	if (bench_report_row(crowd->report, &row) < 0)
		return -1;
	return count == NUM_PROCESSES ? 0 : bench_fail("process %u of %u can't be read", count + 1, NUM_PROCESSES);
}

static int start_exporters(struct crowd *crowd)
{
	for (unsigned int i = 0; i < NUM_PROCESSES; i++) {
		crowd->exporters[i] =
			(struct bench_exporter){ .card = &crowd->card, .len = LEN, .seed = 100 + i, .memfd = -1 };
		if (bench_exporter_start(&crowd->exporters[i]) < 0)
			return bench_fail("process %u of %u does not start", i + 1, NUM_PROCESSES);
	}
	return 0;
}

static int measure_crowd(struct crowd *crowd)
{
	int rc;

	crowd->start_ns = bench_now_ns();
	rc = start_exporters(crowd);
	if (rc == 0)
		rc = bench_card_run(&crowd->card, "dpu", NULL, run_reader, crowd);
	for (unsigned int i = 0; i < NUM_PROCESSES; i++)
		rc |= bench_exporter_end(&crowd->exporters[i]);
	return rc;
}

int bench_fig_attach(const struct bench_report *report)
{
	struct crowd crowd = { .report = report };
	int rc;

	if (bench_card_up(&crowd.card) < 0)
		return -1;
	bench_card_enter(&crowd.card, "dpu", NULL); /* for the probes */
	rc = measure_attach(report);
	rc |= measure_crowd(&crowd);
	return rc | bench_card_down(&crowd.card);
}

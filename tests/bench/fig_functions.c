/* SPDX-License-Identifier: BSD-3-Clause */
/* Many functions on a card: what the start of a program, a list of devices and a task cost. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "card.h"
#include "dma.h"
#include "fig.h"
#include "memory.h"

#define PCI       "03:00.0"
#define NUM_TASKS 200000u
#define RUNS      5

struct size {
	unsigned int num_sfs; /* of the DPU's one PF; there are two functions besides */
	double attach_ms, list_us, task_ns;
};

struct run {
	struct size *size;
	const struct bench_report *report;
	int fd;
};

static int make_topology(unsigned int num_sfs, char path[], size_t size)
{
	int fd = memfd_create("topology", 0);

	if (fd < 0)
		return bench_fail("no memory for a topology");
	snprintf(path, size, "/proc/self/fd/%d", fd);
	if (dprintf(fd,
		    "cards:\n  - profile: bluefield-3\n    functions:\n"
		    "      - {side: dpu, type: pf, pci: \"" PCI "\", sfs: %u}\n"
		    "      - {side: host, type: pf, pci: \"b1:00.0\"}\n",
		    num_sfs) < 0)
		return bench_fail("cannot write a topology");
	return fd;
}

static double list_devices(void)
{
	uint64_t start_ns = bench_now_ns();
	struct doca_devinfo **list;
	uint32_t count;

	if (doca_devinfo_create_list(&list, &count) != DOCA_SUCCESS)
		return NAN;
	doca_devinfo_destroy_list(list);
	return (double)(bench_now_ns() - start_ns) / 1000;
}

static int measure_tasks(double *ret_ns)
{
	size_t len = (size_t)BENCH_SMALL_BYTES * BENCH_NUM_SMALL;
	struct bench_dma_cfg cfg = { .pci = PCI,
				     .block_bytes = BENCH_SMALL_BYTES,
				     .num_blocks = BENCH_NUM_SMALL,
				     .depth = 32,
				     .source = bench_memory_new(len),
				     .target = bench_memory_new(len) };
	struct bench_dma dma = { 0 };
	int rc = cfg.source && cfg.target ? bench_dma_open(&cfg, &dma) : -1;

	*ret_ns = INFINITY;
	for (int run = 0; run < RUNS && rc == 0; run++) {
		uint64_t start_ns = bench_now_ns();
		double ns;

		rc = bench_dma_copy(&dma, 0, NUM_TASKS);
		ns = (double)(bench_now_ns() - start_ns) / NUM_TASKS;
		if (ns < *ret_ns)
			*ret_ns = ns;
	}
	bench_dma_close(&dma);
	return rc;
}

/* In a process of its own. */
static int measure(void *arg)
{
	struct run *run = arg;
	struct size *size = run->size;
	double list_us[RUNS];

	size->attach_ms = list_devices() / 1000;
	for (int i = 0; i < RUNS; i++)
		list_us[i] = list_devices();
	size->list_us = bench_median(list_us, RUNS);
	return measure_tasks(&size->task_ns) < 0 || bench_send(run->fd, size, sizeof(*size)) < 0 ? -1 : 0;
}

static int measure_size(const struct bench_report *report, struct size *size)
{
	struct bench_card card = { .clock = SIM_CLOCK_FUNCTIONAL };
	struct run run = { .size = size, .report = report };
	char path[64];
	int fds[2], rc = -1, fd = make_topology(size->num_sfs, path, sizeof(path));

	if (fd < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		return -1;
	card.topology_path = path;
	run.fd = fds[1];
	if (bench_card_up_as(&card) == 0)
		rc = bench_card_run(&card, "dpu", NULL, measure, &run);
	if (rc == 0)
		rc = bench_receive(fds[0], size, sizeof(*size));
	close(fds[0]);
	close(fds[1]);
	close(fd);
	return bench_card_down(&card) < 0 ? -1 : rc;
}

static int report_row(const struct bench_report *report, const struct size *size, const char *what, const char *unit,
		      double ours, double baseline)
{
	struct bench_row row = { .ours = ours, .baseline = baseline, .ratio = ours / baseline };

	snprintf(row.name, sizeof(row.name), "%u functions, %s", size->num_sfs + 2, what);
	snprintf(row.unit, sizeof(row.unit), "%s", unit);
	snprintf(row.baseline_name, sizeof(row.baseline_name), "2 functions");
	return bench_report_row(report, &row);
}

int bench_fig_functions(const struct bench_report *report)
{
	struct size sizes[] = { { .num_sfs = 0 }, { .num_sfs = 62 }, { .num_sfs = 510 }, { .num_sfs = 4000 } };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct size *size = &sizes[i];

		if (measure_size(report, size) < 0 ||
		    report_row(report, size, "attach and list", "ms", size->attach_ms, sizes->attach_ms) < 0 ||
		    report_row(report, size, "list again", "us", size->list_us, sizes->list_us) < 0 ||
		    report_row(report, size, "64-byte task", "ns", size->task_ns, sizes->task_ns) < 0)
			return -1;
	}
	return 0;
}

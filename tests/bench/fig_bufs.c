/* SPDX-License-Identifier: BSD-3-Clause */
/* Figure: time and memory of buffers of an inventory. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "card.h"
#include "dma.h"
#include "fig.h"
#include "memory.h"

#define NUM_BUFS     1000000u
#define BYTES        64u
#define MALLOC_BYTES 64u

/* Resident memory of this process. */
static double resident_bytes(void)
{
	unsigned long size = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file && fscanf(file, "%lu %lu", &size, &resident) != 2)
		resident = 0;
	if (file)
		fclose(file);
	return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static int take_bufs(struct doca_mmap *mmap, uint8_t *memory, struct doca_buf_inventory **ret_inventory,
		     struct doca_buf **bufs)
{
	if (doca_buf_inventory_create(NUM_BUFS, ret_inventory) != DOCA_SUCCESS ||
	    doca_buf_inventory_start(*ret_inventory) != DOCA_SUCCESS)
		return bench_fail("no inventory of %u buffers", NUM_BUFS);
	for (uint32_t i = 0; i < NUM_BUFS; i++)
		if (doca_buf_inventory_buf_get_by_data(*ret_inventory, mmap, memory + (size_t)i * BYTES, BYTES,
						       &bufs[i]) != DOCA_SUCCESS)
			return bench_fail("no buffer %u of %u", i + 1, NUM_BUFS);
	return 0;
}

static int weigh_bufs(struct doca_dev *dev, struct doca_buf **bufs, double *ret_bytes)
{
	uint8_t *memory = bench_memory_new((size_t)NUM_BUFS * BYTES);
	struct doca_buf_inventory *inventory = NULL;
	struct doca_mmap *mmap;
	double before;
	int rc;

	if (!memory || bench_map(dev, memory, (size_t)NUM_BUFS * BYTES, false, &mmap) < 0)
		return -1;
	before = resident_bytes();
	rc = take_bufs(mmap, memory, &inventory, bufs);
	*ret_bytes = (resident_bytes() - before) / NUM_BUFS;
	for (uint32_t i = 0; i < NUM_BUFS && bufs[i]; i++)
		doca_buf_dec_refcount(bufs[i], NULL);
	if (rc == 0 && doca_buf_inventory_destroy(inventory) != DOCA_SUCCESS)
		rc = bench_fail("the buffers did not come back");
	doca_mmap_destroy(mmap);
	return rc;
}

static double weigh_malloc(void **pieces)
{
	double before = resident_bytes(), bytes;

	for (uint32_t i = 0; i < NUM_BUFS; i++) {
		pieces[i] = malloc(MALLOC_BYTES);
		if (pieces[i])
			*(volatile char *)pieces[i] = 0;
	}
	bytes = (resident_bytes() - before) / NUM_BUFS;
	for (uint32_t i = 0; i < NUM_BUFS; i++)
		free(pieces[i]);
	return bytes;
}

static int run_bufs(void *arg)
{
	struct bench_row row = { .name = "a million buffers, each",
				 .baseline_name = "malloc(64)",
				 .unit = "bytes",
				 .goal = BENCH_OURS_BELOW,
				 .limit = 200 };
	void **pointers = bench_memory_new(NUM_BUFS * sizeof(*pointers));
	struct doca_dev *dev;
	int rc;

	if (!pointers || bench_dev_open(BENCH_DPU_PCI, &dev) < 0)
		return -1;
	rc = weigh_bufs(dev, (struct doca_buf **)pointers, &row.ours);
	doca_dev_close(dev);
	if (rc < 0)
		return -1;
	row.baseline = weigh_malloc(pointers);
	row.ratio = row.ours / row.baseline;
	return bench_report_row(arg, &row);
}

int bench_fig_bufs(const struct bench_report *report)
{
	struct bench_report copy = *report;
	struct bench_card card;
	int rc;

	if (bench_card_up(&card) < 0)
		return -1;
	rc = bench_card_run(&card, "dpu", NULL, run_bufs, &copy);
	return bench_card_down(&card) < 0 ? -1 : rc;
}

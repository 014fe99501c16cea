/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/reports/common/copier.h - a DMA context whose tasks copy within one map, and counters of their callbacks. */
#ifndef TESTS_REPORTS_COPIER_H
#define TESTS_REPORTS_COPIER_H

#include <doca_buf_inventory.h>
#include <doca_dma.h>
#include <doca_mmap.h>

#include "report.h"

#define COPIER_ROOM      65536 /* for sources, and for destinations behind them */
#define COPIER_NUM_TASKS 32

struct copier {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	uint8_t *memory;
	unsigned int done, failed, next;
	bool shares_pe, keeps_tasks; /* the program frees tasks itself */
};

/* Open the device and start. @pe NULL: with an engine of its own. */
void copier_open(struct copier *copier, const char *pci_addr, struct doca_pe *pe);
void copier_close(struct copier *copier);

/* A task that copies @len bytes from @from to @to; both count from the start of the memory. */
struct doca_task *copier_task(struct copier *copier, size_t from, size_t to, size_t len);

/* Submit a copy of 4 KiB, each to other bytes than the one before. */
void copier_submit(struct copier *copier);

/* Free a task that was kept, and its buffers. */
void copier_free(struct doca_task *task);

#endif

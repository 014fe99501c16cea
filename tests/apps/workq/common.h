/* SPDX-License-Identifier: BSD-3-Clause */
/* common.h - what the programs of the work-queue generation here share.
 *
 * Each does one thing and takes plain arguments. What fails is said on standard
 * error, and ends the program with status 1.
 */
#ifndef WORKQ_COMMON_H
#define WORKQ_COMMON_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_mmap.h>

#include "bytes.h"

#define MUST(call)                                                                          \
	do {                                                                                \
		doca_error_t result_ = (call);                                              \
		if (result_ != DOCA_SUCCESS) {                                              \
			fprintf(stderr, "%s: %s\n", #call, doca_get_error_string(result_)); \
			exit(EXIT_FAILURE);                                                 \
		}                                                                           \
	} while (0)

/* The first device that can copy. */
struct doca_dev *open_copying_device(void);

/* A started DMA context with a queue, and an inventory of as many buffers as one copy needs. */
struct engine {
	struct doca_dev *dev;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	struct doca_workq *workq;
	struct doca_buf_inventory *inventory;
};

struct engine engine_start(struct doca_dev *dev);
void engine_stop(struct engine *engine);

/* Copy by one job, and wait for its event. Returns the event's result. */
doca_error_t engine_copy(struct engine *engine, struct doca_buf *to, const struct doca_buf *from);

#endif

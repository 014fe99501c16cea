/* SPDX-License-Identifier: BSD-3-Clause */
/* The fixture of tests of the work-queue generation: the first device with a DMA
 * engine, a context on it, a queue, an inventory. */
#ifndef TEST_WORKQ_RIG_H
#define TEST_WORKQ_RIG_H

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>

#include "cmocka_test.h"

#define RIG_DEPTH 8

struct rig {
	struct doca_dev *dev;
	struct doca_workq *workq;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	struct doca_buf_inventory *inventory;
};

/* Setup and teardown for cmocka: *state is a struct rig whose objects are started and added. */
int rig_setup(void **state);
int rig_teardown(void **state);

/* Open the @index-th device; the test closes it. */
struct doca_dev *rig_open(uint32_t index);

/* A started map in 2.2's order over memory of the test. */
struct doca_mmap *rig_map(struct rig *rig, void *addr, size_t len, uint32_t access);

/* A buffer full of data. */
struct doca_buf *rig_data(struct rig *rig, struct doca_mmap *mmap, void *data, size_t len);

/* A buffer without data. */
struct doca_buf *rig_room(struct rig *rig, struct doca_mmap *mmap, void *addr, size_t len);

void rig_return(struct doca_buf *buf);

/* A source with 64 bytes of data and a destination with room for 64 bytes, in separate memory. */
struct rig_copy {
	char *src, *dst; /* RIG_COPY_SIZE each */
	struct doca_mmap *from_map, *to_map;
	struct doca_buf *from, *to;
};

#define RIG_COPY_SIZE 4096

struct rig_copy rig_copy_new(struct rig *rig);
void rig_copy_free(struct rig_copy *copy);

struct doca_dma_job_memcpy rig_job(struct rig *rig, struct doca_buf *dst, const struct doca_buf *src, uint64_t id);

/* Submit the job and poll until an event is retrieved. Returns the code of the retrieval. */
doca_error_t rig_do(struct rig *rig, const struct doca_dma_job_memcpy *job, struct doca_event *ret_event);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/workq/sides.h - two processes of the work-queue generation on one card.
 *
 *   host: side_be_host() ---struct exports---> DPU: engine_start(), copies and waits, engine_stop()
 *
 * They are processes of tests/common/proc.h: a failed check ends the process.
 */
#ifndef TEST_WORKQ_SIDES_H
#define TEST_WORKQ_SIDES_H

#include <stdbool.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_sync_event.h>

#include "proc.h"

#define SIDE_LEN     8192 /* length of the host's memory in bytes */
#define SIDE_FILL    0x5a /* value of each byte */
#define ENGINE_DEPTH 8

/* The session of the card; set before the processes start. */
extern const char *side_session;

/* The exports of the host: its memory, and a sync event that it publishes and the DPU subscribes to. */
struct exports {
	uint64_t addr;
	size_t map_len, event_len;
	uint8_t map[512], event[512];
};

/* Open the first device of @side with a DMA engine. */
struct doca_dev *side_enter(const char *side);

/* A host that sends its exports, and revokes them and exits when it receives a byte. */
void side_be_host(int ctl, const void *arg);

/* The objects of the DPU: copies go from half of the host's memory, or of its own, to the other half of its own. */
struct engine {
	struct doca_dev *dev;
	struct doca_mmap *own, *remote;
	struct doca_buf_inventory *inventory;
	struct doca_dma *dma;
	struct doca_sync_event *event;
	struct doca_workq *workq;
	struct doca_buf *from, *to, *local; /* half of the host's memory, the destination, half of our own */
};

/* @memory has SIDE_LEN bytes. Stop while no job is in flight. */
struct engine engine_start(char *memory, const struct exports *exports, bool event_driven);
void engine_stop(struct engine *engine);

/* Submit a copy to engine.to; submit a wait for more than @value; retrieve the next event. */
doca_error_t engine_submit(struct engine *engine, const struct doca_buf *from, uint64_t id);
void engine_submit_wait(struct engine *engine, uint64_t value);
doca_error_t engine_finish(struct engine *engine, struct doca_event *ret_event);

/* Copy and retrieve the event. */
doca_error_t engine_copy(struct engine *engine, const struct doca_buf *from);

#endif

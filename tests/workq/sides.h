/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/workq/sides.h - two processes of the work-queue generation on one card.
 *
 *   host: side_be_host() ---struct gift---> DPU: engine_start(), copies and waits, engine_stop()
 *
 * They are processes of tests/multi/proc.h: what goes wrong in one ends it.
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

#define SIDE_LEN     8192 /* bytes of the host's memory ... */
#define SIDE_FILL    0x5a /* ... and what they are */
#define ENGINE_DEPTH 8

/* Where the card's daemon is: set before the processes start. */
extern const char *side_session;

/* What the host gives away: its memory, and a sync event that it publishes and the DPU subscribes to. */
struct gift {
	uint64_t addr;
	size_t map_len, event_len;
	uint8_t map[512], event[512];
};

/* Open the first device of that side that copies. */
struct doca_dev *side_enter(const char *side);

/* A host that says its gift, and takes it back and ends when it hears a byte. */
void side_be_host(int talk, const void *arg);

/* What the DPU does with a gift: half of the memory is copied to its own, or of that. */
struct engine {
	struct doca_dev *dev;
	struct doca_mmap *own, *remote;
	struct doca_buf_inventory *inventory;
	struct doca_dma *dma;
	struct doca_sync_event *event;
	struct doca_workq *workq;
	struct doca_buf *from, *to, *local; /* the host's half, room for it, a half of our own */
};

/* @memory: SIDE_LEN bytes. stop: no job is in flight. */
struct engine engine_start(char *memory, const struct gift *gift, bool event_driven);
void engine_stop(struct engine *engine);

/* A copy to @to; a wait for more than @value; the next event, which says what the retrieval says. */
doca_error_t engine_submit(struct engine *engine, const struct doca_buf *from, uint64_t id);
void engine_submit_wait(struct engine *engine, uint64_t value);
doca_error_t engine_finish(struct engine *engine, struct doca_event *ret_event);

/* A copy and its end. */
doca_error_t engine_copy(struct engine *engine, const struct doca_buf *from);

#endif

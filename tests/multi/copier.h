/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/copier.h - copies within a program's memory, and the card's clock, in a role (comch_peer.h). */
#ifndef TESTS_MULTI_COPIER_H
#define TESTS_MULTI_COPIER_H

#include <doca_buf_inventory.h>
#include <doca_clock.h>
#include <doca_dma.h>
#include <doca_mmap.h>

#include "comch_peer.h"

#define COPIER_BYTES (64 * 1024) /* of the largest copy */

struct copier {
	struct loop *loop;
	struct doca_clock *clock;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_dma *dma;
	uint8_t *memory;
	uint64_t done;
	/* Called for each that ended, if it is set. */
	void (*on_done)(struct copier *copier);
	void *owner;
};

/* Start one for @num_tasks at once, on a device that stays the caller's, and end it: all copies have ended. */
void copier_open(struct copier *copier, struct loop *loop, struct doca_dev *dev, uint32_t num_tasks);
void copier_close(struct copier *copier);

/* Submit a copy. */
void copier_submit(struct copier *copier, size_t len);

/* Session time, from the card's free-running clock. */
uint64_t copier_now_ns(const struct copier *copier);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* mover.h - the DPU's DMA: pieces go from one window to the other, several chunks at once.
 *
 *   begin(0), begin(1), ...  [queue of pieces] --> chunks --> count: 0, 1, 2 ...
 *
 * A piece is cut into chunks that the device can copy at a time. Chunks may
 * be done in any order; pieces count in theirs. All this goes on in the loop's
 * turns. The first error ends everything: count returns it from then on, and its
 * caller reports it.
 */
#ifndef MOVER_H
#define MOVER_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

#include "window.h"

struct doca_dev;
struct doca_mmap;
struct loop;
struct mover;

/* All is borrowed and outlives the mover. */
struct mover_cfg {
	struct loop *loop;
	struct doca_dev *dev;
	const struct window *local;
	struct doca_mmap *remote_mmap; /* the host's window, which has the same shape */
	uint8_t *remote_addr;
	bool to_remote; /* which way */
};

/* Ready to begin; the caller destroys it. */
doca_error_t mover_create(const struct mover_cfg *cfg, struct mover **ret_mover);

/* End what is under way, and free. NULL is fine. */
void mover_destroy(struct mover *mover);

/* A carrier's begin() and count(), see transfer.h; @mover is a struct mover. */
void mover_begin(void *mover, uint64_t index, uint32_t len);
doca_error_t mover_count(void *mover, uint64_t *ret_num_moved);

#endif

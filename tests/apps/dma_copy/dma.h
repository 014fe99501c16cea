/* SPDX-License-Identifier: BSD-3-Clause */
/* dma.h - the device's DMA: it copies one buffer to another in the background, several at once.
 *
 *   create --> copy ... --> on_copied, in any order ... --> destroy
 *
 * After a failed copy no further copy may be begun.
 */
#ifndef DMA_H
#define DMA_H

#include <stdint.h>

#include <doca_error.h>

struct dma;
struct doca_buf;
struct doca_dev;
struct loop;

/* Called in a turn of the loop, once for each copy that was begun. */
typedef void dma_on_copied(void *arg, void *copy, doca_error_t status);

/* All is borrowed and outlives the DMA. */
struct dma_cfg {
	struct loop *loop;
	struct doca_dev *dev;
	uint32_t max_copies; /* under way at once */
	dma_on_copied *on_copied;
	void *arg; /* for on_copied */
};

/* How many bytes @dev copies at a time; an error if it does not copy. */
doca_error_t dma_get_max_bytes(struct doca_dev *dev, uint64_t *ret_bytes);

doca_error_t dma_create(const struct dma_cfg *cfg, struct dma **ret_dma);

/* End running copies, a few seconds at most, and free. NULL is fine. */
void dma_destroy(struct dma *dma);

/* Begin to copy @from's data to @to, both borrowed until @copy is handed to on_copied. */
doca_error_t dma_copy(struct dma *dma, struct doca_buf *from, struct doca_buf *to, void *copy);

#endif

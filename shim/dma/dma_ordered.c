/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of completions of a DMA context, which release 3.2 lets programs choose. */
#include "dma_priv.h"
#include "shim/common/base/check.h"

/* Jobs of one queue complete in the order in which they were submitted, also those that a fault delays (queue.h), unless
 * BFSIM_SHUFFLE asks for another order. Without ordered completions, a card may report tasks in another one. */
doca_error_t doca_dma_set_ordered_completions(struct doca_dma *dma, uint8_t ordered)
{
	SHIM_NEED(dma, SHIM_DMA);
	if (dma->accel.ctx.state != DOCA_CTX_STATE_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is not idle; call it before the start");
	dma->completes_in_order = ordered;
	return DOCA_SUCCESS;
}

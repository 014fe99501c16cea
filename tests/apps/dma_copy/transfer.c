/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers a file piece by piece between sender and receiver. */
#include "transfer.h"

#include "failure.h"

/* When a host ends, its memory is revoked before the message about it arrives. */
static doca_error_t explain(struct transfer *transfer, doca_error_t failure)
{
	doca_error_t result = channel_check_peer(transfer->channel);

	if (result != DOCA_SUCCESS)
		return result;
	return failure_report(failure, "A copy by DMA has failed: %s", doca_error_get_descr(failure));
}

doca_error_t transfer_count_carried(struct transfer *transfer, uint64_t num, uint64_t *ret_num_carried)
{
	const struct carrier *carrier = transfer->carrier;
	doca_error_t result;

	if (!carrier) {
		*ret_num_carried = num;
		return DOCA_SUCCESS;
	}
	result = carrier->count(carrier->self, ret_num_carried);
	return result == DOCA_SUCCESS ? result : explain(transfer, result);
}

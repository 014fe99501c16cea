/* SPDX-License-Identifier: BSD-3-Clause */
/* Consumers and producers whose data path is on a GPU: arguments are checked, then the call is not simulated. */
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#include "shim/common/base/check.h"

doca_error_t doca_comch_consumer_get_gpu_handle(struct doca_comch_consumer *consumer,
						struct doca_comch_gpu_consumer **gpu_consumer)
{
	SHIM_NEED(consumer, SHIM_COMCH_CONSUMER);
	SHIM_NEED_OUT(gpu_consumer);
	return SHIM_NOT_SIMULATED("GPUs");
}

doca_error_t doca_comch_producer_get_gpu_handle(struct doca_comch_producer *producer,
						struct doca_comch_gpu_producer **gpu_producer)
{
	SHIM_NEED(producer, SHIM_COMCH_PRODUCER);
	SHIM_NEED_OUT(gpu_producer);
	return SHIM_NOT_SIMULATED("GPUs");
}

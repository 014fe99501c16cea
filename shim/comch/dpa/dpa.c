/* SPDX-License-Identifier: BSD-3-Clause */
/* Consumers and producers whose data path is on the DPA: arguments are checked, then the call is not simulated. */
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#include "shim/common/base/check.h"
#include "shim/common/pe/ctx_priv.h"

#define MAX_ROUNDED (UINT32_C(1) << 31) /* counts are rounded up to a power of two, which has to fit a uint32_t */

/* Refuse to configure a context that is not idle. A consumer or producer begins with its context. */
#define NEED_IDLE(object)                                                                                   \
	do {                                                                                                \
		if (((const struct doca_ctx *)(object))->state != DOCA_CTX_STATE_IDLE)                      \
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is not idle; stop it first"); \
	} while (0)

#define NOT_ON_DPA()                      \
	SHIM_REFUSE(DOCA_ERROR_BAD_STATE, \
		    "the context's data path is not on a DPA, which bfsim does not simulate (yet)")

doca_error_t doca_comch_consumer_set_dev_max_num_recv(struct doca_comch_consumer *consumer, uint32_t dev_num_recv)
{
	SHIM_NEED(consumer, SHIM_COMCH_CONSUMER);
	if (dev_num_recv == 0 || dev_num_recv > MAX_ROUNDED)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%u receives; give 1 to %u", dev_num_recv, MAX_ROUNDED);
	NEED_IDLE(consumer);
	return SHIM_NOT_SIMULATED("the DPA");
}

doca_error_t doca_comch_consumer_set_completion(struct doca_comch_consumer *consumer,
						struct doca_comch_consumer_completion *consumer_comp,
						uint32_t user_data)
{
	(void)user_data; /* any value is fine */
	SHIM_NEED(consumer, SHIM_COMCH_CONSUMER);
	SHIM_NEED(consumer_comp, SHIM_COMCH_CONSUMER_COMPLETION);
	NEED_IDLE(consumer);
	return SHIM_NOT_SIMULATED("the DPA");
}

doca_error_t doca_comch_consumer_get_dpa_handle(struct doca_comch_consumer *consumer,
						doca_dpa_dev_comch_consumer_t *dpa_consumer)
{
	SHIM_NEED(consumer, SHIM_COMCH_CONSUMER);
	SHIM_NEED_OUT(dpa_consumer);
	return NOT_ON_DPA();
}

doca_error_t doca_comch_producer_set_dev_max_num_send(struct doca_comch_producer *producer, uint32_t dev_num_send)
{
	SHIM_NEED(producer, SHIM_COMCH_PRODUCER);
	if (dev_num_send == 0 || dev_num_send > MAX_ROUNDED)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%u sends; give 1 to %u", dev_num_send, MAX_ROUNDED);
	NEED_IDLE(producer);
	return SHIM_NOT_SIMULATED("the DPA");
}

doca_error_t doca_comch_producer_dpa_completion_attach(struct doca_comch_producer *producer,
						       struct doca_dpa_completion *dpa_comp)
{
	SHIM_NEED(producer, SHIM_COMCH_PRODUCER);
	SHIM_NEED_OUT(dpa_comp);
	NEED_IDLE(producer);
	return SHIM_NOT_SIMULATED("the DPA");
}

doca_error_t doca_comch_producer_get_dpa_handle(struct doca_comch_producer *producer,
						doca_dpa_dev_comch_producer_t *dpa_producer)
{
	SHIM_NEED(producer, SHIM_COMCH_PRODUCER);
	SHIM_NEED_OUT(dpa_producer);
	return NOT_ON_DPA();
}

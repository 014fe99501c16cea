/* SPDX-License-Identifier: BSD-3-Clause */
/* MsgQs. The start needs a direction, a direction needs a DPA, and bfsim does not simulate the DPA: so a MsgQ stays
 * stopped. */
#include <doca_comch_msgq.h>

#include "shim/common/base/check.h"
#include "shim/common/dev/dev_priv.h"

struct doca_comch_msgq {
	struct shim_object object;
	struct doca_dev *dev; /* held */
};

doca_error_t doca_comch_msgq_create(struct doca_dev *dev, struct doca_comch_msgq **msgq)
{
	struct doca_comch_msgq *created;

	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(msgq);
	created = shim_object_new(SHIM_COMCH_MSGQ, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->dev = dev;
	shim_dev_hold(dev);
	*msgq = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_msgq_destroy(struct doca_comch_msgq *msgq)
{
	SHIM_NEED(msgq, SHIM_COMCH_MSGQ);
	shim_dev_release(msgq->dev);
	shim_object_free(msgq, SHIM_COMCH_MSGQ);
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_msgq_set_dpa_consumer(struct doca_comch_msgq *msgq, struct doca_dpa *dpa)
{
	SHIM_NEED(msgq, SHIM_COMCH_MSGQ);
	SHIM_NEED_OUT(dpa);
	return SHIM_NOT_SIMULATED("the DPA");
}

doca_error_t doca_comch_msgq_set_dpa_producer(struct doca_comch_msgq *msgq, struct doca_dpa *dpa)
{
	SHIM_NEED(msgq, SHIM_COMCH_MSGQ);
	SHIM_NEED_OUT(dpa);
	return SHIM_NOT_SIMULATED("the DPA");
}

/* Check the count against the device's limit. The count has no further effect. */
doca_error_t doca_comch_msgq_set_max_num_consumers(struct doca_comch_msgq *msgq, uint32_t max_num_consumers)
{
	uint32_t max;

	SHIM_NEED(msgq, SHIM_COMCH_MSGQ);
	max = shim_dev_function(msgq->dev)->caps.comch_max_consumers;
	if (max_num_consumers == 0 || max_num_consumers > max)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "%u consumers; give 1 to %u (doca_comch_consumer_cap_get_max_consumers)",
				   max_num_consumers, max);
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_msgq_set_max_num_producers(struct doca_comch_msgq *msgq, uint32_t max_num_producers)
{
	uint32_t max;

	SHIM_NEED(msgq, SHIM_COMCH_MSGQ);
	max = shim_dev_function(msgq->dev)->caps.comch_max_producers;
	if (max_num_producers == 0 || max_num_producers > max)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "%u producers; give 1 to %u (doca_comch_producer_cap_get_max_producers)",
				   max_num_producers, max);
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_msgq_start(struct doca_comch_msgq *msgq)
{
	SHIM_NEED(msgq, SHIM_COMCH_MSGQ);
	return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,
			   "the MsgQ has no direction; it takes doca_comch_msgq_set_dpa_consumer() "
			   "or doca_comch_msgq_set_dpa_producer(), and bfsim does not simulate the DPA (yet)");
}

doca_error_t doca_comch_msgq_stop(struct doca_comch_msgq *msgq)
{
	SHIM_NEED(msgq, SHIM_COMCH_MSGQ);
	return DOCA_SUCCESS; /* it is stopped already, which is no error, as for contexts and maps */
}

doca_error_t doca_comch_msgq_consumer_create(struct doca_comch_msgq *msgq, struct doca_comch_consumer **consumer)
{
	SHIM_NEED(msgq, SHIM_COMCH_MSGQ);
	SHIM_NEED_OUT(consumer);
	return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the MsgQ is not started; call doca_comch_msgq_start() first");
}

doca_error_t doca_comch_msgq_producer_create(struct doca_comch_msgq *msgq, struct doca_comch_producer **producer)
{
	SHIM_NEED(msgq, SHIM_COMCH_MSGQ);
	SHIM_NEED_OUT(producer);
	return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the MsgQ is not started; call doca_comch_msgq_start() first");
}

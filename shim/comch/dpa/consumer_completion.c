/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion contexts of DPA consumers. The start needs a DPA thread, and bfsim does not simulate the DPA: so a
 * completion context stays stopped. */
#include <doca_comch_consumer.h>

#include "shim/common/base/check.h"

#define MAX_IMM_BYTES         32 /* the Comch guide: the longest immediate message to or from the DPA */
#define MAX_ROUNDED           (UINT32_C(1) << 31) /* the largest power of two that fits a getter's type */
#define DEFAULT_MAX_CONSUMERS 1                   /* our choice: public programs do not set it, and attach one */

struct doca_comch_consumer_completion {
	struct shim_object object;
	uint32_t max_num_consumers, max_num_recv; /* powers of two; 0 = not set */
	uint32_t imm_data_len;
};

static uint32_t round_up_pow2(uint32_t number)
{
	uint32_t power = 1;

	while (power < number)
		power *= 2;
	return power;
}

doca_error_t doca_comch_consumer_completion_create(struct doca_comch_consumer_completion **consumer_comp)
{
	struct doca_comch_consumer_completion *created;

	SHIM_NEED_OUT(consumer_comp);
	created = shim_object_new(SHIM_COMCH_CONSUMER_COMPLETION, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->max_num_consumers = DEFAULT_MAX_CONSUMERS;
	*consumer_comp = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_completion_destroy(struct doca_comch_consumer_completion *consumer_comp)
{
	SHIM_NEED(consumer_comp, SHIM_COMCH_CONSUMER_COMPLETION);
	shim_object_free(consumer_comp, SHIM_COMCH_CONSUMER_COMPLETION);
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_completion_start(struct doca_comch_consumer_completion *consumer_comp)
{
	SHIM_NEED(consumer_comp, SHIM_COMCH_CONSUMER_COMPLETION);
	return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,
			   "no DPA thread; it takes doca_comch_consumer_completion_set_dpa_thread(), "
			   "and bfsim does not simulate the DPA (yet)");
}

doca_error_t doca_comch_consumer_completion_stop(struct doca_comch_consumer_completion *consumer_comp)
{
	SHIM_NEED(consumer_comp, SHIM_COMCH_CONSUMER_COMPLETION);
	return DOCA_SUCCESS; /* it is stopped already, which is no error, as for contexts and maps */
}

doca_error_t doca_comch_consumer_completion_set_dpa_thread(struct doca_comch_consumer_completion *consumer_comp,
							   struct doca_dpa_thread *dpa_thread)
{
	SHIM_NEED(consumer_comp, SHIM_COMCH_CONSUMER_COMPLETION);
	SHIM_NEED_OUT(dpa_thread);
	return SHIM_NOT_SIMULATED("the DPA");
}

doca_error_t doca_comch_consumer_completion_get_dpa_handle(
	struct doca_comch_consumer_completion *consumer_comp,
	doca_dpa_dev_comch_consumer_completion_t *consumer_comp_handle)
{
	SHIM_NEED(consumer_comp, SHIM_COMCH_CONSUMER_COMPLETION);
	SHIM_NEED_OUT(consumer_comp_handle);
	return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,
			   "it is not started; call doca_comch_consumer_completion_start() first");
}

doca_error_t doca_comch_consumer_completion_set_max_num_consumers(struct doca_comch_consumer_completion *consumer_comp,
								  uint32_t max_num_consumers)
{
	SHIM_NEED(consumer_comp, SHIM_COMCH_CONSUMER_COMPLETION);
	if (max_num_consumers == 0 || max_num_consumers > MAX_ROUNDED)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%u consumers; give 1 to %u", max_num_consumers,
				   MAX_ROUNDED);
	consumer_comp->max_num_consumers = round_up_pow2(max_num_consumers);
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_completion_get_max_num_consumers(
	const struct doca_comch_consumer_completion *consumer_comp, uint32_t *max_num_consumers)
{
	SHIM_NEED(consumer_comp, SHIM_COMCH_CONSUMER_COMPLETION);
	SHIM_NEED_OUT(max_num_consumers);
	*max_num_consumers = consumer_comp->max_num_consumers;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_completion_set_max_num_recv(struct doca_comch_consumer_completion *consumer_comp,
							     uint32_t max_num_recv)
{
	SHIM_NEED(consumer_comp, SHIM_COMCH_CONSUMER_COMPLETION);
	if (max_num_recv == 0 || max_num_recv > MAX_ROUNDED)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%u receives; give 1 to %u", max_num_recv, MAX_ROUNDED);
	consumer_comp->max_num_recv = round_up_pow2(max_num_recv);
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_completion_get_max_num_recv(const struct doca_comch_consumer_completion *consumer_comp,
							     uint32_t *max_num_recv)
{
	SHIM_NEED(consumer_comp, SHIM_COMCH_CONSUMER_COMPLETION);
	SHIM_NEED_OUT(max_num_recv);
	*max_num_recv = consumer_comp->max_num_recv;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_completion_set_imm_data_len(struct doca_comch_consumer_completion *consumer_comp,
							     uint32_t imm_data_len)
{
	SHIM_NEED(consumer_comp, SHIM_COMCH_CONSUMER_COMPLETION);
	if (imm_data_len > MAX_IMM_BYTES)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%u bytes of immediate data; the DPA takes up to %d",
				   imm_data_len, MAX_IMM_BYTES);
	consumer_comp->imm_data_len = imm_data_len;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_completion_get_imm_data_len(const struct doca_comch_consumer_completion *consumer_comp,
							     uint32_t *imm_data_len)
{
	SHIM_NEED(consumer_comp, SHIM_COMCH_CONSUMER_COMPLETION);
	SHIM_NEED_OUT(imm_data_len);
	*imm_data_len = consumer_comp->imm_data_len;
	return DOCA_SUCCESS;
}

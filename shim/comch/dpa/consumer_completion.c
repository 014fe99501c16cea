/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion contexts of DPA consumers. */
#include "dpa_priv.h"
#include "shim/common/base/check.h"

#define DEFAULT_MAX_CONSUMERS 1                   /* our choice: public programs do not set it, and attach one */
#define MAX_MESSAGES          (UINT32_C(1) << 20) /* our choice: of all consumers together */

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

/* Return from the public function unless the completion context is stopped. */
#define NEED_STOPPED(completion)                                                                                      \
	do {                                                                                                          \
		SHIM_NEED((completion), SHIM_COMCH_CONSUMER_COMPLETION);                                              \
		if ((completion)->is_started)                                                                         \
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the completion context is started; stop it first"); \
	} while (0)

static doca_error_t stop(const char *func, struct doca_comch_consumer_completion *completion)
{
	/* In a forked child, it and the consumers that it counts are the parent's. */
	bool runs = completion->is_started && shim_dpa_is_own(completion->thread->dpa);

	if (runs && completion->num_users > 0) {
		sim_err("%s: %u consumers of the completion context run; stop them first", func, completion->num_users);
		return DOCA_ERROR_BAD_STATE;
	}
	if (runs)
		sim_dpa_consumer_completion_stop(&completion->ring);
	completion->is_started = false;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_completion_destroy(struct doca_comch_consumer_completion *consumer_comp)
{
	doca_error_t result;

	SHIM_NEED(consumer_comp, SHIM_COMCH_CONSUMER_COMPLETION);
	result = stop(__func__, consumer_comp);
	if (result != DOCA_SUCCESS)
		return result;
	if (consumer_comp->thread)
		consumer_comp->thread->num_users--;
	shim_object_free(consumer_comp, SHIM_COMCH_CONSUMER_COMPLETION);
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_completion_start(struct doca_comch_consumer_completion *consumer_comp)
{
	const struct doca_dpa_thread *thread;
	uint64_t num_messages;
	doca_error_t result;

	SHIM_NEED(consumer_comp, SHIM_COMCH_CONSUMER_COMPLETION);
	thread = consumer_comp->thread;
	num_messages = (uint64_t)consumer_comp->max_num_recv * consumer_comp->max_num_consumers;
	if (consumer_comp->is_started)
		return DOCA_SUCCESS;
	if (!thread)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,
				   "no DPA thread; call doca_comch_consumer_completion_set_dpa_thread() first");
	if (num_messages == 0)
		return SHIM_REFUSE(
			DOCA_ERROR_BAD_STATE,
			"no number of receives; call doca_comch_consumer_completion_set_max_num_recv() first");
	if (!thread->activity)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the DPA thread is not started");
	if (num_messages > MAX_MESSAGES)
		return SHIM_REFUSE(DOCA_ERROR_DRIVER, "%llu receives are more than a completion context has: %u",
				   (unsigned long long)num_messages, MAX_MESSAGES);
	result = shim_dpa_check_running(__func__, thread->dpa);
	if (result != DOCA_SUCCESS)
		return result;
	if (sim_dpa_consumer_completion_start(thread->dpa->process, thread->activity, (uint32_t)num_messages,
					      &consumer_comp->ring) < 0)
		return SHIM_REFUSE(DOCA_ERROR_NO_MEMORY, "no memory for %llu messages, here or in the DPA's heap",
				   (unsigned long long)num_messages);
	consumer_comp->is_started = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_completion_stop(struct doca_comch_consumer_completion *consumer_comp)
{
	SHIM_NEED(consumer_comp, SHIM_COMCH_CONSUMER_COMPLETION);
	return stop(__func__, consumer_comp);
}

doca_error_t doca_comch_consumer_completion_set_dpa_thread(struct doca_comch_consumer_completion *consumer_comp,
							   struct doca_dpa_thread *dpa_thread)
{
	NEED_STOPPED(consumer_comp);
	SHIM_NEED(dpa_thread, SHIM_DPA_THREAD);
	dpa_thread->num_users++;
	if (consumer_comp->thread)
		consumer_comp->thread->num_users--;
	consumer_comp->thread = dpa_thread;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_completion_get_dpa_handle(
	struct doca_comch_consumer_completion *consumer_comp,
	doca_dpa_dev_comch_consumer_completion_t *consumer_comp_handle)
{
	SHIM_NEED(consumer_comp, SHIM_COMCH_CONSUMER_COMPLETION);
	SHIM_NEED_OUT(consumer_comp_handle);
	if (!consumer_comp->is_started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,
				   "it is not started; call doca_comch_consumer_completion_start() first");
	*consumer_comp_handle = consumer_comp->ring.ring.handle;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_completion_set_max_num_consumers(struct doca_comch_consumer_completion *consumer_comp,
								  uint32_t max_num_consumers)
{
	NEED_STOPPED(consumer_comp);
	if (max_num_consumers == 0 || max_num_consumers > COMCH_MAX_ROUNDED)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%u consumers; give 1 to %u", max_num_consumers,
				   COMCH_MAX_ROUNDED);
	consumer_comp->max_num_consumers = comch_round_up_pow2(max_num_consumers);
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
	NEED_STOPPED(consumer_comp);
	if (max_num_recv == 0 || max_num_recv > COMCH_MAX_ROUNDED)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%u receives; give 1 to %u", max_num_recv,
				   COMCH_MAX_ROUNDED);
	consumer_comp->max_num_recv = comch_round_up_pow2(max_num_recv);
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_comch_consumer_completion_get_max_num_recv, const struct doca_comch_consumer_completion,
		   consumer_comp, SHIM_COMCH_CONSUMER_COMPLETION, uint32_t, max_num_recv, consumer_comp->max_num_recv)

doca_error_t doca_comch_consumer_completion_set_imm_data_len(struct doca_comch_consumer_completion *consumer_comp,
							     uint32_t imm_data_len)
{
	NEED_STOPPED(consumer_comp);
	if (imm_data_len > SIM_DPA_MAX_IMM_BYTES)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%u bytes of immediate data; the DPA takes up to %d",
				   imm_data_len, SIM_DPA_MAX_IMM_BYTES);
	consumer_comp->imm_data_len = imm_data_len;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_comch_consumer_completion_get_imm_data_len, const struct doca_comch_consumer_completion,
		   consumer_comp, SHIM_COMCH_CONSUMER_COMPLETION, uint32_t, imm_data_len, consumer_comp->imm_data_len)

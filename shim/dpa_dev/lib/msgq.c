/* SPDX-License-Identifier: BSD-3-Clause */
/* libdoca_dpa_dev_comm: ends of Comch message queues. */
#include <doca_dpa_dev_comch_msgq.h>

#include "shim/dpa_dev/runtime/runtime.h"

#define PORT(name, function) BFSIM_DPA_PORT(name, "doca_dpa_dev_comch_" function)

int doca_dpa_dev_comch_consumer_get_completion(doca_dpa_dev_comch_consumer_completion_t consumer_comp_handle,
					       doca_dpa_dev_comch_consumer_completion_element_t *comp_element)
{
	bfsim_dpa_check(comp_element, sizeof(*comp_element), true);
	return PORT(consumer_take, "consumer_get_completion")(consumer_comp_handle, comp_element);
}

const uint8_t *doca_dpa_dev_comch_consumer_get_completion_imm(
	doca_dpa_dev_comch_consumer_completion_element_t comp_element, uint32_t *imm_length)
{
	bfsim_dpa_check(imm_length, sizeof(*imm_length), true);
	return PORT(consumer_element_imm, "consumer_get_completion_imm")(comp_element, imm_length);
}

uint32_t doca_dpa_dev_comch_consumer_get_completion_producer_id(
	doca_dpa_dev_comch_consumer_completion_element_t comp_element)
{
	return PORT(consumer_element_producer, "consumer_get_completion_producer_id")(comp_element);
}

void doca_dpa_dev_comch_consumer_completion_ack(doca_dpa_dev_comch_consumer_completion_t consumer_comp_handle,
						uint64_t num_comp)
{
	PORT(consumer_completion_ack, "consumer_completion_ack")(consumer_comp_handle, num_comp);
}

void doca_dpa_dev_comch_consumer_completion_request_notification(
	doca_dpa_dev_comch_consumer_completion_t consumer_comp_handle)
{
	PORT(consumer_completion_arm, "consumer_completion_request_notification")(consumer_comp_handle);
}

void doca_dpa_dev_comch_consumer_ack(doca_dpa_dev_comch_consumer_t consumer, uint32_t num_msg)
{
	PORT(consumer_ack, "consumer_ack")(consumer, num_msg);
}

void doca_dpa_dev_comch_producer_post_send_imm_only(doca_dpa_dev_comch_producer_t producer, uint32_t consumer_id,
						    const uint8_t *imm, uint32_t imm_length, uint32_t flags)
{
	bfsim_dpa_check(imm, imm_length, false);
	PORT(producer_send, "producer_post_send_imm_only")(producer, consumer_id, imm, imm_length, flags);
}

void doca_dpa_dev_comch_producer_dma_copy(doca_dpa_dev_comch_producer_t producer, uint32_t consumer_id,
					  doca_dpa_dev_mmap_t dst_mmap, uint64_t dst_addr, doca_dpa_dev_mmap_t src_mmap,
					  uint64_t src_addr, size_t length, const uint8_t *imm, uint32_t imm_length,
					  uint32_t flags)
{
	const struct sim_dpa_producer_copy copy = {
		.consumer_id = consumer_id,
		.dst = { dst_mmap, dst_addr, length },
		.src = { src_mmap, src_addr, length },
		.imm = imm,
		.imm_bytes = imm_length,
		.flags = flags,
	};

	if (imm_length)
		bfsim_dpa_check(imm, imm_length, false);
	PORT(producer_copy, "producer_dma_copy")(producer, &copy);
}

int doca_dpa_dev_comch_producer_is_consumer_empty(doca_dpa_dev_comch_producer_t producer, uint32_t consumer_id)
{
	return PORT(producer_is_consumer_empty, "producer_is_consumer_empty")(producer, consumer_id);
}

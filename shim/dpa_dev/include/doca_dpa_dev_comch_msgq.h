/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_dpa_dev_comch_msgq.h - the DPA's ends of Comch message queues.
 *
 * Consumer: ack n to post n receives, take completions, read the immediate. Producer: post a send, which takes a receive of
 * the consumer with the id; its completion arrives at the completion context that the producer is attached to. */
#ifndef DOCA_DPA_DEV_COMCH_MSGQ_H_
#define DOCA_DPA_DEV_COMCH_MSGQ_H_

#include <doca_dpa_dev.h>
#include <doca_dpa_dev_buf.h>
#include <doca_dpa_dev_sync_event.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t doca_dpa_dev_comch_consumer_completion_t;
typedef uint64_t doca_dpa_dev_comch_consumer_completion_element_t;
typedef uint64_t doca_dpa_dev_comch_consumer_t;
typedef uint64_t doca_dpa_dev_comch_producer_t;

/* --- Consumers --- */

/* Take the next completion. Returns 1 and an element, or 0 if there is none. */
DOCA_EXPERIMENTAL
int doca_dpa_dev_comch_consumer_get_completion(doca_dpa_dev_comch_consumer_completion_t consumer_comp_handle,
					       doca_dpa_dev_comch_consumer_completion_element_t *comp_element);

/* Get the immediate of a message, which is valid until the completion is acknowledged. */
DOCA_EXPERIMENTAL
const uint8_t *doca_dpa_dev_comch_consumer_get_completion_imm(
	doca_dpa_dev_comch_consumer_completion_element_t comp_element, uint32_t *imm_length);

/* Get the id of the message's producer. */
DOCA_EXPERIMENTAL
uint32_t doca_dpa_dev_comch_consumer_get_completion_producer_id(
	doca_dpa_dev_comch_consumer_completion_element_t comp_element);

/* Give back the room of @num_comp completions that were taken. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_comch_consumer_completion_ack(doca_dpa_dev_comch_consumer_completion_t consumer_comp_handle,
						uint64_t num_comp);

/* Let the next completion run the attached DPA thread: once. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_comch_consumer_completion_request_notification(
	doca_dpa_dev_comch_consumer_completion_t consumer_comp_handle);

/* Post @num_msg receives. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_comch_consumer_ack(doca_dpa_dev_comch_consumer_t consumer, uint32_t num_msg);

/* --- Producers --- */

/* Send a message of an immediate alone. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_comch_producer_post_send_imm_only(doca_dpa_dev_comch_producer_t producer, uint32_t consumer_id,
						    const uint8_t *imm, uint32_t imm_length, uint32_t flags);

/* Copy by the DMA engine, then send the immediate. */
DOCA_EXPERIMENTAL
void doca_dpa_dev_comch_producer_dma_copy(doca_dpa_dev_comch_producer_t producer, uint32_t consumer_id,
					  doca_dpa_dev_mmap_t dst_mmap, uint64_t dst_addr, doca_dpa_dev_mmap_t src_mmap,
					  uint64_t src_addr, size_t length, const uint8_t *imm, uint32_t imm_length,
					  uint32_t flags);

/* Returns 1 if the consumer has no receive posted, else 0. */
DOCA_EXPERIMENTAL
int doca_dpa_dev_comch_producer_is_consumer_empty(doca_dpa_dev_comch_producer_t producer, uint32_t consumer_id);

#ifdef __cplusplus
}
#endif

#endif

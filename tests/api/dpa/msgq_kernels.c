/* SPDX-License-Identifier: BSD-3-Clause */
/* Device code of the tests of MsgQs and memory maps. */
#include <doca_dpa_dev.h>
#include <doca_dpa_dev_buf.h>
#include <doca_dpa_dev_comch_msgq.h>
#include <doca_dpa_dev_sync_event.h>
#include <dpaintrin.h>
#include <string.h>

#include "msgq_kernels.h"

/* ---- RPCs: one call of the interface each ---- */

__dpa_rpc__ uint64_t post_receives(doca_dpa_dev_comch_consumer_t consumer, uint32_t num)
{
	doca_dpa_dev_comch_consumer_ack(consumer, num);
	return 0;
}

static uint64_t take_first_byte(doca_dpa_dev_comch_consumer_completion_t completion, uint32_t *ret_producer)
{
	doca_dpa_dev_comch_consumer_completion_element_t element;
	const uint8_t *imm;
	uint32_t len = 0;
	uint64_t first;

	if (!doca_dpa_dev_comch_consumer_get_completion(completion, &element))
		return 256;
	imm = doca_dpa_dev_comch_consumer_get_completion_imm(element, &len);
	first = len > 0 ? imm[0] : 257;
	if (ret_producer)
		*ret_producer = doca_dpa_dev_comch_consumer_get_completion_producer_id(element);
	doca_dpa_dev_comch_consumer_completion_ack(completion, 1);
	return first;
}

/* Returns the first byte of the oldest message, which is acknowledged, or 256: there is none. */
__dpa_rpc__ uint64_t take_message(doca_dpa_dev_comch_consumer_completion_t completion, uint32_t *ret_producer)
{
	return take_first_byte(completion, ret_producer);
}

__dpa_rpc__ uint64_t wait_message(doca_dpa_dev_comch_consumer_completion_t completion)
{
	uint64_t first;

	while ((first = take_first_byte(completion, NULL)) == 256)
		continue;
	return first;
}

__dpa_rpc__ uint64_t take_without_ack(doca_dpa_dev_comch_consumer_completion_t completion)
{
	doca_dpa_dev_comch_consumer_completion_element_t element;

	return (uint64_t)doca_dpa_dev_comch_consumer_get_completion(completion, &element);
}

__dpa_rpc__ uint64_t read_acked_message(doca_dpa_dev_comch_consumer_completion_t completion)
{
	doca_dpa_dev_comch_consumer_completion_element_t element;
	uint32_t len;

	if (!doca_dpa_dev_comch_consumer_get_completion(completion, &element))
		return 256;
	doca_dpa_dev_comch_consumer_completion_ack(completion, 1);
	return *doca_dpa_dev_comch_consumer_get_completion_imm(element, &len);
}

__dpa_rpc__ uint64_t send_bytes(doca_dpa_dev_comch_producer_t producer, uint32_t consumer_id, uint32_t len,
				uint32_t flags)
{
	uint8_t imm[128];

	for (uint32_t i = 0; i < len; i++)
		imm[i] = (uint8_t)(len + i);
	doca_dpa_dev_comch_producer_post_send_imm_only(producer, consumer_id, imm, len, flags);
	return 0;
}

/* Each message is posted when the one before it is sent. */
__dpa_rpc__ uint64_t send_in_turn(struct echo_args handles, uint32_t num)
{
	const uint8_t imm[] = { 1, 2, 3, 4 };
	doca_dpa_dev_completion_element_t element;

	for (uint32_t i = 0; i < num; i++) {
		doca_dpa_dev_comch_producer_post_send_imm_only(handles.producer, handles.consumer_id, imm, sizeof(imm),
							       DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH);
		while (!doca_dpa_dev_get_completion(handles.producer_completion, &element))
			continue;
		doca_dpa_dev_completion_ack(handles.producer_completion, 1);
	}
	return 0;
}

__dpa_rpc__ uint64_t is_consumer_empty(doca_dpa_dev_comch_producer_t producer, uint32_t consumer_id)
{
	return (uint64_t)doca_dpa_dev_comch_producer_is_consumer_empty(producer, consumer_id);
}

static uint64_t take_type_and_data(doca_dpa_dev_completion_t completion)
{
	doca_dpa_dev_completion_element_t element;
	uint64_t found;

	if (!doca_dpa_dev_get_completion(completion, &element))
		return UINT64_MAX;
	found = (uint64_t)doca_dpa_dev_get_completion_type(element) << 32 |
		doca_dpa_dev_get_completion_user_data(element);
	doca_dpa_dev_completion_ack(completion, 1);
	return found;
}

/* Returns the type and the user data of the oldest completion, which is acknowledged, or UINT64_MAX: there is none. */
__dpa_rpc__ uint64_t take_sent(doca_dpa_dev_completion_t completion)
{
	return take_type_and_data(completion);
}

__dpa_rpc__ uint64_t wait_sent(doca_dpa_dev_completion_t completion)
{
	uint64_t found;

	while ((found = take_type_and_data(completion)) == UINT64_MAX)
		continue;
	return found;
}

__dpa_rpc__ uint64_t copy_and_tell(doca_dpa_dev_comch_producer_t producer, uint32_t consumer_id, struct copy_args copy)
{
	const uint8_t imm[] = { 'c', 'o', 'p', 'y' };

	doca_dpa_dev_comch_producer_dma_copy(producer, consumer_id, copy.dst_map, copy.dst, copy.src_map, copy.src,
					     copy.len, imm, sizeof(imm), DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH);
	return 0;
}

/* ---- a thread that answers each message with the same one ---- */

static void take_all_sent(doca_dpa_dev_completion_t completion)
{
	doca_dpa_dev_completion_element_t sent;

	while (doca_dpa_dev_get_completion(completion, &sent))
		doca_dpa_dev_completion_ack(completion, 1);
}

/* The next message may be there by the time the answer to one is sent: completions are taken after each. */
__dpa_global__ void echo(uint64_t arg)
{
	struct echo_args *args = (struct echo_args *)arg;
	doca_dpa_dev_comch_consumer_completion_element_t element;
	uint32_t len;

	args->activations++;
	for (;;) {
		while (doca_dpa_dev_comch_consumer_get_completion(args->consumer_completion, &element)) {
			const uint8_t *imm = doca_dpa_dev_comch_consumer_get_completion_imm(element, &len);

			args->messages++;
			doca_dpa_dev_comch_producer_post_send_imm_only(args->producer, args->consumer_id, imm, len,
								       DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH);
			doca_dpa_dev_comch_consumer_completion_ack(args->consumer_completion, 1);
			doca_dpa_dev_comch_consumer_ack(args->consumer, 1);
			take_all_sent(args->producer_completion);
		}
		args->rests++;
		doca_dpa_dev_comch_consumer_completion_request_notification(args->consumer_completion);
		doca_dpa_dev_thread_reschedule();
	}
}

__dpa_rpc__ uint64_t rests(uint64_t arg)
{
	const volatile struct echo_args *args = (const volatile struct echo_args *)arg;

	return (uint64_t)(args->rests == args->activations);
}

/* Post @num_receives, and answer @rounds messages that are polled. */
__dpa_global__ void answer_polled(uint64_t arg, uint64_t num_receives, uint64_t rounds)
{
	struct echo_args *args = (struct echo_args *)arg;
	doca_dpa_dev_comch_consumer_completion_element_t element;
	uint32_t len;

	doca_dpa_dev_comch_consumer_ack(args->consumer, (uint32_t)num_receives);
	while (args->messages < rounds) {
		const uint8_t *imm;

		if (!doca_dpa_dev_comch_consumer_get_completion(args->consumer_completion, &element))
			continue;
		imm = doca_dpa_dev_comch_consumer_get_completion_imm(element, &len);
		args->messages++;
		doca_dpa_dev_comch_producer_post_send_imm_only(args->producer, args->consumer_id, imm, len,
							       DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH);
		doca_dpa_dev_comch_consumer_completion_ack(args->consumer_completion, 1);
		doca_dpa_dev_comch_consumer_ack(args->consumer, 1);
		take_all_sent(args->producer_completion);
	}
}

/* ---- memory maps ---- */

__dpa_rpc__ uint64_t get_pointer(doca_dpa_dev_mmap_t map, uint64_t addr)
{
	return doca_dpa_dev_mmap_get_external_ptr(map, addr);
}

__dpa_rpc__ uint64_t load_by_map(doca_dpa_dev_mmap_t map, uint64_t addr)
{
	return *(volatile uint64_t *)doca_dpa_dev_mmap_get_external_ptr(map, addr);
}

__dpa_rpc__ uint64_t load_behind_map(doca_dpa_dev_mmap_t map, uint64_t addr, uint64_t distance)
{
	return *(volatile uint64_t *)(doca_dpa_dev_mmap_get_external_ptr(map, addr) + distance);
}

/* Store without a write-back: the end of the kernel is one. */
__dpa_rpc__ uint64_t store_by_map(doca_dpa_dev_mmap_t map, uint64_t addr, uint64_t value)
{
	*(volatile uint64_t *)doca_dpa_dev_mmap_get_external_ptr(map, addr) = value;
	return 0;
}

/* Store, then load from what may be forbidden: then nothing is written back. */
__dpa_rpc__ uint64_t store_and_load(doca_dpa_dev_mmap_t map, uint64_t addr, uint64_t value, uint64_t loaded)
{
	*(volatile uint64_t *)doca_dpa_dev_mmap_get_external_ptr(map, addr) = value;
	return *(volatile uint64_t *)loaded;
}

__dpa_rpc__ uint64_t sum_by_map(doca_dpa_dev_mmap_t map, uint64_t addr, uint64_t len)
{
	uint8_t here[1024];
	uint64_t sum = 0;

	memcpy(here, (const void *)doca_dpa_dev_mmap_get_external_ptr(map, addr), len);
	for (uint64_t i = 0; i < len; i++)
		sum += here[i];
	return sum;
}

/* Store to @num lines, more than a cache keeps, of which each has been loaded. */
__dpa_rpc__ uint64_t count_lines(doca_dpa_dev_mmap_t map, uint64_t addr, uint64_t num)
{
	for (uint64_t i = 0; i < num; i++) {
		volatile uint32_t *line = (volatile uint32_t *)(doca_dpa_dev_mmap_get_external_ptr(map, addr) + 64 * i);

		line[1] = line[0] + (uint32_t)i;
	}
	return 0;
}

/* Two words in the host's memory: the kernel answers what it sees in the first by one more in the second, until it sees 0. @events
 * are told of each answer. */
__dpa_global__ void answer(doca_dpa_dev_mmap_t map, uint64_t addr)
{
	volatile uint64_t *words = (volatile uint64_t *)doca_dpa_dev_mmap_get_external_ptr(map, addr);
	uint64_t seen;

	do {
		__dpa_thread_window_read_inv();
		seen = words[0];
		words[8] = seen + 1;
		__dpa_thread_window_writeback();
	} while (seen != 0);
}

/* The first words of the buffers, and their addresses and lengths. */
__dpa_rpc__ uint64_t sum_buffers(doca_dpa_dev_buf_arr_t array, uint64_t num, uint64_t first_addr)
{
	uint64_t sum = 0, addr = first_addr;

	for (uint64_t i = 0; i < num; i++) {
		doca_dpa_dev_buf_t buf = doca_dpa_dev_buf_array_get_buf(array, i);

		if (doca_dpa_dev_buf_get_addr(buf) != addr)
			return UINT64_MAX;
		sum += *(volatile uint64_t *)doca_dpa_dev_buf_get_external_ptr(buf);
		addr += doca_dpa_dev_buf_get_len(buf);
	}
	return sum;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive queues: slots in shared memory, each with the number of the posting that was filled last. */
#include "recvq.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "sim/base/memory_guard.h"

struct slot {
	_Atomic uint64_t filled; /* the last posting that was filled here, counted from 1 */
	uint64_t addr;           /* written by the consumer, as is @len */
	uint32_t len;
	uint32_t written; /* this and the rest: written by the producer */
	uint32_t producer;
	uint32_t imm_bytes;
	uint8_t failed;
	uint8_t is_inlined;
	uint8_t is_recorded;
	uint8_t reserved;
	uint32_t reorder_by;
	uint64_t due_ns;
	uint8_t bytes[]; /* immediate data, then the message */
};

struct sim_recvq_shared {
	_Alignas(64) _Atomic uint64_t posted;
	_Alignas(64) _Atomic uint32_t asleep;
	_Alignas(64) uint8_t slots[];
};

static size_t slot_stride(uint32_t max_imm_bytes)
{
	return (sizeof(struct slot) + max_imm_bytes + SIM_RECVQ_INLINE_BYTES + 63) / 64 * 64;
}

size_t sim_recvq_size(const struct sim_recvq_cfg *cfg)
{
	return sizeof(struct sim_recvq_shared) + cfg->num_slots * slot_stride(cfg->max_imm_bytes);
}

void sim_recvq_init(struct sim_recvq *queue, const struct sim_recvq_cfg *cfg, void *memory)
{
	*queue = (struct sim_recvq){ .shared = memory,
				     .num_slots = cfg->num_slots,
				     .max_imm_bytes = cfg->max_imm_bytes,
				     .stride_bytes = slot_stride(cfg->max_imm_bytes) };
}

static struct slot *slot_at(const struct sim_recvq *queue, uint64_t number)
{
	return (struct slot *)(queue->shared->slots + number % queue->num_slots * queue->stride_bytes);
}

/* ---- the consumer ---- */

void sim_recvq_post(struct sim_recvq *queue, const struct sim_recvq_desc *desc)
{
	struct slot *slot = slot_at(queue, queue->posted);

	assert(queue->posted - queue->polled < queue->num_slots);
	slot->addr = desc->addr;
	slot->len = desc->len_bytes;
	atomic_store_explicit(&queue->shared->posted, ++queue->posted, memory_order_release);
}

bool sim_recvq_has_message(const struct sim_recvq *queue)
{
	return queue->polled < queue->posted &&
	       atomic_load(&slot_at(queue, queue->polled)->filled) == queue->polled + 1;
}

uint64_t sim_recvq_next_due_ns(const struct sim_recvq *queue)
{
	return slot_at(queue, queue->polled)->due_ns;
}

void sim_recvq_arm(struct sim_recvq *queue)
{
	atomic_store(&queue->shared->asleep, 1);
}

int sim_recvq_poll(struct sim_recvq *queue, const struct sim_recvq_desc *desc, uint8_t *ret_bytes,
		   struct sim_recvq_message *ret_message)
{
	struct sim_recvq_message *message = ret_message;
	const struct slot *slot;

	if (!sim_recvq_has_message(queue))
		return -EAGAIN;
	slot = slot_at(queue, queue->polled++);
	*message = (struct sim_recvq_message){ .producer = slot->producer,
					       .len_bytes = slot->written,
					       .failed = slot->failed,
					       .is_recorded = slot->is_recorded,
					       .imm = ret_bytes,
					       .imm_bytes = slot->imm_bytes,
					       .reorder_by = slot->reorder_by,
					       .due_ns = slot->due_ns };
	if (slot->is_inlined)
		message->inlined = ret_bytes + queue->max_imm_bytes;
	if (message->len_bytes > desc->len_bytes || message->imm_bytes > queue->max_imm_bytes ||
	    (message->inlined && message->len_bytes > SIM_RECVQ_INLINE_BYTES))
		return -EPROTO;
	memcpy(ret_bytes, slot->bytes, message->imm_bytes);
	if (message->inlined)
		memcpy(ret_bytes + queue->max_imm_bytes, slot->bytes + queue->max_imm_bytes, message->len_bytes);
	return 0;
}

/* ---- the producers ---- */

int sim_recvq_reserve(struct sim_recvq *queue, uint32_t len)
{
	uint64_t posted = atomic_load_explicit(&queue->shared->posted, memory_order_acquire);
	uint64_t next = queue->claimed + queue->reserved;

	/* The second: the consumer took back what is reserved. */
	if (posted - queue->claimed > queue->num_slots || posted - next > queue->num_slots)
		return -EPROTO;
	if (next == posted)
		return -EAGAIN;
	if (len > slot_at(queue, next)->len)
		return -EMSGSIZE;
	queue->reserved++;
	return 0;
}

void sim_recvq_unreserve(struct sim_recvq *queue)
{
	queue->reserved--;
}

uint32_t sim_recvq_next_room(const struct sim_recvq *queue)
{
	uint64_t next = queue->claimed + queue->reserved;

	return atomic_load_explicit(&queue->shared->posted, memory_order_acquire) == next ? UINT32_MAX :
											    slot_at(queue, next)->len;
}

void sim_recvq_claim(struct sim_recvq *queue, uint64_t *ret_slot, struct sim_recvq_desc *ret_desc)
{
	const struct slot *slot = slot_at(queue, queue->claimed);

	/* Another thread may have filled the slot's last posting. The consumer polled that before it posted the slot
	 * again; within this process, this load orders the two threads. */
	(void)atomic_load_explicit(&slot->filled, memory_order_acquire);
	*ret_desc = (struct sim_recvq_desc){ .addr = slot->addr, .len_bytes = slot->len };
	*ret_slot = queue->claimed++;
	queue->reserved--;
}

bool sim_recvq_fill(struct sim_recvq *queue, uint64_t number, const struct sim_recvq_message *message)
{
	struct slot *slot = slot_at(queue, number);

	slot->producer = message->producer;
	slot->written = message->len_bytes;
	slot->failed = message->failed;
	slot->is_inlined = message->inlined != NULL;
	slot->is_recorded = message->is_recorded;
	slot->imm_bytes = message->imm_bytes;
	slot->reorder_by = message->reorder_by;
	slot->due_ns = message->due_ns;
	if (message->imm_bytes)
		memcpy(slot->bytes, message->imm, message->imm_bytes);
	if (message->inlined)
		memcpy(slot->bytes + queue->max_imm_bytes, message->inlined, message->len_bytes);
	if (sim_guard_has_lost()) /* what was sent is not the program's message */
		slot->failed = true;
	atomic_store(&slot->filled, number + 1);
	return atomic_load(&queue->shared->asleep) && atomic_exchange(&queue->shared->asleep, 0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/shm/recvq.h - a queue of receives: a consumer posts them, producers fill them.
 *
 *   consumer:  post --> [posted]                                          [filled] --poll--> the consumer's
 *   producers:                 '--reserve, claim--> [claimed] --fill--^
 *
 * A slot holds the address of the consumer's buffer, and the message's immediate
 * data. A short message is stored in the slot, and the consumer copies it to the
 * buffer. The producer writes a longer message to the buffer itself before it
 * fills the slot. Slots are filled in any order, and polled in the order in which
 * they were posted.
 *
 * Order of accesses:
 *
 *   post    the consumer: address and length --> posted (release)        producers: posted (acquire) --> address, length
 *   fill    a producer: message --> filled (seq_cst)                     the consumer: filled --> message
 *   reuse   a slot is posted again after its message was polled, so a producer's "posted" is behind the consumer's reads
 *   sleep   a producer: filled, then asleep     the consumer: asleep = 1, then filled     all seq_cst: one of the two
 *           sees the other's store
 *
 * The consumer creates the memory. All producers of a queue are in one process,
 * each on its own thread: a lock of that process orders them. Neither process
 * trusts the other.
 */
#ifndef SIM_SHM_RECVQ_H
#define SIM_SHM_RECVQ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_RECVQ_INLINE_BYTES \
	256 /* the longest message that is stored in a slot; measured: a copy by the path takes longer */

struct sim_recvq_cfg {
	uint32_t num_slots; /* > 0 */
	uint32_t max_imm_bytes;
};

/* A posted receive. */
struct sim_recvq_desc {
	uint64_t addr;
	uint32_t len_bytes; /* 0 = immediate data only */
};

/* A message. */
struct sim_recvq_message {
	uint32_t producer;
	uint32_t len_bytes;
	bool failed;            /* the producer could not write it */
	bool is_recorded;       /* the receiver records it (sim/trace/trace.h) */
	const uint8_t *inlined; /* its bytes, if the slot holds them; else NULL */
	const uint8_t *imm;     /* @imm_bytes of immediate data */
	uint32_t imm_bytes;
	uint32_t reorder_by; /* the consumer delivers so many later messages first, if they come soon */
	uint64_t due_ns;     /* the consumer delivers it then; 0 = at once */
};

struct sim_recvq_shared;

/* One side's view. */
struct sim_recvq {
	struct sim_recvq_shared *shared;
	uint32_t num_slots, max_imm_bytes;
	size_t stride_bytes;
	uint64_t posted;   /* consumer */
	uint64_t polled;   /* consumer */
	uint64_t claimed;  /* producers */
	uint64_t reserved; /* producers; not yet claimed */
};

/* The size of a queue in bytes; and a view of the queue at @memory, which is zeroed when the consumer created it. */
size_t sim_recvq_size(const struct sim_recvq_cfg *cfg);
void sim_recvq_init(struct sim_recvq *queue, const struct sim_recvq_cfg *cfg, void *memory);

/* Consumer. At most num_slots are posted and not polled. */
void sim_recvq_post(struct sim_recvq *queue, const struct sim_recvq_desc *desc);

/* Consumer: take the message of the oldest posted slot. Returns 0, -EAGAIN (not filled) or -EPROTO.
 * Immediate and inlined bytes are copied to @ret_bytes, which has room for max_imm_bytes +
 * SIM_RECVQ_INLINE_BYTES. @desc is what was posted in that slot. */
int sim_recvq_poll(struct sim_recvq *queue, const struct sim_recvq_desc *desc, uint8_t *ret_bytes,
		   struct sim_recvq_message *ret_message);

/* Consumer: whether the oldest posted slot is filled; and, before it sleeps: the next fill returns true, once. */
bool sim_recvq_has_message(const struct sim_recvq *queue);
void sim_recvq_arm(struct sim_recvq *queue);

/* Consumer: when that message is due, as its producer wrote it; 0 = at once. */
uint64_t sim_recvq_next_due_ns(const struct sim_recvq *queue);

/* Producers, under their lock: reserve a slot for a message of @len bytes. Returns 0, -EAGAIN (none is posted),
 * -EMSGSIZE (longer than the buffer, as the consumer wrote it) or -EPROTO. */
int sim_recvq_reserve(struct sim_recvq *queue, uint32_t len);
void sim_recvq_unreserve(struct sim_recvq *queue);

/* Producers, under their lock: the length of the buffer that would be reserved next; UINT32_MAX = none is posted. */
uint32_t sim_recvq_next_room(const struct sim_recvq *queue);

/* Producers, under their lock: claim the next slot, which was reserved. *ret_slot is for sim_recvq_fill(). */
void sim_recvq_claim(struct sim_recvq *queue, uint64_t *ret_slot, struct sim_recvq_desc *ret_desc);

/* Producers, without the lock: the message is complete. Copies its immediate and inlined bytes into the slot.
 * Returns whether the consumer sleeps: then the caller wakes it. */
bool sim_recvq_fill(struct sim_recvq *queue, uint64_t slot, const struct sim_recvq_message *message);

#endif

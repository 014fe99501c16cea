/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/shm/recvq.h - receives that a consumer has posted, and what producers made of them.
 *
 *   consumer:  post --> [posted] --reserve, claim--> [claimed] --fill--> [filled] --> poll: consumer's again
 *                                                     producers
 *
 * A slot tells where a message may go, and takes its immediate data. A message of
 * few bytes lies in the slot itself, and the consumer moves it to where it
 * belongs; the bytes of a larger one the producer has written there before it
 * fills the slot. Slots are filled in any order, and polled in that in which they
 * were posted.
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
	256 /* the longest message that goes through a slot; measured: a copy by the path costs more */

struct sim_recvq_cfg {
	uint32_t num_slots; /* > 0 */
	uint32_t max_imm_bytes;
};

/* Where a message may go. */
struct sim_recvq_desc {
	uint64_t addr;
	uint32_t len_bytes; /* 0 = immediate data only */
};

/* What came. */
struct sim_recvq_message {
	uint32_t producer;
	uint32_t len_bytes;
	bool failed;            /* the producer could not write it */
	bool is_recorded;       /* its receipt shall be on the record (sim/trace/trace.h) */
	const uint8_t *inlined; /* its bytes, if it came through the slot; else NULL */
	const uint8_t *imm;     /* @imm_bytes of immediate data */
	uint32_t imm_bytes;
	uint32_t
		reorder_by; /* what the consumer's user is to hear of it: after so many later ones, if they come soon; */
	uint64_t due_ns;    /* not before then */
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

/* Bytes that one takes, and the view of one at @memory (zeroed when the consumer created it). */
size_t sim_recvq_size(const struct sim_recvq_cfg *cfg);
void sim_recvq_init(struct sim_recvq *queue, const struct sim_recvq_cfg *cfg, void *memory);

/* Consumer. At most num_slots are posted and not polled. */
void sim_recvq_post(struct sim_recvq *queue, const struct sim_recvq_desc *desc);

/* Consumer: what the oldest posted slot holds: 0, -EAGAIN (not filled) or -EPROTO.
 * Immediate and inlined bytes are copies at @ret_bytes, which holds max_imm_bytes +
 * SIM_RECVQ_INLINE_BYTES. @desc is what was posted there. */
int sim_recvq_poll(struct sim_recvq *queue, const struct sim_recvq_desc *desc, uint8_t *ret_bytes,
		   struct sim_recvq_message *ret_message);

/* Consumer: whether the oldest is filled; about to sleep: from now on fill() says true, once. */
bool sim_recvq_has_message(const struct sim_recvq *queue);
void sim_recvq_arm(struct sim_recvq *queue);

/* Producers, under their lock. Keep a slot for a message: 0, -EAGAIN (none posted),
 * -EMSGSIZE (longer than its length, as far as one can tell) or -EPROTO. */
int sim_recvq_reserve(struct sim_recvq *queue, uint32_t len);
void sim_recvq_unreserve(struct sim_recvq *queue);

/* Producers, under their lock: take the next slot, which was reserved. *ret_slot is for fill. */
void sim_recvq_claim(struct sim_recvq *queue, uint64_t *ret_slot, struct sim_recvq_desc *ret_desc);

/* Producers, without lock: the message is complete. Copies immediate and inlined bytes.
 * Whether the consumer sleeps: then the caller wakes it. */
bool sim_recvq_fill(struct sim_recvq *queue, uint64_t slot, const struct sim_recvq_message *message);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/shm/doorbell.h - many peers notify one process; the owner finds the slots that rang without polling each.
 *
 *   peer:   write a record; sim_doorbell_ring(its slot); wake the owner if it sleeps (sim/shm/ring.h)
 *   owner:  sim_doorbell_next() --> a slot to poll;   before it sleeps: sim_doorbell_arm() --false--> sleep
 *
 * The shared part lies in memory that the owner created and its peers map. A
 * peer may ring any slot, also without a record: a ring only says that the slot
 * is to be polled. Several rings of a slot between two polls become one.
 *
 * Order of accesses, all seq_cst: a ring sets the word's bit, then the summary's; the owner takes the summary, then the words.
 * A bit that is set in between is found with its summary bit, which is set after it. What a peer wrote before it rang is seen by
 * the owner that takes the bit.
 *
 * A hostile peer can erase the rings of others. So the shared part is a hint: the
 * owner looks at each slot's own memory before it sleeps, and now and then. What
 * the owner's process rings is private.
 */
#ifndef SIM_SHM_DOORBELL_H
#define SIM_SHM_DOORBELL_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SIM_DOORBELL_WORDS 64
#define SIM_DOORBELL_SLOTS (SIM_DOORBELL_WORDS * 64)

struct sim_doorbell_shared {
	_Atomic uint64_t summary; /* bit w: word w is not 0 */
	_Atomic uint64_t words[SIM_DOORBELL_WORDS];
};

/* The owner's part. */
struct sim_doorbells {
	struct sim_doorbell_shared *shared;
	struct sim_doorbell_shared own; /* rings of the owner's process */
	_Atomic uint32_t asleep;        /* that process is to wake the owner */
	uint64_t summary; /* with @words: rings that were moved from the shared and the own part, and not polled yet */
	uint64_t words[SIM_DOORBELL_WORDS];
	uint32_t cursor; /* the next search begins here, so that each slot gets its turn */
};

/* Ring @slot, after writing what the owner shall find. */
static inline void sim_doorbell_ring(struct sim_doorbell_shared *shared, uint32_t slot)
{
	uint32_t word = slot / 64;

	assert(slot < SIM_DOORBELL_SLOTS);
	atomic_fetch_or(&shared->words[word], UINT64_C(1) << slot % 64);
	atomic_fetch_or(&shared->summary, UINT64_C(1) << word);
}

/* The same for any thread of the owner's process. Returns whether the owner sleeps: then the caller wakes it. */
bool sim_doorbell_ring_own(struct sim_doorbells *doorbells, uint32_t slot);

/* Whether a slot may have rung. */
static inline bool sim_doorbell_has_rung(const struct sim_doorbells *doorbells)
{
	return doorbells->summary | atomic_load_explicit(&doorbells->shared->summary, memory_order_relaxed) |
	       atomic_load_explicit(&doorbells->own.summary, memory_order_relaxed);
}

/* Take the next slot that rang; it may ring again. Returns whether there is one. */
bool sim_doorbell_next(struct sim_doorbells *doorbells, uint32_t *ret_slot);

/* Owner: poll @slot again later. */
void sim_doorbell_requeue(struct sim_doorbells *doorbells, uint32_t slot);

/* Before the owner sleeps: the next ring of its process returns true, once. Returns whether a slot is to be polled already. */
bool sim_doorbell_arm(struct sim_doorbells *doorbells);

#endif

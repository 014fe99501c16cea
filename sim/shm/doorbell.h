/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/shm/doorbell.h - which of many peers have news for one process, without asking each.
 *
 *   peers:  put the news where it belongs; ring(their slot) --true--> wake the owner
 *   owner:  next() --> a slot to look at;   about to sleep: arm() --false--> sleep
 *
 * The shared part lies in memory that the owner created and its peers map. A
 * peer may ring any slot, for nothing: a slot that rings is to be looked at, no
 * more. One peer's many rings between two looks are one.
 */
#ifndef SIM_SHM_DOORBELL_H
#define SIM_SHM_DOORBELL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SIM_DOORBELL_WORDS 64
#define SIM_DOORBELL_SLOTS (SIM_DOORBELL_WORDS * 64)

struct sim_doorbell_shared {
	_Atomic uint32_t asleep;  /* the owner wants to be woken */
	_Atomic uint64_t summary; /* bit w: word w has something */
	_Atomic uint64_t words[SIM_DOORBELL_WORDS];
};

/* The owner's part. */
struct sim_doorbells {
	struct sim_doorbell_shared *shared;
	uint64_t summary; /* taken from the shared part, still to be looked at */
	uint64_t words[SIM_DOORBELL_WORDS];
	uint32_t cursor; /* where the next look begins: everyone gets a turn */
};

/* Announce news of @slot, after writing it. Whether the owner sleeps: then the caller wakes it. */
bool sim_doorbell_ring(struct sim_doorbell_shared *shared, uint32_t slot);

/* A slot to look at, which rings again if more comes. Whether there is one. */
bool sim_doorbell_next(struct sim_doorbells *doorbells, uint32_t *ret_slot);

/* Look at @slot again later: it has more. */
void sim_doorbell_requeue(struct sim_doorbells *doorbells, uint32_t slot);

/* From now on ring() says true, once. Whether there is something to look at already. */
bool sim_doorbell_arm(struct sim_doorbells *doorbells);

#endif

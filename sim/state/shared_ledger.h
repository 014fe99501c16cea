/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/state/shared_ledger.h - the ranges of exported memory that tasks in flight use, of all processes of a session.
 *
 *   importer: add --> [in flight] --remove--> free           any process: find a conflict
 *                        | request: arm, disarm
 *                        v
 *   exporter: its listener --> reply
 *
 * Only processes that are checked take part. A process joins with its id and gets a lane of slots, which it alone writes.
 * A range is in the addresses of the process whose memory it is (the owner). A process whose detectors watch accesses
 * to its memory listens: it is told of the tasks of others that use the memory, and they wait for its reply, but not for long.
 *
 * A slot is a sequence lock with one writer:
 *
 *   remove, add   version even (release) --> fence (release) --> range --> version odd (release) --> used (seq_cst)
 *   copy          version odd (acquire) --> range --> fence (acquire) --> version again: the same, or the copy is dropped
 *
 * Without the writer's fence a reader could see bytes of the next range and still the last one's version. @used is seq_cst: a
 * process adds its range and then looks at the others' @used, so of two that add at once, one sees the other.
 *
 * The daemon ends the lane of a process that left or died, so that the process leaves nothing in flight.
 *
 * The ledger lies in shared memory and is untrusted: corrupt contents give wrong or missing reports, never accesses
 * elsewhere, and no loop without a bound. What is full (lanes, slots) is not watched.
 */
#ifndef SIM_SHARED_LEDGER_H
#define SIM_SHARED_LEDGER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/card/card.h"

#define SIM_LEDGER_LANES     64  /* processes */
#define SIM_LEDGER_SLOTS     512 /* ranges in flight of one of them */
#define SIM_LEDGER_NO_SLOT   UINT32_MAX
#define SIM_LEDGER_SITE_SIZE 80

/* A range, as its process describes it. */
struct sim_shared_range {
	uint64_t owner;            /* the id of the process whose memory it is */
	uint64_t begin, end;       /* addresses in the owner; @end is behind the last byte */
	uint64_t task;             /* a number that ranges of one task share */
	uint32_t is_write, is_own; /* the task writes; it uses the memory without an import */
	uint32_t is_atomic;        /* it uses one word, whole: no conflict with another task that does */
	uint32_t reserved;
	int32_t pid, tid; /* of the task's process and thread */
	uint64_t pid_ns;  /* inode of the namespace that numbers them */
	char program[SIM_PROGRAM_SIZE];
	char site[SIM_LEDGER_SITE_SIZE]; /* of the submission: "copy_block (app.c:150)" */
};

struct sim_ledger_slot {
	_Atomic uint32_t version; /* odd = in flight; it grows with each change */
	/* For an owner that listens. A request is odd (arm) or even (disarm), and answered by its copy in @reply. */
	_Atomic uint32_t request, reply;
	struct sim_shared_range range;
};

struct sim_ledger_lane {
	_Atomic uint64_t process; /* sim_peer_info_id(); 0 = the lane is free */
	_Atomic uint32_t listens;
	_Atomic uint32_t rings; /* a futex: changes with each request to the process */
	_Atomic uint64_t used[SIM_LEDGER_SLOTS / 64];
	struct sim_ledger_slot slots[SIM_LEDGER_SLOTS];
};

/* Zero bytes are an empty ledger. */
struct sim_shared_ledger {
	struct sim_ledger_lane lanes[SIM_LEDGER_LANES];
};

/* ---- a process and its ranges: one call for a lane at a time ---- */

/* Returns a lane for the process, or NULL: there are too many. */
struct sim_ledger_lane *sim_shared_ledger_join(struct sim_shared_ledger *ledger, uint64_t process);

/* End the lanes of a process; owners that listen are told. */
void sim_shared_ledger_leave(struct sim_shared_ledger *ledger, uint64_t process);

/* Returns the slot of the range, or SIM_LEDGER_NO_SLOT. */
uint32_t sim_ledger_lane_add(struct sim_ledger_lane *lane, const struct sim_shared_range *range);
void sim_ledger_lane_remove(struct sim_ledger_lane *lane, uint32_t slot);

/* Ask the owner of a slot's range to arm its detectors, or to disarm them, and wait for the reply for up to @max_ms. Returns
 * whether it came; true also if the owner does not listen. */
bool sim_shared_ledger_request(struct sim_shared_ledger *ledger, struct sim_ledger_lane *lane, uint32_t slot, bool arms,
			       uint32_t max_ms);

/* ---- ranges of all ---- */

/* Find a range in flight that has bytes in common with @range, in memory of the same owner, of another task, where one of
 * both writes, unless both are atomic. Ranges of the task's own process count if they are of an import or @range is. */
bool sim_shared_ledger_find_conflict(const struct sim_shared_ledger *ledger, const struct sim_ledger_lane *own,
				     const struct sim_shared_range *range, struct sim_shared_range *ret_other);

/* Call @cb for each range in flight of other processes in memory of @own's, until it returns false. */
typedef bool sim_shared_ledger_cb(void *arg, uint32_t lane, uint32_t slot, uint32_t version,
				  const struct sim_shared_range *range);
void sim_shared_ledger_each(const struct sim_shared_ledger *ledger, const struct sim_ledger_lane *own,
			    sim_shared_ledger_cb *cb, void *arg);

/* ---- an owner that listens ---- */

void sim_ledger_lane_listen(struct sim_ledger_lane *lane);

/* End the wait of the lane's process. */
void sim_ledger_lane_ring(struct sim_ledger_lane *lane);

/* Wait until the lane rings or @max_ms have passed; @rings is what the last call returned. */
uint32_t sim_ledger_lane_wait(struct sim_ledger_lane *lane, uint32_t rings, uint32_t max_ms);

/* The last request of a slot, and its answer. */
uint32_t sim_shared_ledger_asked(const struct sim_shared_ledger *ledger, uint32_t lane, uint32_t slot);
void sim_shared_ledger_reply(struct sim_shared_ledger *ledger, uint32_t lane, uint32_t slot, uint32_t request);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/state/shared_state.h - the memory that all processes of a session map: clock, fault plan, status words, ledger.
 *
 *   owner --creates--> [ clock | fault plan | status words | ledger ] <--maps-- every attached process
 *
 * The owner of the card creates the memory and gives it to each process that attaches. A process
 * with a private card has a shared state of its own. Session time, which faults and recordings use,
 * comes from the clock (sim/clock/clock.h).
 *
 * A private card exists while its process has devices open. The process's shared state outlives the
 * card, so rules can be added before the first device is opened. A forked child has a copy of the
 * shared state, with the rules and their counters.
 */
#ifndef SIM_SHARED_STATE_H
#define SIM_SHARED_STATE_H

#include "function_status.h"
#include "shared_ledger.h"
#include "sim/clock/clock.h"
#include "sim/clock/shared_lock.h"
#include "sim/faults/plan/plan.h"
#include "sim/shm/segment.h"

struct sim_shared_state {
	struct sim_clock_page clock;
	struct sim_plan plan;
	struct sim_function_table functions;
	struct sim_shared_ledger ledger;
	struct sim_clock_lock atomics; /* orders the network's atomic operations (sim/rdma/memory.h) */
};

/* Create a shared state and begin the session. The caller owns *ret_fd and gives it to processes. Returns 0
 * or -errno. */
int sim_shared_state_create(enum sim_clock_mode mode, struct sim_segment *ret_segment, int *ret_fd);

/* Map the shared state of another process; the caller keeps @fd. Errors: see sim_segment_map(). */
int sim_shared_state_map(int fd, struct sim_segment *ret_segment);

/* Get this process's own shared state; the first call creates it. Returns 0 or -errno. */
int sim_shared_state_private(struct sim_segment *ret_segment);

/* Release a shared state from any of the functions above. */
void sim_shared_state_release(struct sim_segment *segment);

static inline struct sim_shared_state *sim_shared_state_of(const struct sim_segment *segment)
{
	return segment->base;
}

uint64_t sim_shared_state_now_ns(const struct sim_shared_state *shared);

#endif

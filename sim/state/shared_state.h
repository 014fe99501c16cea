/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/state/shared_state.h - what all processes of a session have before their eyes.
 *
 *   owner --creates--> [ its time | fault plan | functions ] <--maps-- every attached process
 *
 * One piece of shared memory, made by whoever owns the card (a process with a
 * private card has it alone) and handed out on attaching. Session time, on which
 * faults and records stand, is the clock's (sim/clock/clock.h).
 *
 * Private cards come and go with the devices of their process, whose one shared state
 * outlives them: rules can stand in it before there is a card. A forked child
 * has a copy of it, with the rules and what they have counted until then.
 */
#ifndef SIM_SHARED_STATE_H
#define SIM_SHARED_STATE_H

#include "function_status.h"
#include "sim/clock/clock.h"
#include "sim/faults/plan/plan.h"
#include "sim/shm/segment.h"

struct sim_shared_state {
	struct sim_clock_page clock;
	struct sim_plan plan;
	struct sim_function_table functions;
};

/* Make one; the session begins. @ret_fd is the caller's, for handing out. Returns 0 or -errno. */
int sim_shared_state_create(enum sim_clock_mode mode, struct sim_segment *ret_segment, int *ret_fd);

/* Map another process's; @fd stays the caller's. Errors as of sim_segment_map(). */
int sim_shared_state_map(int fd, struct sim_segment *ret_segment);

/* This process's own, made on first need. Returns 0 or -errno. */
int sim_shared_state_private(struct sim_segment *ret_segment);

/* Let go of any of them. */
void sim_shared_state_release(struct sim_segment *segment);

static inline struct sim_shared_state *sim_shared_state_of(const struct sim_segment *segment)
{
	return segment->base;
}

/* Session time. */
uint64_t sim_shared_state_now_ns(const struct sim_shared_state *shared);

#endif

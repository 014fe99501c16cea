/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/state/shared_state.h - what all processes of a session have before their eyes.
 *
 *   owner --creates--> [ its time | fault plan | functions ] <--maps-- every attached process
 *
 * One piece of shared memory, made by whoever owns the card (a process with a
 * private card has it alone) and handed out on attaching. Session time, on which
 * faults and records stand, is the clock's (sim/clock/clock.h).
 *
 * Private cards come and go with the devices of their process, whose one board
 * outlives them: rules can stand in it before there is a card. A forked child
 * has a copy of it, with the rules and what they have counted until then.
 */
#ifndef SIM_SESSION_BOARD_H
#define SIM_SESSION_BOARD_H

#include "function_status.h"
#include "sim/clock/clock.h"
#include "sim/faults/plan/plan.h"
#include "sim/shm/segment.h"

struct sim_board {
	struct sim_clock_page clock;
	struct sim_plan plan;
	struct sim_functions functions;
};

/* Make one; the session begins. @ret_fd is the caller's, for handing out. Returns 0 or -errno. */
int sim_board_create(enum sim_clock_mode mode, struct sim_segment *ret_segment, int *ret_fd);

/* Map another process's; @fd stays the caller's. Errors as of sim_segment_map(). */
int sim_board_map(int fd, struct sim_segment *ret_segment);

/* This process's own, made on first need. Returns 0 or -errno. */
int sim_board_own(struct sim_segment *ret_segment);

/* Let go of any of them. */
void sim_board_release(struct sim_segment *segment);

static inline struct sim_board *sim_board_of(const struct sim_segment *segment)
{
	return segment->base;
}

/* Session time. */
uint64_t sim_board_now_ns(const struct sim_board *board);

#endif

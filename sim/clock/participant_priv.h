/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/participant_priv.h - what the files of participants share.
 *
 *   participant.c   states, and the choice of the next participant
 *   post.c          messages: who becomes ready by them, and when
 *   turn.c          a participant sleeps until its turn, and is woken
 */
#ifndef SIM_CLOCK_PARTICIPANT_PRIV_H
#define SIM_CLOCK_PARTICIPANT_PRIV_H

#include "participant.h"

/* A choice: the participant that runs now, and the one that is ready after it; NULL = none. */
struct sim_clock_choice {
	struct sim_clock_participant *next, *after;
};

/* Unless a participant is busy, move time to the first one that is ready and make it busy. Under the page's lock; the
 * caller wakes that one after that. */
struct sim_clock_choice sim_clock_page_advance(struct sim_clock_page *page);

static inline uint32_t sim_clock_page_number_of(const struct sim_clock_page *page,
						const struct sim_clock_participant *shared)
{
	return (uint32_t)(shared - page->participants) + 1;
}

/* Wake the threads that sleep until @shared no longer waits. NULL is fine. */
void sim_clock_page_wake(const struct sim_clock_participant *shared);

/* @participant has waited, and @choice was made. Wake the next one; then the one after it, so that it spins while the
 * next one runs. */
void sim_participant_hand_over(const struct sim_participant *participant, struct sim_clock_choice choice);

#endif

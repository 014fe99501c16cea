/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/participant.h - a place among those that virtual time waits for: its states in the shared page.
 *
 * turns.h explains them. These functions take the page's lock; a seat's place in
 * the page may be lost to another when it was taken for left: then nothing
 * happens any more.
 */
#ifndef SIM_CLOCK_SEAT_H
#define SIM_CLOCK_SEAT_H

#include "clock.h"

struct sim_seat {
	struct sim_clock_page *page;
	struct sim_clock_seat *shared; /* NULL = it has none */
	uint64_t owner;                /* what shared->owner is as long as it is ours */
};

/* Somebody who is busy, and since when it has not called. Time alone says little: a machine that stood still
 * kept it from running, too. So it is looked at a number of times. */
struct sim_seat_watch {
	const struct sim_clock_seat *shared; /* NULL = nobody */
	uint32_t calls, looks;
	uint64_t owner, since_ns;
};

/* Take a place; it is busy. Returns 0 or -ENOSPC. */
int sim_seat_take(struct sim_seat *seat, struct sim_clock_page *page, bool first);

void sim_seat_leave(struct sim_seat *seat);

static inline bool sim_seat_is_ours(const struct sim_seat *seat)
{
	return seat->shared && atomic_load_explicit(&seat->shared->owner, memory_order_relaxed) == seat->owner;
}

static inline enum sim_clock_seat_state sim_seat_state(const struct sim_seat *seat)
{
	return (enum sim_clock_seat_state)atomic_load_explicit(&seat->shared->state, memory_order_acquire);
}

/* It is busy from now on, unless it waits and somebody else is. Whether it is. */
bool sim_seat_try_busy(struct sim_seat *seat);

/* It is busy from now on; or nobody waits for it. */
void sim_seat_be_busy(struct sim_seat *seat);
void sim_seat_be_left(struct sim_seat *seat);

/* It calls, for those who look after it. */
static inline void sim_seat_note_call(struct sim_seat *seat)
{
	_Atomic uint32_t *calls = &seat->shared->calls;

	atomic_store_explicit(calls, atomic_load_explicit(calls, memory_order_relaxed) + 1, memory_order_relaxed);
}

/* Wait until @wake_ns, or a message that @seen does not count. Whether its turn has come. */
bool sim_seat_wait(struct sim_seat *seat, uint64_t wake_ns, uint64_t seen);

/* For who got no seat: time goes on to @ns at once, whoever is busy. */
void sim_seat_force(struct sim_clock_page *page, uint64_t ns);

/* Look after those that are busy: give up on one that does not call. Whether there is one. */
bool sim_seat_look_after(const struct sim_seat *seat, struct sim_seat_watch *watch, uint64_t *ret_lost);

/* Sleep while it waits, @ns at most; and end such a sleep. */
void sim_seat_nap(const struct sim_seat *seat, uint64_t ns);
void sim_seat_wake(const struct sim_seat *seat);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/participant.h - the participants of virtual time: threads that it waits for (vclock_sched.h).
 *
 *            join                wait until wake_ns
 *   [free] -------> [busy] <--------------------------> [waiting]
 *      ^            |    ^       runs next, or calls       |   ^
 *      |            |    |                                 |   |
 *      |     detach |    | calls again             detach  |   | waits again
 *      |            v    |                                 v   |
 *      +- leave --- [   detached: time does not wait for it    ]
 *
 * Leave is possible from busy and waiting as well. When no slot is free, a new
 * participant takes the slot of a detached one; calls of the old one then have no effect
 * (sim_participant_is_ours()).
 *
 * The states are in the shared page. These functions take the page's lock.
 */
#ifndef SIM_CLOCK_PARTICIPANT_H
#define SIM_CLOCK_PARTICIPANT_H

#include "clock.h"

struct sim_participant {
	struct sim_clock_page *page;
	struct sim_clock_participant *shared; /* NULL = has not joined */
	uint64_t owner;                       /* equals shared->owner as long as the slot is ours */
};

/* Take a slot and be busy; @first: with a lower rank than others. Returns 0 or -ENOSPC. */
int sim_participant_join(struct sim_participant *participant, struct sim_clock_page *page, bool first);

void sim_participant_leave(struct sim_participant *participant);

static inline bool sim_participant_is_ours(const struct sim_participant *participant)
{
	return participant->shared &&
	       atomic_load_explicit(&participant->shared->owner, memory_order_relaxed) == participant->owner;
}

static inline enum sim_clock_participant_state sim_participant_state(const struct sim_participant *participant)
{
	return (enum sim_clock_participant_state)atomic_load_explicit(&participant->shared->state,
								      memory_order_acquire);
}

void sim_participant_mark_busy(struct sim_participant *participant);

/* Become busy, unless this participant waits and another one is busy. Returns whether it is busy now. */
bool sim_participant_try_mark_busy(struct sim_participant *participant);

/* Time no longer waits for this participant. */
void sim_participant_detach(struct sim_participant *participant);

/* Wait until @wake_ns, or for a message that @messages_seen does not count. Returns whether the
 * participant is busy again at once. */
bool sim_participant_wait(struct sim_participant *participant, uint64_t wake_ns, uint64_t messages_seen);

/* Record that the participant's thread has called, for stall detection. */
static inline void sim_participant_heartbeat(struct sim_participant *participant)
{
	_Atomic uint32_t *heartbeats = &participant->shared->heartbeats;

	atomic_store_explicit(heartbeats, atomic_load_explicit(heartbeats, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

/* Sleep until the participant no longer waits, @ns at most; and end such a sleep. */
void sim_participant_sleep(const struct sim_participant *participant, uint64_t ns);
void sim_participant_wake(const struct sim_participant *participant);

/* Move time to @ns at once, even if participants are busy: for a thread that got no slot. */
void sim_clock_page_force_time(struct sim_clock_page *page, uint64_t ns);

/* A busy participant, or NULL. Without the lock: the answer may be outdated. */
const struct sim_clock_participant *sim_clock_page_find_busy(const struct sim_clock_page *page);

/* Detach @busy, if it is still busy and @owner's. Returns whether it was. */
bool sim_clock_page_detach_busy(struct sim_clock_page *page, const struct sim_clock_participant *busy, uint64_t owner);

#endif

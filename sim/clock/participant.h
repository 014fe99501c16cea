/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/participant.h - a place among those that virtual time waits for: its states in the shared page.
 *
 * turns.h explains them. These functions take the page's lock; a participant's place in
 * the page may be lost to another when it was taken for left: then nothing
 * happens any more.
 */
#ifndef SIM_CLOCK_PARTICIPANT_H
#define SIM_CLOCK_PARTICIPANT_H

#include "clock.h"

struct sim_participant {
	struct sim_clock_page *page;
	struct sim_clock_participant *shared; /* NULL = it has none */
	uint64_t owner;                       /* what shared->owner is as long as it is ours */
};

/* Somebody who is busy, and since when it has not called. Time alone says little: a machine that stood still
 * kept it from running, too. So it is looked at a number of times. */
struct sim_stall_watch {
	const struct sim_clock_participant *shared; /* NULL = nobody */
	uint32_t heartbeats, checks;
	uint64_t owner, since_ns;
};

/* Take a place; it is busy. Returns 0 or -ENOSPC. */
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

/* It is busy from now on, unless it waits and somebody else is. Whether it is. */
bool sim_participant_try_mark_busy(struct sim_participant *participant);

/* It is busy from now on; or nobody waits for it. */
void sim_participant_mark_busy(struct sim_participant *participant);
void sim_participant_detach(struct sim_participant *participant);

/* It calls, for those who look after it. */
static inline void sim_participant_heartbeat(struct sim_participant *participant)
{
	_Atomic uint32_t *heartbeats = &participant->shared->heartbeats;

	atomic_store_explicit(heartbeats, atomic_load_explicit(heartbeats, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

/* Wait until @wake_ns, or a message that @messages_seen does not count. Whether its turn has come. */
bool sim_participant_wait(struct sim_participant *participant, uint64_t wake_ns, uint64_t messages_seen);

/* For who got no participant: time goes on to @ns at once, whoever is busy. */
void sim_clock_page_force_time(struct sim_clock_page *page, uint64_t ns);

/* Look after those that are busy: give up on one that does not call. Whether there is one. */
bool sim_participant_check_stall(const struct sim_participant *participant, struct sim_stall_watch *watch,
				 uint64_t *ret_stalled);

/* Sleep while it waits, @ns at most; and end such a sleep. */
void sim_participant_sleep(const struct sim_participant *participant, uint64_t ns);
void sim_participant_wake(const struct sim_participant *participant);

#endif

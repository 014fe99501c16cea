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
	bool spins;                           /* the process may run on several CPUs: spin for the turn */
	uint32_t num_vain_spins;              /* in a row */
	uint32_t num_unspun;                  /* turns to wait for without a spin, after vain ones */
	bool was_interrupted;                 /* the last sleep: a signal handler ran */
	bool was_early;                       /* the last sleep: it was woken to spin, before its turn */
};

/* Take a slot and be busy. Of participants that can run at the same time, the least @rank runs first, and of equal ranks
 * the one that joined first. For the calling thread. Returns 0 or -ENOSPC. */
int sim_participant_join(struct sim_participant *participant, struct sim_clock_page *page, uint32_t rank);

/* Any thread: the participant's own may be in a call, which then has no effect. Its @shared stays what it is. */
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

/* Whether the participant is busy, or waits while others are busy or hold time. Otherwise it does nothing before something
 * comes from outside of virtual time. */
bool sim_participant_is_awaited(const struct sim_participant *participant);

/* Time no longer waits for this participant. */
void sim_participant_detach(struct sim_participant *participant);

/* Wait until @wake_ns, or for a message that comes after sim_participant_take_messages(). @holds: others run, but time
 * stays: the participant waits for what comes from outside of virtual time, soon. Returns whether it is busy again at
 * once. */
bool sim_participant_wait(struct sim_participant *participant, uint64_t wake_ns, bool holds);

/* Wait for the turn at the present time, among those that are ready now, and not before all processes that were launched
 * together (launch.h) participate. Returns whether it is busy again at once. */
bool sim_participant_wait_turn(struct sim_participant *participant);

/* The calling thread's waits inside of bfsim are @participant's (call_mark.h); and no thread's waits are marked from now
 * on, as a page is about to be unmapped. */
void sim_participant_remember_calls(const struct sim_participant *participant);
void sim_participant_forget_calls(void);

/* Record that the participant's thread has called, for stall detection. */
static inline void sim_participant_heartbeat(struct sim_participant *participant)
{
	_Atomic uint32_t *heartbeats = &participant->shared->heartbeats;

	atomic_store_explicit(heartbeats, atomic_load_explicit(heartbeats, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

/* ---- messages ----
 *
 * The sender writes a message where its receiver looks for it, then posts it. The receiver takes the posts, then looks. */

/* An engine's id, to which messages are posted; 0 = no id is free: post to all. */
uint32_t sim_clock_page_add_engine(struct sim_clock_page *page);
void sim_clock_page_remove_engine(struct sim_clock_page *page, uint32_t engine);

/* @participant drives @engine; NULL = no participant does. */
void sim_clock_page_drive_engine(struct sim_clock_page *page, uint32_t engine,
				 const struct sim_participant *participant);

/* A message to @engine (0 = to all), which it can read from @due_ns on: its participant runs then, or at once if that has
 * passed. */
void sim_clock_page_post(struct sim_clock_page *page, uint32_t engine, uint64_t due_ns);

/* A sync event has changed: the participants that hear of such changes run. */
void sim_clock_page_post_sync(struct sim_clock_page *page);

/* @engine has posted receives: the participants that wait for such credits of it run. */
void sim_clock_page_post_credit(struct sim_clock_page *page, uint32_t engine);

/* Whether the participant hears of changes of sync events; and of credits of @engine (0 = of none). */
void sim_participant_hear_sync(struct sim_participant *participant, bool hears);
void sim_participant_hear_credit(struct sim_participant *participant, uint32_t engine);

/* Forget the messages that came up to now: the caller is about to look for them. Returns whether there were any. */
bool sim_participant_take_messages(struct sim_participant *participant);

static inline struct sim_clock_due *sim_participant_due(const struct sim_participant *participant)
{
	return &participant->page->due[participant->shared - participant->page->participants];
}

static inline bool sim_participant_has_message(const struct sim_participant *participant)
{
	return atomic_load_explicit(&sim_participant_due(participant)->message_ns, memory_order_acquire) !=
	       SIM_CLOCK_NEVER_NS;
}

/* ---- the turn ---- */

/* Sleep until the participant no longer waits, @ns at most; spin before that if it is next. Returns whether it still
 * waits. */
bool sim_participant_sleep(struct sim_participant *participant, uint64_t ns);

/* End such sleeps. */
void sim_participant_wake(const struct sim_participant *participant);

/* Move time to @ns at once, even if participants are busy: for a thread that got no slot. */
void sim_clock_page_force_time(struct sim_clock_page *page, uint64_t ns);

/* A busy participant, or NULL. Without the lock: the answer may be outdated. */
const struct sim_clock_participant *sim_clock_page_find_busy(const struct sim_clock_page *page);

/* Detach @busy, if it is still busy and @owner's. Returns whether it was. */
bool sim_clock_page_detach_busy(struct sim_clock_page *page, const struct sim_clock_participant *busy, uint64_t owner);

/* The participant that holds time while no one is busy and others could go on; NULL = none. Without the lock. */
const struct sim_clock_participant *sim_clock_page_find_holder(const struct sim_clock_page *page);

/* @holder holds time no longer, if it is still @owner's, up to its next sim_participant_wait() without @holds. */
void sim_clock_page_end_hold(struct sim_clock_page *page, const struct sim_clock_participant *holder, uint64_t owner);

#endif

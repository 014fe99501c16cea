/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/vclock_sched.h - virtual time: who may go on, one after the other.
 *
 *               [busy] --its progress engines have nothing to do until wake--> [waiting]
 *              ^  |  ^                                                             |
 *   first call-+  |  +-------- its turn: time jumps to its wake, if that is later -+
 *                 +--has not called for a second of real time, others wait--> [left] --calls--> [busy]
 *
 * Whom time waits for is a thread that drives progress engines with contexts
 * that run: it has a participant (page.h), and each engine is a turn of the thread that
 * called for it last. While any participant is busy, virtual time stands still and nobody
 * else is given a turn. When the last busy one waits, the one that can go on first
 * gets its turn: who has something due at the earliest time, and of several the
 * one with the least rank (those of DPU sides before others, then as they came).
 * So one goes on at a time, in an order that does not depend on how fast any of
 * them is.
 *
 * Messages take no time. Who sends one says so (sim_vclock_sched_message_sent()) before it waits;
 * then all others have something to do at this very time: to look whether it is
 * for them.
 *
 * While all wait for messages, anyone may look at any time: what comes then comes
 * from outside, from a program that has no participant or from the card's daemon.
 *
 * A thread with several engines that waits in one of them is first given the
 * chance to call for the others, if these have something to do; once, as it may
 * not want to.
 *
 * Who is busy and does not call for SIM_VCLOCK_STALL_TIMEOUT_MS of real time is no longer
 * waited for, so that nothing hangs; what happens then depends on real time, and
 * a warning says so once.
 *
 * A turn is used by one thread at a time. Errors are -errno.
 */
#ifndef SIM_CLOCK_VCLOCK_SCHED_H
#define SIM_CLOCK_VCLOCK_SCHED_H

#include "clock.h"

#define SIM_VCLOCK_STALL_TIMEOUT_MS \
	1000 /* a busy machine keeps who would call from running for longer than a tenth of that */

struct sim_vclock_sched; /* this process's */
struct sim_vclock_source;

/* @first: they have a lower rank than others'. Returns 0 or -ENOMEM. */
int sim_vclock_sched_create(struct sim_clock *clock, bool first, struct sim_vclock_sched **ret_sched);

/* Leave all participants. Turns that are left are no longer used, but for sim_vclock_source_destroy(). NULL is fine. */
void sim_vclock_sched_destroy(struct sim_vclock_sched *sched);

/* In a forked child: its parent's participants stay its parent's. The copy is kept. */
void sim_vclock_sched_abandon(struct sim_vclock_sched *sched);

/* A progress engine begins to take part; it is busy. When there is something to do while
 * its thread sleeps (sim_vclock_source_begin_sleep()), @wake(@arg) is called, in a thread of ours; it
 * must be quick and not call back. Returns 0 or -ENOMEM. */
int sim_vclock_source_create(struct sim_vclock_sched *sched, void (*wake)(void *arg), void *arg,
			     struct sim_vclock_source **ret_source);

/* It no longer does; wake is not called any more. NULL is fine. */
void sim_vclock_source_destroy(struct sim_vclock_source *source);

/* It hands in jobs: it is busy. */
void sim_vclock_source_mark_busy(struct sim_vclock_source *source);

/* Whether it may look for something to do; then it is busy. If it is another's turn, naps for a moment first. */
bool sim_vclock_source_may_poll(struct sim_vclock_source *source);

/* It has nothing to do until @wake_ns (SIM_CLOCK_NEVER_NS: for a message). True: that is now,
 * look again. False: it is the turn of another, or of another engine of this thread. */
bool sim_vclock_source_wait_until(struct sim_vclock_source *source, uint64_t wake_ns);

/* The same for a message, for a thread that blocks: it does not call for its other engines meanwhile, and they are not
 * offered to it. Unless its turn comes at once, naps for a moment first. */
void sim_vclock_source_wait_message(struct sim_vclock_source *source);

/* Whether a message was sent since it last looked: its turn is going to come. */
bool sim_vclock_source_has_message(const struct sim_vclock_source *source);

/* Its thread is about to sleep until wake is called; with @wake_pending, it will be woken at once. */
void sim_vclock_source_begin_sleep(struct sim_vclock_source *source, bool wake_pending);

/* Its thread no longer sleeps. */
void sim_vclock_source_end_sleep(struct sim_vclock_source *source);

/* A message is sent. */
void sim_vclock_sched_message_sent(struct sim_vclock_sched *sched);

/* The calling thread is going to block for ever: time does not wait for it any more. */
void sim_vclock_sched_detach_thread(struct sim_vclock_sched *sched);

#endif

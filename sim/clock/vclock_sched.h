/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/vclock_sched.h - the virtual-clock scheduler: one participant runs at a time, in the order of virtual time.
 *
 *                  +-- no work until its wake time --> [waiting]
 *   first call --> [busy] <-- runs next: time jumps to that wake time, if later --+
 *                  +-- no call for a second of real time --> [detached] --calls again--> [busy]
 *
 * A participant (participant.h) is a thread that drives progress engines with
 * running contexts. Each engine is a source, bound to the thread that called for it
 * last. While a participant is busy, virtual time stands still and no other one
 * runs. When the last busy one waits, the scheduler picks the waiting participant
 * with the earliest work. Among equals it picks the least rank: DPU sides come
 * first, then the order of joining. So the order of events does not depend on the
 * speed of the processes.
 *
 * A sender posts a message to the engine that receives it, once it is written
 * (sim_vclock_sched_post()): that engine's participant has work when the message
 * arrives. All others keep waiting.
 *
 * While all participants wait for messages, each of them may poll at any time: the
 * next message comes from outside, from the daemon or from a program that does not
 * participate.
 *
 * When a thread with several sources waits in one of them and others have work,
 * the scheduler offers that work first, once: the wait returns false.
 *
 * A busy participant that does not call for a while is detached, so that nothing
 * hangs (stall_watch.h). From then on the run depends on real time, and a warning
 * says so once.
 *
 * One thread at a time uses a source. Errors are -errno.
 */
#ifndef SIM_CLOCK_VCLOCK_SCHED_H
#define SIM_CLOCK_VCLOCK_SCHED_H

#include "launch.h"

struct sim_stall_patience;
struct sim_vclock_sched;  /* of this process */
struct sim_vclock_source; /* of a progress engine */

/* Create the scheduler of this process, whose participants have @rank (sim_participant_join()). @launch: the process's
 * entry of launch.h, or NULL. Returns 0 or -ENOMEM. */
int sim_vclock_sched_create(struct sim_clock *clock, uint32_t rank, const struct sim_clock_launch *launch,
			    struct sim_vclock_sched **ret_sched);

/* A thread of several sources that is about to block, which polls none of them meanwhile, calls @advance(@arg) first: it does what
 * is due in them, and returns the session time of the next (SIM_CLOCK_NEVER_NS = none), at which the thread calls again. No
 * lock is held during the call. Before the first source. */
void sim_vclock_sched_set_advance(struct sim_vclock_sched *sched, uint64_t (*advance)(void *arg), void *arg);

/* All participants leave. For the sources that remain, only sim_vclock_source_destroy() may be called. NULL is fine. */
void sim_vclock_sched_destroy(struct sim_vclock_sched *sched);

/* In a forked child: participate no longer; the parent keeps its participants. The memory is not freed. */
void sim_vclock_sched_abandon(struct sim_vclock_sched *sched);

/* The properties of a source: */
struct sim_vclock_source_cfg {
	uint32_t engine;         /* messages to it are for the source (sim_vclock_sched_add_engine()); 0 = none are */
	bool hears_sync;         /* changes of sync events are messages, too */
	void (*wake)(void *arg); /* NULL = its thread never sleeps (sim_vclock_source_begin_sleep()) */
	void *arg;
};

/* Create the source of a progress engine; it is busy. When the source has work while its
 * thread sleeps (sim_vclock_source_begin_sleep()), a thread of ours calls wake(arg); that
 * function must be quick and must not call back. Returns 0 or -ENOMEM. */
int sim_vclock_source_create(struct sim_vclock_sched *sched, const struct sim_vclock_source_cfg *cfg,
			     struct sim_vclock_source **ret_source);

/* From now on changes of sync events are messages, too. */
void sim_vclock_source_hear_sync(struct sim_vclock_source *source);

/* Destroy the source; wake is not called any more. NULL is fine. */
void sim_vclock_source_destroy(struct sim_vclock_source *source);

/* The calling thread is about to do what other participants can see, outside of a poll: it is busy, if it takes part. Time
 * stands still during the call, so that all of its effects have one time. */
void sim_vclock_sched_begin_call(struct sim_vclock_sched *sched);

/* The calling thread is about to do what other processes order by the time of their calls, as a connect: it waits for its turn
 * at the present time, if it takes part. Processes that are launched together take these turns in their order. */
void sim_vclock_sched_take_turn(struct sim_vclock_sched *sched);

/* The source submits jobs: it is busy. */
void sim_vclock_source_mark_busy(struct sim_vclock_source *source);

/* Returns whether the source may poll; then it is busy. If another participant is busy, sleeps for a moment first. */
bool sim_vclock_source_may_poll(struct sim_vclock_source *source);

/* The source has no work until @wake_ns (SIM_CLOCK_NEVER_NS: until a message). Returns true if that
 * time has come, or a message: poll again. Returns false if another participant, or another source of this
 * thread, runs first. */
bool sim_vclock_source_wait_until(struct sim_vclock_source *source, uint64_t wake_ns);

/* From now on, time stays while the source waits; or no longer. For what comes from outside of virtual time, soon: the
 * daemon's answer for instance. */
void sim_vclock_source_hold(struct sim_vclock_source *source, bool holds);

/* Wait as sim_vclock_source_wait_until() for a source that could not send, as @engine has posted no receives: up to the next try, a
 * receive counts as a message. */
void sim_vclock_source_wait_credit(struct sim_vclock_source *source, uint32_t engine, uint64_t wake_ns);

/* A call of the source's thread was refused with AGAIN, and the program will try again. When a message has come, a wait returns
 * false once, at the time of the message: the program's next call is at that time as well, be it the try or a poll. */
void sim_vclock_source_note_refusal(struct sim_vclock_source *source);

/* Before the next try. A thread that gets its turn by the try, and not by a poll, polls first: what it does must not depend on which of
 * the two calls the turn has met. */
enum sim_vclock_retry {
	SIM_VCLOCK_NO_TURN,    /* the thread has slept for a moment, and waits again */
	SIM_VCLOCK_POLL_FIRST, /* it has its turn now: refuse once more, and let it keep the turn */
	SIM_VCLOCK_RETRY,
};

enum sim_vclock_retry sim_vclock_source_may_retry(struct sim_vclock_source *source);

/* Wait for a message, in a thread that blocks: it does not poll its other sources meanwhile, so these
 * are not offered to it. Sleeps for a moment unless the thread runs next; it may do so for due work of the others. */
void sim_vclock_source_wait_message(struct sim_vclock_source *source);

/* Wait until @wake_ns or a message, in a thread that does nothing else meanwhile; some milliseconds of real time at most.
 * Returns whether the thread is busy again; then it has taken the messages. */
bool sim_vclock_source_wait_turn(struct sim_vclock_source *source, uint64_t wake_ns);

/* Whether the calling thread drives the source. */
bool sim_vclock_source_is_own(const struct sim_vclock_source *source);

/* Return how long, in real time, another thread leaves the source's work to its own: longer than a thread that has a CPU is waited for
 * before time goes on without it, with a warning; 0 if time does not wait for the thread, or all wait for messages. Any thread. */
uint64_t sim_vclock_source_patience_ns(const struct sim_vclock_source *source);

/* Whether nobody is busy and no message has come: what such a thread sees changed now was changed outside of virtual time. */
bool sim_vclock_source_is_quiet(const struct sim_vclock_source *source);

/* End such a wait of another thread, without a turn. */
void sim_vclock_source_interrupt(struct sim_vclock_source *source);

/* Returns whether a message was sent since the last poll: the source will run. */
bool sim_vclock_source_has_message(const struct sim_vclock_source *source);

/* The thread is about to sleep until wake is called. @wake_pending: the caller wakes it at once. */
void sim_vclock_source_begin_sleep(struct sim_vclock_source *source, bool wake_pending);

/* The thread no longer sleeps. */
void sim_vclock_source_end_sleep(struct sim_vclock_source *source);

/* An engine's id, which senders need; the same in all processes. 0 = none is free: a message to it is for all. */
uint32_t sim_vclock_sched_add_engine(struct sim_vclock_sched *sched);
void sim_vclock_sched_remove_engine(struct sim_vclock_sched *sched, uint32_t engine);

/* A message to @engine was written, which arrives at @due_ns (0 = now); any thread. */
void sim_vclock_sched_post(struct sim_vclock_sched *sched, uint32_t engine, uint64_t due_ns);

/* A sync event has changed. */
void sim_vclock_sched_post_sync(struct sim_vclock_sched *sched);

/* @engine has posted receives. */
void sim_vclock_sched_post_credit(struct sim_vclock_sched *sched, uint32_t engine);

/* Return how long, in real time, the scheduler waits for participants (stall_watch.h). */
const struct sim_stall_patience *sim_vclock_sched_patience(const struct sim_vclock_sched *sched);

/* The calling thread is about to block for ever: time does not wait for it any more. */
void sim_vclock_sched_detach_thread(struct sim_vclock_sched *sched);

#endif

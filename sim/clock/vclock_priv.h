/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/vclock_priv.h - the inside of the virtual-clock scheduler.
 *
 *   vclock_life.c    begin and end of scheduler and sources
 *   vclock_sched.c   polls, waits, sleeps --> vclock_thread.c   which sources a thread drives
 *                                         --> vclock_sleeper.c  a helper thread that waits for a sleeping thread
 *                                         --> vclock_stall.c    detection of stalled participants, with a warning
 */
#ifndef SIM_CLOCK_VCLOCK_PRIV_H
#define SIM_CLOCK_VCLOCK_PRIV_H

#include <pthread.h>
#include <sys/queue.h>

#include "participant.h"
#include "stall_watch.h"
#include "vclock_sched.h"

/* A thread that drives progress engines: one participant. */
struct sim_vclock_thread {
	struct sim_vclock_sched *sched;
	struct sim_participant participant;
	LIST_HEAD(, sim_vclock_source) sources;
	/* Another thread that takes a source over changes these, under the lock. */
	_Atomic uint32_t num_sources; /* in the list */
	_Atomic uint32_t num_holds;   /* those of them that hold time */
	struct sim_stall_watch watch;
	uint32_t num_messages; /* polls that followed messages; it wraps */
	uint32_t num_idle;     /* polls without a turn since the last turn */
	uint64_t next_ns;      /* time of the next work of its sources, as of its last wait */
	bool hears_credit;     /* of an engine's receives */
	bool was_refused;      /* a call was, with AGAIN; it is to be tried again after a message */
	bool offers_retry;     /* such a message came: the next wait returns at once */
	bool has_put_off;      /* a try behind a poll; the next one is made, unless a message comes */
	bool awaits_turn;      /* its last wait did not end at once, nor has a call got its turn since */
	/* The sleeper, a helper thread that waits in place of this one. */
	pthread_cond_t changed;
	pthread_t sleeper;
	bool started, stop, asleep;
	LIST_ENTRY(sim_vclock_thread) link;
};

struct sim_vclock_sched {
	struct sim_clock *clock;
	struct sim_clock_page *page;
	uint32_t rank;
	struct sim_clock_launch launch;
	bool may_spin; /* the process may run on several CPUs */
	struct sim_stall_patience patience;
	uint64_t (*advance)(void *arg); /* sim_vclock_sched_set_advance() */
	void *advance_arg;
	pthread_key_t key;    /* the calling thread's sim_vclock_thread */
	pthread_mutex_t lock; /* protects the threads and their sources; the page's lock is taken inside it */
	LIST_HEAD(, sim_vclock_thread) threads;
	uint32_t num_sources;
	bool warned, is_destroyed;
};

struct sim_vclock_source {
	struct sim_vclock_sched *sched;
	_Atomic(struct sim_vclock_thread *) thread; /* the last caller; NULL = it has ended; written under the lock */
	uint64_t next_ns;         /* time of the source's next work, as of its last poll; 0 = it has work now */
	uint32_t messages_seen;   /* the thread's num_messages when the source last polled, or was offered a poll */
	atomic_bool wake_pending; /* the sleeping thread is about to be woken for this source */
	bool asleep, holds;
	struct sim_vclock_source_cfg cfg;
	LIST_ENTRY(sim_vclock_source) link; /* in the thread's list */
};

/* ---- vclock_thread.c ---- */

/* Bind @source to the calling thread and have that thread participate. Under the lock. Returns false
 * without memory or a free slot: time does not wait for the source then. */
bool sim_vclock_thread_bind(struct sim_vclock_source *source);

/* Unbind @source; a thread without sources leaves. Under the lock. */
void sim_vclock_thread_unbind(struct sim_vclock_source *source);

/* The calling thread, bound to @source and participating, or NULL. */
struct sim_vclock_thread *sim_vclock_thread_join(struct sim_vclock_source *source);

/* Under the lock, which is released meanwhile. */
void sim_vclock_thread_destroy(struct sim_vclock_thread *thread);

/* Destructor of sched->key: the thread @arg ends. */
void sim_vclock_thread_on_exit(void *arg);

/* ---- vclock_sleeper.c ---- */

/* The thread is about to sleep for @source: the sleeper wakes it when its participant is busy. */
void sim_vclock_sleeper_begin(struct sim_vclock_thread *thread, struct sim_vclock_source *source);

/* End the sleeper. Under the lock, which is released meanwhile. */
void sim_vclock_sleeper_stop(struct sim_vclock_thread *thread);

/* ---- vclock_stall.c ---- */

/* As sim_stall_watch_check(); the first stall is logged. */
bool sim_vclock_check_stall(struct sim_vclock_sched *sched, const struct sim_participant *self,
			    struct sim_stall_watch *watch);

#endif

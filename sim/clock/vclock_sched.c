/* SPDX-License-Identifier: BSD-3-Clause */
#include "vclock_sched.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "participant.h"
#include "sim/base/log.h"
#include "sim/base/thread.h"

#define POLL_SLEEP_NS  UINT64_C(1000000)  /* of who polls and may not look */
#define STALL_CHECK_NS UINT64_C(50000000) /* of who sleeps: how often it looks after the busy ones */

/* A thread that drives progress engines. */
struct pe_thread {
	struct sim_vclock_sched *sched;
	struct sim_participant participant;
	struct sim_vclock_source *first; /* its engines */
	struct sim_stall_watch watch;
	/* The sleeper: a thread that waits for the participant's turn in its stead. */
	pthread_cond_t changed;
	pthread_t sleeper;
	bool started, stop, asleep;
	struct pe_thread *next;
};

struct sim_vclock_sched {
	struct sim_clock *clock;
	struct sim_clock_page *page;
	bool first;
	pthread_key_t key;    /* the calling thread's pe_thread */
	pthread_mutex_t lock; /* protects all threads and which turn is whose; the page's is taken inside it */
	struct pe_thread *threads;
	uint32_t num_sources;
	bool warned, is_destroyed;
};

struct sim_vclock_source {
	struct sim_vclock_sched *sched;
	_Atomic(struct pe_thread *) thread; /* that called last; NULL = its thread has ended; written under the lock */
	uint64_t next_ns;         /* when it has something to do, as it said when it last looked; 0 = it is to look */
	uint64_t messages_seen;   /* messages that had been sent when it last looked, or was offered to */
	atomic_bool wake_pending; /* its thread is going to be woken for it */
	bool asleep;
	void (*wake)(void *arg);
	void *arg;
	struct sim_vclock_source *next; /* of the thread's */
};

/* ---- threads that drive ---- */

static void stop_sleeper(struct pe_thread *thread)
{
	bool started = thread->started;

	thread->stop = true;
	thread->started = false;
	pthread_cond_signal(&thread->changed);
	pthread_mutex_unlock(&thread->sched->lock);
	if (started) {
		sim_participant_wake(&thread->participant);
		pthread_join(thread->sleeper, NULL);
	}
	pthread_mutex_lock(&thread->sched->lock);
}

/* Under the lock, which is given up in between. */
static void pe_thread_free(struct pe_thread *thread)
{
	struct pe_thread **link = &thread->sched->threads;

	while (*link != thread)
		link = &(*link)->next;
	*link = thread->next;
	for (struct sim_vclock_source *source = thread->first; source; source = source->next)
		source->thread = NULL;
	thread->first = NULL;
	stop_sleeper(thread);
	sim_participant_leave(&thread->participant);
	pthread_cond_destroy(&thread->changed);
	free(thread);
}

/* Its thread ends. */
static void on_pe_thread_exit(void *arg)
{
	struct pe_thread *thread = arg;
	struct sim_vclock_sched *sched = thread->sched;

	pthread_mutex_lock(&sched->lock);
	pe_thread_free(thread);
	pthread_mutex_unlock(&sched->lock);
}

static struct pe_thread *pe_thread_new(struct sim_vclock_sched *sched)
{
	struct pe_thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return NULL;
	thread->sched = sched;
	pthread_cond_init(&thread->changed, NULL);
	if (pthread_setspecific(sched->key, thread) != 0) {
		free(thread);
		return NULL;
	}
	thread->next = sched->threads;
	sched->threads = thread;
	return thread;
}

/* ---- which engine is whose; under the lock ---- */

static void unbind_source(struct sim_vclock_source *source)
{
	struct pe_thread *thread = source->thread;
	struct sim_vclock_source **link;

	if (!thread)
		return;
	for (link = &thread->first; *link != source; link = &(*link)->next)
		;
	*link = source->next;
	source->thread = NULL;
	if (!thread->first)
		sim_participant_leave(&thread->participant);
}

/* The turn is the calling thread's. False: there is no memory or no participant for it; then time does not wait for it, and
 * goes on when it says so. */
static bool bind_source(struct sim_vclock_source *source)
{
	struct sim_vclock_sched *sched = source->sched;
	struct pe_thread *thread;

	if (sched->is_destroyed)
		return false;
	thread = pthread_getspecific(sched->key);
	if (!thread)
		thread = pe_thread_new(sched);
	if (!thread)
		return false;
	if (source->thread != thread) {
		unbind_source(source);
		source->thread = thread;
		source->next = thread->first;
		thread->first = source;
	}
	if (!sim_participant_is_ours(&thread->participant)) /* also: it was taken for left, and another sits there */
		return sim_participant_join(&thread->participant, sched->page, sched->first) == 0;
	return true;
}

/* ---- life ---- */

int sim_vclock_sched_create(struct sim_clock *clock, bool first, struct sim_vclock_sched **ret_sched)
{
	struct sim_vclock_sched *sched = calloc(1, sizeof(*sched));

	if (!sched)
		return -ENOMEM;
	sched->clock = clock;
	sched->page = sim_clock_page(clock);
	sched->first = first;
	if (pthread_key_create(&sched->key, on_pe_thread_exit) != 0) {
		free(sched);
		return -ENOMEM;
	}
	pthread_mutex_init(&sched->lock, NULL);
	*ret_sched = sched;
	return 0;
}

static void sched_free(struct sim_vclock_sched *sched)
{
	pthread_mutex_destroy(&sched->lock);
	free(sched);
}

void sim_vclock_sched_destroy(struct sim_vclock_sched *sched)
{
	bool in_use;

	if (!sched)
		return;
	pthread_key_delete(sched->key);
	pthread_mutex_lock(&sched->lock);
	sched->is_destroyed = true;
	while (sched->threads)
		pe_thread_free(sched->threads);
	in_use = sched->num_sources > 0;
	pthread_mutex_unlock(&sched->lock);
	if (!in_use) /* else with the last of them */
		sched_free(sched);
}

void sim_vclock_sched_abandon(struct sim_vclock_sched *sched)
{
	if (sched)
		pthread_key_delete(sched->key);
}

int sim_vclock_source_create(struct sim_vclock_sched *sched, void (*wake)(void *arg), void *arg,
			     struct sim_vclock_source **ret_source)
{
	struct sim_vclock_source *source = calloc(1, sizeof(*source));

	if (!source)
		return -ENOMEM;
	source->sched = sched;
	source->wake = wake;
	source->arg = arg;
	pthread_mutex_lock(&sched->lock);
	sched->num_sources++;
	bind_source(source);
	pthread_mutex_unlock(&sched->lock);
	*ret_source = source;
	return 0;
}

void sim_vclock_source_destroy(struct sim_vclock_source *source)
{
	struct sim_vclock_sched *sched;
	bool last;

	if (!source)
		return;
	sched = source->sched;
	pthread_mutex_lock(&sched->lock);
	unbind_source(source);
	last = --sched->num_sources == 0 && sched->is_destroyed;
	pthread_mutex_unlock(&sched->lock);
	free(source);
	if (last)
		sched_free(sched);
}

/* ---- being busy, looking ---- */

/* The calling thread's participant, or NULL. */
static struct pe_thread *join_calling_thread(struct sim_vclock_source *source)
{
	struct pe_thread *thread = source->thread;
	bool bound = true;

	if (!thread || thread != pthread_getspecific(source->sched->key) ||
	    !sim_participant_is_ours(&thread->participant)) {
		pthread_mutex_lock(&source->sched->lock);
		bound = bind_source(source);
		thread = source->thread;
		pthread_mutex_unlock(&source->sched->lock);
	}
	if (!bound)
		return NULL;
	sim_participant_heartbeat(&thread->participant);
	return thread;
}

static void mark_busy(struct pe_thread *thread)
{
	if (sim_participant_state(&thread->participant) != SIM_PARTICIPANT_BUSY)
		sim_participant_mark_busy(&thread->participant);
}

void sim_vclock_source_mark_busy(struct sim_vclock_source *source)
{
	struct pe_thread *thread = join_calling_thread(source);

	source->next_ns = 0;
	if (thread)
		mark_busy(thread);
}

static bool is_dead(uint64_t owner)
{
	return kill((pid_t)(owner >> 32), 0) < 0 && errno == ESRCH;
}

static void warn_once(struct sim_vclock_sched *sched, uint64_t owner)
{
	bool warned;

	if (is_dead(owner))
		return;
	pthread_mutex_lock(&sched->lock);
	warned = sched->warned;
	sched->warned = true;
	pthread_mutex_unlock(&sched->lock);
	if (!warned)
		sim_warn(
			"virtual time no longer waits for process %u, which has not called bfsim for %d ms while others wait: from here on the run is not repeatable; have it poll its progress engine, or stop its contexts before it sleeps",
			(unsigned int)(owner >> 32), SIM_VCLOCK_STALL_TIMEOUT_MS);
}

/* Whether somebody is busy. */
static bool check_stall(struct sim_vclock_sched *sched, const struct sim_participant *participant,
			struct sim_stall_watch *watch)
{
	uint64_t stalled;
	bool busy = sim_participant_check_stall(participant, watch, &stalled);

	if (stalled)
		warn_once(sched, stalled);
	return busy;
}

bool sim_vclock_source_may_poll(struct sim_vclock_source *source)
{
	struct pe_thread *thread = join_calling_thread(source);

	source->wake_pending = false;
	if (!thread || sim_participant_state(&thread->participant) == SIM_PARTICIPANT_BUSY)
		return true;
	if (check_stall(thread->sched, &thread->participant, &thread->watch))
		sim_participant_sleep(&thread->participant, POLL_SLEEP_NS);
	return sim_participant_try_mark_busy(&thread->participant); /* looking without the lock can miss who is busy */
}

/* ---- waiting ---- */

/* Whether the thread's other engines have something to do that they were not offered yet;
 * *wake_ns is lowered to when they have. Under the lock. */
static bool offer_to_other_sources(struct sim_vclock_source *source, uint64_t now_ns, uint64_t *wake_ns)
{
	bool offered = false;

	for (struct sim_vclock_source *other = source->thread->first; other; other = other->next) {
		if (other == source)
			continue;
		if (other->wake_pending || other->messages_seen != source->messages_seen || other->next_ns <= now_ns) {
			offered = true;
			other->messages_seen = source->messages_seen;
			if (other->next_ns <= now_ns)
				other->next_ns = SIM_CLOCK_NEVER_NS;
		}
		if (other->next_ns < *wake_ns)
			*wake_ns = other->next_ns;
	}
	return offered;
}

/* Better late than never: it goes on, if out of order. */
static bool wait_without_participant(struct sim_vclock_sched *sched, uint64_t wake_ns)
{
	if (wake_ns == SIM_CLOCK_NEVER_NS)
		return false;
	if (!sched->is_destroyed)
		sim_clock_page_force_time(sched->page, wake_ns);
	return !sched->is_destroyed;
}

bool sim_vclock_source_wait_until(struct sim_vclock_source *source, uint64_t wake_ns)
{
	struct pe_thread *thread = join_calling_thread(source);
	struct sim_vclock_sched *sched = source->sched;
	uint64_t wake_of_all_ns = wake_ns;
	bool others;

	if (!thread)
		return wait_without_participant(sched, wake_ns);
	pthread_mutex_lock(&sched->lock);
	source->next_ns = wake_ns;
	if (sim_participant_state(&thread->participant) !=
	    SIM_PARTICIPANT_WAITING) /* else it has not looked since it began to wait */
		source->messages_seen = atomic_load_explicit(&sched->page->messages_sent, memory_order_acquire);
	others = offer_to_other_sources(source, sim_clock_now_ns(sched->clock), &wake_of_all_ns);
	pthread_mutex_unlock(&sched->lock);
	if (others) {
		mark_busy(thread);
		return false;
	}
	return sim_participant_wait(&thread->participant, wake_of_all_ns, source->messages_seen) &&
	       wake_ns <= sim_clock_now_ns(sched->clock);
}

/* What it does is seen at the time at which others have brought it, as without a participant. */
static void sleep_without_participant(void)
{
	const struct timespec interval = { .tv_nsec = POLL_SLEEP_NS };

	nanosleep(&interval, NULL);
}

void sim_vclock_source_wait_message(struct sim_vclock_source *source)
{
	struct pe_thread *thread = join_calling_thread(source);

	if (!thread) {
		sleep_without_participant();
		return;
	}
	pthread_mutex_lock(&source->sched->lock);
	if (sim_participant_state(&thread->participant) != SIM_PARTICIPANT_WAITING)
		source->messages_seen = atomic_load_explicit(&source->sched->page->messages_sent, memory_order_acquire);
	pthread_mutex_unlock(&source->sched->lock);
	if (!sim_participant_wait(&thread->participant, SIM_CLOCK_NEVER_NS, source->messages_seen))
		sim_participant_sleep(&thread->participant, POLL_SLEEP_NS);
}

bool sim_vclock_source_has_message(const struct sim_vclock_source *source)
{
	return atomic_load_explicit(&source->sched->page->messages_sent, memory_order_acquire) != source->messages_seen;
}

void sim_vclock_sched_message_sent(struct sim_vclock_sched *sched)
{
	atomic_fetch_add_explicit(&sched->page->messages_sent, 1, memory_order_release);
}

void sim_vclock_sched_detach_thread(struct sim_vclock_sched *sched)
{
	struct pe_thread *thread = pthread_getspecific(sched->key);

	if (thread && sim_participant_is_ours(&thread->participant))
		sim_participant_detach(&thread->participant);
}

/* ---- sleeping ---- */

static void wake_all(struct pe_thread *thread)
{
	for (struct sim_vclock_source *source = thread->first; source; source = source->next) {
		if (source->asleep) {
			source->asleep = false;
			source->wake_pending = true;
			source->wake(source->arg);
		}
	}
}

static void *sleeper_thread(void *arg)
{
	struct pe_thread *thread = arg;
	struct sim_vclock_sched *sched = thread->sched;
	struct sim_stall_watch watch = { 0 };

	pthread_mutex_lock(&sched->lock);
	while (!thread->stop) {
		const struct sim_participant participant = thread->participant; /* its thread may leave it meanwhile */

		if (!thread->asleep || !sim_participant_is_ours(&participant)) {
			thread->asleep = false;
			pthread_cond_wait(&thread->changed, &sched->lock);
			continue;
		}
		if (sim_participant_state(&participant) != SIM_PARTICIPANT_WAITING) {
			thread->asleep = false;
			wake_all(thread);
			continue;
		}
		pthread_mutex_unlock(&sched->lock);
		check_stall(sched, &participant, &watch);
		sim_participant_sleep(&participant, STALL_CHECK_NS);
		pthread_mutex_lock(&sched->lock);
	}
	pthread_mutex_unlock(&sched->lock);
	return NULL;
}

/* Under the lock. */
static void ensure_sleeper(struct pe_thread *thread)
{
	int rc;

	if (thread->started)
		return;
	rc = sim_thread_start(&thread->sleeper, "bfsim-clock", sleeper_thread, thread);
	thread->started = rc == 0;
	if (rc < 0)
		sim_err("cannot start a thread that waits for virtual time (error %d): poll the progress engine, or raise the limit of threads",
			-rc);
}

void sim_vclock_source_begin_sleep(struct sim_vclock_source *source, bool wake_pending)
{
	struct pe_thread *thread = join_calling_thread(source);

	source->wake_pending = wake_pending;
	if (!thread || wake_pending)
		return;
	pthread_mutex_lock(&source->sched->lock);
	ensure_sleeper(thread);
	source->asleep = true;
	thread->asleep = true;
	pthread_cond_signal(&thread->changed);
	pthread_mutex_unlock(&source->sched->lock);
}

void sim_vclock_source_end_sleep(struct sim_vclock_source *source)
{
	pthread_mutex_lock(&source->sched->lock);
	source->asleep = false;
	source->wake_pending = false;
	pthread_mutex_unlock(&source->sched->lock);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The virtual-clock scheduler: its sources poll, wait and sleep in the order of virtual time. */
#include <time.h>

#include "pcie_model/arith.h"
#include "sim/base/monotonic.h"
#include "sim/base/perturb.h"
#include "vclock_priv.h"

/* A poll without a turn returns after a pause, which grows from MIN to MAX as long as there is no turn. While another
 * participant is busy it begins with BUSY; while all wait for messages, so many polls come at once before. A participant of
 * another process is waited for longer, so that the number of polls without a turn does not depend on the machine. One of
 * this process is not: it may wait for a lock of the program that this thread holds. */
#define MIN_PAUSE_NS    (SIM_NS_PER_MS / 16)
#define BUSY_PAUSE_NS   (4 * SIM_NS_PER_MS)
#define MAX_PAUSE_NS    (16 * SIM_NS_PER_MS)
#define NUM_QUICK_POLLS 64
#define IDLE_PAUSE_NS \
	(50 * SIM_NS_PER_MS) /* between two looks of a thread that waits in sim_vclock_source_wait_turn() */

#define ANY_ENGINE UINT32_MAX /* for credits of engines without an id */

/* ---- busy ---- */

static void mark_busy(struct sim_vclock_thread *thread)
{
	if (sim_participant_state(&thread->participant) != SIM_PARTICIPANT_BUSY)
		sim_participant_mark_busy(&thread->participant);
}

void sim_vclock_sched_begin_call(struct sim_vclock_sched *sched)
{
	struct sim_vclock_thread *thread = pthread_getspecific(sched->key);

	if (thread && sim_participant_is_ours(&thread->participant))
		mark_busy(thread);
}

/* The thread is about to block: in its turn it does what is due in its other sources. Returns when there is more, at which it
 * must have a turn. */
static uint64_t advance(struct sim_vclock_thread *thread)
{
	struct sim_vclock_sched *sched = thread->sched;

	if (sim_participant_state(&thread->participant) == SIM_PARTICIPANT_WAITING)
		return thread->next_ns;
	thread->next_ns = SIM_CLOCK_NEVER_NS;
	if (sched->advance && atomic_load_explicit(&thread->num_sources, memory_order_relaxed) > 1)
		thread->next_ns = sched->advance(sched->advance_arg);
	return thread->next_ns;
}

/* Unless the thread was woken early: no time has passed, in which the busy one could have called. */
static void look_for_stall(struct sim_vclock_thread *thread)
{
	if (!thread->participant.was_early)
		sim_vclock_check_stall(thread->sched, &thread->participant, &thread->watch);
}

static bool is_alone_in_process(const struct sim_vclock_thread *thread)
{
	bool alone;

	pthread_mutex_lock(&thread->sched->lock);
	alone = LIST_FIRST(&thread->sched->threads) == thread && !LIST_NEXT(thread, link);
	pthread_mutex_unlock(&thread->sched->lock);
	return alone;
}

/* How long a participant sleeps at a time, at least. Not long if its program may hold a lock that the busy one waits for. */
static uint64_t busy_pause_ns(const struct sim_vclock_thread *thread)
{
	return is_alone_in_process(thread) ? sim_stall_check_interval_ns(&thread->participant, BUSY_PAUSE_NS) :
					     BUSY_PAUSE_NS;
}

void sim_vclock_sched_take_turn(struct sim_vclock_sched *sched)
{
	struct sim_vclock_thread *thread = pthread_getspecific(sched->key);

	if (!thread || !sim_participant_is_ours(&thread->participant))
		return;
	advance(thread);
	if (sim_participant_wait_turn(&thread->participant))
		return;
	while (sim_participant_sleep(&thread->participant, busy_pause_ns(thread)))
		look_for_stall(thread);
}

void sim_vclock_source_hear_sync(struct sim_vclock_source *source)
{
	struct sim_vclock_thread *thread = sim_vclock_thread_join(source);

	source->cfg.hears_sync = true;
	if (thread)
		sim_participant_hear_sync(&thread->participant, true);
}

void sim_vclock_source_mark_busy(struct sim_vclock_source *source)
{
	struct sim_vclock_thread *thread = sim_vclock_thread_join(source);

	source->next_ns = 0;
	if (thread)
		mark_busy(thread);
}

/* The pause doubles with every eighth poll. */
static uint64_t pause_ns(uint64_t from_ns, uint32_t num_polls)
{
	return min_u64(from_ns << min_u32(num_polls / 8, 16), MAX_PAUSE_NS);
}

static bool is_other_process_busy(const struct sim_participant *participant)
{
	const struct sim_clock_participant *busy = sim_clock_page_find_busy(participant->page);

	return busy && atomic_load_explicit(&busy->owner, memory_order_relaxed) >> 32 != participant->owner >> 32;
}

/* Whether the turn of @thread is the only thing that its program waits for in a poll: not in a blocking call, which has
 * other reasons to return. */
static bool may_wait_long(const struct sim_vclock_thread *thread)
{
	return !thread->participant.was_interrupted && is_other_process_busy(&thread->participant);
}

static void sleep_while_busy(struct sim_vclock_thread *thread)
{
	/* Others are waited for as long: a machine that gives them no CPU does not end the poll. */
	uint64_t left_ns = 2 * sim_stall_longest_ns(&thread->sched->patience);
	uint64_t ns = max_u64(pause_ns(BUSY_PAUSE_NS, thread->num_idle), busy_pause_ns(thread));

	while (sim_participant_sleep(&thread->participant, ns) && left_ns > 0 && may_wait_long(thread)) {
		if (thread->participant.was_early)
			continue;
		left_ns -= min_u64(left_ns, ns);
		sim_vclock_check_stall(thread->sched, &thread->participant, &thread->watch);
		ns = busy_pause_ns(thread);
	}
}

/* While another participant is busy, wait for the turn. Returns whether this one is busy now. */
static bool take_turn(struct sim_vclock_thread *thread)
{
	struct sim_participant *participant = &thread->participant;
	bool others = sim_clock_page_find_busy(participant->page) != NULL;
	uint32_t num_idle = thread->num_idle;

	sim_perturb();
	if (others)
		sleep_while_busy(thread);
	else if (num_idle >= NUM_QUICK_POLLS)
		sim_participant_sleep(participant, pause_ns(MIN_PAUSE_NS, num_idle - NUM_QUICK_POLLS));
	if (sim_participant_state(participant) == SIM_PARTICIPANT_BUSY) {
		thread->num_idle = 0;
		return true;
	}
	thread->num_idle = num_idle + (num_idle < UINT32_MAX);
	look_for_stall(thread);
	return sim_participant_try_mark_busy(participant); /* the check is without the lock: it can be wrong */
}

static void take_messages(struct sim_vclock_thread *thread)
{
	if (sim_participant_take_messages(&thread->participant)) {
		thread->num_messages++;
		thread->offers_retry = thread->was_refused;
		thread->has_put_off = false;
	}
	if (!thread->hears_credit || thread->was_refused) /* a program may poll before it tries again */
		return;
	sim_participant_hear_credit(&thread->participant, 0);
	thread->hears_credit = false;
}

bool sim_vclock_source_may_poll(struct sim_vclock_source *source)
{
	struct sim_vclock_thread *thread = sim_vclock_thread_join(source);

	source->wake_pending = false;
	if (!thread)
		return true;
	if (sim_participant_state(&thread->participant) == SIM_PARTICIPANT_BUSY)
		thread->num_idle = 0;
	else if (!take_turn(thread))
		return false;
	thread->awaits_turn = false;
	take_messages(thread);
	return true;
}

/* ---- wait ---- */

/* Whether another source of the thread has work that it was not offered yet; *wake_ns is lowered to
 * the earliest work of the others. Under the lock. */
static bool offer_to_other_sources(const struct sim_vclock_thread *thread, const struct sim_vclock_source *source,
				   uint64_t now_ns, uint64_t *wake_ns)
{
	struct sim_vclock_source *other;
	bool offered = false;

	LIST_FOREACH(other, &thread->sources, link) {
		if (other == source)
			continue;
		if (other->wake_pending || other->messages_seen != source->messages_seen || other->next_ns <= now_ns) {
			offered = true;
			other->messages_seen = source->messages_seen;
			if (other->next_ns <= now_ns)
				other->next_ns = SIM_CLOCK_NEVER_NS;
		}
		*wake_ns = min_u64(*wake_ns, other->next_ns);
	}
	return offered;
}

/* Without a slot, the source cannot wait for others: time moves on at once, out of order. */
static bool wait_without_participant(struct sim_vclock_sched *sched, uint64_t wake_ns)
{
	if (wake_ns == SIM_CLOCK_NEVER_NS)
		return false;
	if (!sched->is_destroyed)
		sim_clock_page_force_time(sched->page, wake_ns);
	return !sched->is_destroyed;
}

/* Returns whether the thread is busy at once: the time has come, or a message. */
static bool wait_for_turn(struct sim_vclock_thread *thread, uint64_t wake_ns)
{
	bool holds = atomic_load_explicit(&thread->num_holds, memory_order_relaxed) > 0;

	thread->awaits_turn = !sim_participant_wait(&thread->participant, wake_ns, holds);
	if (thread->awaits_turn)
		return false;
	take_messages(thread);
	return true;
}

bool sim_vclock_source_wait_until(struct sim_vclock_source *source, uint64_t wake_ns)
{
	struct sim_vclock_thread *thread = sim_vclock_thread_join(source);
	struct sim_vclock_sched *sched = source->sched;
	uint64_t first_wake_ns = wake_ns;
	uint32_t messages_seen;
	bool others = false;

	if (!thread)
		return wait_without_participant(sched, wake_ns);
	if (thread->offers_retry) {
		thread->offers_retry = false;
		mark_busy(thread);
		return false;
	}
	source->next_ns = wake_ns;
	source->messages_seen = messages_seen = thread->num_messages;
	if (atomic_load_explicit(&thread->num_sources, memory_order_relaxed) > 1) {
		pthread_mutex_lock(&sched->lock);
		others = offer_to_other_sources(thread, source, sim_clock_now_ns(sched->clock), &first_wake_ns);
		pthread_mutex_unlock(&sched->lock);
	}
	if (others) {
		mark_busy(thread);
		return false;
	}
	thread->next_ns = first_wake_ns;
	return wait_for_turn(thread, first_wake_ns) &&
	       (wake_ns <= sim_clock_now_ns(sched->clock) || thread->num_messages != messages_seen);
}

void sim_vclock_source_hold(struct sim_vclock_source *source, bool holds)
{
	struct sim_vclock_thread *thread;

	if (source->holds == holds)
		return;
	thread = sim_vclock_thread_join(source);
	pthread_mutex_lock(&source->sched->lock);
	source->holds = holds;
	if (thread)
		thread->num_holds += holds ? 1 : UINT32_MAX;
	pthread_mutex_unlock(&source->sched->lock);
}

void sim_vclock_source_wait_credit(struct sim_vclock_source *source, uint32_t engine, uint64_t wake_ns)
{
	struct sim_vclock_thread *thread = sim_vclock_thread_join(source);

	if (!thread)
		return;
	sim_vclock_source_note_refusal(source);
	thread->hears_credit = true;
	sim_participant_hear_credit(&thread->participant, engine ? engine : ANY_ENGINE);
	sim_vclock_source_wait_until(source, wake_ns);
}

void sim_vclock_source_note_refusal(struct sim_vclock_source *source)
{
	struct sim_vclock_thread *thread = source->thread;

	if (thread)
		thread->was_refused = true;
}

enum sim_vclock_retry sim_vclock_source_may_retry(struct sim_vclock_source *source)
{
	struct sim_vclock_thread *thread = source->thread;
	bool polls_first;

	if (!thread || !thread->was_refused)
		return SIM_VCLOCK_RETRY;
	polls_first = thread->awaits_turn;
	if (!sim_vclock_source_may_poll(source))
		return SIM_VCLOCK_NO_TURN;
	if (polls_first && !thread->has_put_off) {
		thread->has_put_off = true;
		return SIM_VCLOCK_POLL_FIRST;
	}
	thread->was_refused = thread->offers_retry = thread->has_put_off = false;
	return SIM_VCLOCK_RETRY;
}

static void sleep_without_participant(void)
{
	const struct timespec interval = sim_timespec_from_ns(BUSY_PAUSE_NS);

	nanosleep(&interval, NULL);
}

void sim_vclock_source_wait_message(struct sim_vclock_source *source)
{
	struct sim_vclock_thread *thread = sim_vclock_thread_join(source);

	if (!thread)
		sleep_without_participant();
	else if (!wait_for_turn(thread, advance(thread)))
		thread->awaits_turn = sim_participant_sleep(&thread->participant, BUSY_PAUSE_NS);
}

bool sim_vclock_source_wait_turn(struct sim_vclock_source *source, uint64_t wake_ns)
{
	struct sim_vclock_thread *thread = sim_vclock_thread_join(source);
	struct sim_vclock_sched *sched = source->sched;

	if (!thread) {
		sleep_without_participant();
		return wait_without_participant(sched, wake_ns);
	}
	if (wait_for_turn(thread, min_u64(wake_ns, advance(thread))))
		return true;
	if (sim_participant_sleep(&thread->participant,
				  sim_clock_page_find_busy(sched->page) ? busy_pause_ns(thread) : IDLE_PAUSE_NS)) {
		look_for_stall(thread);
		return false;
	}
	thread->num_idle = 0;
	thread->awaits_turn = false;
	take_messages(thread);
	return true;
}

bool sim_vclock_source_is_own(const struct sim_vclock_source *source)
{
	const struct sim_vclock_thread *thread = source->thread;

	return thread && thread == pthread_getspecific(source->sched->key);
}

uint64_t sim_vclock_source_patience_ns(const struct sim_vclock_source *source)
{
	struct sim_vclock_sched *sched = source->sched;
	const struct sim_vclock_thread *thread;
	bool is_awaited;

	pthread_mutex_lock(&sched->lock);
	thread = source->thread;
	is_awaited = thread && sim_participant_is_awaited(&thread->participant);
	pthread_mutex_unlock(&sched->lock);
	return is_awaited ? 2 * sched->patience.running_ns : 0;
}

bool sim_vclock_source_is_quiet(const struct sim_vclock_source *source)
{
	return !sim_clock_page_find_busy(source->sched->page) && !sim_vclock_source_has_message(source);
}

void sim_vclock_source_interrupt(struct sim_vclock_source *source)
{
	pthread_mutex_lock(&source->sched->lock);
	if (source->thread)
		sim_participant_wake(&source->thread->participant);
	pthread_mutex_unlock(&source->sched->lock);
}

bool sim_vclock_source_has_message(const struct sim_vclock_source *source)
{
	const struct sim_vclock_thread *thread = source->thread;

	return thread && sim_participant_is_ours(&thread->participant) &&
	       sim_participant_has_message(&thread->participant);
}

/* ---- messages ---- */

void sim_vclock_sched_post(struct sim_vclock_sched *sched, uint32_t engine, uint64_t due_ns)
{
	sim_clock_page_post(sched->page, engine, due_ns);
}

void sim_vclock_sched_post_sync(struct sim_vclock_sched *sched)
{
	sim_clock_page_post_sync(sched->page);
}

void sim_vclock_sched_post_credit(struct sim_vclock_sched *sched, uint32_t engine)
{
	sim_clock_page_post_credit(sched->page, engine ? engine : ANY_ENGINE);
}

void sim_vclock_sched_detach_thread(struct sim_vclock_sched *sched)
{
	struct sim_vclock_thread *thread = pthread_getspecific(sched->key);

	if (!thread || !sim_participant_is_ours(&thread->participant))
		return;
	advance(thread);
	sim_participant_detach(&thread->participant);
}

/* ---- sleep ---- */

void sim_vclock_source_begin_sleep(struct sim_vclock_source *source, bool wake_pending)
{
	struct sim_vclock_thread *thread = sim_vclock_thread_join(source);

	source->wake_pending = wake_pending;
	if (thread && !wake_pending)
		sim_vclock_sleeper_begin(thread, source);
}

void sim_vclock_source_end_sleep(struct sim_vclock_source *source)
{
	pthread_mutex_lock(&source->sched->lock);
	source->asleep = false;
	source->wake_pending = false;
	pthread_mutex_unlock(&source->sched->lock);
}

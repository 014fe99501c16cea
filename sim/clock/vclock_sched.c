/* SPDX-License-Identifier: BSD-3-Clause */
/* The virtual-clock scheduler: its sources poll, wait and sleep in the order of virtual time. */
#include <errno.h>
#include <stdlib.h>

#include "pcie_model/arith.h"
#include "sim/base/monotonic.h"
#include "vclock_priv.h"

#define POLL_SLEEP_NS SIM_NS_PER_MS /* pause of a source that polls while another participant is busy */

/* ---- life ---- */

int sim_vclock_sched_create(struct sim_clock *clock, bool first, struct sim_vclock_sched **ret_sched)
{
	struct sim_vclock_sched *sched = calloc(1, sizeof(*sched));

	if (!sched)
		return -ENOMEM;
	sched->clock = clock;
	sched->page = sim_clock_page(clock);
	sched->first = first;
	LIST_INIT(&sched->threads);
	if (pthread_key_create(&sched->key, sim_vclock_thread_on_exit) != 0) {
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
	while (!LIST_EMPTY(&sched->threads))
		sim_vclock_thread_destroy(LIST_FIRST(&sched->threads));
	in_use = sched->num_sources > 0;
	pthread_mutex_unlock(&sched->lock);
	if (!in_use) /* else the last source frees it */
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
	sim_vclock_thread_bind(source);
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
	sim_vclock_thread_unbind(source);
	last = --sched->num_sources == 0 && sched->is_destroyed;
	pthread_mutex_unlock(&sched->lock);
	free(source);
	if (last)
		sched_free(sched);
}

/* ---- busy ---- */

static void mark_busy(struct sim_vclock_thread *thread)
{
	if (sim_participant_state(&thread->participant) != SIM_PARTICIPANT_BUSY)
		sim_participant_mark_busy(&thread->participant);
}

void sim_vclock_source_mark_busy(struct sim_vclock_source *source)
{
	struct sim_vclock_thread *thread = sim_vclock_thread_join(source);

	source->next_ns = 0;
	if (thread)
		mark_busy(thread);
}

bool sim_vclock_source_may_poll(struct sim_vclock_source *source)
{
	struct sim_vclock_thread *thread = sim_vclock_thread_join(source);

	source->wake_pending = false;
	if (!thread || sim_participant_state(&thread->participant) == SIM_PARTICIPANT_BUSY)
		return true;
	if (sim_vclock_check_stall(thread->sched, &thread->participant, &thread->watch))
		sim_participant_sleep(&thread->participant, POLL_SLEEP_NS);
	return sim_participant_try_mark_busy(&thread->participant); /* the check is without the lock: it can be wrong */
}

/* ---- wait ---- */

/* Whether another source of the thread has work that it was not offered yet; *wake_ns is lowered to
 * the earliest work of the others. Under the lock. */
static bool offer_to_other_sources(struct sim_vclock_source *source, uint64_t now_ns, uint64_t *wake_ns)
{
	struct sim_vclock_thread *thread = source->thread;
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

/* A thread that waits already has not polled since then. Under the lock. */
static void note_messages(struct sim_vclock_source *source, const struct sim_vclock_thread *thread)
{
	if (sim_participant_state(&thread->participant) != SIM_PARTICIPANT_WAITING)
		source->messages_seen = atomic_load_explicit(&source->sched->page->messages_sent, memory_order_acquire);
}

bool sim_vclock_source_wait_until(struct sim_vclock_source *source, uint64_t wake_ns)
{
	struct sim_vclock_thread *thread = sim_vclock_thread_join(source);
	struct sim_vclock_sched *sched = source->sched;
	uint64_t first_wake_ns = wake_ns;
	bool others;

	if (!thread)
		return wait_without_participant(sched, wake_ns);
	pthread_mutex_lock(&sched->lock);
	source->next_ns = wake_ns;
	note_messages(source, thread);
	others = offer_to_other_sources(source, sim_clock_now_ns(sched->clock), &first_wake_ns);
	pthread_mutex_unlock(&sched->lock);
	if (others) {
		mark_busy(thread);
		return false;
	}
	return sim_participant_wait(&thread->participant, first_wake_ns, source->messages_seen) &&
	       wake_ns <= sim_clock_now_ns(sched->clock);
}

static void sleep_without_participant(void)
{
	const struct timespec interval = sim_timespec_from_ns(POLL_SLEEP_NS);

	nanosleep(&interval, NULL);
}

void sim_vclock_source_wait_message(struct sim_vclock_source *source)
{
	struct sim_vclock_thread *thread = sim_vclock_thread_join(source);

	if (!thread) {
		sleep_without_participant();
		return;
	}
	pthread_mutex_lock(&source->sched->lock);
	note_messages(source, thread);
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
	struct sim_vclock_thread *thread = pthread_getspecific(sched->key);

	if (thread && sim_participant_is_ours(&thread->participant))
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

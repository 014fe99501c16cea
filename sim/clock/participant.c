/* SPDX-License-Identifier: BSD-3-Clause */
/* The participants of virtual time: their states, and the choice of the one that runs next. */
#include "participant.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pcie_model/arith.h"
#include "sim/base/monotonic.h"

#define OTHERS_RANK (UINT64_C(1) << 32) /* added to the rank of participants that are not first */

static _Atomic uint32_t last_number;

static enum sim_clock_participant_state state_of(const struct sim_clock_participant *shared)
{
	return (enum sim_clock_participant_state)atomic_load_explicit(&shared->state, memory_order_acquire);
}

static const bool edges[4][4] = {
	/* [from][to] */
	[SIM_PARTICIPANT_FREE] = { [SIM_PARTICIPANT_BUSY] = true },
	[SIM_PARTICIPANT_BUSY] = { [SIM_PARTICIPANT_BUSY] = true,
				   [SIM_PARTICIPANT_WAITING] = true,
				   [SIM_PARTICIPANT_DETACHED] = true,
				   [SIM_PARTICIPANT_FREE] = true },
	[SIM_PARTICIPANT_WAITING] = { [SIM_PARTICIPANT_BUSY] = true,
				      [SIM_PARTICIPANT_WAITING] = true,
				      [SIM_PARTICIPANT_DETACHED] = true,
				      [SIM_PARTICIPANT_FREE] = true },
	[SIM_PARTICIPANT_DETACHED] = { [SIM_PARTICIPANT_BUSY] = true,
				       [SIM_PARTICIPANT_WAITING] = true,
				       [SIM_PARTICIPANT_DETACHED] = true,
				       [SIM_PARTICIPANT_FREE] = true },
};

/* The one function that writes a state. Under the page's lock. Nothing happens without an edge: another
 * process has freed the slot. A state out of range, which corrupts the page, has all edges. */
static void set_state(struct sim_clock_participant *shared, enum sim_clock_participant_state to)
{
	uint32_t from = atomic_load_explicit(&shared->state, memory_order_relaxed);

	if (from > SIM_PARTICIPANT_DETACHED || edges[from][to])
		atomic_store_explicit(&shared->state, to, memory_order_release);
}

static uint64_t owner_of(const struct sim_clock_participant *shared)
{
	return atomic_load_explicit(&shared->owner, memory_order_relaxed);
}

static uint32_t num_participants(const struct sim_clock_page *page)
{
	uint32_t end = atomic_load_explicit(&page->end, memory_order_acquire);

	return min_u32(end, SIM_CLOCK_MAX_PARTICIPANTS);
}

static void futex_wake(const struct sim_clock_participant *shared)
{
	if (shared)
		syscall(SYS_futex, &shared->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* ---- the next participant; under the page's lock ---- */

/* The earliest time at which a waiting participant can run: now, if a message came. */
static uint64_t ready_ns(const struct sim_clock_page *page, const struct sim_clock_participant *shared)
{
	uint64_t now_ns = atomic_load_explicit(&page->now_ns, memory_order_relaxed);
	uint64_t wake_ns = atomic_load_explicit(&shared->wake_ns, memory_order_relaxed);

	if (atomic_load_explicit(&shared->messages_seen, memory_order_relaxed) !=
	    atomic_load_explicit(&page->messages_sent, memory_order_relaxed))
		return now_ns;
	return max_u64(wake_ns, now_ns);
}

/* Returns NULL if a participant is busy, or if all wait for messages. */
static struct sim_clock_participant *find_earliest_waiter(struct sim_clock_page *page, uint64_t *ret_ns)
{
	struct sim_clock_participant *next = NULL;
	uint64_t next_rank = 0;

	*ret_ns = SIM_CLOCK_NEVER_NS;
	for (uint32_t i = 0; i < num_participants(page); i++) {
		struct sim_clock_participant *shared = &page->participants[i];
		enum sim_clock_participant_state state = state_of(shared);
		uint64_t rank, ns;

		if (state == SIM_PARTICIPANT_BUSY)
			return NULL;
		if (state != SIM_PARTICIPANT_WAITING)
			continue;
		rank = atomic_load_explicit(&shared->rank, memory_order_relaxed);
		ns = ready_ns(page, shared);
		if (ns == SIM_CLOCK_NEVER_NS || ns > *ret_ns || (ns == *ret_ns && rank >= next_rank))
			continue;
		next = shared;
		next_rank = rank;
		*ret_ns = ns;
	}
	return next;
}

/* Unless a participant is busy, move time to the earliest waiting one and make it busy. Returns that one, or NULL. */
static struct sim_clock_participant *advance_to_next(struct sim_clock_page *page)
{
	uint64_t ns;
	struct sim_clock_participant *next = find_earliest_waiter(page, &ns);

	if (!next)
		return NULL;
	atomic_store_explicit(&page->now_ns, ns, memory_order_release);
	set_state(next, SIM_PARTICIPANT_BUSY);
	return next;
}

/* ---- join and leave ---- */

static struct sim_clock_participant *find_by_state(struct sim_clock_page *page, enum sim_clock_participant_state state)
{
	for (uint32_t i = 0; i < num_participants(page); i++) {
		if (state_of(&page->participants[i]) == state)
			return &page->participants[i];
	}
	return NULL;
}

/* A free slot, else the slot of a detached participant. */
static struct sim_clock_participant *find_free(struct sim_clock_page *page)
{
	struct sim_clock_participant *shared = find_by_state(page, SIM_PARTICIPANT_FREE);
	uint32_t end = num_participants(page);

	if (shared)
		return shared;
	if (end == SIM_CLOCK_MAX_PARTICIPANTS)
		return find_by_state(page, SIM_PARTICIPANT_DETACHED);
	atomic_store_explicit(&page->end, end + 1, memory_order_release);
	return &page->participants[end];
}

static void init_participant(struct sim_clock_page *page, struct sim_clock_participant *shared, uint64_t owner,
			     bool first)
{
	uint32_t rank = atomic_fetch_add_explicit(&page->last_rank, 1, memory_order_relaxed);

	atomic_store_explicit(&shared->owner, owner, memory_order_relaxed);
	atomic_store_explicit(&shared->rank, first ? rank : OTHERS_RANK + rank, memory_order_relaxed);
	atomic_store_explicit(&shared->wake_ns, SIM_CLOCK_NEVER_NS, memory_order_relaxed);
	set_state(shared, SIM_PARTICIPANT_BUSY);
}

int sim_participant_join(struct sim_participant *participant, struct sim_clock_page *page, bool first)
{
	uint64_t token = sim_clock_lock(&page->lock);
	struct sim_clock_participant *shared = find_free(page);

	participant->page = page;
	participant->shared = shared;
	participant->owner = (uint64_t)getpid() << 32 | (atomic_fetch_add(&last_number, 1) + 1);
	if (shared)
		init_participant(page, shared, participant->owner, first);
	sim_clock_unlock(&page->lock, token);
	return shared ? 0 : -ENOSPC;
}

void sim_participant_leave(struct sim_participant *participant)
{
	struct sim_clock_participant *next = NULL;
	uint64_t token;

	if (!participant->shared)
		return;
	token = sim_clock_lock(&participant->page->lock);
	if (sim_participant_is_ours(participant)) {
		atomic_store_explicit(&participant->shared->owner, 0, memory_order_relaxed);
		set_state(participant->shared, SIM_PARTICIPANT_FREE);
		next = advance_to_next(participant->page);
	}
	sim_clock_unlock(&participant->page->lock, token);
	participant->shared = NULL;
	futex_wake(next);
}

/* ---- changes of state ---- */

void sim_participant_mark_busy(struct sim_participant *participant)
{
	uint64_t token = sim_clock_lock(&participant->page->lock);

	if (sim_participant_is_ours(participant))
		set_state(participant->shared, SIM_PARTICIPANT_BUSY);
	sim_clock_unlock(&participant->page->lock, token);
}

bool sim_participant_try_mark_busy(struct sim_participant *participant)
{
	uint64_t token = sim_clock_lock(&participant->page->lock);
	bool may = state_of(participant->shared) != SIM_PARTICIPANT_WAITING ||
		   !find_by_state(participant->page, SIM_PARTICIPANT_BUSY);

	if (may && sim_participant_is_ours(participant))
		set_state(participant->shared, SIM_PARTICIPANT_BUSY);
	sim_clock_unlock(&participant->page->lock, token);
	return may;
}

void sim_participant_detach(struct sim_participant *participant)
{
	struct sim_clock_participant *next = NULL;
	uint64_t token = sim_clock_lock(&participant->page->lock);

	if (sim_participant_is_ours(participant)) {
		set_state(participant->shared, SIM_PARTICIPANT_DETACHED);
		next = advance_to_next(participant->page);
	}
	sim_clock_unlock(&participant->page->lock, token);
	futex_wake(next);
}

bool sim_participant_wait(struct sim_participant *participant, uint64_t wake_ns, uint64_t messages_seen)
{
	struct sim_clock_participant *shared = participant->shared, *next = NULL;
	uint64_t token = sim_clock_lock(&participant->page->lock);

	if (sim_participant_is_ours(participant)) {
		atomic_store_explicit(&shared->wake_ns, wake_ns, memory_order_relaxed);
		atomic_store_explicit(&shared->messages_seen, messages_seen, memory_order_relaxed);
		set_state(shared, SIM_PARTICIPANT_WAITING);
		next = advance_to_next(participant->page);
	}
	sim_clock_unlock(&participant->page->lock, token);
	if (next != shared)
		futex_wake(next);
	return next == shared;
}

void sim_clock_page_force_time(struct sim_clock_page *page, uint64_t ns)
{
	uint64_t token = sim_clock_lock(&page->lock);

	if (atomic_load_explicit(&page->now_ns, memory_order_relaxed) < ns)
		atomic_store_explicit(&page->now_ns, ns, memory_order_release);
	sim_clock_unlock(&page->lock, token);
}

bool sim_clock_page_detach_busy(struct sim_clock_page *page, const struct sim_clock_participant *busy, uint64_t owner)
{
	struct sim_clock_participant *shared = &page->participants[busy - page->participants], *next = NULL;
	uint64_t token = sim_clock_lock(&page->lock);
	bool was_busy = state_of(shared) == SIM_PARTICIPANT_BUSY && owner_of(shared) == owner;

	if (was_busy) {
		set_state(shared, SIM_PARTICIPANT_DETACHED);
		next = advance_to_next(page);
	}
	sim_clock_unlock(&page->lock, token);
	futex_wake(next);
	return was_busy;
}

const struct sim_clock_participant *sim_clock_page_find_busy(const struct sim_clock_page *page)
{
	return find_by_state((struct sim_clock_page *)(uintptr_t)page, SIM_PARTICIPANT_BUSY);
}

/* ---- sleep ---- */

void sim_participant_sleep(const struct sim_participant *participant, uint64_t ns)
{
	const struct timespec timeout = sim_timespec_from_ns(ns);

	syscall(SYS_futex, &participant->shared->state, FUTEX_WAIT, SIM_PARTICIPANT_WAITING, &timeout, NULL, 0);
}

void sim_participant_wake(const struct sim_participant *participant)
{
	futex_wake(participant->shared);
}

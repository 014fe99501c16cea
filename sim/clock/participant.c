/* SPDX-License-Identifier: BSD-3-Clause */
/* The participants of virtual time: their states, and the choice of the one that runs next. */
#include "participant.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#include "participant_priv.h"
#include "pcie_model/arith.h"
#include "thread_account.h"

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

static uint32_t slot_of(const struct sim_clock_page *page, const struct sim_clock_participant *shared)
{
	return (uint32_t)(shared - page->participants);
}

static void set_bit(_Atomic uint64_t *bits, uint32_t slot, bool value)
{
	uint64_t bit = UINT64_C(1) << slot % 64;

	if (!(atomic_load_explicit(&bits[slot / 64], memory_order_relaxed) & bit) == !value)
		return; /* without a write, which would take the cache line */
	if (value)
		atomic_fetch_or_explicit(&bits[slot / 64], bit, memory_order_relaxed);
	else
		atomic_fetch_and_explicit(&bits[slot / 64], ~bit, memory_order_relaxed);
}

/* The one function that writes a state. Under the page's lock. Nothing happens without an edge: another
 * process has freed the slot. A state out of range, which corrupts the page, has all edges. */
static void set_state(struct sim_clock_page *page, struct sim_clock_participant *shared,
		      enum sim_clock_participant_state to)
{
	uint32_t from = atomic_load_explicit(&shared->state, memory_order_relaxed), slot = slot_of(page, shared);

	if (from <= SIM_PARTICIPANT_DETACHED && !edges[from][to])
		return;
	if (to != SIM_PARTICIPANT_WAITING)
		atomic_store_explicit(&page->due[slot].ready_ns, SIM_CLOCK_NEVER_NS, memory_order_relaxed);
	set_bit(page->busy, slot, to == SIM_PARTICIPANT_BUSY);
	set_bit(page->holds, slot, false);
	set_bit(page->waits_launch, slot, false);
	atomic_store_explicit(&shared->state, to,
			      memory_order_seq_cst); /* before the look at @asleep, in futex_wake() */
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

/* ---- the next participant; under the page's lock ---- */

/* The first participant whose bit is set. */
static uint32_t find_bit(const struct sim_clock_page *page, const _Atomic uint64_t *words)
{
	uint32_t num_words = (num_participants(page) + 63) / 64;

	for (uint32_t word = 0; word < num_words; word++) {
		uint64_t bits = atomic_load_explicit(&words[word], memory_order_relaxed);

		if (bits)
			return word * 64 + (uint32_t)__builtin_ctzll(bits);
	}
	return SIM_CLOCK_MAX_PARTICIPANTS;
}

static uint32_t find_busy_slot(const struct sim_clock_page *page)
{
	return find_bit(page, page->busy);
}

static bool has_busy(const struct sim_clock_page *page)
{
	return find_busy_slot(page) < SIM_CLOCK_MAX_PARTICIPANTS;
}

static bool is_held(const struct sim_clock_page *page)
{
	return find_bit(page, page->holds) < SIM_CLOCK_MAX_PARTICIPANTS;
}

static uint64_t rank_of(const struct sim_clock_page *page, uint32_t slot)
{
	return atomic_load_explicit(&page->participants[slot].rank, memory_order_relaxed);
}

/* Whether the waiting participant @slot, which is ready at @ns, runs before @other. */
static bool is_before(const struct sim_clock_page *page, uint32_t slot, uint64_t ns, uint32_t other, uint64_t other_ns)
{
	if (ns != other_ns || ns == SIM_CLOCK_NEVER_NS)
		return ns < other_ns;
	return rank_of(page, slot) < rank_of(page, other);
}

static struct sim_clock_participant *participant_at(const struct sim_clock_page *page, uint32_t slot)
{
	return (struct sim_clock_participant *)(uintptr_t)&page->participants[slot];
}

static bool has_bit(const _Atomic uint64_t *bits, uint32_t slot)
{
	return atomic_load_explicit(&bits[slot / 64], memory_order_relaxed) >> slot % 64 & 1;
}

/* Whether a process that is being launched holds time. Its entry has no rank (launch.c). */
static bool has_launch(const struct sim_clock_page *page)
{
	uint32_t end = num_participants(page);

	for (uint32_t slot = 0; slot < end; slot++)
		if (has_bit(page->holds, slot) && rank_of(page, slot) >> 32 == 0)
			return true;
	return false;
}

/* Whether there are participants that must not be chosen yet. */
static bool has_launch_waiters(const struct sim_clock_page *page)
{
	return find_bit(page, page->waits_launch) < SIM_CLOCK_MAX_PARTICIPANTS && has_launch(page);
}

/* The two waiting participants that are ready first, and when the first one is. All that are ready by now are equal in
 * time: the least rank is first. @may_skip: those that wait for a launch are not ready. */
static struct sim_clock_choice find_earliest_waiters(const struct sim_clock_page *page, bool may_skip, uint64_t *ret_ns)
{
	bool skips = may_skip && has_launch_waiters(page);
	uint64_t now_ns = atomic_load_explicit(&page->now_ns, memory_order_relaxed);
	uint64_t next_ns = SIM_CLOCK_NEVER_NS, after_ns = SIM_CLOCK_NEVER_NS;
	uint32_t next = 0, after = 0, end = num_participants(page);

	for (uint32_t slot = 0; slot < end; slot++) {
		uint64_t ns = max_u64(atomic_load_explicit(&page->due[slot].ready_ns, memory_order_relaxed), now_ns);

		if (skips && has_bit(page->waits_launch, slot))
			continue;
		if (is_before(page, slot, ns, next, next_ns)) {
			after = next;
			after_ns = next_ns;
			next = slot;
			next_ns = ns;
		} else if (is_before(page, slot, ns, after, after_ns)) {
			after = slot;
			after_ns = ns;
		}
	}
	*ret_ns = next_ns;
	return (struct sim_clock_choice){
		.next = next_ns == SIM_CLOCK_NEVER_NS ? NULL : participant_at(page, next),
		.after = after_ns == SIM_CLOCK_NEVER_NS ? NULL : participant_at(page, after),
	};
}

struct sim_clock_choice sim_clock_page_advance(struct sim_clock_page *page)
{
	struct sim_clock_choice choice = { NULL, NULL };
	uint64_t ns;

	if (has_busy(page))
		return choice;
	choice = find_earliest_waiters(page, true, &ns);
	if (choice.next && ns > atomic_load_explicit(&page->now_ns, memory_order_relaxed) && is_held(page))
		choice.next = NULL;
	if (!choice.next)
		return choice;
	atomic_store_explicit(&page->now_ns, ns, memory_order_release);
	set_state(page, choice.next, SIM_PARTICIPANT_BUSY);
	atomic_fetch_add_explicit(&page->num_handovers, 1, memory_order_relaxed);
	return choice;
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
	return &page->participants[end];
}

static void init_participant(struct sim_clock_page *page, struct sim_clock_participant *shared, uint64_t owner,
			     uint32_t rank)
{
	uint32_t number = atomic_fetch_add_explicit(&page->last_rank, 1, memory_order_relaxed),
		 slot = slot_of(page, shared);

	atomic_store_explicit(&shared->owner, owner, memory_order_relaxed);
	atomic_store_explicit(&shared->rank, (uint64_t)rank << 32 | number, memory_order_relaxed);
	atomic_store_explicit(&page->due[slot].message_ns, SIM_CLOCK_NEVER_NS, memory_order_relaxed);
	atomic_store_explicit(&shared->in_call, 0, memory_order_relaxed);
	atomic_store_explicit(&shared->hold_ended, 0, memory_order_relaxed);
	atomic_store_explicit(&shared->thread_id, (uint32_t)gettid(), memory_order_relaxed);
	atomic_store_explicit(&shared->pid_namespace, sim_thread_pid_namespace(), memory_order_relaxed);
	atomic_store_explicit(&page->credit_of[slot], 0, memory_order_relaxed);
	set_bit(page->hears_sync, slot, false);
	set_state(page, shared, SIM_PARTICIPANT_BUSY);
	if (slot == num_participants(page))
		atomic_store_explicit(&page->end, slot + 1, memory_order_release);
}

int sim_participant_join(struct sim_participant *participant, struct sim_clock_page *page, uint32_t rank)
{
	uint64_t token = sim_clock_lock(&page->lock);
	struct sim_clock_participant *shared = find_free(page);

	participant->page = page;
	participant->shared = shared;
	participant->owner = (uint64_t)getpid() << 32 | (atomic_fetch_add(&last_number, 1) + 1);
	if (shared)
		init_participant(page, shared, participant->owner, rank);
	sim_clock_unlock(&page->lock, token);
	return shared ? 0 : -ENOSPC;
}

void sim_participant_leave(struct sim_participant *participant)
{
	struct sim_clock_choice choice = { NULL, NULL };
	uint64_t token;

	if (!participant->shared)
		return;
	token = sim_clock_lock(&participant->page->lock);
	if (sim_participant_is_ours(participant)) {
		atomic_store_explicit(&participant->shared->owner, 0, memory_order_relaxed);
		set_state(participant->page, participant->shared, SIM_PARTICIPANT_FREE);
		choice = sim_clock_page_advance(participant->page);
	}
	sim_clock_unlock(&participant->page->lock, token);
	sim_clock_page_wake(choice.next);
}

/* ---- changes of state ---- */

void sim_participant_mark_busy(struct sim_participant *participant)
{
	uint64_t token = sim_clock_lock(&participant->page->lock);

	if (sim_participant_is_ours(participant))
		set_state(participant->page, participant->shared, SIM_PARTICIPANT_BUSY);
	sim_clock_unlock(&participant->page->lock, token);
}

bool sim_participant_try_mark_busy(struct sim_participant *participant)
{
	uint64_t token = sim_clock_lock(&participant->page->lock);
	bool may = state_of(participant->shared) != SIM_PARTICIPANT_WAITING || !has_busy(participant->page);

	if (may && sim_participant_is_ours(participant))
		set_state(participant->page, participant->shared, SIM_PARTICIPANT_BUSY);
	sim_clock_unlock(&participant->page->lock, token);
	return may;
}

bool sim_participant_is_awaited(const struct sim_participant *participant)
{
	struct sim_clock_page *page = participant->page;
	uint64_t token = sim_clock_lock(&page->lock); /* without the lock, nobody may seem busy during a handover */
	uint32_t state = state_of(participant->shared);
	bool is_awaited = state == SIM_PARTICIPANT_BUSY ||
			  (state == SIM_PARTICIPANT_WAITING && (has_busy(page) || is_held(page)));

	is_awaited &= sim_participant_is_ours(participant);
	sim_clock_unlock(&page->lock, token);
	return is_awaited;
}

void sim_participant_detach(struct sim_participant *participant)
{
	struct sim_clock_choice choice = { NULL, NULL };
	uint64_t token = sim_clock_lock(&participant->page->lock);

	if (sim_participant_is_ours(participant)) {
		set_state(participant->page, participant->shared, SIM_PARTICIPANT_DETACHED);
		choice = sim_clock_page_advance(participant->page);
	}
	sim_clock_unlock(&participant->page->lock, token);
	sim_clock_page_wake(choice.next);
}

static bool is_busy_alone(const struct sim_clock_page *page, uint32_t slot)
{
	uint32_t num_words = (num_participants(page) + 63) / 64;

	for (uint32_t word = 0; word < num_words; word++) {
		uint64_t bits = atomic_load_explicit(&page->busy[word], memory_order_relaxed);

		if (bits != (word == slot / 64 ? UINT64_C(1) << slot % 64 : 0))
			return false;
	}
	return true;
}

/* The short way of a busy participant that waits until @ns and is the next one to run: time moves on, and it stays busy.
 * Returns false otherwise; then nothing has changed. Under the page's lock. */
static bool runs_on(struct sim_clock_page *page, uint32_t slot, uint64_t ns)
{
	uint64_t now_ns = atomic_load_explicit(&page->now_ns, memory_order_relaxed), next_ns;
	struct sim_clock_choice others;

	if (ns == SIM_CLOCK_NEVER_NS || !is_busy_alone(page, slot) || is_held(page))
		return false;
	ns = max_u64(ns, now_ns);
	others = find_earliest_waiters(page, true, &next_ns);
	if (others.next && !is_before(page, slot, ns, slot_of(page, others.next), next_ns))
		return false;
	atomic_store_explicit(&page->now_ns, ns, memory_order_release);
	return true;
}

bool sim_participant_wait(struct sim_participant *participant, uint64_t wake_ns, bool holds)
{
	struct sim_clock_participant *shared = participant->shared;
	struct sim_clock_choice choice = { NULL, NULL };
	struct sim_clock_page *page = participant->page;
	struct sim_clock_due *due = sim_participant_due(participant);
	uint32_t slot = slot_of(page, shared);
	uint64_t token = sim_clock_lock(&page->lock);

	if (sim_participant_is_ours(participant)) {
		uint64_t ready_ns = min_u64(wake_ns, atomic_load_explicit(&due->message_ns, memory_order_relaxed));

		if (!holds && runs_on(page, slot, ready_ns)) {
			sim_clock_unlock(&page->lock, token);
			return true;
		}
		set_state(page, shared, SIM_PARTICIPANT_WAITING);
		atomic_store_explicit(&due->ready_ns, ready_ns, memory_order_relaxed);
		if (!holds)
			atomic_store_explicit(&shared->hold_ended, 0, memory_order_relaxed);
		else if (!atomic_load_explicit(&shared->hold_ended, memory_order_relaxed))
			set_bit(page->holds, slot, true);
		choice = sim_clock_page_advance(page);
	}
	sim_clock_unlock(&page->lock, token);
	if (choice.next == shared)
		return true;
	sim_participant_hand_over(participant, choice);
	return false;
}

bool sim_participant_wait_turn(struct sim_participant *participant)
{
	struct sim_clock_participant *shared = participant->shared;
	struct sim_clock_choice choice = { NULL, NULL };
	struct sim_clock_page *page = participant->page;
	uint32_t slot = slot_of(page, shared);
	uint64_t token = sim_clock_lock(&page->lock);

	if (sim_participant_is_ours(participant)) {
		set_state(page, shared, SIM_PARTICIPANT_WAITING);
		atomic_store_explicit(&page->due[slot].ready_ns, 0, memory_order_relaxed);
		set_bit(page->waits_launch, slot, true);
		choice = sim_clock_page_advance(page);
	}
	sim_clock_unlock(&page->lock, token);
	if (choice.next == shared)
		return true;
	sim_participant_hand_over(participant, choice);
	return false;
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
	struct sim_clock_participant *shared = &page->participants[busy - page->participants];
	struct sim_clock_choice choice;
	uint64_t token = sim_clock_lock(&page->lock);
	bool was_busy = state_of(shared) == SIM_PARTICIPANT_BUSY && owner_of(shared) == owner;

	if (was_busy)
		set_state(page, shared, SIM_PARTICIPANT_DETACHED);
	else if (state_of(shared) != SIM_PARTICIPANT_BUSY) /* a writer that died under the lock may leave such a mark */
		set_bit(page->busy, slot_of(page, shared), false);
	choice = sim_clock_page_advance(page);
	sim_clock_unlock(&page->lock, token);
	sim_clock_page_wake(choice.next);
	return was_busy;
}

const struct sim_clock_participant *sim_clock_page_find_busy(const struct sim_clock_page *page)
{
	uint32_t slot = find_busy_slot(page);

	return slot < SIM_CLOCK_MAX_PARTICIPANTS ? &page->participants[slot] : NULL;
}

const struct sim_clock_participant *sim_clock_page_find_holder(const struct sim_clock_page *page)
{
	uint32_t slot = find_bit(page, page->holds);
	uint64_t ns;

	if (slot == SIM_CLOCK_MAX_PARTICIPANTS || has_busy(page) || !find_earliest_waiters(page, false, &ns).next)
		return NULL;
	return &page->participants[slot];
}

void sim_clock_page_end_hold(struct sim_clock_page *page, const struct sim_clock_participant *holder, uint64_t owner)
{
	struct sim_clock_participant *shared = &page->participants[holder - page->participants];
	struct sim_clock_choice choice;
	uint64_t token = sim_clock_lock(&page->lock);

	if (owner_of(shared) == owner) {
		atomic_store_explicit(&shared->hold_ended, 1, memory_order_relaxed);
		set_bit(page->holds, slot_of(page, shared), false);
	}
	choice = sim_clock_page_advance(page);
	sim_clock_unlock(&page->lock, token);
	sim_clock_page_wake(choice.next);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between participants: which of them becomes ready, and when. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "participant_priv.h"
#include "pcie_model/arith.h"
#include "sim/base/perturb.h"

static _Atomic uint32_t last_number;

/* ---- engines ---- */

static struct sim_clock_engine *engine_of(struct sim_clock_page *page, uint32_t engine)
{
	return engine > 0 && engine <= SIM_CLOCK_MAX_ENGINES ? &page->engines[engine - 1] : NULL;
}

static bool is_dead(uint64_t owner)
{
	return kill((pid_t)(owner >> 32), 0) < 0 && errno == ESRCH;
}

/* Take an entry that is free, or one of a process that has died. */
static uint32_t take_engine(struct sim_clock_page *page, uint64_t owner, bool from_dead)
{
	for (uint32_t i = 0; i < SIM_CLOCK_MAX_ENGINES; i++) {
		struct sim_clock_engine *entry = &page->engines[i];
		uint64_t from = atomic_load_explicit(&entry->owner, memory_order_relaxed);

		if ((from != 0 && !(from_dead && is_dead(from))) ||
		    !atomic_compare_exchange_strong(&entry->owner, &from, owner))
			continue;
		atomic_store(&entry->participant, 0);
		return i + 1;
	}
	return 0;
}

uint32_t sim_clock_page_add_engine(struct sim_clock_page *page)
{
	uint64_t owner = (uint64_t)getpid() << 32 | (atomic_fetch_add(&last_number, 1) + 1);
	uint32_t engine = take_engine(page, owner, false);

	return engine ? engine : take_engine(page, owner, true);
}

void sim_clock_page_remove_engine(struct sim_clock_page *page, uint32_t engine)
{
	struct sim_clock_engine *entry = engine_of(page, engine);

	if (!entry)
		return;
	atomic_store(&entry->participant, 0);
	atomic_store(&entry->owner, 0);
}

void sim_clock_page_drive_engine(struct sim_clock_page *page, uint32_t engine,
				 const struct sim_participant *participant)
{
	struct sim_clock_engine *entry = engine_of(page, engine);

	if (entry)
		atomic_store(&entry->participant,
			     participant ? (uint32_t)(participant->shared - page->participants) + 1 : 0);
}

/* ---- posts; under the page's lock ---- */

static void post_to(struct sim_clock_page *page, uint32_t slot, uint64_t due_ns)
{
	struct sim_clock_participant *shared = &page->participants[slot];
	struct sim_clock_due *due = &page->due[slot];

	if (atomic_load_explicit(&due->message_ns, memory_order_relaxed) > due_ns)
		atomic_store_explicit(&due->message_ns, due_ns, memory_order_relaxed);
	if (atomic_load_explicit(&shared->state, memory_order_relaxed) == SIM_PARTICIPANT_WAITING &&
	    atomic_load_explicit(&due->ready_ns, memory_order_relaxed) > due_ns)
		atomic_store_explicit(&due->ready_ns, due_ns, memory_order_relaxed);
}

static uint32_t end_of(const struct sim_clock_page *page)
{
	return min_u32(atomic_load_explicit(&page->end, memory_order_acquire), SIM_CLOCK_MAX_PARTICIPANTS);
}

static void finish_post(struct sim_clock_page *page, uint64_t token)
{
	struct sim_clock_choice choice = sim_clock_page_advance(page);

	sim_clock_unlock(&page->lock, token);
	sim_clock_page_wake(choice.next);
}

static void post_to_all(struct sim_clock_page *page, uint64_t due_ns)
{
	uint64_t token = sim_clock_lock(&page->lock);

	for (uint32_t slot = 0; slot < end_of(page); slot++)
		post_to(page, slot, due_ns);
	finish_post(page, token);
}

void sim_clock_page_post(struct sim_clock_page *page, uint32_t engine, uint64_t due_ns)
{
	struct sim_clock_engine *entry = engine_of(page, engine);
	uint32_t number;
	uint64_t token;

	sim_perturb();
	if (!entry) {
		post_to_all(page, due_ns);
		return;
	}
	atomic_thread_fence(
		memory_order_seq_cst); /* the message is written; the receiver has a fence before it looks */
	number = atomic_load_explicit(&entry->participant, memory_order_relaxed);
	if (number == 0 || number > SIM_CLOCK_MAX_PARTICIPANTS ||
	    atomic_load_explicit(&page->due[number - 1].message_ns, memory_order_relaxed) <= due_ns)
		return; /* nobody drives the engine, or its participant will look for messages by then anyway */
	token = sim_clock_lock(&page->lock);
	post_to(page, number - 1, due_ns);
	finish_post(page, token);
}

void sim_clock_page_post_sync(struct sim_clock_page *page)
{
	uint64_t token = sim_clock_lock(&page->lock);

	for (uint32_t word = 0; word < (end_of(page) + 63) / 64; word++) {
		uint64_t bits = atomic_load_explicit(&page->hears_sync[word], memory_order_relaxed);

		for (; bits; bits &= bits - 1)
			post_to(page, word * 64 + (uint32_t)__builtin_ctzll(bits), 0);
	}
	finish_post(page, token);
}

void sim_clock_page_post_credit(struct sim_clock_page *page, uint32_t engine)
{
	uint64_t token = sim_clock_lock(&page->lock);

	for (uint32_t slot = 0; slot < end_of(page); slot++)
		if (atomic_load_explicit(&page->credit_of[slot], memory_order_relaxed) == engine)
			post_to(page, slot, 0);
	finish_post(page, token);
}

/* ---- the receiver ---- */

void sim_participant_hear_sync(struct sim_participant *participant, bool hears)
{
	uint32_t slot = (uint32_t)(participant->shared - participant->page->participants);
	uint64_t bit = UINT64_C(1) << slot % 64;
	_Atomic uint64_t *bits = &participant->page->hears_sync[slot / 64];

	if (hears)
		atomic_fetch_or(bits, bit);
	else
		atomic_fetch_and(bits, ~bit);
}

void sim_participant_hear_credit(struct sim_participant *participant, uint32_t engine)
{
	atomic_store(&participant->page->credit_of[participant->shared - participant->page->participants], engine);
}

bool sim_participant_take_messages(struct sim_participant *participant)
{
	_Atomic uint64_t *message_ns = &sim_participant_due(participant)->message_ns;
	bool had = atomic_load_explicit(message_ns, memory_order_relaxed) != SIM_CLOCK_NEVER_NS;

	if (had)
		atomic_store_explicit(message_ns, SIM_CLOCK_NEVER_NS, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst); /* before the caller looks: see sim_clock_page_post() */
	sim_perturb();
	return had;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "participant.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "vclock_sched.h"

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define PATIENT_LOOKS 10 /* at least, before somebody is given up */
#define OTHERS_RANK (UINT64_C(1) << 32) /* behind those that are first */

static _Atomic uint32_t last_number;

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static enum sim_clock_seat_state state_of(const struct sim_clock_seat *shared)
{
	return (enum sim_clock_seat_state)atomic_load_explicit(&shared->state, memory_order_acquire);
}

static void set_state(struct sim_clock_seat *shared, enum sim_clock_seat_state state)
{
	atomic_store_explicit(&shared->state, state, memory_order_release);
}

static uint64_t owner_of(const struct sim_clock_seat *shared)
{
	return atomic_load_explicit(&shared->owner, memory_order_relaxed);
}

static uint32_t num_seats(const struct sim_clock_page *page)
{
	uint32_t end = atomic_load_explicit(&page->end, memory_order_acquire);

	return end < SIM_CLOCK_MAX_SEATS ? end : SIM_CLOCK_MAX_SEATS;
}

static void wake_up(const struct sim_clock_seat *shared)
{
	if (shared)
		syscall(SYS_futex, &shared->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* ---- whose turn it is; under the page's lock ---- */

/* When it could go on; now at the earliest. */
static uint64_t ready_ns(const struct sim_clock_page *page, const struct sim_clock_seat *shared)
{
	uint64_t now_ns = atomic_load_explicit(&page->now_ns, memory_order_relaxed);
	uint64_t wake_ns = atomic_load_explicit(&shared->wake_ns, memory_order_relaxed);

	if (atomic_load_explicit(&shared->seen, memory_order_relaxed) !=
	    atomic_load_explicit(&page->sent, memory_order_relaxed))
		return now_ns;
	return wake_ns > now_ns ? wake_ns : now_ns;
}

/* NULL: somebody is busy, or all wait for messages. */
static struct sim_clock_seat *next_of(struct sim_clock_page *page, uint64_t *ret_ns)
{
	struct sim_clock_seat *next = NULL;
	uint64_t next_rank = 0;

	*ret_ns = SIM_CLOCK_NEVER_NS;
	for (uint32_t i = 0; i < num_seats(page); i++) {
		struct sim_clock_seat *shared = &page->seats[i];
		enum sim_clock_seat_state state = state_of(shared);
		uint64_t rank, ns;

		if (state == SIM_SEAT_BUSY)
			return NULL;
		if (state != SIM_SEAT_WAITING)
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

/* Give the next one its turn, unless somebody is busy. Returns who got it. */
static struct sim_clock_seat *pass_on(struct sim_clock_page *page)
{
	uint64_t ns;
	struct sim_clock_seat *next = next_of(page, &ns);

	if (!next)
		return NULL;
	atomic_store_explicit(&page->now_ns, ns, memory_order_release);
	set_state(next, SIM_SEAT_BUSY);
	return next;
}

/* ---- taking and leaving a seat ---- */

static struct sim_clock_seat *first_in(struct sim_clock_page *page, enum sim_clock_seat_state state)
{
	for (uint32_t i = 0; i < num_seats(page); i++) {
		if (state_of(&page->seats[i]) == state)
			return &page->seats[i];
	}
	return NULL;
}

/* One that is free, else one that somebody left without a word. */
static struct sim_clock_seat *free_one(struct sim_clock_page *page)
{
	struct sim_clock_seat *shared = first_in(page, SIM_SEAT_FREE);
	uint32_t end = num_seats(page);

	if (shared)
		return shared;
	if (end == SIM_CLOCK_MAX_SEATS)
		return first_in(page, SIM_SEAT_LEFT);
	atomic_store_explicit(&page->end, end + 1, memory_order_release);
	return &page->seats[end];
}

static void sit_down(struct sim_clock_page *page, struct sim_clock_seat *shared, uint64_t owner, bool first)
{
	uint32_t rank = atomic_fetch_add_explicit(&page->last_rank, 1, memory_order_relaxed);

	atomic_store_explicit(&shared->owner, owner, memory_order_relaxed);
	atomic_store_explicit(&shared->rank, first ? rank : OTHERS_RANK + rank, memory_order_relaxed);
	atomic_store_explicit(&shared->wake_ns, SIM_CLOCK_NEVER_NS, memory_order_relaxed);
	set_state(shared, SIM_SEAT_BUSY);
}

int sim_seat_take(struct sim_seat *seat, struct sim_clock_page *page, bool first)
{
	uint64_t mine = sim_clock_lock(&page->lock);
	struct sim_clock_seat *shared = free_one(page);

	seat->page = page;
	seat->shared = shared;
	seat->owner = (uint64_t)getpid() << 32 | (atomic_fetch_add(&last_number, 1) + 1);
	if (shared)
		sit_down(page, shared, seat->owner, first);
	sim_clock_unlock(&page->lock, mine);
	return shared ? 0 : -ENOSPC;
}

void sim_seat_leave(struct sim_seat *seat)
{
	struct sim_clock_seat *next = NULL;
	uint64_t mine;

	if (!seat->shared)
		return;
	mine = sim_clock_lock(&seat->page->lock);
	if (sim_seat_is_ours(seat)) {
		atomic_store_explicit(&seat->shared->owner, 0, memory_order_relaxed);
		set_state(seat->shared, SIM_SEAT_FREE);
		next = pass_on(seat->page);
	}
	sim_clock_unlock(&seat->page->lock, mine);
	seat->shared = NULL;
	wake_up(next);
}

/* ---- being busy, waiting ---- */

void sim_seat_be_busy(struct sim_seat *seat)
{
	uint64_t mine = sim_clock_lock(&seat->page->lock);

	if (sim_seat_is_ours(seat))
		set_state(seat->shared, SIM_SEAT_BUSY);
	sim_clock_unlock(&seat->page->lock, mine);
}

bool sim_seat_try_busy(struct sim_seat *seat)
{
	uint64_t mine = sim_clock_lock(&seat->page->lock);
	bool may = state_of(seat->shared) != SIM_SEAT_WAITING || !first_in(seat->page, SIM_SEAT_BUSY);

	if (may && sim_seat_is_ours(seat))
		set_state(seat->shared, SIM_SEAT_BUSY);
	sim_clock_unlock(&seat->page->lock, mine);
	return may;
}

void sim_seat_be_left(struct sim_seat *seat)
{
	struct sim_clock_seat *next = NULL;
	uint64_t mine = sim_clock_lock(&seat->page->lock);

	if (sim_seat_is_ours(seat)) {
		set_state(seat->shared, SIM_SEAT_LEFT);
		next = pass_on(seat->page);
	}
	sim_clock_unlock(&seat->page->lock, mine);
	wake_up(next);
}

bool sim_seat_wait(struct sim_seat *seat, uint64_t wake_ns, uint64_t seen)
{
	struct sim_clock_seat *shared = seat->shared, *next = NULL;
	uint64_t mine = sim_clock_lock(&seat->page->lock);

	if (sim_seat_is_ours(seat)) {
		atomic_store_explicit(&shared->wake_ns, wake_ns, memory_order_relaxed);
		atomic_store_explicit(&shared->seen, seen, memory_order_relaxed);
		set_state(shared, SIM_SEAT_WAITING);
		next = pass_on(seat->page);
	}
	sim_clock_unlock(&seat->page->lock, mine);
	if (next != shared)
		wake_up(next);
	return next == shared;
}

void sim_seat_force(struct sim_clock_page *page, uint64_t ns)
{
	uint64_t mine = sim_clock_lock(&page->lock);

	if (atomic_load_explicit(&page->now_ns, memory_order_relaxed) < ns)
		atomic_store_explicit(&page->now_ns, ns, memory_order_release);
	sim_clock_unlock(&page->lock, mine);
}

/* ---- looking after others ---- */

/* Whether it was still busy. */
static bool give_up_on(struct sim_clock_page *page, const struct sim_seat_watch *watch)
{
	struct sim_clock_seat *shared = (struct sim_clock_seat *)(uintptr_t)watch->shared, *next = NULL;
	uint64_t mine = sim_clock_lock(&page->lock);
	bool was_busy = state_of(shared) == SIM_SEAT_BUSY && owner_of(shared) == watch->owner;

	if (was_busy) {
		set_state(shared, SIM_SEAT_LEFT);
		next = pass_on(page);
	}
	sim_clock_unlock(&page->lock, mine);
	wake_up(next);
	return was_busy;
}

bool sim_seat_look_after(const struct sim_seat *seat, struct sim_seat_watch *watch, uint64_t *ret_lost)
{
	const struct sim_clock_seat *busy = first_in(seat->page, SIM_SEAT_BUSY);
	struct sim_seat_watch seen = {.shared = busy};

	*ret_lost = 0;
	if (!busy || busy == seat->shared) {
		watch->shared = NULL;
		return false;
	}
	seen.calls = atomic_load_explicit(&busy->calls, memory_order_relaxed);
	seen.owner = owner_of(busy);
	seen.since_ns = monotonic_ns();
	if (watch->shared != busy || watch->calls != seen.calls || watch->owner != seen.owner)
		*watch = seen;
	else if (++watch->looks >= PATIENT_LOOKS && seen.since_ns - watch->since_ns > SIM_TURNS_PATIENCE_MS * NS_PER_MS &&
		 give_up_on(seat->page, watch))
		*ret_lost = watch->owner;
	return true;
}

void sim_seat_nap(const struct sim_seat *seat, uint64_t ns)
{
	const struct timespec most = {.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};

	syscall(SYS_futex, &seat->shared->state, FUTEX_WAIT, SIM_SEAT_WAITING, &most, NULL, 0);
}

void sim_seat_wake(const struct sim_seat *seat)
{
	wake_up(seat->shared);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The slots are sequence locks: a reader copies, and drops the copy if the version changed meanwhile. */
#include "shared_ledger.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sim/base/monotonic.h"

#define NUM_WORDS (SIM_LEDGER_SLOTS / 64)

static void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t max_ns)
{
	struct timespec timeout = sim_timespec_from_ns(max_ns);

	syscall(SYS_futex, word, FUTEX_WAIT, value, &timeout, NULL, 0);
}

static bool is_in_flight(uint32_t version)
{
	return version % 2 == 1;
}

void sim_ledger_lane_ring(struct sim_ledger_lane *lane)
{
	atomic_fetch_add(&lane->rings, 1);
	futex_wake(&lane->rings);
}

/* ---- a process and its ranges ---- */

static void clear(struct sim_ledger_lane *lane)
{
	for (uint32_t word = 0; word < NUM_WORDS; word++)
		for (uint64_t used = atomic_exchange(&lane->used[word], 0); used; used &= used - 1) {
			_Atomic uint32_t *version = &lane->slots[word * 64 + (uint32_t)__builtin_ctzll(used)].version;

			if (is_in_flight(atomic_load(version)))
				atomic_fetch_add(version, 1);
		}
	atomic_store(&lane->listens, 0);
}

struct sim_ledger_lane *sim_shared_ledger_join(struct sim_shared_ledger *ledger, uint64_t process)
{
	for (uint32_t i = 0; i < SIM_LEDGER_LANES; i++) {
		struct sim_ledger_lane *lane = &ledger->lanes[i];
		uint64_t none = 0;

		if (!atomic_compare_exchange_strong(&lane->process, &none, process))
			continue;
		clear(lane);
		return lane;
	}
	return NULL;
}

void sim_shared_ledger_leave(struct sim_shared_ledger *ledger, uint64_t process)
{
	bool has_left = false;

	for (uint32_t i = 0; i < SIM_LEDGER_LANES; i++) {
		struct sim_ledger_lane *lane = &ledger->lanes[i];

		if (atomic_load(&lane->process) != process)
			continue;
		clear(lane);
		atomic_store(&lane->process, 0);
		has_left = true;
	}
	for (uint32_t i = 0; i < SIM_LEDGER_LANES && has_left; i++)
		if (atomic_load(&ledger->lanes[i].listens))
			sim_ledger_lane_ring(&ledger->lanes[i]);
}

static uint32_t take_slot(struct sim_ledger_lane *lane)
{
	for (uint32_t word = 0; word < NUM_WORDS; word++) {
		uint64_t used = atomic_load_explicit(&lane->used[word], memory_order_relaxed);

		if (used != UINT64_MAX)
			return word * 64 + (uint32_t)__builtin_ctzll(~used);
	}
	return SIM_LEDGER_NO_SLOT;
}

/* The range is there for all before the caller looks for conflicts: of two processes that add at once, one sees the other. */
uint32_t sim_ledger_lane_add(struct sim_ledger_lane *lane, const struct sim_shared_range *range)
{
	uint32_t number = take_slot(lane);
	struct sim_ledger_slot *slot;

	if (number == SIM_LEDGER_NO_SLOT)
		return number;
	slot = &lane->slots[number];
	atomic_thread_fence(memory_order_release); /* the slot's last remove: see shared_ledger.h */
	memcpy(&slot->range, range, sizeof(slot->range));
	atomic_store_explicit(&slot->version, atomic_load(&slot->version) | 1, memory_order_release);
	atomic_fetch_or(&lane->used[number / 64], 1ull << number % 64);
	return number;
}

void sim_ledger_lane_remove(struct sim_ledger_lane *lane, uint32_t number)
{
	_Atomic uint32_t *version = &lane->slots[number].version;

	atomic_store_explicit(version, (atomic_load(version) | 1) + 1, memory_order_release);
	atomic_fetch_and(&lane->used[number / 64], ~(1ull << number % 64));
}

/* ---- ranges of all ---- */

/* Returns the version of the copy, or 0: the slot is free, or changes just now. */
static uint32_t copy_slot(const struct sim_ledger_slot *slot, struct sim_shared_range *ret_range)
{
	uint32_t version = atomic_load_explicit(&slot->version, memory_order_acquire);

	if (!is_in_flight(version))
		return 0;
	memcpy(ret_range, &slot->range, sizeof(*ret_range));
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&slot->version, memory_order_relaxed) != version)
		return 0;
	ret_range->program[sizeof(ret_range->program) - 1] = '\0';
	ret_range->site[sizeof(ret_range->site) - 1] = '\0';
	return version;
}

static bool overlaps(const struct sim_shared_range *a, const struct sim_shared_range *b)
{
	return a->owner == b->owner && a->begin < b->end && b->begin < a->end && (a->is_write || b->is_write) &&
	       !(a->is_atomic && b->is_atomic);
}

/* A first look at the slot itself, so that few are copied. Both looks may see different bytes: the copy counts. */
static bool conflicts(const struct sim_ledger_slot *slot, const struct sim_shared_range *range, bool is_same_process,
		      struct sim_shared_range *ret_other)
{
	if (!overlaps(&slot->range, range) || copy_slot(slot, ret_other) == 0 || !overlaps(ret_other, range))
		return false;
	return !is_same_process || (ret_other->task != range->task && !(ret_other->is_own && range->is_own));
}

static bool find_in_lane(const struct sim_ledger_lane *lane, const struct sim_shared_range *range, bool is_same_process,
			 struct sim_shared_range *ret_other)
{
	for (uint32_t word = 0; word < NUM_WORDS; word++)
		for (uint64_t used = atomic_load(&lane->used[word]); used; used &= used - 1)
			if (conflicts(&lane->slots[word * 64 + (uint32_t)__builtin_ctzll(used)], range, is_same_process,
				      ret_other))
				return true;
	return false;
}

bool sim_shared_ledger_find_conflict(const struct sim_shared_ledger *ledger, const struct sim_ledger_lane *own,
				     const struct sim_shared_range *range, struct sim_shared_range *ret_other)
{
	for (uint32_t i = 0; i < SIM_LEDGER_LANES; i++)
		if (atomic_load(&ledger->lanes[i].process) != 0 &&
		    find_in_lane(&ledger->lanes[i], range, &ledger->lanes[i] == own, ret_other))
			return true;
	return false;
}

void sim_shared_ledger_each(const struct sim_shared_ledger *ledger, const struct sim_ledger_lane *own,
			    sim_shared_ledger_cb *cb, void *arg)
{
	uint64_t owner = atomic_load(&own->process);
	struct sim_shared_range range;

	for (uint32_t i = 0; i < SIM_LEDGER_LANES; i++) {
		const struct sim_ledger_lane *lane = &ledger->lanes[i];

		if (lane == own || atomic_load(&lane->process) == 0)
			continue;
		for (uint32_t word = 0; word < NUM_WORDS; word++)
			for (uint64_t used = atomic_load(&lane->used[word]); used; used &= used - 1) {
				uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(used);
				uint32_t version = copy_slot(&lane->slots[slot], &range);

				if (version && range.owner == owner && range.begin < range.end &&
				    !cb(arg, i, slot, version, &range))
					return;
			}
	}
}

/* ---- an owner that listens ---- */

void sim_ledger_lane_listen(struct sim_ledger_lane *lane)
{
	atomic_store(&lane->listens, 1);
}

uint32_t sim_ledger_lane_wait(struct sim_ledger_lane *lane, uint32_t rings, uint32_t max_ms)
{
	if (atomic_load(&lane->rings) == rings)
		futex_wait(&lane->rings, rings, max_ms * SIM_NS_PER_MS);
	return atomic_load(&lane->rings);
}

static struct sim_ledger_lane *find_listener(struct sim_shared_ledger *ledger, uint64_t process)
{
	for (uint32_t i = 0; i < SIM_LEDGER_LANES; i++)
		if (atomic_load(&ledger->lanes[i].process) == process && atomic_load(&ledger->lanes[i].listens))
			return &ledger->lanes[i];
	return NULL;
}

bool sim_shared_ledger_request(struct sim_shared_ledger *ledger, struct sim_ledger_lane *lane, uint32_t number,
			       bool arms, uint32_t max_ms)
{
	struct sim_ledger_slot *slot = &lane->slots[number];
	struct sim_ledger_lane *listener = find_listener(ledger, slot->range.owner);
	uint64_t now = sim_monotonic_ns(), end = now + max_ms * SIM_NS_PER_MS;
	uint32_t request, reply;

	if (!listener || listener == lane)
		return true;
	request = atomic_load(&slot->request) + 1;
	request += (request % 2 == 1) != arms;
	atomic_store(&slot->request, request);
	sim_ledger_lane_ring(listener);
	while ((reply = atomic_load(&slot->reply)) != request && now < end) {
		futex_wait(&slot->reply, reply, end - now);
		now = sim_monotonic_ns();
	}
	return reply == request;
}

uint32_t sim_shared_ledger_asked(const struct sim_shared_ledger *ledger, uint32_t lane, uint32_t slot)
{
	return atomic_load(&ledger->lanes[lane].slots[slot].request);
}

void sim_shared_ledger_reply(struct sim_shared_ledger *ledger, uint32_t lane, uint32_t slot, uint32_t request)
{
	_Atomic uint32_t *reply = &ledger->lanes[lane].slots[slot].reply;

	atomic_store(reply, request);
	futex_wake(reply);
}

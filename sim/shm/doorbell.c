/* SPDX-License-Identifier: BSD-3-Clause */
#include "doorbell.h"

#include <assert.h>

bool sim_inbox_ring(struct sim_inbox_shared *shared, uint32_t slot)
{
	uint32_t word = slot / 64;

	assert(slot < SIM_INBOX_SLOTS);
	atomic_fetch_or(&shared->words[word], UINT64_C(1) << slot % 64);
	atomic_fetch_or(&shared->summary, UINT64_C(1) << word);
	/* Both are sequentially consistent, as is the owner's side: one of us sees the other. */
	return atomic_load(&shared->asleep) && atomic_exchange(&shared->asleep, 0);
}

/* Move what the peers rang to the owner's part. */
static void collect(struct sim_inbox *inbox)
{
	uint64_t summary;

	if (atomic_load_explicit(&inbox->shared->summary, memory_order_relaxed) == 0)
		return;
	summary = atomic_exchange(&inbox->shared->summary, 0);
	for (; summary; summary &= summary - 1) {
		int word = __builtin_ctzll(summary);

		inbox->words[word] |= atomic_exchange(&inbox->shared->words[word], 0);
		if (inbox->words[word])
			inbox->summary |= UINT64_C(1) << word;
	}
}

/* The first set bit at or behind @from, going round; @bits is not 0. */
static uint32_t first_from(uint64_t bits, uint32_t from)
{
	uint64_t behind = bits >> from << from;

	return (uint32_t)__builtin_ctzll(behind ? behind : bits);
}

/* The word to look into: the cursor's own bits behind it come first, those before it last. */
static uint32_t pick_word(const struct sim_inbox *inbox)
{
	uint32_t word = inbox->cursor / 64;

	if (inbox->words[word] >> inbox->cursor % 64)
		return word;
	return first_from(inbox->summary, (word + 1) % SIM_INBOX_WORDS);
}

bool sim_inbox_next(struct sim_inbox *inbox, uint32_t *ret_slot)
{
	uint32_t word, bit;

	collect(inbox);
	if (!inbox->summary)
		return false;
	word = pick_word(inbox);
	bit = first_from(inbox->words[word], word == inbox->cursor / 64 ? inbox->cursor % 64 : 0);
	inbox->words[word] &= ~(UINT64_C(1) << bit);
	if (!inbox->words[word])
		inbox->summary &= ~(UINT64_C(1) << word);
	*ret_slot = word * 64 + bit;
	inbox->cursor = (*ret_slot + 1) % SIM_INBOX_SLOTS;
	return true;
}

void sim_inbox_again(struct sim_inbox *inbox, uint32_t slot)
{
	inbox->words[slot / 64] |= UINT64_C(1) << slot % 64;
	inbox->summary |= UINT64_C(1) << slot / 64;
}

bool sim_inbox_arm(struct sim_inbox *inbox)
{
	atomic_store(&inbox->shared->asleep, 1);
	return inbox->summary != 0 || atomic_load(&inbox->shared->summary) != 0;
}

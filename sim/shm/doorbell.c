/* SPDX-License-Identifier: BSD-3-Clause */
/* Doorbells: a bitmap of slots in shared memory, with a summary word. */
#include "doorbell.h"

bool sim_doorbell_ring_own(struct sim_doorbells *doorbells, uint32_t slot)
{
	sim_doorbell_ring(&doorbells->own, slot);
	/* These accesses and those of sim_doorbell_arm() are sequentially consistent: the owner sees the ring, or this
	 * thread sees that the owner sleeps. */
	return atomic_load(&doorbells->asleep) && atomic_exchange(&doorbells->asleep, 0);
}

static void collect_pending(struct sim_doorbells *doorbells, struct sim_doorbell_shared *from)
{
	uint64_t summary;

	if (atomic_load_explicit(&from->summary, memory_order_relaxed) == 0)
		return;
	summary = atomic_exchange(&from->summary, 0);
	for (; summary; summary &= summary - 1) {
		int word = __builtin_ctzll(summary);

		doorbells->words[word] |= atomic_exchange(&from->words[word], 0);
		if (doorbells->words[word])
			doorbells->summary |= UINT64_C(1) << word;
	}
}

/* The first set bit at or after @from, wrapping around; @bits is not 0. */
static uint32_t find_bit_from(uint64_t bits, uint32_t from)
{
	uint64_t not_before = bits >> from << from;

	return (uint32_t)__builtin_ctzll(not_before ? not_before : bits);
}

/* The word that the search finds: the rest of the cursor's word comes first, its beginning last. */
static uint32_t pick_word(const struct sim_doorbells *doorbells)
{
	uint32_t word = doorbells->cursor / 64;

	if (doorbells->words[word] >> doorbells->cursor % 64)
		return word;
	return find_bit_from(doorbells->summary, (word + 1) % SIM_DOORBELL_WORDS);
}

bool sim_doorbell_next(struct sim_doorbells *doorbells, uint32_t *ret_slot)
{
	uint32_t word, bit;

	collect_pending(doorbells, doorbells->shared);
	collect_pending(doorbells, &doorbells->own);
	if (!doorbells->summary)
		return false;
	word = pick_word(doorbells);
	bit = find_bit_from(doorbells->words[word], word == doorbells->cursor / 64 ? doorbells->cursor % 64 : 0);
	doorbells->words[word] &= ~(UINT64_C(1) << bit);
	if (!doorbells->words[word])
		doorbells->summary &= ~(UINT64_C(1) << word);
	*ret_slot = word * 64 + bit;
	doorbells->cursor = (*ret_slot + 1) % SIM_DOORBELL_SLOTS;
	return true;
}

void sim_doorbell_requeue(struct sim_doorbells *doorbells, uint32_t slot)
{
	doorbells->words[slot / 64] |= UINT64_C(1) << slot % 64;
	doorbells->summary |= UINT64_C(1) << slot / 64;
}

bool sim_doorbell_arm(struct sim_doorbells *doorbells)
{
	atomic_store(&doorbells->asleep, 1);
	return doorbells->summary != 0 || atomic_load(&doorbells->own.summary) != 0 ||
	       atomic_load(&doorbells->shared->summary) != 0;
}

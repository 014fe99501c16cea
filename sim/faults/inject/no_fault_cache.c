/* SPDX-License-Identifier: BSD-3-Clause */
/* Where nothing strikes: the surroundings of a site that met no rule. */
#include "rule_index_priv.h"

#define MAX_BACKOFF 1023

#define load(from)       atomic_load_explicit((from), memory_order_relaxed)
#define store(to, value) atomic_store_explicit((to), (value), memory_order_relaxed)

struct no_fault_range {
	uint64_t size_min, size_max, addr_min, addr_max;
};

static struct sim_no_fault_cache *cache_of(struct sim_rule_index *index, const struct sim_fault_site *site)
{
	return &index->injector.no_fault_cache[site->op][site->function % SIM_NO_FAULT_CACHE_ENTRIES];
}

/* Readers see all of it or know that they did not. */
static void cache_store(struct sim_no_fault_cache *cache, uint64_t function, const struct no_fault_range *range)
{
	uint64_t sequence = load(&cache->sequence);

	store(&cache->sequence, sequence + 1);
	atomic_store_explicit(&cache->function, function, memory_order_release);
	atomic_store_explicit(&cache->size_min, range->size_min, memory_order_release);
	atomic_store_explicit(&cache->size_max, range->size_max, memory_order_release);
	atomic_store_explicit(&cache->addr_min, range->addr_min, memory_order_release);
	atomic_store_explicit(&cache->addr_max, range->addr_max, memory_order_release);
	atomic_store_explicit(&cache->sequence, sequence + 2, memory_order_release);
}

/* Make the range so much smaller that the entry's rule, which is not for the site, is for nothing in
 * it. Whether that can be: not if size and address are the rule's. */
static bool exclude_rule(struct no_fault_range *range, const struct sim_index_entry *entry,
			 const struct sim_fault_site *site)
{
	uint64_t size_min = sim_index_entry_field(entry, size_min), size_max = sim_index_entry_field(entry, size_max);
	uint64_t addr_min = sim_index_entry_field(entry, addr_min), addr_max = sim_index_entry_field(entry, addr_max);

	if (site->size < size_min)
		range->size_max = size_min - 1 < range->size_max ? size_min - 1 : range->size_max;
	else if (site->size > size_max)
		range->size_min = size_max + 1 > range->size_min ? size_max + 1 : range->size_min;
	else if (site->addr > addr_max)
		range->addr_min = addr_max + 1 > range->addr_min ? addr_max + 1 : range->addr_min;
	else if (sim_fault_site_last_addr(site) < addr_min)
		range->addr_max = addr_min - 1 < range->addr_max ? addr_min - 1 : range->addr_max;
	else
		return false;
	return true;
}

/* Rules whose time has not come, or is over, are rules. */
static bool find_no_fault_range(const struct sim_rule_index *index, const struct sim_fault_site *site,
				struct no_fault_range *ret_range)
{
	const struct sim_slot_bitmap *function = sim_rule_index_function_bitmap(index, site->function);
	struct no_fault_range range = { 0, UINT64_MAX, 0, UINT64_MAX };

	for (uint32_t slot_index = 0; slot_index < index->end; slot_index++) {
		const struct sim_index_entry *entry = &index->entries[slot_index];

		if (load(&entry->id) && (sim_index_entry_field(entry, ops) & SIM_OP_BIT(site->op)) &&
		    sim_slot_bitmap_has(function, slot_index) && !exclude_rule(&range, entry, site))
			return false;
	}
	*ret_range = range;
	return true;
}

void sim_rule_index_clear_no_fault_cache(struct sim_rule_index *index)
{
	static const struct no_fault_range none = { 0 };

	for (enum sim_op op = 0; op < SIM_OP_COUNT; op++)
		for (uint32_t i = 0; i < SIM_NO_FAULT_CACHE_ENTRIES; i++)
			cache_store(&index->injector.no_fault_cache[op][i], SIM_NO_FAULT_CACHE_EMPTY, &none);
	store(&index->num_missed, 0);
	store(&index->cache_backoff, 0);
}

/* Sites that never lie where the last one did make it useless to look around; so it is done more and more seldom. */
void sim_rule_index_cache_no_fault(struct sim_rule_index *index, const struct sim_fault_site *site)
{
	uint32_t missed = load(&index->num_missed) + 1, backoff = load(&index->cache_backoff);
	struct no_fault_range range;

	store(&index->num_missed, missed);
	if (missed <= backoff || pthread_mutex_trylock(&index->lock))
		return;
	store(&index->num_missed, 0);
	store(&index->cache_backoff, backoff < MAX_BACKOFF / 2 ? 2 * backoff + 1 : MAX_BACKOFF);
	if (load(&index->injector.seen_generation) == load(&index->plan->generation) &&
	    find_no_fault_range(index, site, &range))
		cache_store(cache_of(index, site), site->function, &range);
	pthread_mutex_unlock(&index->lock);
}

bool sim_no_fault_cache_copy(const struct sim_injector *injector, const struct sim_fault_site *site,
			     struct sim_no_fault_copy *ret_copy)
{
	const struct sim_no_fault_cache *cache =
		&injector->no_fault_cache[site->op][site->function % SIM_NO_FAULT_CACHE_ENTRIES];
	uint64_t sequence = atomic_load_explicit(&cache->sequence, memory_order_acquire);
	struct sim_no_fault_copy copy = {
		.generation = load(&injector->seen_generation),
		.size_min = atomic_load_explicit(&cache->size_min, memory_order_acquire),
		.size_max = atomic_load_explicit(&cache->size_max, memory_order_acquire),
		.addr_min = atomic_load_explicit(&cache->addr_min, memory_order_acquire),
		.addr_max = atomic_load_explicit(&cache->addr_max, memory_order_acquire),
	};

	if (!sim_no_fault_cache_has(injector, site) || load(&cache->sequence) != sequence)
		return false;
	*ret_copy = copy;
	return true;
}

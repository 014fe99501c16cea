/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for a range of sizes and addresses that no rule is for. */
#include "no_fault_cache.h"

#include "pcie_model/arith.h"
#include "rule_index_priv.h"

#define MAX_BACKOFF 1023

#define load(from) atomic_load_explicit((from), memory_order_relaxed)

/* Shrink the range so that it excludes the entry's rule, which is not for the site. Returns false if
 * the rule has the site's size and address. */
static bool exclude_rule(struct sim_no_fault_cache *range, const struct sim_index_entry *entry,
			 const struct sim_fault_site *site)
{
	uint64_t size_min = sim_index_entry_field(entry, size_min), size_max = sim_index_entry_field(entry, size_max);
	uint64_t addr_min = sim_index_entry_field(entry, addr_min), addr_max = sim_index_entry_field(entry, addr_max);

	if (site->size < size_min)
		range->size_max = min_u64(range->size_max, size_min - 1);
	else if (site->size > size_max)
		range->size_min = max_u64(range->size_min, size_max + 1);
	else if (site->addr > addr_max)
		range->addr_min = max_u64(range->addr_min, addr_max + 1);
	else if (sim_fault_site_last_addr(site) < addr_min)
		range->addr_max = min_u64(range->addr_max, addr_min - 1);
	else
		return false;
	return true;
}

/* The device of an event that begins after an operation is not the operation's. */
static bool is_for_function(const struct sim_rule_index *index, const struct sim_slot_bitmap *function,
			    uint32_t slot_index)
{
	return sim_slot_bitmap_has(function, slot_index) || sim_slot_bitmap_has(&index->after, slot_index);
}

/* Extend what is near to the size of the site, which is in the range. */
static void include_size(struct sim_no_fault_cache *cache, const struct sim_fault_site *site)
{
	cache->near_sizes = max_u64(cache->near_sizes, site->size - cache->size_min);
	cache->near_addrs =
		min_u64(cache->near_addrs, cache->addr_max - cache->addr_min - (site->size ? site->size - 1 : 0));
}

/* Rules count whether their time has come or not. Under the lock of the index. */
static bool find_range(const struct sim_rule_index *index, const struct sim_fault_site *site,
		       struct sim_no_fault_cache *cache)
{
	const struct sim_slot_bitmap *function = sim_rule_index_function_bitmap(index, site->function);
	struct sim_no_fault_cache range = *cache;

	range.size_min = range.addr_min = 0;
	range.size_max = range.addr_max = UINT64_MAX;
	range.near_sizes = 0;
	range.near_addrs = UINT64_MAX;
	for (uint32_t slot_index = 0; slot_index < index->end; slot_index++) {
		const struct sim_index_entry *entry = &index->entries[slot_index];

		if (load(&entry->id) && sim_index_entry_has_op(entry, site->op) &&
		    is_for_function(index, function, slot_index) && !exclude_rule(&range, entry, site))
			return false;
	}
	include_size(&range, site);
	*cache = range;
	return true;
}

bool sim_no_fault_cache_fill(struct sim_no_fault_cache *cache, struct sim_injector *injector,
			     const struct sim_fault_site *site)
{
	struct sim_rule_index *index = sim_rule_index_of(injector);
	uint64_t generation;
	bool found;

	sim_rule_index_refresh(index);
	generation = load(&index->injector.seen_generation);
	if (cache->generation != generation)
		*cache = (struct sim_no_fault_cache){ .generation = generation, .size_min = UINT64_MAX }; /* no site */
	if (++cache->num_misses <= cache->backoff || pthread_mutex_trylock(&index->lock))
		return false;
	cache->num_misses = 0;
	cache->backoff = min_u32(2 * cache->backoff + 1, MAX_BACKOFF);
	found = load(&index->injector.seen_generation) == generation && find_range(index, site, cache);
	pthread_mutex_unlock(&index->lock);
	return found;
}

bool sim_no_fault_cache_find(struct sim_no_fault_cache *cache, struct sim_injector *injector,
			     const struct sim_fault_site *site)
{
	if (!sim_no_fault_cache_has(cache, injector, site->size, site->addr))
		return sim_no_fault_cache_fill(cache, injector, site);
	include_size(cache, site);
	return true;
}

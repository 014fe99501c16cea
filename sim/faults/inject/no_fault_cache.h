/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/inject/no_fault_cache.h - the surroundings of a site that no rule is for.
 *
 *   if (sim_no_fault_cache_has_near(&cache, injector, size, addr) || sim_no_fault_cache_find(&cache, injector, &site))
 *           ... no fault ...
 *   else
 *           sim_injector_evaluate(injector, &site, &hit);
 *
 * A cache is for one operation at one function, and belongs to one thread at a time.
 * It holds one range of sizes and addresses, so that a program whose operations
 * resemble each other pays the same with any number of rules. A change of the plan
 * empties the cache.
 *
 * The sites that are near are those of sizes up to the largest that was looked up, at addresses where that many bytes are in
 * the range. Two comparisons find them.
 */
#ifndef SIM_NO_FAULT_CACHE_H
#define SIM_NO_FAULT_CACHE_H

#include <stdbool.h>
#include <stdint.h>

struct sim_fault_site;
struct sim_injector;

/* All zero = empty. */
struct sim_no_fault_cache {
	uint64_t generation; /* of the plan */
	uint64_t size_min, size_max, addr_min, addr_max;
	/* How much more than @size_min and @addr_min the sizes and addresses of near sites are at most. */
	uint64_t near_sizes, near_addrs;
	uint32_t num_misses, backoff; /* misses since the last search; misses before the next one */
};

/* Search for the range around @site in which no rule is for its operation and function. Returns whether
 * there is one. Searches become rare while they do not help. */
bool sim_no_fault_cache_fill(struct sim_no_fault_cache *cache, struct sim_injector *injector,
			     const struct sim_fault_site *site);

/* Look the site up, and fill the cache if it is not there. From now on sites of its size may be near. Returns whether no rule
 * is for it. */
bool sim_no_fault_cache_find(struct sim_no_fault_cache *cache, struct sim_injector *injector,
			     const struct sim_fault_site *site);

#endif

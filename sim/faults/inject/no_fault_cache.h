/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/inject/no_fault_cache.h - the surroundings of a site that no rule is for.
 *
 *   if (sim_no_fault_cache_has(&cache, injector, size, addr) || sim_no_fault_cache_fill(&cache, injector, &site))
 *           ... no fault ...
 *   else
 *           sim_injector_evaluate(injector, &site, &hit);
 *
 * A cache is for one operation at one function, and belongs to one thread at a time.
 * It holds one range of sizes and addresses, so that a program whose operations
 * resemble each other pays the same with any number of rules. A change of the plan
 * empties the cache.
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
	uint32_t num_misses, backoff; /* misses since the last search; misses before the next one */
};

/* Search for the range around @site in which no rule is for its operation and function. Returns whether
 * there is one. Searches become rare while they do not help. */
bool sim_no_fault_cache_fill(struct sim_no_fault_cache *cache, struct sim_injector *injector,
			     const struct sim_fault_site *site);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/inject/rng_priv.h - random draws that are the same for the same match on every machine.
 *
 * Draws have no state: each one is a hash of the seed, the rule's id, the number of
 * the match and the number of the draw. Distributions use integers only, so that
 * delays depend on no libm and no compiler.
 */
#ifndef SIM_FAULTS_RNG_PRIV_H
#define SIM_FAULTS_RNG_PRIV_H

#include "sim/faults/rule/rule.h"

/* The draws of a match, by purpose. */
enum sim_rng_stream {
	SIM_RNG_CHANCE,
	SIM_RNG_HIT_KEY, /* sim_fault_hit.key */
	SIM_RNG_REORDER,
	SIM_RNG_DELAY = 16, /* and all higher numbers */
};

uint64_t sim_rng_key(uint64_t seed, uint32_t rule, uint64_t match);

/* Draw 64 bits; or a number from 0 to @below, excluded. */
uint64_t sim_rng_u64(uint64_t key, uint32_t stream);
uint64_t sim_rng_below(uint64_t key, uint32_t stream, uint64_t below);

/* Draw a delay from the rule's distribution (not from a file); in ns, at most SIM_RULE_MAX_NS. */
uint64_t sim_rng_delay(const struct sim_rule *rule, uint64_t key);

#endif

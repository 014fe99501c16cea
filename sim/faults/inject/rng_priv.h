/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/inject/rng_priv.h - chance, the same for the same match on every machine.
 *
 * Nothing is remembered between draws: each is a hash of the seed, the rule's id,
 * the number of the match and the draw's own number. Distributions are computed
 * in integers, so that no library's logarithm and no compiler changes a delay.
 */
#ifndef SIM_FAULTS_RNG_PRIV_H
#define SIM_FAULTS_RNG_PRIV_H

#include "sim/faults/rule/rule.h"

/* What the draws of a match are for. */
enum sim_rng_stream {
	SIM_RNG_CHANCE,
	SIM_RNG_HIT_KEY, /* sim_fault_hit.key */
	SIM_RNG_REORDER,
	SIM_RNG_DELAY = 16, /* and the numbers that follow */
};

uint64_t sim_rng_key(uint64_t seed, uint32_t rule, uint64_t match);

/* All 64 bits; or from 0 to @below, excluded. */
uint64_t sim_rng_u64(uint64_t key, uint32_t stream);
uint64_t sim_rng_below(uint64_t key, uint32_t stream, uint64_t below);

/* A delay as the rule says, other than one of a file; in ns, at most SIM_RULE_MAX_NS. */
uint64_t sim_rng_delay(const struct sim_rule *rule, uint64_t key);

#endif

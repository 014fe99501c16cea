/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/plan/plan.h - the rules of a session, in memory that its processes share.
 *
 *   daemon --add, remove, clear--> [ generation | seed | rule rule rule ... | delays ]
 *                                        ^ read and counted by every process (faults.h)
 *
 * One process changes the plan, one thread at a time; others have it mapped for
 * reading and for counting. A plan of one process lies in private memory and is
 * the same. A rule never changes once added: it has an id that no later rule
 * of the plan gets, and its slot is filled before the id is set, and the id
 * is cleared before the slot is. Readers trust nothing in it (see faults.h).
 *
 * Rules are asked in the order of their slots. A new rule goes behind the
 * others; into the first free slot when the end is reached. Slots that became
 * free wait until then, so that nobody counts a rule for its predecessor.
 */
#ifndef SIM_FAULTS_PLAN_H
#define SIM_FAULTS_PLAN_H

#include <stdatomic.h>

#include "sim/faults/rule/delays.h"
#include "sim/faults/rule/rule.h"

#define SIM_PLAN_MAX_RULES  4096
#define SIM_PLAN_MAX_SERIES 64 /* files of delays */
#define SIM_RULE_WORDS      (sizeof(struct sim_rule) / sizeof(uint64_t))

struct sim_plan_slot {
	_Alignas(64) _Atomic uint32_t id; /* 0 = free */
	_Atomic uint32_t content_id;      /* the rule that is there, or was before it was taken out; 0 = none */
	_Atomic uint64_t added_ns;        /* session time */
	_Atomic uint64_t matched, fired;
	_Alignas(64) _Atomic uint64_t rule[SIM_RULE_WORDS];
};

/* A file of delays: those from first on in the plan's pool. */
struct sim_plan_series {
	_Atomic uint32_t first, count;                                  /* count 0 = free */
	_Atomic uint64_t file[SIM_DELAYS_FILE_SIZE / sizeof(uint64_t)]; /* its name */
};

struct sim_plan {
	_Alignas(64) _Atomic uint64_t generation; /* grows with each change, behind it */
	_Atomic uint64_t seed;
	_Atomic uint32_t num_rules;
	_Atomic uint32_t end; /* slots that were ever used end before this one */
	_Atomic uint32_t last_id;
	struct sim_plan_series series[SIM_PLAN_MAX_SERIES];
	struct sim_plan_slot slots[SIM_PLAN_MAX_RULES];
	_Atomic uint64_t delays[SIM_DELAYS_MAX];
};

/* Make an empty plan of zeroed memory of this size (a memfd: pages that are not used cost nothing). */
void sim_plan_init(struct sim_plan *plan, uint64_t seed);

/* An empty plan in private memory. Returns 0 or -ENOMEM. */
int sim_plan_create(uint64_t seed, struct sim_plan **ret_plan);
void sim_plan_destroy(struct sim_plan *plan);

/* Add a rule at session time @now_ns; @delays are copied, and NULL unless it
 * takes delays from a file (those of a file that the plan has are kept once, as
 * long as rules use them). Returns 0, -EINVAL (not a rule, or it lacks its
 * delays), -ENOSPC (no slot for it, or for its delays). */
int sim_plan_add(struct sim_plan *plan, const struct sim_rule *rule, const struct sim_delays *delays, uint64_t now_ns,
		 uint32_t *ret_id);

/* Take a rule out. A process that is just asking may still be struck by it once.
 * Returns 0 or -ENOENT. */
int sim_plan_remove(struct sim_plan *plan, uint32_t id);

/* Whether there is a rule of that id. */
bool sim_plan_has(const struct sim_plan *plan, uint32_t id);

/* Take all out. Ids go on. */
void sim_plan_clear(struct sim_plan *plan);

/* Draws of the rules that have no seed of their own follow another seed from now on. */
void sim_plan_set_seed(struct sim_plan *plan, uint64_t seed);

/* For reports. matched counts the operations that met all of a rule's
 * conditions, up to the one from which on it can't fire any more. */
struct sim_plan_rule {
	uint32_t id;
	uint64_t matched, fired;
	uint64_t added_ns;
	struct sim_rule rule;
	char text[SIM_RULE_TEXT_SIZE];
};

/* Visit the rules in order. Any process may; what makes no sense is passed over. */
typedef void sim_plan_rule_cb(void *arg, const struct sim_plan_rule *rule);
void sim_plan_each(const struct sim_plan *plan, sim_plan_rule_cb *cb, void *arg);

/* Visit those that were taken out, as far as nothing has taken their slots and they had no file of delays. */
void sim_plan_each_removed(const struct sim_plan *plan, sim_plan_rule_cb *cb, void *arg);

uint32_t sim_plan_num_rules(const struct sim_plan *plan);

#endif

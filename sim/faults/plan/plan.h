/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/plan/plan.h - the rules of a session, in memory that its processes share.
 *
 *   daemon --add, remove, clear--> [ generation | seed | rule rule rule ... | delays ]
 *                                        ^ every process reads and counts (injector.h)
 *
 * One process changes the plan, one thread at a time. The other processes map it to
 * read rules and to count. The plan of a single process has the same layout in
 * private memory. A rule in the plan never changes, and its id is never reused. A
 * slot is filled before its id is set; the id is cleared before the slot is refilled.
 * Readers do not trust the plan (see injector.h).
 *
 * Rules are evaluated in the order of their slots. A new rule goes behind the
 * others; when the end is reached, into the first free slot. Free slots are not
 * reused earlier, so that no process counts a match of the old rule for the new one.
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
	_Atomic uint32_t content_id;      /* the rule in the slot, removed or not; 0 = none */
	_Atomic uint64_t added_ns;        /* session time */
	_Atomic uint64_t matched, fired;
	_Atomic uint32_t has_begun; /* SIM_WHEN_AFTER: at added_ns */
	_Alignas(64) _Atomic uint64_t rule[SIM_RULE_WORDS];
};

/* A file of delays: count delays from first on in the plan's pool. */
struct sim_plan_series {
	_Atomic uint32_t first, count;                                  /* count 0 = free */
	_Atomic uint64_t file[SIM_DELAYS_FILE_SIZE / sizeof(uint64_t)]; /* its name */
};

struct sim_plan {
	_Alignas(64) _Atomic uint64_t generation; /* grows after each change */
	_Atomic uint64_t seed;
	_Atomic uint32_t num_rules;
	_Atomic uint32_t end; /* one past the last slot that was ever used */
	_Atomic uint32_t last_id;
	struct sim_plan_series series[SIM_PLAN_MAX_SERIES];
	struct sim_plan_slot slots[SIM_PLAN_MAX_RULES];
	_Atomic uint64_t delays[SIM_DELAYS_MAX];
};

/* Initialise an empty plan in zeroed memory, such as a memfd: unused pages cost nothing. */
void sim_plan_init(struct sim_plan *plan, uint64_t seed);

/* Create an empty plan in private memory. Returns 0 or -ENOMEM. */
int sim_plan_create(uint64_t seed, struct sim_plan **ret_plan);
void sim_plan_destroy(struct sim_plan *plan);

/* Add a rule at session time @now_ns. @delays are copied; they are NULL unless the
 * rule takes delays from a file. Rules with equal files share one copy. Returns 0,
 * -EINVAL (not a rule, or its delays are missing), -ENOSPC (no slot, or no room for the
 * delays). */
int sim_plan_add(struct sim_plan *plan, const struct sim_rule *rule, const struct sim_delays *delays, uint64_t now_ns,
		 uint32_t *ret_id);

/* The operation that the event of rule @id waited for (SIM_WHEN_AFTER) has come: it begins at @now_ns; later calls do nothing.
 * Returns 0, -ENOENT, or -EINVAL (it waits for none). */
int sim_plan_begin(struct sim_plan *plan, uint32_t id, uint64_t now_ns);

/* Remove a rule. A process that evaluates it concurrently may still be hit once.
 * Returns 0 or -ENOENT. */
int sim_plan_remove(struct sim_plan *plan, uint32_t id);

/* Whether the plan has the rule @id. */
bool sim_plan_has(const struct sim_plan *plan, uint32_t id);

/* Remove all rules. Ids are not reused. */
void sim_plan_clear(struct sim_plan *plan);

/* Set the seed of the rules that have none of their own. */
void sim_plan_set_seed(struct sim_plan *plan, uint64_t seed);

/* A rule for reports. matched counts the operations that met all conditions, up to the
 * one from which on the rule cannot fire any more. */
struct sim_plan_rule {
	uint32_t id;
	uint64_t matched, fired;
	uint64_t added_ns;
	struct sim_rule rule;
	char text[SIM_RULE_TEXT_SIZE];
};

/* Visit the rules in order. Any process may call; invalid slots are skipped. */
typedef void sim_plan_rule_cb(void *arg, const struct sim_plan_rule *rule);
void sim_plan_each(const struct sim_plan *plan, sim_plan_rule_cb *cb, void *arg);

/* Visit the removed rules whose slots have not been reused and that had no file of delays. */
void sim_plan_each_removed(const struct sim_plan *plan, sim_plan_rule_cb *cb, void *arg);

uint32_t sim_plan_num_rules(const struct sim_plan *plan);

#endif

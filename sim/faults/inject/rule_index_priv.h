/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/inject/rule_index_priv.h - the index of a process's rules.
 *
 *   operation, size class     --> bitmap of slots --> entry: the rule, checked
 *   function                  --> bitmap of slots whose device condition the function meets
 *   address outside all rules --> bitmap of slots without an address condition
 *
 * The size classes are the powers of two, which most sizes are, and the ranges
 * between them. A rule whose time has not come has an entry but no bits.
 *
 * One thread at a time changes an index, under its lock, while others read. The
 * index is allocated once, so nothing that a reader uses goes away. An entry's id is
 * cleared before the entry changes and set afterwards, as in the plan. A reader that
 * finds a bit checks the entry.
 */
#ifndef SIM_FAULTS_RULE_INDEX_PRIV_H
#define SIM_FAULTS_RULE_INDEX_PRIV_H

#include <pthread.h>

#include "injector.h"
#include "sim/faults/plan/plan_read.h"

#define SIM_SLOT_BITMAP_WORDS (SIM_PLAN_MAX_RULES / 64)
#define SIM_SIZE_CLASSES      128
#define SIM_PROCESS_NAME_SIZE 64

/* A set of slots. */
struct sim_slot_bitmap {
	_Atomic uint64_t summary; /* the words that have a bit */
	_Atomic uint64_t words[SIM_SLOT_BITMAP_WORDS];
};

/* A rule that may hit in this process. rule.ops are the operations at which it may. Of a
 * series of delays, delay_a is the position in the pool and delay_b the count. */
struct sim_index_entry {
	_Alignas(64) _Atomic uint32_t id;      /* 0 = none */
	uint32_t known_id;                     /* the id in the plan as of the last refresh; under the lock */
	_Atomic uint64_t rule[SIM_RULE_WORDS]; /* the conditions are in the first cache line */
	_Atomic uint64_t added_ns;
	_Atomic uint64_t matched; /* by this process */
	bool is_indexed;          /* has its bits in the bitmaps; under the lock */
};

struct sim_rule_index {
	struct sim_injector injector;
	struct sim_plan *plan;
	const struct pcie_topology *topology;
	pthread_mutex_t lock;
	char side[SIM_PROCESS_NAME_SIZE], program[SIM_PROCESS_NAME_SIZE];
	int32_t pid;
	void (*on_begin)(void *arg, uint32_t id);
	void *arg;
	uint32_t num_ids;                    /* of functions and network links */
	uint32_t end;                        /* one past the last known slot; under the lock */
	_Atomic uint64_t next_begin_ns;      /* the earliest begin of a rule without bits */
	_Atomic uint64_t addr_min, addr_max; /* the range of all address conditions */
	struct sim_slot_bitmap any_address;  /* rules for any address */
	struct sim_slot_bitmap after;        /* events that wait for operations, of any function */
	struct sim_slot_bitmap bitmaps[SIM_OP_COUNT][SIM_SIZE_CLASSES];
	struct sim_index_entry entries[SIM_PLAN_MAX_RULES];
	struct sim_slot_bitmap *functions; /* one for each function, each network link, and one for none */
};

static inline struct sim_rule_index *sim_rule_index_of(struct sim_injector *injector)
{
	return (struct sim_rule_index *)injector; /* its first member */
}

/* One field of an entry's rule, without a copy of the rule. */
#define sim_index_entry_field(entry, member) \
	atomic_load_explicit(&(entry)->rule[offsetof(struct sim_rule, member) / sizeof(uint64_t)], memory_order_relaxed)

/* Whether the entry's rule is for @op. */
static inline bool sim_index_entry_has_op(const struct sim_index_entry *entry, enum sim_op op)
{
	size_t word = offsetof(struct sim_rule, ops) / sizeof(uint64_t) + op / 64;

	return atomic_load_explicit(&entry->rule[word], memory_order_relaxed) >> op % 64 & 1;
}

static inline bool sim_slot_bitmap_has(const struct sim_slot_bitmap *bitmap, uint32_t slot_index)
{
	return atomic_load_explicit(&bitmap->words[slot_index / 64], memory_order_acquire) >> slot_index % 64 & 1;
}

/* When the event of the rule in @slot_index begins; SIM_NEVER_NS = it waits for an operation. */
static inline uint64_t sim_event_begin_ns(const struct sim_rule_index *index, uint32_t slot_index,
					  const struct sim_rule *rule)
{
	const struct sim_plan_slot *slot = &index->plan->slots[slot_index];
	uint64_t added_ns;

	if (rule->when & SIM_WHEN_AFTER)
		return atomic_load_explicit(&slot->has_begun, memory_order_acquire) ?
			       atomic_load_explicit(&slot->added_ns, memory_order_relaxed) :
			       SIM_NEVER_NS;
	added_ns = atomic_load_explicit(&index->entries[slot_index].added_ns, memory_order_acquire);
	return rule->from_ns > added_ns ? rule->from_ns : added_ns;
}

/* The rules for an operation of @size bytes, and those for a function. */
const struct sim_slot_bitmap *sim_rule_index_size_bitmap(const struct sim_rule_index *index, enum sim_op op,
							 uint64_t size);
const struct sim_slot_bitmap *sim_rule_index_function_bitmap(const struct sim_rule_index *index, uint32_t function);

/* Update the index if the plan has changed. */
void sim_rule_index_refresh(struct sim_rule_index *index);

/* Set the bits of the rules whose time has come. */
void sim_rule_index_activate_due(struct sim_rule_index *index, uint64_t now_ns);

/* Remove the rule in @slot_index, which cannot fire any more, unless another thread has
 * the lock or has removed it. */
void sim_rule_index_drop_exhausted(struct sim_rule_index *index, uint32_t slot_index, uint32_t id);

/* Whether a process meets the side, program and pid conditions of a rule. */
bool sim_rule_matches_process(const struct sim_rule *rule, const struct sim_process *process);

/* Whether a site meets the conditions of a rule about the operation: all but those of process and device. */
bool sim_rule_matches_operation(const struct sim_rule *rule, const struct sim_fault_site *site);

#endif

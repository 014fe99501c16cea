/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/inject/rule_index_priv.h - the inside of a process's index, shared by view.c and strike.c.
 *
 *   operation, class of sizes --> bitmap of slots --> entry: the rule, checked
 *   function                  --> bitmap of slots that do not ask for another one
 *   address beyond all asked  --> bitmap of slots that ask for none
 *
 * Classes of sizes are the powers of two, which most sizes are, and what lies
 * between them. A rule whose time has not come is an entry without a bit.
 *
 * One thread at a time changes an index, under its lock; others read it meanwhile.
 * All of it is allocated once and stays, so nothing that a reader looks at goes
 * away. An entry's id is cleared before the entry changes and set behind, as in
 * the plan; a bit alone proves nothing, the entry it leads to is looked at.
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
	_Atomic uint64_t summary; /* which words have a bit */
	_Atomic uint64_t words[SIM_SLOT_BITMAP_WORDS];
};

/* A rule that may strike in this process. Its ops are those at which it may; a
 * series of delays is replaced by its position in the pool, a the first, b the count. */
struct sim_index_entry {
	_Alignas(64) _Atomic uint32_t id;      /* 0 = none */
	uint32_t known_id;                     /* what was last found in the plan; under the lock */
	_Atomic uint64_t rule[SIM_RULE_WORDS]; /* its conditions are in the first line of the cache */
	_Atomic uint64_t added_ns;
	_Atomic uint64_t matched; /* by this process */
	bool is_indexed;          /* has its bits; under the lock */
};

struct sim_rule_index {
	struct sim_injector injector;
	struct sim_plan *plan;
	const struct pcie_topology *topology;
	pthread_mutex_t lock;
	char side[SIM_PROCESS_NAME_SIZE], program[SIM_PROCESS_NAME_SIZE];
	int32_t pid;
	uint32_t num_functions;
	uint32_t end;                        /* of the slots known; under the lock */
	_Atomic uint64_t next_begin_ns;      /* then a rule's time has come */
	_Atomic uint64_t addr_min, addr_max; /* rules for addresses are for these */
	_Atomic uint32_t num_missed,
		cache_backoff; /* asks that met no rule; and how many of them before the next looks around */
	struct sim_slot_bitmap any_address; /* rules for any address */
	struct sim_slot_bitmap bitmaps[SIM_OP_COUNT][SIM_SIZE_CLASSES];
	struct sim_index_entry entries[SIM_PLAN_MAX_RULES];
	struct sim_slot_bitmap *functions; /* one for each function, and one for none */
};

static inline struct sim_rule_index *sim_rule_index_of(struct sim_injector *injector)
{
	return (struct sim_rule_index *)injector; /* its first member */
}

/* A condition of an entry, without copying all of it. */
#define sim_index_entry_field(entry, member) \
	atomic_load_explicit(&(entry)->rule[offsetof(struct sim_rule, member) / sizeof(uint64_t)], memory_order_relaxed)

static inline uint64_t sim_fault_site_last_addr(const struct sim_fault_site *site)
{
	uint64_t last = site->addr + (site->size ? site->size - 1 : 0);

	return last < site->addr ? UINT64_MAX : last;
}

static inline bool sim_slot_bitmap_has(const struct sim_slot_bitmap *bitmap, uint32_t slot_index)
{
	return atomic_load_explicit(&bitmap->words[slot_index / 64], memory_order_acquire) >> slot_index % 64 & 1;
}

static inline const struct sim_slot_bitmap *sim_rule_index_function_bitmap(const struct sim_rule_index *index,
									   uint32_t function)
{
	return &index->functions[function < index->num_functions ? function : index->num_functions];
}

/* 0, 1, 2, 3, 4, 5 to 7, 8, 9 to 15, 16, ... */
static inline unsigned int sim_size_class(uint64_t size)
{
	if (size < 2)
		return (unsigned int)size;
	return 2 * (63 - (unsigned int)__builtin_clzll(size)) + ((size & (size - 1)) != 0);
}

/* Bring the index up to date if the plan changed. */
void sim_rule_index_refresh(struct sim_rule_index *index);

/* At a site of an operation, no event, no rule was met: note how far around it there is none. */
void sim_rule_index_cache_no_fault(struct sim_rule_index *index, const struct sim_fault_site *site);

/* Forget what was noted. Under the lock. */
void sim_rule_index_clear_no_fault_cache(struct sim_rule_index *index);

/* Take in the rules whose time has come. */
void sim_rule_index_activate_due(struct sim_rule_index *index, uint64_t now_ns);

/* The rule in @slot_index can't strike any more: it leaves the index, unless another
 * thread is at it or it has left. */
void sim_rule_index_drop_exhausted(struct sim_rule_index *index, uint32_t slot_index, uint32_t id);

/* Whether a rule's names are those of a process, and of a function. */
bool sim_rule_matches_process(const struct sim_rule *rule, const struct sim_process *process);

#endif

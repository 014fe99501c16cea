/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/inject/rule_index_priv.h - the inside of a process's view, shared by view.c and strike.c.
 *
 *   operation, class of sizes --> bitmap of places --> entry: the rule, checked
 *   function                  --> bitmap of places that do not ask for another one
 *   address beyond all asked  --> bitmap of places that ask for none
 *
 * Classes of sizes are the powers of two, which most sizes are, and what lies
 * between them. A rule whose time has not come is an entry without a bit.
 *
 * One thread at a time changes a view, under its lock; others read it meanwhile.
 * All of it is allocated once and stays, so nothing that a reader looks at goes
 * away. An entry's id is cleared before the entry changes and set behind, as in
 * the plan; a bit alone proves nothing, the entry it leads to is looked at.
 */
#ifndef SIM_FAULTS_VIEW_PRIV_H
#define SIM_FAULTS_VIEW_PRIV_H

#include <pthread.h>

#include "injector.h"
#include "sim/faults/plan/plan_read.h"

#define SIM_MAP_WORDS (SIM_PLAN_MAX_RULES / 64)
#define SIM_SIZE_CLASSES 128
#define SIM_WHO_SIZE 64

/* A set of places. */
struct sim_map {
	_Atomic uint64_t summary; /* which words have a bit */
	_Atomic uint64_t words[SIM_MAP_WORDS];
};

/* A rule that may strike in this process. Its ops are those at which it may; a
 * series of delays is replaced by its place in the pool, a the first, b the count. */
struct sim_entry {
	_Alignas(64) _Atomic uint32_t id; /* 0 = none */
	uint32_t known_id;        /* what was last found in the plan; under the lock */
	_Atomic uint64_t rule[SIM_RULE_WORDS]; /* its conditions are in the first line of the cache */
	_Atomic uint64_t added_ns;
	_Atomic uint64_t matched; /* by this process */
	bool is_indexed;          /* has its bits; under the lock */
};

struct sim_view {
	struct sim_faults faults;
	struct sim_plan *plan;
	const struct pcie_topology *topology;
	pthread_mutex_t lock;
	char side[SIM_WHO_SIZE], program[SIM_WHO_SIZE];
	int32_t pid;
	uint32_t num_functions;
	uint32_t end;             /* of the places known; under the lock */
	_Atomic uint64_t next_begin_ns; /* then a rule's time has come */
	_Atomic uint64_t addr_min, addr_max; /* rules for addresses are for these */
	_Atomic uint32_t num_missed, calm_wait; /* asks that met no rule; and how many of them before the next looks around */
	struct sim_map anywhere;  /* rules for any address */
	struct sim_map maps[SIM_OP_COUNT][SIM_SIZE_CLASSES];
	struct sim_entry entries[SIM_PLAN_MAX_RULES];
	struct sim_map *functions; /* one for each function, and one for none */
};

static inline struct sim_view *sim_view_of(struct sim_faults *faults)
{
	return (struct sim_view *)faults; /* its first member */
}

/* A condition of an entry, without copying all of it. */
#define sim_entry_peek(entry, member)                                                      \
	atomic_load_explicit(&(entry)->rule[offsetof(struct sim_rule, member) / sizeof(uint64_t)], memory_order_relaxed)

static inline uint64_t sim_site_last_addr(const struct sim_site *site)
{
	uint64_t last = site->addr + (site->size ? site->size - 1 : 0);

	return last < site->addr ? UINT64_MAX : last;
}

static inline bool sim_map_has(const struct sim_map *map, uint32_t place)
{
	return atomic_load_explicit(&map->words[place / 64], memory_order_acquire) >> place % 64 & 1;
}

static inline const struct sim_map *sim_view_function_map(const struct sim_view *view, uint32_t function)
{
	return &view->functions[function < view->num_functions ? function : view->num_functions];
}

/* 0, 1, 2, 3, 4, 5 to 7, 8, 9 to 15, 16, ... */
static inline unsigned int sim_size_class(uint64_t size)
{
	if (size < 2)
		return (unsigned int)size;
	return 2 * (63 - (unsigned int)__builtin_clzll(size)) + ((size & (size - 1)) != 0);
}

/* Bring the view up to date if the plan changed. */
void sim_view_refresh(struct sim_view *view);

/* At a site of an operation, no event, no rule was met: note how far around it there is none. */
void sim_view_note_calm(struct sim_view *view, const struct sim_site *site);

/* Forget what was noted. Under the lock. */
void sim_view_forget_calm(struct sim_view *view);

/* Take in the rules whose time has come. */
void sim_view_begin(struct sim_view *view, uint64_t now_ns);

/* The rule in @place can't strike any more: it leaves the view, unless another
 * thread is at it or it has left. */
void sim_view_drop_spent(struct sim_view *view, uint32_t place, uint32_t id);

/* Whether a rule's names are those of a process, and of a function. */
bool sim_where_process(const struct sim_rule *rule, const struct sim_who *who);

#endif

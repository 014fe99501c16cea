/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/inject/injector.h - one process's view of the plan: which faults hit an operation here and now.
 *
 *   if (sim_injector_may_hit(injector, SIM_OP_DMA_MEMCPY)) {        a few loads; NULL is fine
 *           struct sim_fault_site site = {.op = SIM_OP_DMA_MEMCPY, .function = id, .size = len, .addr = dst};
 *           struct sim_fault_hit hit;
 *
 *           if (sim_injector_needs_time(injector, site.op))          read the clock only then
 *                   site.now_ns = now();
 *           if (sim_injector_evaluate(injector, &site, &hit))
 *                   ... apply hit.actions
 *   }
 *
 * Any thread evaluates at any time, without a lock. The injector keeps a checked
 * copy of each rule and, for each operation and size class, a bitmap of the rules
 * that may hit there. Rules for other sides, programs and processes have no bits. The
 * next evaluation after a change of the plan updates the bitmaps. A rule that cannot
 * fire any more is dropped. The plan is untrusted: corrupt contents inject
 * faults that no rule asks for, and no more. no_fault_cache.h saves evaluations.
 *
 * A rule whose conditions hold counts a match, in the order of the plan. Its counters
 * decide by the number of the match whether it fires: skip the first matches; fire at
 * the n-th of the rest, at each n-th of the rest, or by chance. The draws of a match
 * depend only on the seed, the rule's id and the number of the match. After a rule that
 * ends the operation (SIM_ROLE_ENDS) the others do not fire, but count their
 * matches.
 *
 * Rules that fire together combine: delays, stalls, error rates and flipped bits add;
 * of truncations the shortest counts, of windows the widest, of times down or paused
 * the longest, of numbers of VFs the first. With hang, refuse and drop no other action
 * is left. On a link each rule lasts as long as that rule says, so on_fire reports each
 * rule by itself.
 *
 * Events (link, net.link, function, peer, daemon) have no caller. The process that runs the
 * session evaluates each function, each process and itself when it appears, and again
 * at sim_injector_next_event_ns():
 *
 *   first:   since_ns 0, now_ns t         all rules that have begun by t
 *   later:   since_ns t + 1, now_ns u     the rules that began in between
 *
 * A rule begins at its from, or when it was added if that is later; one with SIM_WHEN_AFTER when the operation comes that
 * it waits for, which processes count like matches. A rule that would
 * change nothing (add of a function that is there) counts a match and does not fire
 * (is_noop).
 */
#ifndef SIM_INJECTOR_H
#define SIM_INJECTOR_H

#include <stdatomic.h>

#include "pcie_model/topology/topology.h"
#include "no_fault_cache.h"
#include "sim/faults/plan/plan.h"

#define SIM_NO_FUNCTION         UINT32_MAX
#define SIM_FAULT_HIT_MAX_RULES 8

/* A process, for the conditions side, program and pid. */
struct sim_process {
	const char *side, *program;
	int32_t pid;
};

struct sim_fault_site {
	enum sim_op op;
	uint32_t function;                 /* id in the topology, that of a trunk, or SIM_NO_FUNCTION */
	uint64_t size;                     /* bytes of the operation; 0 = none */
	uint64_t addr;                     /* of its data; of a copy, the destination */
	uint64_t now_ns;                   /* session time; unused unless sim_injector_needs_time() */
	uint64_t since_ns;                 /* events: rules that began earlier are done */
	uint64_t upto_ns;                  /* events: rules that begin later are not due; 0 = now_ns */
	const struct sim_process *process; /* events: the process concerned, or NULL; else this process */
	/* Called for each rule that is about to fire; a rule without an effect does not. May be NULL. */
	bool (*is_noop)(void *arg, uint32_t id, const struct sim_rule *rule);
	/* Each rule that fires, with the delay that it has drawn, or 0. May be NULL. */
	void (*on_fire)(void *arg, uint32_t id, const struct sim_rule *rule, uint64_t delay_ns);
	void *arg;
};

static inline uint64_t sim_fault_site_last_addr(const struct sim_fault_site *site)
{
	uint64_t last = site->addr + (site->size ? site->size - 1 : 0);

	return last < site->addr ? UINT64_MAX : last;
}

struct sim_fault_hit {
	sim_bits actions;                            /* SIM_ACT_BIT()s */
	uint32_t num_rules;                          /* that fired; the arrays have the first ones */
	uint32_t rules[SIM_FAULT_HIT_MAX_RULES];     /* ids */
	uint64_t matches[SIM_FAULT_HIT_MAX_RULES];   /* number among the matches of this process, from 1 */
	uint64_t delays_ns[SIM_FAULT_HIT_MAX_RULES]; /* of rules that delay */
	uint32_t status;                             /* FAIL: an enum sim_status */
	uint32_t refuse_status;                      /* REFUSE: AGAIN or NO_MEMORY; 0 = a connection without a server */
	uint64_t moved_bytes;                        /* FAIL: written before; at most the site's size */
	uint64_t delay_ns;                           /* DELAY */
	uint64_t duration_ns;                        /* STALL, DOWN, PAUSE */
	uint64_t key;                                /* FLIP, TEAR: key of sim_fault_hit_bit() */
	uint32_t flip_bits;                          /* FLIP; at most the number of bits */
	uint32_t truncate_bytes;                     /* TRUNCATE */
	uint32_t window;                             /* REORDER */
	uint32_t reorder_by;                         /* REORDER: drawn from 1 to window */
	uint32_t num_vfs;                            /* NUM_VFS */
};

/* Whether a struct sim_fault_hit has the action SIM_ACT_@act. */
#define SIM_FAULT_HAS_ACT(hit, act) (((hit)->actions & SIM_ACT_BIT(SIM_ACT_##act)) != 0)

struct sim_injector_cfg {
	struct sim_plan *plan;                /* borrowed; outlives the injector */
	const struct pcie_topology *topology; /* borrowed; NULL = no device condition holds */
	struct sim_process self;              /* its texts are copied */
	/* The operation has come that the event of rule @id waits for (SIM_WHEN_AFTER): the owner of the plan begins it
	 * (sim_plan_begin()). Called by the thread of the operation. May be NULL. */
	void (*on_begin)(void *arg, uint32_t id);
	void *arg;
};

/* The part that inline functions read. */
struct sim_injector {
	const struct sim_plan *plan;
	_Atomic uint64_t seen_generation;      /* the plan's generation as of the last update */
	_Atomic bool may_hit[SIM_OP_COUNT];    /* a rule may hit the operation here */
	_Atomic bool needs_time[SIM_OP_COUNT]; /* and has a time condition */
};

/* Create the injector of this process. Returns 0, -EINVAL (a text is too long) or -ENOMEM. */
int sim_injector_create(const struct sim_injector_cfg *cfg, struct sim_injector **ret_injector);

/* Free the injector; no thread evaluates any more. NULL is fine. */
void sim_injector_destroy(struct sim_injector *injector);

/* Whether a rule may hit @op. If not, an evaluation is useless. */
static inline bool sim_injector_may_hit(const struct sim_injector *injector, enum sim_op op)
{
	return injector && (atomic_load_explicit(&injector->may_hit[op], memory_order_relaxed) ||
			    atomic_load_explicit(&injector->seen_generation, memory_order_relaxed) !=
				    atomic_load_explicit(&injector->plan->generation, memory_order_relaxed));
}

/* Whether an evaluation will read the site's now_ns. */
static inline bool sim_injector_needs_time(const struct sim_injector *injector, enum sim_op op)
{
	return injector && (atomic_load_explicit(&injector->needs_time[op], memory_order_relaxed) ||
			    atomic_load_explicit(&injector->seen_generation, memory_order_relaxed) !=
				    atomic_load_explicit(&injector->plan->generation, memory_order_relaxed));
}

/* Whether the cache knows that no rule is for an operation of @size bytes at @addr. */
static inline bool sim_no_fault_cache_has(const struct sim_no_fault_cache *cache, const struct sim_injector *injector,
					  uint64_t size, uint64_t addr)
{
	uint64_t last = addr + (size ? size - 1 : 0);

	return cache->generation == atomic_load_explicit(&injector->plan->generation, memory_order_relaxed) &&
	       size >= cache->size_min && size <= cache->size_max && addr >= cache->addr_min &&
	       last <= cache->addr_max && last >= addr;
}

/* The same for most sites, with fewer comparisons: for sizes up to the largest that was looked up. */
static inline bool sim_no_fault_cache_has_near(const struct sim_no_fault_cache *cache,
					       const struct sim_injector *injector, uint64_t size, uint64_t addr)
{
	return cache->generation == atomic_load_explicit(&injector->plan->generation, memory_order_relaxed) &&
	       size - cache->size_min <= cache->near_sizes && addr - cache->addr_min <= cache->near_addrs;
}

/* Evaluate the rules and count their matches. Returns whether a fault hits; *ret_hit is set only then. */
bool sim_injector_evaluate(struct sim_injector *injector, const struct sim_fault_site *site,
			   struct sim_fault_hit *ret_hit);

/* The begin of the next rule for events after @after_ns; SIM_NEVER_NS = none. */
uint64_t sim_injector_next_event_ns(struct sim_injector *injector, uint64_t after_ns);

/* Whether the pattern of a rule is for that side: "dpu" matches "node0/dpu", too. */
bool sim_side_pattern_matches(const char *pattern, const char *side);

/* Whether the device condition @device is for @function. */
bool sim_device_pattern_matches(const char *device, const struct pcie_function *function);

/* Whether the link of that index is a trunk, and the rule's device condition names it: "leaf0/spine", or with the other switch
 * first. Without a condition, or a '/' in it, a rule is for functions. */
bool sim_rule_names_trunk(const struct sim_rule *rule, const struct pcie_topology *topology, uint32_t link);

/* The position of the hit's @i-th flipped bit among @num_bits (> 0) bits, i < flip_bits. All positions
 * differ as long as flip_bits <= num_bits. */
uint64_t sim_fault_hit_bit(const struct sim_fault_hit *hit, uint32_t i, uint64_t num_bits);

/* Flip the hit's bits in the @len bytes at @data. */
void sim_fault_hit_flip(const struct sim_fault_hit *hit, void *data, size_t len);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/inject/injector.h - one process's view of the plan: which faults strike here, now?
 *
 *   if (sim_injector_may_hit(injector, SIM_OP_DMA_MEMCPY)) {        a few loads; NULL is fine
 *           struct sim_fault_site site = {.op = SIM_OP_DMA_MEMCPY, .function = id, .size = len, .addr = dst};
 *           struct sim_fault_hit hit;
 *
 *           if (sim_injector_needs_time(injector, site.op))          only then the clock is looked at
 *                   site.now_ns = now();
 *           if (sim_injector_evaluate(injector, &site, &hit))
 *                   ... hit.actions says what happens
 *   }
 *
 * Any thread asks at any time, without a lock. The view keeps a checked copy of
 * each rule and, for each operation and class of sizes (powers of two), a bitmap
 * of the rules that may strike there; rules for other sides, programs and
 * processes are in none. Where an ask met no rule, it is noted how far around the site
 * there is none either (sim_no_fault_cache_has()), so that what a program does again and again costs the same
 * with any number of rules. A change of the plan is noticed by the next ask, which
 * brings the view up to date. A rule that can't fire any more leaves it. What
 * stands in the plan is not trusted: at worst faults strike that nobody asked for.
 *
 * Which rules strike: those whose conditions hold are counted as matched, in the
 * order of the plan, and get the number of their match. Each fires if its when
 * says so to that number: skip the first matches; the nth of the rest; every so
 * many of the rest; by chance. The draws of a match depend on the seed, the
 * rule's id and the match's number alone. With the first that fires and ends the
 * operation (SIM_ACTS_TERMINAL) the others no longer fire, but their matches are
 * counted.
 *
 * Several that fire strike together: delays, stalls and error rates add; flipped
 * bits add; of messages' cuts the shortest, of windows the widest, of times
 * down or paused the longest; of a number of VFs the first. With hang, refuse and
 * drop nothing else is left to do, whatever fired before. What each of several
 * does to a link lasts as long as that rule says: so they are told one by one (on_fire).
 *
 * Events (link, function, peer, daemon) have no caller of their own. Whoever runs
 * the session asks for each function, process and itself when it appears, and
 * again when sim_injector_next_event_ns() says so:
 *
 *   first ask:   since_ns 0, now_ns t         all that hold at t, as far as they began
 *   later asks:  since_ns t + 1, now_ns u     those that began in between
 *
 * A rule begins at its from, or when it was added if that is later. One that would change nothing
 * where it strikes (a function is added that is there) is a match and does not fire (is_noop).
 */
#ifndef SIM_INJECTOR_H
#define SIM_INJECTOR_H

#include <stdatomic.h>

#include "pcie_model/topology/topology.h"
#include "sim/faults/plan/plan.h"

#define SIM_NO_FUNCTION         UINT32_MAX
#define SIM_FAULT_HIT_MAX_RULES 8

/* A process, as conditions see it. */
struct sim_process {
	const char *side, *program;
	int32_t pid;
};

struct sim_fault_site {
	enum sim_op op;
	uint32_t function;                 /* id in the topology, or SIM_NO_FUNCTION */
	uint64_t size;                     /* bytes of the operation, 0 = it has none */
	uint64_t addr;                     /* where its data lie; of a copy, where it goes to */
	uint64_t now_ns;                   /* session time; need not be set unless sim_injector_needs_time() */
	uint64_t since_ns;                 /* events: asked up to here before */
	uint64_t upto_ns;                  /* events: asked for those that began up to here; 0 = up to now_ns */
	const struct sim_process *process; /* events: whom it is about, NULL = nobody; others: this process */
	/* Asked of each that would fire: it does not if nothing would come of it. May be NULL. */
	bool (*is_noop)(void *arg, uint32_t id, const struct sim_rule *rule);
	void (*on_fire)(void *arg, uint32_t id, const struct sim_rule *rule); /* told of each that fires; may be NULL */
	void *arg;
};

struct sim_fault_hit {
	uint32_t actions;                          /* SIM_ACT_BIT()s; what follows belongs to these */
	uint32_t num_rules;                        /* that struck; the first of them: */
	uint32_t rules[SIM_FAULT_HIT_MAX_RULES];   /* ids */
	uint64_t matches[SIM_FAULT_HIT_MAX_RULES]; /* of each: which of this process's matches it was, counted from 1 */
	uint64_t delays_ns[SIM_FAULT_HIT_MAX_RULES]; /* of each that delays: by how much */
	uint32_t status;                             /* FAIL */
	uint32_t refuse_status;  /* REFUSE: AGAIN or NO_MEMORY; of connections 0 = as a server that is not there */
	uint64_t moved_bytes;    /* FAIL: written before; at most the site's size */
	uint64_t delay_ns;       /* DELAY */
	uint64_t duration_ns;    /* STALL, DOWN, PAUSE */
	uint64_t key;            /* FLIP, TEAR: of the match, see sim_fault_hit_bit() */
	uint32_t flip_bits;      /* FLIP; at most as many as there are */
	uint32_t truncate_bytes; /* TRUNCATE */
	uint32_t window;         /* REORDER */
	uint32_t reorder_by;     /* REORDER: drawn, arrives behind so many later ones, 1 to window */
	uint32_t num_vfs;        /* NUM_VFS */
};

struct sim_injector_cfg {
	struct sim_plan *plan;                /* borrowed; outlives the view */
	const struct pcie_topology *topology; /* borrowed; NULL = no device= holds */
	struct sim_process self;              /* its texts are copied */
};

#define SIM_NO_FAULT_CACHE_ENTRIES 4 /* functions with a place of their own; others share one */

/* Sites at which no rule strikes: of one operation, at one function, of so many bytes, that lie between two
 * addresses. What the last ask that met no rule found out about its surroundings. */
struct sim_no_fault_cache {
	_Alignas(64) _Atomic uint64_t sequence; /* odd while somebody changes it */
	_Atomic uint64_t function;              /* SIM_NO_FAULT_CACHE_EMPTY = there are none */
	_Atomic uint64_t size_min, size_max, addr_min, addr_max;
};

#define SIM_NO_FAULT_CACHE_EMPTY UINT64_MAX

/* The part that is looked at from inline functions. */
struct sim_injector {
	const struct sim_plan *plan;
	_Atomic uint64_t seen_generation; /* the generation that the view shows */
	_Atomic uint64_t ops;             /* operations that a rule may strike here */
	_Atomic uint64_t timed;           /* ... and that know times */
	struct sim_no_fault_cache no_fault_cache[SIM_OP_COUNT][SIM_NO_FAULT_CACHE_ENTRIES];
};

/* A copy of that for one thread, which asks about one operation at one function, again and again. */
struct sim_no_fault_copy {
	uint64_t generation; /* the plan's that it is of; SIM_NO_FAULT_COPY_EMPTY = it is empty */
	uint64_t size_min, size_max, addr_min, addr_max;
};

#define SIM_NO_FAULT_COPY_EMPTY UINT64_MAX

/* Create the view. Returns 0, -EINVAL (a text is too long) or -ENOMEM. */
int sim_injector_create(const struct sim_injector_cfg *cfg, struct sim_injector **ret_injector);

/* Free it; no thread is asking any more. NULL is fine. */
void sim_injector_destroy(struct sim_injector *injector);

/* Whether it is worth asking about @op. */
static inline bool sim_injector_may_hit(const struct sim_injector *injector, enum sim_op op)
{
	return injector && ((atomic_load_explicit(&injector->ops, memory_order_relaxed) & SIM_OP_BIT(op)) ||
			    atomic_load_explicit(&injector->seen_generation, memory_order_relaxed) !=
				    atomic_load_explicit(&injector->plan->generation, memory_order_relaxed));
}

/* Whether the site's now_ns will be looked at. */
static inline bool sim_injector_needs_time(const struct sim_injector *injector, enum sim_op op)
{
	return injector && ((atomic_load_explicit(&injector->timed, memory_order_relaxed) & SIM_OP_BIT(op)) ||
			    atomic_load_explicit(&injector->seen_generation, memory_order_relaxed) !=
				    atomic_load_explicit(&injector->plan->generation, memory_order_relaxed));
}

/* Whether nothing strikes at the site, which is known without an ask. If not, ask. */
static inline bool sim_no_fault_cache_has(const struct sim_injector *injector, const struct sim_fault_site *site)
{
	const struct sim_no_fault_cache *cache =
		&injector->no_fault_cache[site->op][site->function % SIM_NO_FAULT_CACHE_ENTRIES];
	uint64_t sequence = atomic_load_explicit(&cache->sequence, memory_order_acquire);
	uint64_t last = site->addr + (site->size ? site->size - 1 : 0);

	return atomic_load_explicit(&cache->function, memory_order_acquire) == site->function &&
	       site->size >= atomic_load_explicit(&cache->size_min, memory_order_acquire) &&
	       site->size <= atomic_load_explicit(&cache->size_max, memory_order_acquire) &&
	       site->addr >= atomic_load_explicit(&cache->addr_min, memory_order_acquire) &&
	       last <= atomic_load_explicit(&cache->addr_max, memory_order_acquire) && last >= site->addr &&
	       !(sequence & 1) && atomic_load_explicit(&cache->sequence, memory_order_relaxed) == sequence &&
	       atomic_load_explicit(&injector->seen_generation, memory_order_relaxed) ==
		       atomic_load_explicit(&injector->plan->generation, memory_order_relaxed);
}

/* The same by a copy. */
static inline bool sim_no_fault_copy_has(const struct sim_no_fault_copy *copy, const struct sim_injector *injector,
					 uint64_t size, uint64_t addr)
{
	uint64_t last = addr + (size ? size - 1 : 0);

	return copy->generation == atomic_load_explicit(&injector->plan->generation, memory_order_relaxed) &&
	       size >= copy->size_min && size <= copy->size_max && addr >= copy->addr_min && last <= copy->addr_max &&
	       last >= addr;
}

/* Copy what is known around @site, if the cache has it. Whether it is. */
bool sim_no_fault_cache_copy(const struct sim_injector *injector, const struct sim_fault_site *site,
			     struct sim_no_fault_copy *ret_copy);

/* Ask, and count. Whether a fault strikes; only then *ret_hit is set. */
bool sim_injector_evaluate(struct sim_injector *injector, const struct sim_fault_site *site,
			   struct sim_fault_hit *ret_hit);

/* When the first rule for events begins that begins after @after_ns; SIM_NEVER_NS = none. */
uint64_t sim_injector_next_event_ns(struct sim_injector *injector, uint64_t after_ns);

/* The functions are others from now on; the old topology is no longer looked at
 * when this returns, provided that no other thread is asking. 0 or -ENOMEM. */
int sim_injector_set_topology(struct sim_injector *injector, const struct pcie_topology *topology);

/* Whether @device, as rules have it, is a name of the function's. */
bool sim_device_pattern_matches(const char *device, const struct pcie_function *function);

/* Which bit of @num_bits (> 0) the strike's @i-th flip is in, i < flip_bits; all
 * differ as long as flip_bits <= num_bits. */
uint64_t sim_fault_hit_bit(const struct sim_fault_hit *hit, uint32_t i, uint64_t num_bits);

/* Flip them, in @len bytes at @data. */
void sim_fault_hit_flip(const struct sim_fault_hit *hit, void *data, size_t len);

#endif

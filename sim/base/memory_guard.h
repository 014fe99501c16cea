/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/memory_guard.h - accesses of the card to memory that the program, or another process, may take away.
 *
 * A card's engine works on pinned pages. Here it reads and writes the program's memory, which the program may have
 * unmapped, truncated or protected meanwhile. Between sim_guard_begin() and sim_guard_end(), a fault of this thread at an
 * address that the guard's @find knows does not reach the program:
 *
 *   access --fault--> handler --find, make the page accessible--> the access goes on --> sim_guard_settle()
 *
 *   unmapped, truncated  the access goes on with zeros: @is_lost, and whoever began the guard fails the work
 *   protected            the page is read or written nevertheless, as pinned pages are
 *   an imported mapping  (truncated by its exporter) the mapping is replaced by zeros for good, and marked as lost
 *
 * No jump leaves the work, which may be in the middle of another project's library. All other faults go to the program
 * (memory_signals.h). Without a fault, a guard costs a store at its begin and at its end, and a look at @has_faulted.
 *
 * A second thread that reads pages while they are on loan to the first one sees zeros, and no fault. A thread that blocks
 * SIGSEGV or SIGBUS has no guard.
 */
#ifndef SIM_MEMORY_GUARD_H
#define SIM_MEMORY_GUARD_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A mapping of an object of another process. */
struct sim_mapping {
	void *addr; /* NULL = none */
	size_t len_bytes;
	atomic_bool is_lost; /* the object was truncated: the mapping holds zeros */
};

static inline bool sim_mapping_has(const struct sim_mapping *mapping, uintptr_t addr)
{
	return mapping->addr && addr - (uintptr_t)mapping->addr < mapping->len_bytes;
}

enum sim_memory_fault {
	SIM_MEMORY_UNMAPPED,
	SIM_MEMORY_TRUNCATED,
	SIM_MEMORY_PROTECTED,
};

/* Memory that an address belongs to: a mapping of this project's, or a range of the program's memory. */
struct sim_guarded_memory {
	struct sim_mapping *mapping; /* NULL = the program's */
	uintptr_t begin, end;
};

struct sim_loans;

struct sim_guard {
	/* Returns false if the work has no business at @addr. In a signal handler. */
	bool (*find)(const struct sim_guard *guard, uintptr_t addr, struct sim_guarded_memory *ret_memory);
	/* Of faults since the last sim_guard_settle(). */
	bool has_faulted;
	bool is_lost;                /* memory of the program was not there */
	enum sim_memory_fault fault; /* the first fault that decides @is_lost, and its address */
	uintptr_t addr;
	struct sim_loans *loans;
};

/* The guard of this thread; NULL = none. */
extern _Thread_local struct sim_guard *sim_guarded __attribute__((tls_model("initial-exec")));

static inline void sim_guard_begin(struct sim_guard *guard)
{
	sim_guarded = guard;
	atomic_signal_fence(memory_order_seq_cst);
}

static inline void sim_guard_end(void)
{
	atomic_signal_fence(memory_order_seq_cst);
	sim_guarded = NULL;
}

/* Whether memory was lost since the guard of this thread began or was settled. */
static inline bool sim_guard_has_lost(void)
{
	return sim_guarded && sim_guarded->is_lost;
}

/* After faults: what was made accessible is as before, and the guard as new. */
void sim_guard_settle(struct sim_guard *guard);

/* In the handler of @number: mend a fault of this thread. Returns whether the access may be repeated. */
bool sim_guard_mend(int number, const siginfo_t *info);

/* ---- a guard of one range and of mappings; within another guard, which knows nothing meanwhile, or none ---- */

struct sim_range_guard {
	struct sim_guard guard; /* first */
	struct sim_guard *outer;
	uintptr_t begin, end;
	struct sim_mapping *mapping, *other_mapping; /* besides the range, which is the program's; NULL = none */
};

bool sim_range_guard_find(const struct sim_guard *guard, uintptr_t addr, struct sim_guarded_memory *ret_memory);

static inline void sim_range_guard_begin(struct sim_range_guard *range, const void *addr, size_t len,
					 struct sim_mapping *mapping)
{
	*range = (struct sim_range_guard){ .guard.find = sim_range_guard_find,
					   .outer = sim_guarded,
					   .begin = (uintptr_t)addr,
					   .end = (uintptr_t)addr + len,
					   .mapping = mapping };
	sim_guard_begin(&range->guard);
}

/* Returns whether the memory was lost; range->guard says how. */
static inline bool sim_range_guard_end(struct sim_range_guard *range)
{
	atomic_signal_fence(memory_order_seq_cst);
	sim_guarded = range->outer;
	return __builtin_expect(range->guard.has_faulted, 0) && range->guard.is_lost;
}

#endif

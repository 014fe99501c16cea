/* SPDX-License-Identifier: BSD-3-Clause */
/* Mends faults of guarded accesses. */
#include "memory_guard.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory_loan.h"

_Thread_local struct sim_guard *sim_guarded;

/* The mapping of the range guard that has @addr; NULL = none. */
static struct sim_mapping *find_mapping(const struct sim_range_guard *range, uintptr_t addr)
{
	if (range->mapping && sim_mapping_has(range->mapping, addr))
		return range->mapping;
	return range->other_mapping && sim_mapping_has(range->other_mapping, addr) ? range->other_mapping : NULL;
}

bool sim_range_guard_find(const struct sim_guard *guard, uintptr_t addr, struct sim_guarded_memory *ret_memory)
{
	const struct sim_range_guard *range = (const struct sim_range_guard *)guard;
	struct sim_mapping *mapping = find_mapping(range, addr);

	*ret_memory = (struct sim_guarded_memory){ .mapping = mapping, .begin = range->begin, .end = range->end };
	return mapping || (addr >= range->begin && addr < range->end);
}

/* The whole mapping: pages of hugetlbfs can't be replaced one by one. */
static bool replace_mapping(struct sim_mapping *mapping)
{
	if (syscall(SYS_mmap, mapping->addr, mapping->len_bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0L) == -1)
		return false;
	atomic_store(&mapping->is_lost, true);
	return true;
}

static void note(struct sim_guard *guard, enum sim_memory_fault fault, uintptr_t addr, bool is_lost)
{
	if (!guard->has_faulted || (is_lost && !guard->is_lost)) {
		guard->fault = fault;
		guard->addr = addr;
	}
	guard->has_faulted = true;
	guard->is_lost |= is_lost;
}

/* Returns whether the access may be repeated. */
static bool lend(struct sim_guard *guard, enum sim_memory_fault fault, const struct sim_loan_at *at)
{
	bool is_same = false, is_lent;

	switch (fault) {
	case SIM_MEMORY_UNMAPPED:
		is_lent = sim_loan_hole(&guard->loans, at);
		break;
	case SIM_MEMORY_TRUNCATED:
		is_lent = sim_loan_truncated(&guard->loans, at);
		break;
	default:
		is_lent = sim_loan_protected(&guard->loans, at, &is_same);
		break;
	}
	if (is_lent)
		note(guard, fault, at->addr, !is_same);
	return is_lent;
}

/* Returns false for a fault that no missing page explains. */
static bool classify(int number, const siginfo_t *info, enum sim_memory_fault *ret_fault)
{
	if (number == SIGBUS && info->si_code == BUS_ADRERR)
		*ret_fault = SIM_MEMORY_TRUNCATED;
	else if (number == SIGSEGV && info->si_code == SEGV_MAPERR)
		*ret_fault = SIM_MEMORY_UNMAPPED;
	else if (number == SIGSEGV && info->si_code == SEGV_ACCERR)
		*ret_fault = SIM_MEMORY_PROTECTED;
	else
		return false;
	return true;
}

static bool mend(struct sim_guard *guard, int number, const siginfo_t *info)
{
	uintptr_t addr = (uintptr_t)info->si_addr;
	struct sim_guarded_memory memory;
	enum sim_memory_fault fault;

	if (!classify(number, info, &fault) || !guard->find(guard, addr, &memory))
		return false;
	if (memory.mapping)
		return fault == SIM_MEMORY_TRUNCATED && replace_mapping(memory.mapping);
	return lend(guard, fault, &(struct sim_loan_at){ addr, memory.begin, memory.end });
}

/* A fault in here is the program's to see: there is a mistake. */
bool sim_guard_mend(int number, const siginfo_t *info)
{
	struct sim_guard *guard = sim_guarded;
	bool is_mended;

	if (!guard)
		return false;
	sim_guard_end();
	is_mended = mend(guard, number, info);
	sim_guard_begin(guard);
	return is_mended;
}

void sim_guard_settle(struct sim_guard *guard)
{
	sim_loans_return(&guard->loans);
	guard->has_faulted = guard->is_lost = false;
}

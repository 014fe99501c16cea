/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/check/ledger.h - the ranges of memory that a device owns: those of tasks in flight.
 *
 * A tree of ranges, ordered by their begin, in which each node knows the last end below it (an interval treap). Adding,
 * removing and finding an overlap take logarithmic time. The caller locks.
 */
#ifndef SIM_CHECK_LEDGER_H
#define SIM_CHECK_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

/* Embedded in the caller's record. */
struct sim_ledger_range {
	uint64_t begin, end; /* addresses; @end is behind the last byte */
	bool is_write;
	const void *owner; /* ranges of one owner do not conflict */
	/* the ledger's own */
	struct sim_ledger_range *left, *right;
	uint64_t max_end;
	uint32_t priority;
};

struct sim_ledger {
	struct sim_ledger_range *root;
	uint32_t random;
};

/* Add a range that is not empty. */
void sim_ledger_add(struct sim_ledger *ledger, struct sim_ledger_range *range);

/* Remove a range that was added. */
void sim_ledger_remove(struct sim_ledger *ledger, struct sim_ledger_range *range);

/* A range that has bytes in common with [@begin, @end), of another owner, and that is written; or any such range, if
 * @is_write. NULL = none. */
struct sim_ledger_range *sim_ledger_find_conflict(const struct sim_ledger *ledger, uint64_t begin, uint64_t end,
						  bool is_write, const void *owner);

#endif

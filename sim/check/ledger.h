/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/check/ledger.h - the ranges of memory that a device owns: those of tasks in flight.
 *
 *   class k: ranges of up to 2^k bytes    cell = begin / 2^k    hash of class and cell --> bucket --> ranges
 *
 * A range touches its cell and the next one at most, so that an overlap is found in a few buckets of each class that is in
 * use. Adding, removing and finding take constant time for ranges of like sizes, also with 10,000 tasks in flight. A range
 * that is much longer than others looks through all of them, or their cells, whichever are fewer. The caller locks.
 */
#ifndef SIM_CHECK_LEDGER_H
#define SIM_CHECK_LEDGER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#define SIM_LEDGER_BUCKETS 16384 /* a power of two */

/* Embedded in the caller's record. */
struct sim_ledger_range {
	uint64_t begin, end; /* addresses; @end is behind the last byte */
	bool is_write;
	const void *owner; /* ranges of one owner do not conflict */
	/* the ledger's own */
	LIST_ENTRY(sim_ledger_range) in_bucket, in_class;
};

LIST_HEAD(sim_ledger_list, sim_ledger_range);

/* Ranges that are read, or those that are written. */
struct sim_ledger_half {
	struct sim_ledger_list buckets[SIM_LEDGER_BUCKETS];
	struct sim_ledger_list classes[64];
	uint64_t used_classes; /* bits */
	uint32_t num_ranges[64];
};

/* Zero bytes are an empty ledger. Readers of one range do not look at each other: any number of tasks may share a source. */
struct sim_ledger {
	struct sim_ledger_half reads, writes;
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/check/range_set.h - the ranges of memory that a device owns: those of tasks in flight.
 *
 *   class k: ranges of up to 2^k bytes    cell = begin / 2^k    hash of class and cell --> bucket --> ranges
 *
 * A range touches its cell and the next one at most, so that an overlap is found in a few buckets of each class that is in
 * use. Adding, removing and finding take constant time for ranges of like sizes, also with 10,000 tasks in flight. A range
 * that is much longer than others searches all of them, or their cells, whichever are fewer. The caller locks.
 */
#ifndef SIM_RANGE_SET_H
#define SIM_RANGE_SET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#define SIM_RANGE_SET_BUCKETS 16384 /* a power of two */

/* Embedded in the caller's record. */
struct sim_owned_range {
	uint64_t begin, end; /* addresses; @end is behind the last byte */
	bool is_write;
	const void *owner; /* ranges of one owner do not conflict */
	/* the set's own */
	LIST_ENTRY(sim_owned_range) in_bucket, in_class;
};

LIST_HEAD(sim_owned_range_list, sim_owned_range);

/* Ranges that are read, or those that are written. */
struct sim_range_set_half {
	struct sim_owned_range_list buckets[SIM_RANGE_SET_BUCKETS];
	struct sim_owned_range_list classes[64];
	uint64_t used_classes; /* bits */
	uint32_t num_ranges[64];
};

/* Zero bytes are an empty set. Readers of one range do not conflict: any number of tasks may share a source. */
struct sim_range_set {
	struct sim_range_set_half reads, writes;
};

/* Add a range that is not empty. */
void sim_range_set_add(struct sim_range_set *set, struct sim_owned_range *range);

/* Remove a range that was added. */
void sim_range_set_remove(struct sim_range_set *set, struct sim_owned_range *range);

/* A range that has bytes in common with [@begin, @end), of another owner, and that is written; or any such range, if
 * @is_write. NULL = none. */
struct sim_owned_range *sim_range_set_find_conflict(const struct sim_range_set *set, uint64_t begin, uint64_t end,
						    bool is_write, const void *owner);

#endif

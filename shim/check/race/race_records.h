/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/race/race_records.h - tasks in flight that own memory.
 *
 * From its submission until its user is told of its end, a task owns the bytes that it reads and writes: the program may
 * not modify the former nor touch the latter. The set of owned ranges (sim/check/range_set.h) knows the ranges of all tasks.
 */
#ifndef SHIM_CHECK_RACE_RECORDS_H
#define SHIM_CHECK_RACE_RECORDS_H

#include <sys/types.h>

#include "shim/check/base/check.h"
#include "shim/check/report/stack.h"
#include "sim/check/range_set.h"
#include "sim/engine/queue.h"
#include "shim/check/history/task_ranges.h"

struct race_plain;
struct tsan_mark;

struct race_range {
	struct sim_owned_range node; /* its owner is the record; in the set if the memory is of this process */
	struct check_task_range memory;
	bool is_guarded;          /* of race_guard.c: its pages are protected */
	uint64_t num_releases;    /* likewise: check_release_count() at the submission */
	struct race_plain *plain; /* of race_plain.c; NULL = not watched */
	uint32_t shared;          /* of race_session.c: its slot in the session's ledger, plus one; 0 = none */
};

/* Returns whether the bytes are another process's. */
static inline bool race_range_is_remote(const struct race_range *range)
{
	return !range->memory.cpu;
}

/* Returns whether it is the source of a message of RDMA, which the library reads at any time. */
static inline bool race_range_is_message(const struct race_range *range)
{
	return range->memory.end == CHECK_RANGE_NEVER && !range->memory.is_write;
}

/* A task in flight that owns memory. */
struct race_record {
	struct doca_task *task;
	const void *caller;              /* of the submission; NULL = the program did not submit the task itself */
	const struct check_stack *stack; /* of the submission; NULL = not known */
	pid_t tid;
	uint32_t function;               /* enum shim_function */
	int (*run)(struct sim_job *job); /* the job's own; NULL = the library keeps the task */
	uint64_t order;                  /* check_task_order() */
	bool has_job;  /* begin_job and end_job surround its access; else the library accesses at any time */
	bool overlaps; /* another task in flight uses some of the bytes, too */
	uint32_t num_ranges;
	struct race_record *next;   /* in its bucket */
	struct tsan_mark *tsan;     /* of race_tsan.c; NULL = not watched */
	struct race_range ranges[]; /* behind them, the room for what race_plain.c keeps of each */
};

/* The record of a task that is being posted, in the set of owned ranges; tasks that overlap are reported. Behind it are the bytes that
 * @room wants for each range. NULL = the task uses no memory of this process. */
struct race_record *race_record_add(struct doca_task *task, size_t (*room)(size_t len_bytes));

/* The record of a task in flight. NULL = none. */
struct race_record *race_record_find(const struct doca_task *task);

/* Take the record out of the set; the caller frees it. NULL = none. */
struct race_record *race_record_remove(const struct doca_task *task);

/* The record that owns a byte, which the program must not write (or read, if @is_write): with the lock that keeps it,
 * until check_race_release(). NULL = none, and no lock. */
const struct race_range *check_race_find_owner(const void *addr, size_t len, bool is_access_write);
void check_race_release(void);

/* In a forked child: a thread of the parent may have held the lock. @see is called for each record. */
void race_records_forked(void (*see)(struct race_record *record));

/* The stack of the submission, as far as it is known. */
struct check_stack check_race_stack(const struct race_record *record);

/* Give the record's memory back. */
void race_record_free(struct race_record *record);

struct check_hit;

/* Add the record's task and its submission to a hit. */
void check_race_add_task(struct check_hit *hit, const struct race_record *record);

#endif

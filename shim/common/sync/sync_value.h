/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/sync/sync_value.h - the 64-bit value of a sync event, in one of three kinds of memory:
 *
 *   own       a cell that the shim allocates, in a segment that other processes can map
 *   user      8 bytes of the user's, which any thread may change with a plain store
 *   imported  an own or user value of another process, mapped here
 *
 *   [closed] --open--> [open] --close--> [closed]
 *                        get, set, add, wait: any thread
 *
 * Close ends the waits and returns when no operation is under way.
 *
 * All processes use atomic operations on one word, so that the sum of any number of adders is exact. A
 * sleeper counts itself in the cell's @waiters. An operation that changes the word counts up the futex
 * @changes and wakes the sleepers if there are waiters. A plain store wakes no thread: a wait on user
 * memory polls. A wait on imported memory polls as well, at longer intervals, to notice that the exporter
 * is gone.
 *
 * Other processes may write anything into a cell: its numbers are never used as addresses or lengths. A
 * waiter that dies leaves its count, which costs one needless system call for each change.
 *
 * Errors: -ENOTCONN (not open, or closed meanwhile), -EIO (the exporter or the memory is gone).
 */
#ifndef SHIM_SYNC_VALUE_H
#define SHIM_SYNC_VALUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/fabric/remote.h"
#include "sim/shm/segment.h"
#include "sim/shm/sync_cell.h"

struct shim_sync_value {
	atomic_bool is_open;
	atomic_uint num_active_ops; /* operations that run now */
	_Atomic uint64_t *word;
	struct sim_sync_cell *cell; /* NULL for a bare word */
	struct sim_remote *remote;  /* of an import; borrowed */
	bool is_foreign;            /* the memory is the user's, or another process's: accesses are guarded */
	struct sim_segment segment; /* of an own value */
	int segment_fd;             /* of an own value, for exports; -1 = not an own value */
};

/* Open a closed value: with 0 in memory of its own (0 or -errno), ... */
int shim_sync_value_open_own(struct shim_sync_value *value);

/* ... at @word, in the user's memory, ... */
void shim_sync_value_open_user(struct shim_sync_value *value, uint64_t *word);

/* ... or in imported memory. */
void shim_sync_value_open_imported(struct shim_sync_value *value, struct sim_remote *remote);

/* Open @value on the memory of @other, which is open and outlives it. */
void shim_sync_value_open_alias(struct shim_sync_value *value, const struct shim_sync_value *other);

/* Close the value, once no operation runs. A closed value stays as it is. */
void shim_sync_value_close(struct shim_sync_value *value);

/* In a forked child: close the parent's value, in which the parent's threads may have been. */
void shim_sync_value_abandon(struct shim_sync_value *value);

int shim_sync_value_get(struct shim_sync_value *value, uint64_t *ret);
int shim_sync_value_set(struct shim_sync_value *value, uint64_t to);
int shim_sync_value_add(struct shim_sync_value *value, uint64_t count, uint64_t *ret_before);

enum shim_sync_relation {
	SHIM_SYNC_EQ,
	SHIM_SYNC_NEQ,
	SHIM_SYNC_GT,
};

struct shim_sync_condition {
	enum shim_sync_relation relation;
	uint64_t to; /* compared with the masked value */
	uint64_t mask;
};

bool shim_sync_condition_holds(const struct shim_sync_condition *condition, uint64_t value);

/* Block this thread until the condition holds. @yields: yield the CPU between polls from the start. In
 * virtual time the thread is a participant while it waits. 0 or an error. */
int shim_sync_value_wait(struct shim_sync_value *value, const struct shim_sync_condition *condition, bool yields);

/* The same, up to the moment at which another thread sets *is_over: -ECANCELED. The thread is no participant of virtual time. */
int shim_sync_value_wait_unless(struct shim_sync_value *value, const struct shim_sync_condition *condition,
				const atomic_bool *is_over);

/* Sleep until the condition may hold, @ns at most. 0 or an error. */
int shim_sync_value_sleep(struct shim_sync_value *value, const struct shim_sync_condition *condition, uint64_t ns);

/* For sync_watch.c, which sleeps on several values: count a waiter, and no longer. */
void shim_sync_value_add_waiter(struct shim_sync_value *value);
void shim_sync_value_remove_waiter(struct shim_sync_value *value);

/* Return the futex that counts changes, or NULL for a bare word. */
const _Atomic uint32_t *shim_sync_value_futex(const struct shim_sync_value *value);

/* Read the value, and the count of changes before it, which the caller then sleeps on. */
int shim_sync_value_sample(struct shim_sync_value *value, uint64_t *ret, uint32_t *ret_changes);

/* Return the longest time between two polls of a sleeper; 0 = no poll is needed. */
#define SHIM_SYNC_USER_POLL_NS     1000000u
#define SHIM_SYNC_IMPORTED_POLL_NS 20000000u
uint64_t shim_sync_value_poll_interval_ns(const struct shim_sync_value *value);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/sync/sync_value.h - the 64-bit value of a sync event, wherever it lies.
 *
 *   own       in a cell of ours, in a segment that other processes can map
 *   given     8 bytes of the user's, which anybody may change with a plain store
 *   imported  either of these, of another process: the very same word, mapped here
 *
 *   open --> [open] --close--> [closed]
 *              |  get, set, add, wait, by any thread; close waits for them and cuts waits short
 *
 * Everybody works on the one word with atomic operations, so that an exact sum
 * comes out of any number of adders in any number of processes. Whoever
 * sleeps for a change counts itself in the cell's @waiters; whoever changes the
 * word sees that, and wakes the sleepers by the futex @changes. Nothing tells of a
 * plain store: those who wait for given memory look at it from time to time, as
 * do those who wait for imported memory, at longer intervals, to see that its
 * exporter is gone.
 *
 * What is in a cell may be changed by other processes in any way; it is never
 * trusted to be more than three numbers. A sleeper that dies leaves its count, which
 * costs a needless system call per change and no more.
 *
 * Errors: -ENOTCONN (not open, or closed meanwhile), -EIO (the exporter is gone).
 */
#ifndef SHIM_SYNC_VALUE_H
#define SHIM_SYNC_VALUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/fabric/remote.h"
#include "sim/shm/segment.h"

struct shim_sync_cell {
	_Atomic uint64_t value; /* first */
	_Atomic uint32_t waiters;
	_Atomic uint32_t changes;
};

struct shim_sync_value {
	atomic_bool is_open;
	atomic_uint num_active_ops; /* operations under way */
	_Atomic uint64_t *word;
	struct shim_sync_cell *cell; /* NULL for a bare word */
	struct sim_remote *remote;   /* of an import; borrowed */
	struct sim_segment segment;  /* of an own value ... */
	int segment_fd;              /* ... and what to export it with; -1 = not an own one */
};

/* Open a closed one: with a zero in memory of ours (0 or -errno), with the word at @word,
 * or with an imported one. */
int shim_sync_value_open_own(struct shim_sync_value *value);
void shim_sync_value_open_user(struct shim_sync_value *value, uint64_t *word);
void shim_sync_value_open_imported(struct shim_sync_value *value, struct sim_remote *remote);

/* Open it as another view of what @other, which is open and outlives it, has. */
void shim_sync_value_open_alias(struct shim_sync_value *value, const struct shim_sync_value *other);

/* Close it; nothing happens when it is closed. On return nobody is in it any more. */
void shim_sync_value_close(struct shim_sync_value *value);

/* In a forked child: let go of the parent's, whose threads may have been anywhere in it. */
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
	uint64_t to; /* what the masked value is compared with */
	uint64_t mask;
};

bool shim_sync_condition_holds(const struct shim_sync_condition *condition, uint64_t value);

/* Wait for it in this thread. @yields: let others run between looks from the start. In virtual time the thread is one of
 * those that it waits for, until it has to wait for a change. */
int shim_sync_value_wait(struct shim_sync_value *value, const struct shim_sync_condition *condition, bool yields);

/* For whoever sleeps by other means (sync_watch.c): count oneself as a waiter, and
 * no longer. The futex that is counted up on changes, NULL when there is none; it is
 * read with a look, before which it must have been counted. */
void shim_sync_value_add_waiter(struct shim_sync_value *value);
void shim_sync_value_remove_waiter(struct shim_sync_value *value);
const _Atomic uint32_t *shim_sync_value_futex(const struct shim_sync_value *value);
int shim_sync_value_sample(struct shim_sync_value *value, uint64_t *ret, uint32_t *ret_changes);

/* How long a sleeper may go without a look of its own; 0 = for ever. */
#define SHIM_SYNC_USER_POLL_NS     1000000L
#define SHIM_SYNC_IMPORTED_POLL_NS 20000000L
long shim_sync_value_poll_interval_ns(const struct shim_sync_value *value);

#endif

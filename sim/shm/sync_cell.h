/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/shm/sync_cell.h - the value of a sync event in memory that processes share.
 *
 * All use atomic operations on @value. A sleeper counts itself in @waiters. A change of the value counts up @changes, a futex, and
 * wakes the sleepers if there are waiters. The numbers are never used as addresses or lengths.
 */
#ifndef SIM_SHM_SYNC_CELL_H
#define SIM_SHM_SYNC_CELL_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

struct sim_sync_cell {
	_Atomic uint64_t value; /* first */
	_Atomic uint32_t waiters;
	_Atomic uint32_t changes;
};

/* The value has changed. Returns whether sleepers are to be woken, which does no harm if the memory is gone by then. */
static inline bool sim_sync_cell_count_change(struct sim_sync_cell *cell)
{
	if (atomic_load(&cell->waiters) == 0)
		return false;
	atomic_fetch_add(&cell->changes, 1);
	return true;
}

static inline void sim_sync_cell_wake(struct sim_sync_cell *cell)
{
	syscall(SYS_futex, &cell->changes, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

#endif

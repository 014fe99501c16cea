/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/shared_lock.h - a lock in memory that processes share, which survives who holds it.
 *
 *   uint64_t token = sim_clock_lock(&lock);
 *   ... a few hundred nanoseconds of arithmetic, no call that waits ...
 *   sim_clock_unlock(&lock, token);
 *
 * It is one word: 0, or who holds it. It has no pointers, so that nonsense in it
 * leads nowhere. From a process that died it is taken over when that is noticed
 * (some ten milliseconds), from one that is stopped after a second; a pid
 * that can't be seen from here looks dead. What it protects must therefore be
 * such that it is valid at every moment, and two who change it at once do no
 * worse than to lose one of the changes.
 */
#ifndef SIM_CLOCK_SHARED_LOCK_H
#define SIM_CLOCK_SHARED_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

struct sim_clock_lock {
	_Atomic uint64_t holder; /* pid << 32 | a number of its own; 0 = free */
};

/* Take it; waits. Returns what to give it back with. */
uint64_t sim_clock_lock(struct sim_clock_lock *lock);

/* Give it back; nothing happens if it was taken over meanwhile. */
void sim_clock_unlock(struct sim_clock_lock *lock, uint64_t token);

#endif

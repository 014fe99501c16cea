/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/shared_lock.h - a lock in shared memory that survives the death of its holder.
 *
 *   uint64_t token = sim_clock_lock(&lock);
 *   ... a few hundred nanoseconds of arithmetic, no call that waits ...
 *   sim_clock_unlock(&lock, token);
 *
 * The lock is one word without pointers: 0, or the token of its holder. A waiter
 * takes the lock over from a dead process (after some ten milliseconds) and from a
 * stopped one (after a second), and whatever is written there, after three seconds.
 * A process in another pid namespace looks dead. So the protected data must be valid at every moment, and two concurrent writers
 * must at worst lose one of the changes.
 */
#ifndef SIM_CLOCK_SHARED_LOCK_H
#define SIM_CLOCK_SHARED_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

struct sim_clock_lock {
	_Atomic uint64_t holder; /* token: pid << 32 | a number; 0 = free */
};

/* Wait for the lock and take it. Returns the token for sim_clock_unlock(). */
uint64_t sim_clock_lock(struct sim_clock_lock *lock);

/* Release the lock; no effect if another holder has taken it over. */
void sim_clock_unlock(struct sim_clock_lock *lock, uint64_t token);

#endif

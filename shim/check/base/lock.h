/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/base/lock.h - a lock for some tens of nanoseconds, which the thread sanitizer does not see: a mutex would order
 * accesses of the program that are not ordered. */
#ifndef SHIM_CHECK_LOCK_H
#define SHIM_CHECK_LOCK_H

#include <sched.h>
#include <stdatomic.h>

struct check_lock {
	atomic_flag taken;
};

/* In a forked child: the thread that held the lock may be gone. */
static inline void check_lock_init(struct check_lock *lock)
{
	atomic_flag_clear(&lock->taken);
}

static inline void check_lock(struct check_lock *lock)
{
	while (atomic_flag_test_and_set_explicit(&lock->taken, memory_order_acquire))
		sched_yield();
}

static inline void check_unlock(struct check_lock *lock)
{
	atomic_flag_clear_explicit(&lock->taken, memory_order_release);
}

#endif

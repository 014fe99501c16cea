/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock: spins briefly, then sleeps and watches its holder. */
#include "shared_lock.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "sim/base/fork.h"
#include "sim/base/monotonic.h"
#include "sim/base/perturb.h"

#define DEAD_AFTER_NS    (20 * SIM_NS_PER_MS)
#define STOPPED_AFTER_NS SIM_NS_PER_S
#define FORCED_AFTER_NS  (3 * SIM_NS_PER_S) /* an honest waiter among a thousand threads gets it in milliseconds */
#define SPINS            200

static _Atomic uint32_t last_number;
static _Atomic uint32_t own_pid;

static void reset_cached_pid(void)
{
	atomic_store_explicit(&own_pid, 0, memory_order_relaxed);
}

SIM_AT_FORK(SIM_FORK_LOCKS, .child = reset_cached_pid);

static uint32_t cached_pid(void)
{
	uint32_t known = atomic_load_explicit(&own_pid, memory_order_relaxed);

	if (known)
		return known;
	known = (uint32_t)getpid();
	atomic_store_explicit(&own_pid, known, memory_order_relaxed);
	return known;
}

static bool try_lock(struct sim_clock_lock *lock, uint64_t from, uint64_t token)
{
	return atomic_compare_exchange_strong_explicit(&lock->holder, &from, token, memory_order_acquire,
						       memory_order_relaxed);
}

static bool is_dead(uint64_t holder)
{
	pid_t holder_pid = (pid_t)(holder >> 32);

	return holder_pid <= 0 || (kill(holder_pid, 0) < 0 && errno == ESRCH);
}

/* The slow path: the holder has been preempted, is stopped or has died. */
static void lock_contended(struct sim_clock_lock *lock, uint64_t token)
{
	const struct timespec interval = { .tv_nsec = 50000 };
	uint64_t seen = 0, since_ns = 0, begin_ns = sim_monotonic_ns();

	for (;;) {
		uint64_t holder = atomic_load_explicit(&lock->holder, memory_order_relaxed);
		uint64_t now_ns = sim_monotonic_ns();

		if (holder == 0 && try_lock(lock, 0, token))
			return;
		if (holder != seen) {
			seen = holder;
			since_ns = now_ns;
		} else if (now_ns - since_ns > STOPPED_AFTER_NS ||
			   (now_ns - since_ns > DEAD_AFTER_NS && is_dead(holder))) {
			if (try_lock(lock, holder, token))
				return;
		}
		if (now_ns > begin_ns + FORCED_AFTER_NS) { /* a process writes holders into the lock */
			atomic_store_explicit(&lock->holder, token, memory_order_seq_cst);
			return;
		}
		nanosleep(&interval, NULL);
	}
}

uint64_t sim_clock_lock(struct sim_clock_lock *lock)
{
	uint32_t number = atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed);
	uint64_t token = (uint64_t)cached_pid() << 32 | number;

	sim_perturb();
	for (unsigned int i = 0; i < SPINS; i++) {
		if (try_lock(lock, 0, token))
			return token;
		sched_yield();
	}
	lock_contended(lock, token);
	return token;
}

void sim_clock_unlock(struct sim_clock_lock *lock, uint64_t token)
{
	atomic_compare_exchange_strong_explicit(&lock->holder, &token, 0, memory_order_release, memory_order_relaxed);
	sim_perturb();
}

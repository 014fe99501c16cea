/* SPDX-License-Identifier: BSD-3-Clause */
/* The watcher of sync events' values: its thread, and the watches of sleeping owners. */
#include "sync_watch.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/common/process/runtime.h"
#include "sim/base/fork.h"
#include "sim/base/monotonic.h"
#include "sim/base/thread.h"

/* Missing from the kernel's headers before 5.16. */
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#define WAITV_FUTEX_32 2
#define WAITV_MAX      128

struct waitv_entry {
	uint64_t expected;
	uint64_t addr;
	uint32_t flags;
	uint32_t reserved;
};

static struct {
	pthread_mutex_t thread_lock; /* protects the thread's start and end */
	uint32_t num_users;
	pthread_t thread;
	pthread_mutex_t lock; /* protects what follows */
	bool stop;
	bool no_waitv; /* the kernel lacks futex_waitv(); used by the thread alone */
	LIST_HEAD(, shim_sync_watch) watches;
	_Atomic uint32_t wakeups; /* futex: counted up when @watches or @stop has changed */
} watcher = { .thread_lock = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- the thread ---- */

/* Futexes to sleep on, collected while all watches are checked. */
struct watch_round {
	struct waitv_entry entries[WAITV_MAX];
	unsigned int num_entries; /* the first is for wakeups */
	uint64_t timeout_ns;      /* 0 = none */
};

static void add_entry(struct watch_round *round, const _Atomic uint32_t *futex, uint32_t expected)
{
	round->entries[round->num_entries++] =
		(struct waitv_entry){ .expected = expected, .addr = (uintptr_t)futex, .flags = WAITV_FUTEX_32 };
}

static void limit_timeout(struct watch_round *round, uint64_t ns)
{
	if (ns > 0 && (round->timeout_ns == 0 || ns < round->timeout_ns))
		round->timeout_ns = ns;
}

static void remove_watch(struct shim_sync_watch *watch)
{
	LIST_REMOVE(watch, link);
	watch->is_listed = false;
	shim_sync_value_remove_waiter(watch->value);
}

/* Notify and remove the watch if its value has changed; else add its futex to the round. */
static void check_watch(struct watch_round *round, struct shim_sync_watch *watch)
{
	uint32_t changes;
	uint64_t now;

	if (shim_sync_value_sample(watch->value, &now, &changes) < 0 || now != watch->last_value) {
		remove_watch(watch);
		watch->notify(watch->arg);
		return;
	}
	limit_timeout(round, shim_sync_value_poll_interval_ns(watch->value));
	if (!shim_sync_value_futex(watch->value))
		return;
	if (round->num_entries < WAITV_MAX && !watcher.no_waitv)
		add_entry(round, shim_sync_value_futex(watch->value), changes);
	else
		limit_timeout(round, SHIM_SYNC_USER_POLL_NS);
}

static void check_all_watches(struct watch_round *round)
{
	struct shim_sync_watch *watch = LIST_FIRST(&watcher.watches);

	round->num_entries = 0;
	round->timeout_ns = 0;
	add_entry(round, &watcher.wakeups, atomic_load(&watcher.wakeups));
	while (watch) {
		struct shim_sync_watch *next = LIST_NEXT(watch, link);

		check_watch(round, watch);
		watch = next;
	}
}

static void wait_for_change(const struct watch_round *round)
{
	struct timespec until = sim_timespec_from_ns(sim_monotonic_ns() + round->timeout_ns),
			pause = sim_timespec_from_ns(round->timeout_ns);
	const struct waitv_entry *wakeups = &round->entries[0];

	if (round->num_entries == 1) {
		syscall(SYS_futex, &watcher.wakeups, FUTEX_WAIT, (uint32_t)wakeups->expected,
			round->timeout_ns ? &pause : NULL, NULL, 0);
		return;
	}
	if (syscall(SYS_futex_waitv, round->entries, round->num_entries, 0, round->timeout_ns ? &until : NULL,
		    CLOCK_MONOTONIC) >= 0 ||
	    errno == EAGAIN || errno == EINTR || errno == ETIMEDOUT)
		return;
	if (errno == EFAULT) /* an exporter in this process has unmapped its cell: the next check notices */
		return;
	watcher.no_waitv = true;
}

static void *watch_values(void *arg)
{
	struct watch_round round;

	(void)arg;
	pthread_mutex_lock(&watcher.lock);
	while (!watcher.stop) {
		check_all_watches(&round);
		pthread_mutex_unlock(&watcher.lock);
		wait_for_change(&round);
		pthread_mutex_lock(&watcher.lock);
	}
	pthread_mutex_unlock(&watcher.lock);
	return NULL;
}

static void wake_watcher(void)
{
	atomic_fetch_add(&watcher.wakeups, 1);
	syscall(SYS_futex, &watcher.wakeups, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* ---- hold and release ---- */

/* In a forked child the watcher's thread does not exist. */
static void reset_after_fork(void)
{
	pthread_mutex_init(&watcher.thread_lock, NULL);
	watcher.num_users = 0;
	LIST_INIT(&watcher.watches);
}

SIM_AT_FORK(SIM_FORK_USERS, .lock = &watcher.lock, .child = reset_after_fork);

static void set_stop(bool stop)
{
	pthread_mutex_lock(&watcher.lock);
	watcher.stop = stop;
	pthread_mutex_unlock(&watcher.lock);
}

int shim_sync_watcher_hold(void)
{
	int rc = 0;

	pthread_mutex_lock(&watcher.thread_lock);
	if (watcher.num_users == 0) {
		set_stop(false);
		rc = sim_thread_start(&watcher.thread, "bfsim-syncev", watch_values, NULL);
	}
	if (rc == 0)
		watcher.num_users++;
	pthread_mutex_unlock(&watcher.thread_lock);
	return rc;
}

void shim_sync_watcher_release(void)
{
	pthread_mutex_lock(&watcher.thread_lock);
	if (--watcher.num_users == 0) {
		set_stop(true);
		wake_watcher();
		pthread_join(watcher.thread, NULL);
	}
	pthread_mutex_unlock(&watcher.thread_lock);
}

/* ---- watches ---- */

void shim_sync_watch_add(struct shim_sync_watch *watch)
{
	uint32_t changes;

	shim_sync_value_add_waiter(watch->value);
	pthread_mutex_lock(&watcher.lock);
	if (shim_sync_value_sample(watch->value, &watch->last_value, &changes) < 0)
		watch->last_value = 0; /* the watcher gets the same error, and notifies */
	watch->is_listed = true;
	LIST_INSERT_HEAD(&watcher.watches, watch, link);
	pthread_mutex_unlock(&watcher.lock);
	wake_watcher();
}

void shim_sync_watch_remove(struct shim_sync_watch *watch)
{
	pthread_mutex_lock(&watcher.lock);
	if (watch->is_listed)
		remove_watch(watch);
	pthread_mutex_unlock(&watcher.lock);
}

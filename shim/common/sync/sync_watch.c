/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync_watch.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/thread.h"

/* What the kernel's headers before 5.16 lack. */
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#define WAITV_FUTEX_32 2
#define WAITV_MAX 128

struct waitv_entry {
	uint64_t expected;
	uint64_t addr;
	uint32_t flags;
	uint32_t reserved;
};

static struct {
	pthread_mutex_t life;  /* protects the thread's start and end */
	uint32_t holders;
	pthread_t thread;
	pthread_mutex_t lock;  /* protects what follows */
	bool stop;
	bool no_waitv;         /* the kernel can't; the thread's own */
	struct shim_sync_watch *watches;
	_Atomic uint32_t kicks; /* futex: counted up when there is news for the watcher */
} watcher = {.life = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the thread ---- */

/* What a round of looks found to sleep on. */
struct round {
	struct waitv_entry entries[WAITV_MAX];
	unsigned int num_entries; /* the first is for kicks */
	long patience_ns;         /* 0 = for ever */
};

static void add_entry(struct round *round, const _Atomic uint32_t *futex, uint32_t expected)
{
	round->entries[round->num_entries++] =
		(struct waitv_entry){.expected = expected, .addr = (uintptr_t)futex, .flags = WAITV_FUTEX_32};
}

static void be_back_within(struct round *round, long ns)
{
	if (ns > 0 && (round->patience_ns == 0 || ns < round->patience_ns))
		round->patience_ns = ns;
}

static void unlist(struct shim_sync_watch **link)
{
	struct shim_sync_watch *watch = *link;

	*link = watch->next;
	watch->is_listed = false;
	shim_sync_value_part(watch->value);
}

/* Look at one value: notify, or sleep on it. Whether it was notified. */
static bool look_at(struct round *round, struct shim_sync_watch **link)
{
	struct shim_sync_watch *watch = *link;
	uint32_t changes;
	uint64_t now;

	if (shim_sync_value_look(watch->value, &now, &changes) < 0 || now != watch->seen) {
		unlist(link);
		watch->notify(watch->arg);
		return true;
	}
	be_back_within(round, shim_sync_value_patience_ns(watch->value));
	if (!shim_sync_value_futex(watch->value))
		return false;
	if (round->num_entries < WAITV_MAX && !watcher.no_waitv)
		add_entry(round, shim_sync_value_futex(watch->value), changes);
	else
		be_back_within(round, SHIM_SYNC_GIVEN_NS);
	return false;
}

static void look_at_all(struct round *round)
{
	struct shim_sync_watch **link = &watcher.watches;

	round->num_entries = 0;
	round->patience_ns = 0;
	add_entry(round, &watcher.kicks, atomic_load(&watcher.kicks));
	while (*link)
		if (!look_at(round, link))
			link = &(*link)->next;
}

static struct timespec in_ns(long ns)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_nsec += ns;
	if (at.tv_nsec >= 1000000000L) {
		at.tv_nsec -= 1000000000L;
		at.tv_sec++;
	}
	return at;
}

static void sleep_on(const struct round *round)
{
	struct timespec until = in_ns(round->patience_ns), pause = {.tv_nsec = round->patience_ns};
	const struct waitv_entry *kicks = &round->entries[0];

	if (round->num_entries == 1) {
		syscall(SYS_futex, &watcher.kicks, FUTEX_WAIT, (uint32_t)kicks->expected,
			round->patience_ns ? &pause : NULL, NULL, 0);
		return;
	}
	if (syscall(SYS_futex_waitv, round->entries, round->num_entries, 0, round->patience_ns ? &until : NULL,
		    CLOCK_MONOTONIC) >= 0 ||
	    errno == EAGAIN || errno == EINTR || errno == ETIMEDOUT)
		return;
	if (errno == EFAULT) /* an exporter in this process took its cell away: the next look sees that */
		return;
	watcher.no_waitv = true;
}

static void *watch_values(void *arg)
{
	struct round round;

	(void)arg;
	pthread_mutex_lock(&watcher.lock);
	while (!watcher.stop) {
		look_at_all(&round);
		pthread_mutex_unlock(&watcher.lock);
		sleep_on(&round);
		pthread_mutex_lock(&watcher.lock);
	}
	pthread_mutex_unlock(&watcher.lock);
	return NULL;
}

static void kick(void)
{
	atomic_fetch_add(&watcher.kicks, 1);
	syscall(SYS_futex, &watcher.kicks, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* ---- its users ---- */

void shim_sync_watcher_forked(void)
{
	pthread_mutex_init(&watcher.life, NULL);
	pthread_mutex_init(&watcher.lock, NULL);
	watcher.holders = 0;
	watcher.watches = NULL;
}

static void set_stop(bool stop)
{
	pthread_mutex_lock(&watcher.lock);
	watcher.stop = stop;
	pthread_mutex_unlock(&watcher.lock);
}

int shim_sync_watcher_hold(void)
{
	int rc = 0;

	pthread_mutex_lock(&watcher.life);
	if (watcher.holders == 0) {
		set_stop(false);
		rc = sim_thread_start(&watcher.thread, "bfsim-syncev", watch_values, NULL);
	}
	if (rc == 0)
		watcher.holders++;
	pthread_mutex_unlock(&watcher.life);
	return rc;
}

void shim_sync_watcher_release(void)
{
	pthread_mutex_lock(&watcher.life);
	if (--watcher.holders == 0) {
		set_stop(true);
		kick();
		pthread_join(watcher.thread, NULL);
	}
	pthread_mutex_unlock(&watcher.life);
}

void shim_sync_watch_add(struct shim_sync_watch *watch)
{
	uint32_t changes;

	shim_sync_value_join(watch->value);
	pthread_mutex_lock(&watcher.lock);
	if (shim_sync_value_look(watch->value, &watch->seen, &changes) < 0)
		watch->seen = 0; /* the watcher sees that, too */
	watch->is_listed = true;
	watch->next = watcher.watches;
	watcher.watches = watch;
	pthread_mutex_unlock(&watcher.lock);
	kick();
}

void shim_sync_watch_remove(struct shim_sync_watch *watch)
{
	pthread_mutex_lock(&watcher.lock);
	for (struct shim_sync_watch **link = &watcher.watches; *link; link = &(*link)->next) {
		if (*link == watch) {
			unlist(link);
			break;
		}
	}
	pthread_mutex_unlock(&watcher.lock);
}

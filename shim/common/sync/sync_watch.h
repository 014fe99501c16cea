/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/sync/sync_watch.h - somebody to look at sync events' values while their owners sleep.
 *
 *   owner: hold --> add, sleep, woken, remove ... --> release
 *   the watcher, one thread of the process: the value is another than at add --> notify, once
 *
 * A progress engine's owner sleeps on a descriptor, but nothing writes to that
 * when a word in memory changes. So while an owner sleeps and has tasks that
 * wait, the watcher sleeps for it on the value's futex (sync_value.h), which a
 * changer in any process counts up: nothing runs until then, apart from a rare look
 * at imported values, whose exporters may die. Only for a bare word, which may be
 * changed by a plain store, is there a tick of a millisecond, and where the
 * kernel can't wait for several futexes at once (before Linux 5.16, or a
 * container that forbids it).
 *
 * The thread lives from the first hold to the last release.
 */
#ifndef SHIM_SYNC_WATCH_H
#define SHIM_SYNC_WATCH_H

#include "sync_value.h"

struct shim_sync_watch {
	struct shim_sync_value *value;
	void (*notify)(void *arg); /* in the watcher's thread; must not call back in here */
	void *arg;
	uint64_t last_value; /* when it was added */
	bool is_listed;
	struct shim_sync_watch *next;
};

/* Have the watcher there. 0 or -errno. */
int shim_sync_watcher_hold(void);
void shim_sync_watcher_release(void);

/* In a forked child: the thread, and whoever held a lock, are the parent's. */
void shim_sync_watcher_forked(void);

/* Watch an open value, which stays open until the removal. Changes from now on are noticed. */
void shim_sync_watch_add(struct shim_sync_watch *watch);

/* Don't any more; also when it has been notified. No notify is under way on return. */
void shim_sync_watch_remove(struct shim_sync_watch *watch);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/sync/sync_watch.h - a thread that watches values of sync events while their owners sleep.
 *
 *   owner: hold --> add, sleep, wake up, remove ... --> release
 *   watcher, one thread of the process: a value differs from its value at add --> notify, once
 *
 * The owner of a progress engine sleeps on a descriptor, and a change of a word in memory does not write
 * to that. So while an owner with waiting tasks sleeps, the watcher sleeps on the value's futex
 * (sync_value.h), which a change in any process counts up.
 *
 * The watcher polls imported values at long intervals, because their exporters may die. It polls every
 * millisecond in two cases: for a bare word, which a plain store may change, and where the kernel can't
 * wait for several futexes (before Linux 5.16, or in a container that forbids it).
 *
 * The thread runs from the first hold to the last release.
 */
#ifndef SHIM_SYNC_WATCH_H
#define SHIM_SYNC_WATCH_H

#include <sys/queue.h>

#include "sync_value.h"

struct shim_sync_watch {
	struct shim_sync_value *value;
	void (*notify)(void *arg); /* called by the watcher's thread; must not call functions of this header */
	void *arg;
	uint64_t last_value; /* at add */
	bool is_listed;      /* added, and neither notified nor removed since */
	LIST_ENTRY(shim_sync_watch) link;
};

/* Start the watcher, unless it runs. 0 or -errno. */
int shim_sync_watcher_hold(void);

/* Undo a hold; the last one stops the watcher. */
void shim_sync_watcher_release(void);

/* Watch an open value, which stays open until the watch is removed. Changes from now on are noticed. */
void shim_sync_watch_add(struct shim_sync_watch *watch);

/* Stop watching, whether notify was called or not. No call of notify is under way on return. */
void shim_sync_watch_remove(struct shim_sync_watch *watch);

#endif

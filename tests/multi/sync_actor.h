/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/sync_actor.h - processes that share a sync event, through the public headers, and do as they are told.
 *
 *   struct sync_actor host, dpu;
 *   sync_actor_start(&host, dir, "host", NULL);
 *   sync_actor_start(&dpu, dir, "dpu", NULL);
 *   sync_actor_export(&host, SYNC_OWN, SYNC_ALONE, &descriptor);
 *   sync_actor_import(&dpu, SYNC_CONTEXT, &descriptor);
 *   sync_actor_set(&dpu, 5);                          what doca_sync_event_update_set() returned there
 *
 * A wait is begun, and finished when the test wants to know how it went; in
 * between the process sleeps in it. Other orders are finished at once, but
 * adding, which several do at a time.
 */
#ifndef TESTS_MULTI_SYNC_ACTOR_H
#define TESTS_MULTI_SYNC_ACTOR_H

#include <doca_error.h>

#include "proc.h"

#define SYNC_DESCRIPTOR_MAX 256

enum sync_memory {
	SYNC_OWN,   /* of the library's */
	SYNC_MEMFD, /* the process's, which can be mapped */
};

enum sync_use {
	SYNC_ALONE,   /* waits block */
	SYNC_CONTEXT, /* waits are tasks; the process sleeps on the engine's handle */
};

struct sync_descriptor {
	uint8_t bytes[SYNC_DESCRIPTOR_MAX];
	size_t len;
};

struct sync_actor {
	struct proc proc;
};

/* Start one on a side of session @dir. @path: BFSIM_PATH; NULL = unset. */
void sync_actor_start(struct sync_actor *actor, const char *dir, const char *side, const char *path);

/* Have it make an event, start and export it; or make one of an export, and start it. One event for each. */
void sync_actor_export(struct sync_actor *actor, enum sync_memory memory, enum sync_use use,
		       struct sync_descriptor *ret_descriptor);
doca_error_t sync_actor_import(struct sync_actor *actor, enum sync_use use, const struct sync_descriptor *descriptor);

doca_error_t sync_actor_get(struct sync_actor *actor, uint64_t *ret_value);
doca_error_t sync_actor_set(struct sync_actor *actor, uint64_t value);

/* Stop and destroy its event, in order. */
void sync_actor_drop(struct sync_actor *actor);

/* Add 1, @count times; the result is that of the first that failed. */
void sync_actor_begin_add(struct sync_actor *actor, uint64_t count);

/* Wait until the value is @value; on return it is about to, or in it. */
void sync_actor_begin_wait(struct sync_actor *actor, uint64_t value);

/* On return it sleeps. */
void sync_actor_await_sleep(struct sync_actor *actor);

/* How what was begun ended. */
doca_error_t sync_actor_finish(struct sync_actor *actor);

/* End the process in order: whoever forgot its event fails. */
void sync_actor_end(struct sync_actor *actor);

#endif

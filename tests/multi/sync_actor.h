/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/sync_actor.h - processes that share a sync event and execute a test's commands.
 *
 *   struct sync_actor host, dpu;
 *   sync_actor_start(&host, dir, "host", NULL);
 *   sync_actor_start(&dpu, dir, "dpu", NULL);
 *   sync_actor_export(&host, SYNC_OWN, SYNC_ALONE, &descriptor);
 *   sync_actor_import(&dpu, SYNC_CONTEXT, &descriptor);
 *   sync_actor_set(&dpu, 5);                          the result of doca_sync_event_update_set() in the process
 *
 * Waiting and adding are split into begin and finish, so that several processes
 * do so at once; a waiting process sleeps in between. Other requests return
 * their result at once. Processes use the public headers alone.
 */
#ifndef TESTS_MULTI_SYNC_ACTOR_H
#define TESTS_MULTI_SYNC_ACTOR_H

#include <doca_error.h>

#include "proc.h"

#define SYNC_DESCRIPTOR_MAX 256

enum sync_memory {
	SYNC_OWN,   /* memory of the library */
	SYNC_MEMFD, /* memory of the process, which can be mapped */
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

/* Create an event, start and export it; or create one from an export and start it. Each process has one event. */
void sync_actor_export(struct sync_actor *actor, enum sync_memory memory, enum sync_use use,
		       struct sync_descriptor *ret_descriptor);
doca_error_t sync_actor_import(struct sync_actor *actor, enum sync_use use, const struct sync_descriptor *descriptor);

doca_error_t sync_actor_get(struct sync_actor *actor, uint64_t *ret_value);
doca_error_t sync_actor_set(struct sync_actor *actor, uint64_t value);

/* Stop and destroy the event. */
void sync_actor_drop(struct sync_actor *actor);

/* Add 1, @count times, up to the first failure, whose code is the result. */
void sync_actor_begin_add(struct sync_actor *actor, uint64_t count);

/* Start to wait until the value is @value; on return the process enters the wait or is in it. */
void sync_actor_begin_wait(struct sync_actor *actor, uint64_t value);

/* Wait until the process sleeps. */
void sync_actor_await_sleep(struct sync_actor *actor);

/* The result of the request that was begun. */
doca_error_t sync_actor_finish(struct sync_actor *actor);

/* End the process in order; an event that was not destroyed fails the test. */
void sync_actor_end(struct sync_actor *actor);

#endif

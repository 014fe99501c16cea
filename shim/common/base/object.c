/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools of objects with checkable handles. */
#include "object.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "shim/common/base/alloc.h"

/* A freed object in its pool. */
struct free_object {
	struct shim_object object;
	struct free_object *next;
};

static struct {
	pthread_mutex_t lock;
	struct free_object *free_list[SHIM_NUM_KINDS];
} pools = { .lock = PTHREAD_MUTEX_INITIALIZER };

void *shim_object_new(enum shim_kind kind, size_t size)
{
	struct free_object *reused;

	if (shim_alloc_fails(size))
		return NULL;
	pthread_mutex_lock(&pools.lock);
	reused = pools.free_list[kind];
	if (reused)
		pools.free_list[kind] = reused->next;
	pthread_mutex_unlock(&pools.lock);
	if (reused)
		memset(reused, 0, size);
	else
		reused = calloc(1, size);
	if (reused)
		reused->object.magic = shim_magic(kind);
	return reused;
}

void shim_object_free(void *object, enum shim_kind kind)
{
	struct free_object *freed = object;

	freed->object.magic = 0;
	pthread_mutex_lock(&pools.lock);
	freed->next = pools.free_list[kind];
	pools.free_list[kind] = freed;
	pthread_mutex_unlock(&pools.lock);
}

void shim_objects_forked(void)
{
	pthread_mutex_init(&pools.lock, NULL);
}

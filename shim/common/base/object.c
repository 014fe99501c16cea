/* SPDX-License-Identifier: BSD-3-Clause */
#include "object.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "shim/common/process/alloc.h"

/* What a dead object holds. */
struct dead {
	struct shim_object object;
	struct dead *next;
};

static struct {
	pthread_mutex_t lock;
	struct dead *dead[SHIM_NUM_KINDS];
} pools = {.lock = PTHREAD_MUTEX_INITIALIZER};

void *shim_object_new(enum shim_kind kind, size_t size)
{
	struct dead *reused;

	if (shim_alloc_fails(size))
		return NULL;
	pthread_mutex_lock(&pools.lock);
	reused = pools.dead[kind];
	if (reused)
		pools.dead[kind] = reused->next;
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
	struct dead *dead = object;

	dead->object.magic = 0;
	pthread_mutex_lock(&pools.lock);
	dead->next = pools.dead[kind];
	pools.dead[kind] = dead;
	pthread_mutex_unlock(&pools.lock);
}

void shim_objects_forked(void)
{
	pthread_mutex_init(&pools.lock, NULL);
}

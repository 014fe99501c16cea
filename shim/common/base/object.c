/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools of objects with checkable handles. */
#include "object.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "shim/common/base/alloc.h"

#define BUCKET_BITS 10

/* Precedes each object, for life. */
struct header {
	struct header *next; /* in its bucket */
	_Alignas(max_align_t) struct shim_object object[];
};

/* A freed object in its pool. */
struct free_object {
	struct shim_object object;
	struct free_object *next;
};

static struct {
	pthread_mutex_t lock;
	struct free_object *free_list[SHIM_NUM_KINDS];
	struct header *_Atomic buckets[1 << BUCKET_BITS]; /* all objects; only added to */
} pools = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct header *_Atomic *find_bucket(const void *object)
{
	uint64_t number = (uintptr_t)object / _Alignof(max_align_t);

	return &pools.buckets[number * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BUCKET_BITS)]; /* Fibonacci hashing */
}

bool shim_object_has_pool(const void *handle)
{
	const struct header *header = atomic_load_explicit(find_bucket(handle), memory_order_acquire);

	while (header && header->object != handle)
		header = header->next;
	return header != NULL;
}

static void *allocate(size_t size)
{
	struct header *header = calloc(1, sizeof(*header) + size);
	struct header *_Atomic *bucket;

	if (!header)
		return NULL;
	bucket = find_bucket(header->object);
	pthread_mutex_lock(&pools.lock);
	header->next = atomic_load_explicit(bucket, memory_order_relaxed);
	atomic_store_explicit(bucket, header, memory_order_release);
	pthread_mutex_unlock(&pools.lock);
	return header->object;
}

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
		reused = allocate(size);
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

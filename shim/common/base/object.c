/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools of objects with checkable handles. */
#include "object.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "shim/common/base/alloc.h"
#include "sim/base/fork.h"
#include "sim/trace/trace.h"

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

SIM_AT_FORK(SIM_FORK_LOCKS, .lock = &pools.lock);

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

/* For the line about what a program leaves open. */
static void count(enum shim_kind kind, int by)
{
	static const struct {
		enum shim_kind kind;
		enum sim_trace_open what;
	} counted[] = {
		{ SHIM_MMAP, SIM_TRACE_OPEN_MAPS },   { SHIM_INVENTORY, SIM_TRACE_OPEN_INVENTORIES },
		{ SHIM_PE, SIM_TRACE_OPEN_ENGINES },  { SHIM_WORKQ, SIM_TRACE_OPEN_ENGINES },
		{ SHIM_DEV, SIM_TRACE_OPEN_DEVICES },
	};

	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
		if (counted[i].kind == kind)
			sim_trace_count_open(counted[i].what, by);
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
	if (!reused)
		return NULL;
	reused->object.magic = shim_magic(kind);
	count(kind, 1);
	return reused;
}

void shim_object_free(void *object, enum shim_kind kind)
{
	struct free_object *freed = object;

	freed->object.magic = 0;
	count(kind, -1);
	pthread_mutex_lock(&pools.lock);
	freed->next = pools.free_list[kind];
	pools.free_list[kind] = freed;
	pthread_mutex_unlock(&pools.lock);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/base/object.h - handles that can be checked.
 *
 * Every public handle starts with a struct shim_object that holds its kind. Each kind has
 * a pool. The memory of a destroyed object returns to the pool, never to the allocator. So a
 * stale handle, a handle of another kind and NULL are recognised without an invalid access.
 *
 * A pointer that never was a handle is found in no pool. That takes a few nanoseconds, so calls
 * of the data path read the tag alone: there such a pointer may crash.
 */
#ifndef SHIM_OBJECT_H
#define SHIM_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function of libdoca_common for the other libraries of the shim. */
#define SHIM_INTERNAL_API __attribute__((visibility("default")))

enum shim_kind {
	SHIM_DEVINFO = 1,
	SHIM_DEV,
	SHIM_DEVINFO_REP,
	SHIM_DEV_REP,
	SHIM_AES_GCM_KEY,
	SHIM_MMAP,
	SHIM_INVENTORY,
	SHIM_BUF_POOL,
	SHIM_BUF_ARR,
	SHIM_COMCH_CONNECTION,
	SHIM_COMCH_MSGQ,
	SHIM_COMCH_CONSUMER_COMPLETION,
	SHIM_CHANNEL_EP,
	SHIM_CHANNEL_ADDR,
	SHIM_CLOCK,
	SHIM_EC_MATRIX,
	SHIM_GRAPH,
	SHIM_GRAPH_NODE,
	SHIM_GRAPH_INSTANCE,
	SHIM_WORKQ,
	SHIM_WORKQ_DMA,
	SHIM_WORKQ_SYNC_EVENT,
	SHIM_WORKQ_SHA,
	SHIM_WORKQ_SHA_SESSION,
	SHIM_WORKQ_COMPRESS,
	SHIM_WORKQ_EC,
	SHIM_PE,
	/* contexts; shim_ctx_is() depends on the order */
	SHIM_DMA,
	SHIM_COMCH_SERVER,
	SHIM_COMCH_CLIENT,
	SHIM_COMCH_PRODUCER,
	SHIM_COMCH_CONSUMER,
	SHIM_MMAP_ADVISE,
	SHIM_SYNC_EVENT,
	/* of engines besides DMA's; check_ctx_is_accel() depends on the order */
	SHIM_SHA,
	SHIM_COMPRESS,
	SHIM_EC,
	SHIM_AES_GCM,
	SHIM_NUM_KINDS,
	/* parts of other objects, without a pool */
	SHIM_BUF,
	SHIM_TASK,
};

struct shim_object {
	uint32_t magic; /* shim_magic(kind) while alive */
};

static inline uint32_t shim_magic(enum shim_kind kind)
{
	return 0xb10ef1e0u + kind;
}

/* Returns whether @handle is a live object of @kind. Reads from @handle, which is NULL or was a handle. */
static inline bool shim_object_is(const void *handle, enum shim_kind kind)
{
	return handle && (uintptr_t)handle % _Alignof(struct shim_object) == 0 &&
	       ((const struct shim_object *)handle)->magic == shim_magic(kind);
}

/* The same for a @handle that was an object of @kind before. */
static inline bool shim_object_is_still(const void *handle, enum shim_kind kind)
{
	return ((const struct shim_object *)handle)->magic == shim_magic(kind);
}

/* Returns whether the object at @handle, any value, is or was of a pool. */
SHIM_INTERNAL_API bool shim_object_has_pool(const void *handle);

/* As shim_object_is(), for any value of @handle; that of a kind without a pool is NULL or was a handle. */
static inline bool shim_handle_is(const void *handle, enum shim_kind kind)
{
	if (kind < SHIM_NUM_KINDS && !shim_object_has_pool(handle))
		return false;
	return shim_object_is(handle, kind);
}

/* Create a zeroed object of @size bytes, which is the same for all objects of @kind. NULL without memory. */
SHIM_INTERNAL_API void *shim_object_new(enum shim_kind kind, size_t size);

/* Destroy @object: its handle is stale from now on. */
SHIM_INTERNAL_API void shim_object_free(void *object, enum shim_kind kind);

/* In a forked child: initialise the lock, which another thread of the parent may have held. */
void shim_objects_forked(void);

#endif

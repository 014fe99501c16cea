/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/base/object.h - handles that can be checked.
 *
 * Every public handle starts with a struct shim_object that says what it is.
 * Objects come from pools by kind, and a destroyed one's memory goes back to
 * its pool, never to the allocator: so a stale handle, a handle of another kind
 * and NULL are all recognised without touching memory that is not ours.
 */
#ifndef SHIM_OBJECT_H
#define SHIM_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Functions that our other libraries use of libdoca_common. */
#define SHIM_INTERNAL_API __attribute__((visibility("default")))

enum shim_kind {
	SHIM_DEVINFO = 1,
	SHIM_DEV,
	SHIM_DEVINFO_REP,
	SHIM_DEV_REP,
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
	SHIM_GRAPH,
	SHIM_GRAPH_NODE,
	SHIM_GRAPH_INSTANCE,
	SHIM_WORKQ,
	SHIM_WORKQ_DMA,
	SHIM_WORKQ_SYNC_EVENT,
	SHIM_PE,
	/* Contexts of libraries: */
	SHIM_DMA,
	SHIM_COMCH_SERVER,
	SHIM_COMCH_CLIENT,
	SHIM_COMCH_PRODUCER,
	SHIM_COMCH_CONSUMER,
	SHIM_MMAP_ADVISE,
	SHIM_SYNC_EVENT,
	SHIM_NUM_KINDS,
	/* Live inside other objects, not in pools: */
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

/* Whether @handle is a live object of that kind. */
static inline bool shim_object_is(const void *handle, enum shim_kind kind)
{
	return handle && (uintptr_t)handle % _Alignof(struct shim_object) == 0 &&
	       ((const struct shim_object *)handle)->magic == shim_magic(kind);
}

/* A zeroed live object of @size bytes (always the same for one kind), or NULL. */
SHIM_INTERNAL_API void *shim_object_new(enum shim_kind kind, size_t size);

/* End its life. */
SHIM_INTERNAL_API void shim_object_free(void *object, enum shim_kind kind);

/* In a forked child: another thread of the parent may have held the pools' lock. */
void shim_objects_forked(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/base/object.h - handles that can be checked.
 *
 * Every public handle starts with a struct shim_object that holds its kind (the kinds of a library stand in its
 * library.toml). Each kind has a pool. The memory of a destroyed object returns to the pool, never to the allocator. So a
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

#include "shim/handle_kinds.h" /* written by the build */

/* A function of libdoca_common for the other libraries of the shim. */
#define SHIM_INTERNAL_API __attribute__((visibility("default")))

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

/* Returns whether @object is a live context, of any library. */
static inline bool shim_object_is_ctx(const struct shim_object *object)
{
	return object->magic - shim_magic(SHIM_FIRST_CTX) < SHIM_NUM_KINDS - SHIM_FIRST_CTX;
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

#endif

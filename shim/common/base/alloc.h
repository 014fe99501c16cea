/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/base/alloc.h - allocation of memory, with a hook for fault injection.
 *
 * The library allocates its users' objects, slabs and lists through this header. So a
 * fault rule for "alloc" can make the n-th allocation fail. The log and the fault
 * injection itself call malloc() directly.
 */
#ifndef SHIM_ALLOC_H
#define SHIM_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

#include "object.h"

/* Returns whether an allocation of @bytes must fail. Set once, by a constructor; NULL = none fails. */
extern SHIM_INTERNAL_API bool (*shim_alloc_fault_hook)(size_t bytes);

/* Returns whether an allocation of @bytes must fail. */
static inline bool shim_alloc_fails(size_t bytes)
{
	return shim_alloc_fault_hook && shim_alloc_fault_hook(bytes);
}

/* As calloc(), malloc() and realloc(); free() frees the memory. */
SHIM_INTERNAL_API void *shim_calloc(size_t count, size_t bytes);
SHIM_INTERNAL_API void *shim_malloc(size_t bytes);
SHIM_INTERNAL_API void *shim_realloc(void *memory, size_t bytes);

#endif

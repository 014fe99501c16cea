/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocation of memory, with a hook for fault injection. */
#include "alloc.h"

#include <stdlib.h>

bool (*shim_alloc_fault_hook)(size_t bytes);

void *shim_calloc(size_t count, size_t bytes)
{
	return shim_alloc_fails(count * bytes) ? NULL : calloc(count, bytes);
}

void *shim_malloc(size_t bytes)
{
	return shim_alloc_fails(bytes) ? NULL : malloc(bytes);
}

void *shim_realloc(void *memory, size_t bytes)
{
	return shim_alloc_fails(bytes) ? NULL : realloc(memory, bytes);
}

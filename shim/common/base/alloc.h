/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/process/alloc.h - memory that a fault may refuse.
 *
 * What the library keeps for its user (objects, slabs of tasks and buffers, lists)
 * comes from here, or asks here first; so a rule for "alloc" can have the n-th
 * of them fail. What the log and faults themselves allocate does not.
 */
#ifndef SHIM_ALLOC_H
#define SHIM_ALLOC_H

#include <stddef.h>

#include "runtime.h"

/* Ask the plan. */
SHIM_INTERNAL_API bool shim_alloc_fault_hits(struct sim_injector *faults, size_t bytes);

/* Whether an allocation of so many bytes fails. */
static inline bool shim_alloc_fails(size_t bytes)
{
	struct sim_injector *faults = shim_faults();

	return sim_injector_may_hit(faults, SIM_OP_ALLOC) && shim_alloc_fault_hits(faults, bytes);
}

/* As calloc(), malloc() and realloc(); what they return goes to free(). */
SHIM_INTERNAL_API void *shim_calloc(size_t count, size_t bytes);
SHIM_INTERNAL_API void *shim_malloc(size_t bytes);
SHIM_INTERNAL_API void *shim_realloc(void *memory, size_t bytes);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"

#include <stdlib.h>

#include "fault.h"

bool shim_alloc_fault_hits(struct sim_injector *faults, size_t bytes)
{
	struct sim_fault_site site = { .op = SIM_OP_ALLOC, .function = SIM_NO_FUNCTION, .size = bytes };
	struct sim_fault_hit hit;

	return shim_fault_hits(faults, &site, 0, &hit);
}

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

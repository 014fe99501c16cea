/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"

#include <stdlib.h>

#include "fault.h"

bool shim_alloc_is_struck(struct sim_faults *faults, size_t bytes)
{
	struct sim_site site = {.op = SIM_OP_ALLOC, .function = SIM_NO_FUNCTION, .size = bytes};
	struct sim_strike strike;

	return shim_strikes(faults, &site, 0, &strike);
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

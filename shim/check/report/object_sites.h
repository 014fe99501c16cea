/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/report/object_sites.h - where the program created its objects. */
#ifndef SHIM_CHECK_OBJECT_SITES_H
#define SHIM_CHECK_OBJECT_SITES_H

#include <stdbool.h>
#include <sys/types.h>

#include "stack.h"

struct check_birth {
	const void *handle;
	uint32_t function; /* enum shim_function: the one that created it */
	pid_t tid;
	struct check_stack stack;
};

/* The last object that had the handle. Returns false if its creation was not seen. */
bool check_birth_find(const void *handle, struct check_birth *ret_birth);

#endif

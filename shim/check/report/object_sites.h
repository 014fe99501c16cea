/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/report/object_sites.h - where the program created and destroyed its objects.
 *
 * A handle's sites are those of the last object that had it. Handles of destroyed objects are given to new ones.
 */
#ifndef SHIM_CHECK_OBJECT_SITES_H
#define SHIM_CHECK_OBJECT_SITES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "stack.h"

struct check_site {
	uint32_t function; /* enum shim_function */
	pid_t tid;
	struct check_stack stack; /* without frames = not known */
};

struct check_object_sites {
	const void *handle;
	const char *kind;         /* in words; NULL before the end is known */
	uint32_t fork_generation; /* shim_fork_generation at the creation */
	struct check_site created, destroyed;
};

/* Returns false if neither creation nor destruction of the handle was seen. */
bool check_object_sites_find(const void *handle, struct check_object_sites *ret_sites);

/* Call @see for each handle of an object that the program created and did not destroy. @see calls no function of this file. */
void check_objects_each(void (*see)(const struct check_object_sites *sites, void *arg), void *arg);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads the checker, libbfsim_check.so, into a process that asks for it: by BFSIM_CHECK, or by a sanitizer that can
 * watch the memory of tasks. */
#include <dlfcn.h>
#include <stdlib.h>

#include "shim/common/base/call_hooks.h"
#include "sim/base/log.h"

#define LIBRARY "libbfsim_check.so.0"
#define START   "shim_check_start"

const struct shim_call_hooks *shim_call_hooks;

static void __attribute__((constructor)) load_checker(void)
{
	const char *mode = getenv("BFSIM_CHECK");
	const struct shim_call_hooks *(*start)(const char *mode);
	void *library;

	if (!mode)
		return;
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	*(void **)&start = library ? dlsym(library, START) : NULL;
	if (start)
		shim_call_hooks = start(mode);
	else
		sim_err("BFSIM_CHECK is set, but the checker can't be loaded: %s", dlerror());
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads the checker, libbfsim_check.so, into a process that asks for it: by BFSIM_CHECK, or by a sanitizer that can
 * watch the memory of tasks. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/common/base/call_hooks.h"
#include "shim/common/base/compat.h"
#include "sim/base/log.h"

#define LIBRARY "libbfsim_check.so.0"
#define START   "shim_check_start"

/* The marks of sanitizers in this process. */
void __asan_poison_memory_region(void const volatile *addr, size_t size) __attribute__((weak));
void *__tsan_create_fiber(unsigned int flags) __attribute__((weak));

/* BFSIM_CHECK decides, if it is set. Sanitizers and valgrind, which preloads its own libraries, get the detectors of
 * races for themselves, in programs of the current generation. */
static const char *get_mode(void)
{
	const char *mode = getenv("BFSIM_CHECK"), *preloaded = getenv("LD_PRELOAD");

	if (mode || shim_compat->keeps_checker_out)
		return mode;
	return __asan_poison_memory_region || __tsan_create_fiber ||
			       (preloaded && strstr(preloaded, "vgpreload_memcheck")) ?
		       "sanitizer" :
		       NULL;
}

/* The directory of this library, behind the links of SDK trees. NULL if it can't be known. */
static char *get_own_dir(void)
{
	Dl_info self;
	char *path = dladdr((void *)(uintptr_t)get_own_dir, &self) ? realpath(self.dli_fname, NULL) : NULL;
	char *slash = path ? strrchr(path, '/') : NULL;

	if (slash)
		*slash = '\0';
	return path;
}

/* Beside this library, or where the build has it. By its path: a sanitizer's dlopen() does not know our search path. */
static void *open_library(void)
{
	static const char *const places[] = { "", "/check" };
	char *dir = get_own_dir(), path[PATH_MAX];
	void *library = NULL;

	for (size_t i = 0; dir && !library && i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s%s/" LIBRARY, dir, places[i]);
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	free(dir);
	return library;
}

static void __attribute__((constructor)) load_checker(void)
{
	const char *mode = get_mode();
	const struct shim_call_hooks *(*start)(const char *mode);
	void *library;

	if (!mode)
		return;
	library = open_library();
	*(void **)&start = library ? dlsym(library, START) : NULL;
	if (start)
		shim_frequent_hooks = shim_call_hooks = start(mode);
	else
		sim_err("the checker can't be loaded (BFSIM_CHECK, or a sanitizer): %s", dlerror());
}

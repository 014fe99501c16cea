/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries of other projects, loaded on first use. */
#include "load.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/loader.h"

static void load(struct shim_loaded_library *library)
{
	void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		snprintf(library->lack, sizeof(library->lack), "%s can't be loaded (%s); install the package %s",
			 library->file, dlerror(), library->package);
		return;
	}
	for (size_t i = 0; i < library->num_imports; i++) {
		void *function = dlsym(handle, library->imports[i].name);

		if (!function) {
			snprintf(library->lack, sizeof(library->lack), "%s has no function %s; install the package %s",
				 library->file, library->imports[i].name, library->package);
			return;
		}
		memcpy(library->imports[i].slot, &function, sizeof(function));
	}
}

const char *shim_load(struct shim_loaded_library *library)
{
	sim_loader_lock();
	if (!library->was_tried)
		load(library);
	library->was_tried = true;
	sim_loader_unlock();
	return library->lack[0] ? library->lack : NULL;
}

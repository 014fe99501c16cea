/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/accel/load.h - functions of another project's library, which is loaded on first use.
 *
 * So a program that does not use an engine does not load the library that does the engine's work, and bfsim runs
 * without the library.
 */
#ifndef SHIM_LOAD_H
#define SHIM_LOAD_H

#include <stddef.h>

#include "shim/common/base/object.h"

/* A function, and the pointer to it. */
struct shim_import {
	const char *name;
	void *slot; /* of any type of pointer to a function */
};

struct shim_loaded_library {
	const char *file;    /* "libcrypto.so.3" */
	const char *package; /* of Debian 12, for messages */
	const struct shim_import *imports;
	size_t num_imports;
	bool was_tried;
	char lack[256]; /* why it can't be used; "" = it can */
};

/* Load the library, once. Returns NULL, or why it can't be used, as a sentence. Any thread. */
SHIM_INTERNAL_API const char *shim_load(struct shim_loaded_library *library);

#endif

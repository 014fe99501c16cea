/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/base/call_names.h - names of the public functions and of their parameters. */
#ifndef SHIM_CHECK_CALL_NAMES_H
#define SHIM_CHECK_CALL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "call_functions.h" /* generated */

#define SHIM_MAX_PARAMS 10

struct shim_function_names {
	const char *name;
	const char *params[SHIM_MAX_PARAMS];
	uint16_t handles;   /* a bit for each parameter that is a handle of an object */
	bool returns_error; /* a doca_error_t */
};

extern const struct shim_function_names shim_function_names[SHIM_NUM_FUNCTIONS];

#endif

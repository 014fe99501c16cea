/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/base/imports.h - sees calls of the program to functions of the C library.
 *
 * The checker is loaded after the program, so its symbols come too late to stand before the C library's. It writes its own
 * functions into the modules' tables of imported functions (GOT) instead: of the program, and of all libraries but ours, the
 * C library's and the sanitizers'. Calls inside of these modules are not seen, nor those of a program that is linked
 * statically with the function. Without the checker, nothing is changed.
 */
#ifndef SHIM_CHECK_IMPORTS_H
#define SHIM_CHECK_IMPORTS_H

#include <stddef.h>

struct check_import {
	const char *name;
	void *replacement; /* a function of the same type */
};

/* Replace the functions in all modules that are loaded, but those that an earlier call has seen. */
void check_imports_replace(const struct check_import *imports, size_t count);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/mem/release_calls.h - the functions of the C library by which a program takes memory away. */
#ifndef SHIM_CHECK_RELEASE_CALLS_H
#define SHIM_CHECK_RELEASE_CALLS_H

#include <stddef.h>
#include <stdint.h>

enum check_release_kind {
	CHECK_RELEASED,
	CHECK_NO_ACCESS, /* protected from reads and writes */
	CHECK_NO_WRITE,
};

/* The program calls @function, from @caller, which takes @len_bytes at @addr away. */
typedef void check_release_fn(const char *function, enum check_release_kind kind, uintptr_t addr, size_t len_bytes,
			      const void *caller);

/* Tell @see of the calls of the program from now on. Called again: also of those of modules that were loaded meanwhile. */
void check_release_calls_follow(check_release_fn *see);

#endif

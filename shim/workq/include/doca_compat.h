/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_compat.h - stability of functions.
 *
 * In this generation every function carries one mark:
 *
 *   __DOCA_EXPERIMENTAL  may change; calling it warns unless the program defines
 *                        DOCA_ALLOW_EXPERIMENTAL_API before it includes anything
 *
 * The mark also exports the symbol from the library that defines it. Headers that
 * the next generation has as well call it by its name there, DOCA_EXPERIMENTAL.
 */
#ifndef DOCA_COMPAT_H_
#define DOCA_COMPAT_H_

#include <doca_config.h>
#include <string.h>
#include <stdint.h>

#ifdef DOCA_ALLOW_EXPERIMENTAL_API
#define __DOCA_EXPERIMENTAL __attribute__((visibility("default")))
#else
#define __DOCA_EXPERIMENTAL \
	__attribute__((visibility("default"), deprecated("experimental: define DOCA_ALLOW_EXPERIMENTAL_API to allow")))
#endif
#define DOCA_EXPERIMENTAL __DOCA_EXPERIMENTAL

/* Last: it declares a function with the mark above. */
#include <doca_version.h>

#endif

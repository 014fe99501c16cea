/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_compat.h - stability of functions, and versioned structures.
 *
 * Every public function carries one of three marks:
 *
 *   DOCA_STABLE        does not change within the major version
 *   DOCA_EXPERIMENTAL  may change; calling it warns unless the program defines
 *                      DOCA_ALLOW_EXPERIMENTAL_API before it includes anything
 *   DOCA_DEPRECATED    will be removed; calling it warns unless the program defines
 *                      DOCA_ALLOW_DEPRECATED_API
 *
 * The marks also export the symbol from the library that defines it.
 */
#ifndef DOCA_COMPAT_H_
#define DOCA_COMPAT_H_

#include <doca_config.h>
#include <string.h>
#include <stdint.h>
#include <stdlib.h>
#include <assert.h>

#define DOCA_STABLE __attribute__((visibility("default")))

#ifdef DOCA_ALLOW_EXPERIMENTAL_API
#define DOCA_EXPERIMENTAL __attribute__((visibility("default")))
#else
#define DOCA_EXPERIMENTAL \
	__attribute__((visibility("default"), deprecated("experimental: define DOCA_ALLOW_EXPERIMENTAL_API to allow")))
#endif

#ifdef DOCA_ALLOW_DEPRECATED_API
#define DOCA_DEPRECATED __attribute__((visibility("default")))
#else
#define DOCA_DEPRECATED \
	__attribute__((visibility("default"), deprecated("deprecated: define DOCA_ALLOW_DEPRECATED_API to allow")))
#endif

/* A versioned structure starts with the version of the headers that its user
 * was compiled with, so that a library knows its members:
 *
 *   struct plugin {
 *           DOCA_STRUCT_START;
 *           int (*open)(void);
 *   };
 *
 *   struct plugin p;
 *   DOCA_STRUCT_MEMSET_CTOR(p);   all zero but the version; ..._CTOR(p) sets the version alone
 *
 * The PTR_ forms take a pointer. DOCA_STRUCT_DEF(tag, name) defines a variable
 * with the version set; DOCA_STRUCT_CTOR_LIST_START begins a braced initialiser.
 */
#define DOCA_STRUCT_START            size_t __doca_api_version
#define DOCA_STRUCT_GET_VERSION(ptr) ((ptr)->__doca_api_version)
#define DOCA_STRUCT_CTOR(obj)        ((obj).__doca_api_version = DOCA_VERSION_EXACT)
#define DOCA_STRUCT_PTR_CTOR(ptr)    DOCA_STRUCT_CTOR(*(ptr))
#define DOCA_STRUCT_MEMSET_CTOR(obj)            \
	do {                                    \
		memset(&(obj), 0, sizeof(obj)); \
		DOCA_STRUCT_CTOR(obj);          \
	} while (0)
#define DOCA_STRUCT_PTR_MEMSET_CTOR(ptr) DOCA_STRUCT_MEMSET_CTOR(*(ptr))
#define DOCA_STRUCT_CTOR_LIST_START      .__doca_api_version = DOCA_VERSION_EXACT
#define DOCA_STRUCT_DEF(tag, name)       struct tag name = { DOCA_STRUCT_CTOR_LIST_START }

/* Last: it declares a function with the marks above. */
#include <doca_version.h>

#endif

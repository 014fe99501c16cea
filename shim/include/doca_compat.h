/* SPDX-License-Identifier: BSD-3-Clause */
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
#define DOCA_EXPERIMENTAL                                                                    \
	__attribute__((visibility("default"),                                                \
		       deprecated("experimental: define DOCA_ALLOW_EXPERIMENTAL_API to allow")))
#endif

#ifdef DOCA_ALLOW_DEPRECATED_API
#define DOCA_DEPRECATED __attribute__((visibility("default")))
#else
#define DOCA_DEPRECATED                                                                      \
	__attribute__((visibility("default"),                                                \
		       deprecated("deprecated: define DOCA_ALLOW_DEPRECATED_API to allow")))
#endif

/* Last: it declares a function with the marks above. */
#include <doca_version.h>

#endif

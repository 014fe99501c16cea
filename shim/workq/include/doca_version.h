/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_version.h - the release whose interface these headers present.
 *
 * These headers serve source code of 1.5 to 2.2 and have the version 2.2. The
 * macros and doca_version() give the version of the headers that a program was
 * compiled with, doca_version_runtime() that of the library it runs with.
 */
#ifndef DOCA_VERSION_H_
#define DOCA_VERSION_H_

#include <stddef.h>

#define DOCA_VER_MAJOR  2
#define DOCA_VER_MINOR  2
#define DOCA_VER_PATCH  80
#define DOCA_VER_STRING "2.2.0080"

/* A release as one number that orders like the release. */
#define DOCA_VERSION_NUM(major, minor, patch) ((size_t)(major) << 24 | (size_t)(minor) << 16 | (size_t)(patch))
#define DOCA_CURRENT_VERSION_NUM              DOCA_VERSION_NUM(DOCA_VER_MAJOR, DOCA_VER_MINOR, DOCA_VER_PATCH)

/* Is this release the one of the headers (EQ), or that one or an older (LTE)? */
#define DOCA_VERSION_EQ_CURRENT(major, minor, patch) (DOCA_VERSION_NUM(major, minor, patch) == DOCA_CURRENT_VERSION_NUM)
#define DOCA_VERSION_LTE_CURRENT(major, minor, patch) \
	(DOCA_VERSION_NUM(major, minor, patch) <= DOCA_CURRENT_VERSION_NUM)

#include <doca_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Both return "major.minor.patch", a constant string that is never freed. */
static inline const char *doca_version(void)
{
	return DOCA_VER_STRING;
}

__DOCA_EXPERIMENTAL
const char *doca_version_runtime(void);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_version.h - the release whose interface these headers present.
 *
 * The macros and doca_version() speak of the headers a program was compiled
 * with, doca_version_runtime() of the library it runs on.
 */
#ifndef DOCA_VERSION_H_
#define DOCA_VERSION_H_

#include <stddef.h>

#define DOCA_VERSION_MAJOR  3
#define DOCA_VERSION_MINOR  0
#define DOCA_VERSION_PATCH  58
#define DOCA_VERSION_STRING "3.0.0058"

/* A release as one number that orders like the release: for comparisons with
 * DOCA_VERSION_EXACT. CALC gives a patch level 1000 times the weight, for
 * comparisons with DOCA_VERSION_OFFICIAL; don't mix the two scales. */
#define DOCA_VERSION_CALC_EXACT(major, minor, patch) ((size_t)(major) << 24 | (size_t)(minor) << 16 | (size_t)(patch))
#define DOCA_VERSION_CALC(major, minor, patch)       DOCA_VERSION_CALC_EXACT(major, minor, (size_t)(patch)*1000)

#define DOCA_VERSION_EXACT    DOCA_VERSION_CALC_EXACT(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR, DOCA_VERSION_PATCH)
#define DOCA_VERSION_OFFICIAL DOCA_VERSION_CALC(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR, DOCA_VERSION_PATCH)

/* Is this release the one of the headers (EQ), or that one or an older (LTE)? */
#define DOCA_VERSION_EQ_CURRENT(major, minor, patch)  (DOCA_VERSION_CALC(major, minor, patch) == DOCA_VERSION_OFFICIAL)
#define DOCA_VERSION_LTE_CURRENT(major, minor, patch) (DOCA_VERSION_CALC(major, minor, patch) <= DOCA_VERSION_OFFICIAL)

/* ============ Of release 2.5 only: the numbers' earlier names ============ */

#define DOCA_VER_MAJOR  DOCA_VERSION_MAJOR
#define DOCA_VER_MINOR  DOCA_VERSION_MINOR
#define DOCA_VER_PATCH  DOCA_VERSION_PATCH
#define DOCA_VER_STRING DOCA_VERSION_STRING

#include <doca_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Both return "major.minor.patch", a constant string that is never freed. */
static inline const char *doca_version(void)
{
	return DOCA_VERSION_STRING;
}

DOCA_EXPERIMENTAL
const char *doca_version_runtime(void);

#ifdef __cplusplus
}
#endif

#endif

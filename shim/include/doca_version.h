/* SPDX-License-Identifier: BSD-3-Clause */
/* The release whose interface these headers present. */
#ifndef DOCA_VERSION_H_
#define DOCA_VERSION_H_

#include <stddef.h>

#define DOCA_VERSION_MAJOR 3
#define DOCA_VERSION_MINOR 0
#define DOCA_VERSION_PATCH 58
#define DOCA_VERSION_STRING "3.0.0058"

#define DOCA_VERSION_CALC_EXACT(major, minor, patch) ((size_t)(major) << 24 | (size_t)(minor) << 16 | (size_t)(patch))
#define DOCA_VERSION_CALC(major, minor, patch) DOCA_VERSION_CALC_EXACT(major, minor, (size_t)(patch) * 1000)
#define DOCA_CURRENT_VERSION_NUM DOCA_VERSION_CALC_EXACT(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR, DOCA_VERSION_PATCH)
#define DOCA_VERSION_EQ_CURRENT(major, minor, patch) \
	(DOCA_VERSION_CALC_EXACT(major, minor, patch) == DOCA_CURRENT_VERSION_NUM)
#define DOCA_VERSION_LTE_CURRENT(major, minor, patch) \
	(DOCA_VERSION_CALC_EXACT(major, minor, patch) <= DOCA_CURRENT_VERSION_NUM)

#include <doca_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

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

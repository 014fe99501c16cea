/* SPDX-License-Identifier: BSD-3-Clause */
/* The version of the work-queue libraries. */
#include <doca_version.h>

const char *doca_version_runtime(void)
{
	return DOCA_VER_STRING;
}

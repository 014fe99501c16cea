/* SPDX-License-Identifier: BSD-3-Clause */
/* The release that the library implements. */
#include <doca_version.h>

const char *doca_version_runtime(void)
{
	return DOCA_VERSION_STRING;
}

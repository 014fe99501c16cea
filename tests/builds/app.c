/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of either generation: prints the side that its headers are for, and the release that it runs with. */
#include <stdio.h>

#include <doca_dma.h>
#include <doca_error.h>
#include <doca_version.h>

#ifdef DOCA_ARCH_DPU
#define SIDE "dpu"
#else
#define SIDE "host"
#endif

int main(void)
{
	printf("%s %s\n", SIDE, doca_version_runtime());
	return doca_dma_destroy(NULL) == DOCA_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What libdoca_dma of the work-queue generation declares and does not have yet: it
 * links, and says so. A function leaves this file when it gets one of its own.
 */
#include <doca_dma.h>

#include "shim/common/check.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define NOT_YET(what, name, ...)                 \
	doca_error_t name(__VA_ARGS__)           \
	{                                        \
		return SHIM_NOT_SIMULATED(what); \
	}
#define NULL_YET(type, name, ...) \
	type name(__VA_ARGS__)    \
	{                         \
		return (type){0}; \
	}

/* ---- doca_dma.h ---- */
NULL_YET(struct doca_ctx *, doca_dma_as_ctx, struct doca_dma *dma)
NOT_YET("DMA of the work-queue generation", doca_dma_create, struct doca_dma **dma)
NOT_YET("DMA of the work-queue generation", doca_dma_destroy, struct doca_dma *dma)
NOT_YET("DMA of the work-queue generation", doca_dma_job_get_supported, struct doca_devinfo *devinfo,
	enum doca_dma_job_types job_type)

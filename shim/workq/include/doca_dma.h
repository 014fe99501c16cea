/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_dma.h - copies by the card's DMA engine.
 *
 *   doca_dma_create --> doca_ctx_dev_add --> doca_ctx_start --> doca_ctx_workq_add
 *     --> doca_workq_submit, doca_workq_progress_retrieve ...
 *     --> doca_ctx_workq_rm --> doca_ctx_stop --> doca_ctx_dev_rm --> doca_dma_destroy
 *
 * A memcpy job reads the data segments of its source buffer, or list, and
 * writes as many bytes into its destination, which must have room for them.
 * Source and destination may be local memory or memory of the card's other side
 * (doca_mmap_create_from_export()); at least the device of the DMA context must
 * be in both maps. Jobs of one context may complete in any order.
 *
 * Functions that return doca_error_t return DOCA_ERROR_INVALID_VALUE for a NULL
 * argument. The thread rule is the work queue's (doca_ctx.h).
 */
#ifndef DOCA_DMA_H_
#define DOCA_DMA_H_

#include <inttypes.h>
#include <doca_buf.h>
#include <doca_compat.h>
#include <doca_ctx.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dma;

/* --- Jobs --- */

enum doca_dma_job_types {
	DOCA_DMA_JOB_MEMCPY = DOCA_ACTION_DMA_FIRST + 1,
};

/* The buffers are borrowed until the job's event was retrieved; the job takes no reference. */
struct doca_dma_job_memcpy {
	struct doca_job base;
	struct doca_buf *dst_buff;
	struct doca_buf const *src_buff;
};

/* The result field of a memcpy event, read as this structure. */
struct doca_dma_memcpy_result {
	doca_error_t result;
};

/* --- Capabilities of a device --- */

/* DOCA_SUCCESS if the device can run jobs of that type, DOCA_ERROR_NOT_SUPPORTED
 * if it can't; DOCA_ERROR_DRIVER. */
__DOCA_EXPERIMENTAL
doca_error_t doca_dma_job_get_supported(struct doca_devinfo *devinfo, enum doca_dma_job_types job_type);

/* The maximum number of bytes of one job. */
__DOCA_EXPERIMENTAL
doca_error_t doca_dma_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *buf_size);

/* The maximum length of a source or destination list; 1 means no lists. */
__DOCA_EXPERIMENTAL
doca_error_t doca_dma_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem);

/* --- Creation and destruction --- */

/* A DMA context without a device, owned by the caller. create:
 * DOCA_ERROR_NO_MEMORY, DOCA_ERROR_INITIALIZATION. destroy stops it if it is started;
 * DOCA_ERROR_IN_USE while work queues are added. */
__DOCA_EXPERIMENTAL
doca_error_t doca_dma_create(struct doca_dma **dma);

__DOCA_EXPERIMENTAL
doca_error_t doca_dma_destroy(struct doca_dma *dma);

/* The same object as a context; valid as long as @dma. NULL for NULL. */
__DOCA_EXPERIMENTAL
struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_dma.h - copies by the card's DMA engine.
 *
 *   doca_dma_create --> set_conf --> connect to a progress engine --> doca_ctx_start
 *     --> alloc_init, submit, callback ... --> doca_ctx_stop --> doca_dma_destroy
 *
 * A memcpy task reads the data segments of its source buffer or list, and appends the bytes to the data
 * segment of its destination, whose data length grows by the bytes written. Source and destination may be
 * local memory or memory of the card's other side (doca_mmap_create_from_export()). Both memory maps need the
 * device of the DMA context. Tasks of one context may complete in any order
 * (doca_dma_set_ordered_completions()).
 *
 * Functions that return doca_error_t return DOCA_ERROR_INVALID_VALUE for a NULL
 * argument. The thread rule is the context's (doca_ctx.h).
 */
#ifndef DOCA_DMA_H_
#define DOCA_DMA_H_

#include <inttypes.h>
#include <doca_buf.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_error.h>
#include <doca_pe.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_dma;
struct doca_dma_task_memcpy;
struct doca_gpu_dma;
struct doca_task;

/* --- Capabilities --- */

/* DOCA_SUCCESS if the device can run memcpy tasks, DOCA_ERROR_NOT_SUPPORTED if
 * it can't; DOCA_ERROR_DRIVER. */
DOCA_STABLE
doca_error_t doca_dma_cap_task_memcpy_is_supported(const struct doca_devinfo *devinfo);

/* Get the maximum number of bytes of one task. */
DOCA_STABLE
doca_error_t doca_dma_cap_task_memcpy_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *buf_size);

/* Get the maximum length of a source or destination list; 1 = no lists. */
DOCA_STABLE
doca_error_t doca_dma_cap_task_memcpy_get_max_buf_list_len(const struct doca_devinfo *devinfo,
							   uint32_t *max_buf_list_len);

/* Get the maximum number of tasks that set_conf() accepts. */
DOCA_STABLE
doca_error_t doca_dma_cap_get_max_num_tasks(struct doca_dma *dma, uint32_t *max_num_tasks);

/* --- Life --- */

/* Create a DMA context on @dev, which is borrowed; the caller destroys the context.
 * create: DOCA_ERROR_NO_MEMORY, DOCA_ERROR_INITIALIZATION. destroy:
 * DOCA_ERROR_IN_USE unless idle. */
DOCA_STABLE
doca_error_t doca_dma_create(struct doca_dev *dev, struct doca_dma **dma);

DOCA_STABLE
doca_error_t doca_dma_destroy(struct doca_dma *dma);

/* Return the object as a context, valid as long as @dma. NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma);

/* Get the context's handle for GPU kernels. DOCA_ERROR_BAD_STATE unless running with its data path on a GPU. */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_get_gpu_handle(struct doca_dma *dma, struct doca_gpu_dma **gpu_dma);

/* --- The memcpy task --- */

/* Called from doca_pe_progress() when @task has completed; the task is the program's again (doca_pe.h).
 * doca_task_get_status() returns its result. */
typedef void (*doca_dma_task_memcpy_completion_cb_t)(struct doca_dma_task_memcpy *task, union doca_data task_user_data,
						     union doca_data ctx_user_data);

/* Before start: set the callbacks for tasks that succeed and for tasks that fail, and the maximum number of
 * tasks at once. DOCA_ERROR_NOT_SUPPORTED. */
DOCA_STABLE
doca_error_t doca_dma_task_memcpy_set_conf(struct doca_dma *dma,
					   doca_dma_task_memcpy_completion_cb_t task_completion_cb,
					   doca_dma_task_memcpy_completion_cb_t task_error_cb,
					   uint32_t num_memcpy_tasks);

/* Before start: with a non-zero @ordered, tasks complete in the order in which they were submitted. With 0, the default,
 * they may complete in any order. DOCA_ERROR_BAD_STATE unless idle. */
DOCA_EXPERIMENTAL
doca_error_t doca_dma_set_ordered_completions(struct doca_dma *dma, uint8_t ordered);

/* Allocate a task of a running context; the caller submits and frees the task. The buffers are borrowed until
 * the task's callback; the task takes no reference. DOCA_ERROR_NO_MEMORY when all tasks are allocated. */
DOCA_STABLE
doca_error_t doca_dma_task_memcpy_alloc_init(struct doca_dma *dma, const struct doca_buf *src, struct doca_buf *dst,
					     union doca_data user_data, struct doca_dma_task_memcpy **task);

/* Return the object as a task, for submit, free, user data and status. */
DOCA_STABLE
struct doca_task *doca_dma_task_memcpy_as_task(struct doca_dma_task_memcpy *task);

/* Set and get the task's buffers; set them only while the task is not in flight. */
DOCA_STABLE
void doca_dma_task_memcpy_set_src(struct doca_dma_task_memcpy *task, const struct doca_buf *src);

DOCA_STABLE
const struct doca_buf *doca_dma_task_memcpy_get_src(const struct doca_dma_task_memcpy *task);

DOCA_STABLE
void doca_dma_task_memcpy_set_dst(struct doca_dma_task_memcpy *task, struct doca_buf *dst);

DOCA_STABLE
struct doca_buf *doca_dma_task_memcpy_get_dst(const struct doca_dma_task_memcpy *task);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_mmap_advise.h - hints about memory: data that the card need not keep in its caches.
 *
 *   doca_mmap_advise_create --> set_conf --> connect to a progress engine --> doca_ctx_start
 *     --> alloc_init, submit, callback ... --> doca_ctx_stop --> doca_mmap_advise_destroy
 *
 * A cache-invalidate task drops the lines of the Arm cores' cache that hold a buffer's data segment; they
 * are not written back. On a card the contents of the buffer are undefined afterwards. bfsim simulates no
 * such cache: the task makes a card's checks, is a memory barrier, and does not change the bytes.
 *
 * A task takes a single buffer with data, not a list, of a started memory map that has the context's device.
 * doca_task_try_submit() refuses other buffers, and data above the size limit; doca_task_submit() accepts
 * such a task, which fails. Tasks of one context complete in the order of their submission.
 *
 * Functions that return doca_error_t return DOCA_ERROR_INVALID_VALUE for a NULL
 * argument. The thread rule is the context's (doca_ctx.h).
 */
#ifndef DOCA_MMAP_ADVISE_H_
#define DOCA_MMAP_ADVISE_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_mmap_advise;
struct doca_mmap_advise_task_invalidate_cache;
struct doca_task;

/* --- Capabilities --- */

/* DOCA_SUCCESS if the device can run cache-invalidate tasks, DOCA_ERROR_NOT_SUPPORTED if it can't. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_cap_task_cache_invalidate_is_supported(const struct doca_devinfo *devinfo);

/* Get the maximum number of bytes of one task. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_task_cache_invalidate_get_max_buf_size(const struct doca_devinfo *devinfo,
								     uint64_t *buf_size);

/* --- Life --- */

/* Create a context on @dev, which is borrowed; the caller destroys the context. create:
 * DOCA_ERROR_NO_MEMORY. destroy: DOCA_ERROR_IN_USE unless idle. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_create(struct doca_dev *dev, struct doca_mmap_advise **mmap_advise);

DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_destroy(struct doca_mmap_advise *mmap_advise);

/* Return the object as a context, valid as long as @mmap_advise. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_mmap_advise_as_ctx(struct doca_mmap_advise *mmap_advise);

/* --- The cache-invalidate task --- */

/* Called from doca_pe_progress() when @task has completed; the task is the program's again (doca_pe.h).
 * doca_task_get_status() returns its result. */
typedef void (*doca_mmap_advise_task_invalidate_cache_completion_cb_t)(
	struct doca_mmap_advise_task_invalidate_cache *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

/* Before start: set the callbacks for tasks that succeed and for tasks that fail, and the maximum number of
 * tasks at once. DOCA_ERROR_NOT_PERMITTED unless idle. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_task_invalidate_cache_set_conf(
	struct doca_mmap_advise *mmap_advise, doca_mmap_advise_task_invalidate_cache_completion_cb_t completion_cb,
	doca_mmap_advise_task_invalidate_cache_completion_cb_t error_cb, uint32_t num_tasks);

/* Allocate a task of a running context; the caller submits and frees the task. The buffer is borrowed until
 * the task's callback; the task takes no reference. DOCA_ERROR_NO_MEMORY when all tasks are allocated,
 * DOCA_ERROR_BAD_STATE unless running. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_task_invalidate_cache_alloc_init(struct doca_mmap_advise *mmap_advise,
							       struct doca_buf *buf, union doca_data user_data,
							       struct doca_mmap_advise_task_invalidate_cache **task);

/* Return the object as a task, for submit, free, user data and status. */
DOCA_EXPERIMENTAL
struct doca_task *doca_mmap_advise_task_invalidate_cache_as_doca_task(
	struct doca_mmap_advise_task_invalidate_cache *task);

/* Set and get the task's buffer; set it only while the task is not in flight. */
DOCA_EXPERIMENTAL
void doca_mmap_advise_task_invalidate_cache_set_buf(struct doca_mmap_advise_task_invalidate_cache *task,
						    struct doca_buf *buf);

DOCA_EXPERIMENTAL
struct doca_buf *doca_mmap_advise_task_invalidate_cache_get_buf(
	const struct doca_mmap_advise_task_invalidate_cache *task);

#ifdef __cplusplus
}
#endif

#endif

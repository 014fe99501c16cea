/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_mmap_advise.h - hints about memory: what the card need not keep in its caches.
 *
 *   doca_mmap_advise_create --> set_conf --> connect to a progress engine --> doca_ctx_start
 *     --> alloc_init, submit, callback ... --> doca_ctx_stop --> doca_mmap_advise_destroy
 *
 * A cache-invalidate task says that the bytes of a buffer's data segment are
 * needed no more: lines of the Arm cores' cache that hold them are dropped and
 * never written back. What the buffer reads like afterwards is undefined on a
 * card. Here memory has no such cache: the task makes the checks that a card
 * makes, is a memory barrier, and leaves the bytes as they are.
 *
 * It takes a single buffer, no list, with data in it, of a started memory map
 * that has the context's device. A task that breaks this or the size limit is
 * refused by doca_task_try_submit(); doca_task_submit() takes it, and it fails.
 * Tasks of one context complete in the order of their submission.
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

/* --- What a device can do --- */

/* DOCA_SUCCESS if the device can run cache-invalidate tasks, DOCA_ERROR_NOT_SUPPORTED if it can't. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_cap_task_cache_invalidate_is_supported(const struct doca_devinfo *devinfo);

/* The most bytes that one task is about. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_task_cache_invalidate_get_max_buf_size(const struct doca_devinfo *devinfo,
								     uint64_t *buf_size);

/* --- Life --- */

/* A context on @dev, which is borrowed; the result is the caller's. create:
 * DOCA_ERROR_NO_MEMORY. destroy, while idle: DOCA_ERROR_IN_USE otherwise. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_create(struct doca_dev *dev, struct doca_mmap_advise **mmap_advise);

DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_destroy(struct doca_mmap_advise *mmap_advise);

/* The same object as a context; lives and dies with @mmap_advise. NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_mmap_advise_as_ctx(struct doca_mmap_advise *mmap_advise);

/* --- The cache-invalidate task --- */

/* Called from doca_pe_progress() when @task is done; it is the program's again
 * (doca_pe.h). doca_task_get_status() says how it went. */
typedef void (*doca_mmap_advise_task_invalidate_cache_completion_cb_t)(
	struct doca_mmap_advise_task_invalidate_cache *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

/* Before start: what to call for tasks that went well and for those that failed,
 * and how many tasks can exist at once. DOCA_ERROR_NOT_PERMITTED unless idle. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_task_invalidate_cache_set_conf(
	struct doca_mmap_advise *mmap_advise, doca_mmap_advise_task_invalidate_cache_completion_cb_t completion_cb,
	doca_mmap_advise_task_invalidate_cache_completion_cb_t error_cb, uint32_t num_tasks);

/* Take a task from a running context, the caller's to submit and to free. The
 * buffer is borrowed until the task's callback; the task takes no reference.
 * DOCA_ERROR_NO_MEMORY when all are taken, DOCA_ERROR_BAD_STATE unless running. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_advise_task_invalidate_cache_alloc_init(struct doca_mmap_advise *mmap_advise,
							       struct doca_buf *buf, union doca_data user_data,
							       struct doca_mmap_advise_task_invalidate_cache **task);

/* The same object as a task: submit, free, user data, status. */
DOCA_EXPERIMENTAL
struct doca_task *doca_mmap_advise_task_invalidate_cache_as_doca_task(
	struct doca_mmap_advise_task_invalidate_cache *task);

/* The task's buffer; set it while the task is not in flight. */
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_ctx.h - contexts: the common part of all task libraries.
 *
 * Each library has its own object (struct doca_dma, ...) and gives it as a
 * context through its ..._as_ctx() function. A context is configured while idle,
 * connected to a progress engine (doca_pe.h), started, used, stopped, and
 * destroyed as the library's object.
 *
 *   [idle] --start--> [running]                    at once: DOCA_SUCCESS
 *   [idle] --start--> [starting] --> [running]     later: DOCA_ERROR_IN_PROGRESS
 *   [running], [starting] --stop--> [stopping] --> [idle]
 *                                                  all tasks freed: DOCA_SUCCESS, both steps at once
 *                                                  tasks out: DOCA_ERROR_IN_PROGRESS, the last step later
 *   [running] --a task fails--> [stopping] --> [idle]
 *
 * Stopping an idle context succeeds. After a fork() a context belongs to the parent:
 * the child can't start or use it (DOCA_ERROR_BAD_STATE), but may stop and destroy
 * it. Later steps happen inside doca_pe_progress(). While the context stops, tasks in
 * flight complete, perhaps with errors, and the program frees all its tasks. When the
 * last one is freed, the context is idle.
 *
 * Every function that returns doca_error_t returns DOCA_ERROR_INVALID_VALUE for
 * a NULL argument. A context is used by one thread at a time: the one that
 * drives its progress engine.
 */
#ifndef DOCA_CTX_H_
#define DOCA_CTX_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_devinfo;
struct doca_dpa;
struct doca_gpu;

enum doca_ctx_states {
	DOCA_CTX_STATE_IDLE = 0,     /* configurable; no tasks, no events */
	DOCA_CTX_STATE_STARTING = 1, /* waiting, for a peer perhaps; no tasks yet */
	DOCA_CTX_STATE_RUNNING = 2,  /* tasks can be allocated and submitted */
	DOCA_CTX_STATE_STOPPING = 3, /* draining; no new submissions */
};

/* --- Creation and destruction --- */

/* Freeze the configuration and start. DOCA_ERROR_IN_PROGRESS is not a failure,
 * see above. DOCA_ERROR_NOT_CONNECTED (no progress engine, no other data path),
 * DOCA_ERROR_NOT_SUPPORTED (the device does not support the configuration),
 * DOCA_ERROR_INITIALIZATION, DOCA_ERROR_UNEXPECTED. */
DOCA_STABLE
doca_error_t doca_ctx_start(struct doca_ctx *ctx);

/* Stop, so that the context can be configured again or destroyed.
 * DOCA_ERROR_IN_PROGRESS is not a failure, see above. DOCA_ERROR_NOT_CONNECTED,
 * DOCA_ERROR_UNEXPECTED. */
DOCA_STABLE
doca_error_t doca_ctx_stop(struct doca_ctx *ctx);

DOCA_STABLE
doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx, enum doca_ctx_states *state);

/* Called on every change of state, from inside the call that caused it:
 * doca_ctx_start(), doca_ctx_stop() or doca_pe_progress(). @ctx is in
 * @next_state already. It must not call doca_pe_progress(). */
typedef void (*doca_ctx_state_changed_callback_t)(const union doca_data user_data, struct doca_ctx *ctx,
						  enum doca_ctx_states prev_state, enum doca_ctx_states next_state);

DOCA_STABLE
doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx, doca_ctx_state_changed_callback_t cb);

/* The user data that callbacks of the context and of its tasks get. */
DOCA_STABLE
doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data);

DOCA_STABLE
doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx, union doca_data *user_data);

/* --- Tasks --- */

/* Tasks that were submitted and whose callback has not been called. */
DOCA_STABLE
doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx, size_t *num_inflight_tasks);

/* Start the tasks that were submitted without DOCA_TASK_SUBMIT_FLAG_FLUSH.
 * The context must not be idle. */
DOCA_EXPERIMENTAL
void doca_ctx_flush_tasks(struct doca_ctx *ctx);

/* --- Configuration: while idle --- */

/* The number of interrupt sources for completions of the device, and the one, from 0,
 * that this context uses. set: DOCA_ERROR_BAD_STATE unless idle,
 * DOCA_ERROR_NOT_SUPPORTED. */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_cap_get_num_completion_vectors(const struct doca_devinfo *devinfo, uint32_t *num_comp_vectors);

DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_completion_vector(struct doca_ctx *ctx, uint32_t comp_vector);

/* Let kernels on the DPA or on a GPU submit the tasks, not the CPU. The context needs no
 * progress engine then. DOCA_ERROR_BAD_STATE unless idle, DOCA_ERROR_NOT_SUPPORTED of a context that has no such data path. */
DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_datapath_on_dpa(struct doca_ctx *ctx, struct doca_dpa *dpa_dev);

DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev);

#ifdef __cplusplus
}
#endif

#endif

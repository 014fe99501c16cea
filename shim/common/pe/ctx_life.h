/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/pe/ctx_life.h - the life of a context: its states (the picture in ctx_priv.h), from the creation of the object on. */
#ifndef SHIM_CTX_LIFE_H
#define SHIM_CTX_LIFE_H

#include "ctx_priv.h"

/* Initialise the context of a new, zeroed object. Holds @dev, which may be NULL. */
SHIM_INTERNAL_API void shim_ctx_init(struct doca_ctx *ctx, const struct shim_ctx_ops *ops, struct doca_dev *dev);

/* The same for a context that is no handle of the user's and runs for life. */
void shim_ctx_init_running(struct doca_ctx *ctx, const struct shim_ctx_ops *ops);

/* In ops->start: open the queue, for at most @max_jobs tasks in flight. */
SHIM_INTERNAL_API doca_error_t shim_ctx_open_queue(struct doca_ctx *ctx, uint32_t max_jobs);

/* The user starts a context of @dev, or of none (NULL): SUCCESS, or the status that a fault injects. */
SHIM_INTERNAL_API doca_error_t shim_ctx_inject_start_fault(const struct doca_dev *dev);

/* Undo shim_ctx_init(). IN_USE unless the context is idle; then nothing changes. */
SHIM_INTERNAL_API doca_error_t shim_ctx_fini(struct doca_ctx *ctx);

/* A starting context runs now. */
SHIM_INTERNAL_API void shim_ctx_set_running(struct doca_ctx *ctx);

/* Begin to stop the context: the user asked, a task failed, or the connection is lost. Does nothing if the context
 * is idle or stopping. */
SHIM_INTERNAL_API void shim_ctx_begin_stop(struct doca_ctx *ctx);

/* A job failed: stop the context, as a card does. */
void shim_ctx_stop_on_error(struct doca_ctx *ctx);

/* Begin to stop a stale context. Returns false if it is idle or stopping. */
SHIM_INTERNAL_API bool shim_ctx_stop_stale(struct doca_ctx *ctx);

/* Go idle if shim_ctx_can_idle(). Returns whether it did. */
bool shim_ctx_try_idle(struct doca_ctx *ctx);

#endif

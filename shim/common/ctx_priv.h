/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/ctx_priv.h - a context: what every data-path library's object begins with.
 *
 *   [idle] --start--> [running] --stop, or a task failed--> [stopping] --all tasks back--> [idle]
 *
 * A library embeds struct doca_ctx as the first member of its own object and
 * fills in its operations. Its tasks come from pools of the context and run as
 * jobs of the context's queue; the progress engine knows only jobs and tasks,
 * so that a new library or task type needs no change there.
 */
#ifndef SHIM_CTX_PRIV_H
#define SHIM_CTX_PRIV_H

#include <doca_ctx.h>
#include <doca_pe.h>

#include "dev_priv.h"
#include "object.h"
#include "sim/engine/queue.h"

struct doca_ctx;
struct doca_task;
struct shim_task_pool;

/* A library's part in a context's life. Every slot is filled. */
struct shim_ctx_ops {
	const char *name;     /* of the library, for messages */
	/* Check the configuration and make task pools (shim_task_pool_add()). */
	doca_error_t (*start)(struct doca_ctx *ctx);
	/* The context is idle again; its pools are gone. */
	void (*stopped)(struct doca_ctx *ctx);
};

struct doca_ctx {
	struct shim_object object;
	enum doca_ctx_states state;
	const struct shim_ctx_ops *ops;
	struct doca_dev *dev;
	uint32_t generation;           /* shim_generation when it was made */
	struct doca_pe *pe;            /* NULL = not connected */
	struct doca_ctx *next_in_pe;
	struct sim_queue *queue;       /* while not idle */
	struct shim_task_pool *pools;  /* while not idle */
	uint32_t num_allocated;        /* tasks that are out of the pools */
	uint32_t completion_vector;
	union doca_data user_data;
	doca_ctx_state_changed_callback_t state_changed;
};

/* Set up the embedded context of a new object: its memory is zeroed. Holds @dev. */
SHIM_SHARED void shim_ctx_init(struct doca_ctx *ctx, const struct shim_ctx_ops *ops, struct doca_dev *dev);

/* In ops->start: open the queue, for at most @max_jobs tasks in flight. */
SHIM_SHARED doca_error_t shim_ctx_open_queue(struct doca_ctx *ctx, uint32_t max_jobs);

/* Take it apart. Returns IN_USE (the object stays) unless it is idle. */
SHIM_SHARED doca_error_t shim_ctx_fini(struct doca_ctx *ctx);

/* Whether @ctx is a live context of any library. */
bool shim_ctx_is(const struct doca_ctx *ctx);

/* Whether it was made in this process; a forked child's parent's does nothing here. */
bool shim_ctx_is_ours(const struct doca_ctx *ctx);

/* A task failed: the card stops the context. */
void shim_ctx_fail(struct doca_ctx *ctx);

/* Leave the stopping state when all tasks are back. Whether it did. */
bool shim_ctx_try_idle(struct doca_ctx *ctx);

/* pe.c: break the connection of a context that goes away. */
void shim_pe_disconnect(struct doca_ctx *ctx);

/* pe.c: a job of a context finished while its owner sleeps. */
void shim_pe_notify(void *ctx);

/* task.c: free the pools. */
void shim_task_pools_free(struct doca_ctx *ctx);

#endif
